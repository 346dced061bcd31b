// SPDX-License-Identifier: Apache-2.0
// The driver's objects. Handles are numbers that are never used twice, so that a destroyed one is always
// recognised.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/config.h"
#include "driver/stream.h"
#include "exec/address_space.h"
#include "exec/program.h"

namespace cuda_double {

struct Device {
  DeviceConfig config;
  int ordinal = 0;
  std::atomic<uint64_t> in_use{0};
  std::atomic<uint64_t> launches{0};
  std::mutex mutex;  // of the primary context's state
  std::shared_ptr<Context> primary;
  int retained = 0;
  uint32_t primary_flags = 0;
};

struct Module {
  uint64_t handle = 0;
  Context* context = nullptr;
  std::unique_ptr<Program> program;
  std::unordered_map<std::string, std::shared_ptr<Allocation>> variables;
  std::map<std::string, uint64_t> functions;  // name → handle, those asked for
  uint32_t target = 0;
};

struct FunctionHandle {
  std::shared_ptr<Module> module;
  const Function* function = nullptr;
  std::atomic<uint32_t> max_dynamic_shared{49152};
};

struct Event {
  std::mutex mutex;
  std::condition_variable changed;
  Context* context = nullptr;
  uint32_t flags = 0;
  uint64_t recorded = 0, completed = 0;  // how many records have been enqueued, and have happened
  std::chrono::steady_clock::time_point time;
};

struct Context {
  uint64_t handle = 0;
  Device* device = nullptr;
  uint32_t flags = 0;
  bool is_primary = false;
  std::atomic<int> failure{0};  // a CUresult that every later call returns
  std::mutex mutex;
  std::mutex order;     // held while work of the legacy stream and of blocking streams is enqueued
  std::set<int> peers;  // devices whose memory this context may use
  std::map<uint64_t, std::shared_ptr<Stream>> streams;
  std::shared_ptr<Stream> legacy;
  std::map<uint64_t, std::shared_ptr<Module>> modules;
  std::map<uint64_t, uint64_t> memory;  // base → bytes accounted for
  std::map<size_t, size_t> limits;

  void fail(int code) {
    int none = 0;
    failure.compare_exchange_strong(none, code);
  }
};

template <class T>
class HandleTable {
 public:
  uint64_t add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    next_ += 16;
    live_[next_] = std::move(object);
    return next_;
  }
  std::shared_ptr<T> find(const void* handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(reinterpret_cast<uint64_t>(handle));
    return found == live_.end() ? nullptr : found->second;
  }
  std::shared_ptr<T> remove(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(reinterpret_cast<uint64_t>(handle));
    if (found == live_.end()) return nullptr;
    auto object = std::move(found->second);
    live_.erase(found);
    return object;
  }
  explicit HandleTable(uint64_t first) : first_(first), next_(first) {}
  bool was_live(const void* handle) const {
    const std::lock_guard lock(mutex_);
    const auto value = reinterpret_cast<uint64_t>(handle);
    return value > first_ && value <= next_;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<T>> live_;
  uint64_t first_, next_;
};

template <class H>
H as_handle(uint64_t value) {
  return reinterpret_cast<H>(value);
}

struct Driver {
  Config config;
  std::vector<std::unique_ptr<Device>> devices;
  HandleTable<Context> contexts{0x5100000000000};
  HandleTable<Stream> streams{0x5200000000000};
  HandleTable<Event> events{0x5300000000000};
  HandleTable<Module> modules{0x5400000000000};
  HandleTable<FunctionHandle> functions{0x5500000000000};
  std::mutex mutex;
  std::map<std::string, uint64_t> calls;  // of each function so far
  std::atomic<uint64_t> next_stream_seed{1};
  std::atomic<uint64_t> next_grid{1};
  int process = 0;
};

Driver& driver();
// The state of cuInit: 0 when done, else the CUresult.
int initialize();
bool initialized();
extern std::atomic<bool> deinitialized;

// Handles of the contexts that a thread has pushed. Without a destructor: a program's static destructors call
// the driver after the thread's own have run.
class ContextStack {
 public:
  bool empty() const { return size_ == 0; }
  uint64_t& back() { return handles_.at(size_ - 1); }
  void push_back(uint64_t handle) { handles_.at(size_++) = handle; }
  void pop_back() { --size_; }

 private:
  size_t size_ = 0;
  std::array<uint64_t, 256> handles_{};
};

// The calling thread's.
ContextStack& context_stack();
std::shared_ptr<Context> current_context();

std::shared_ptr<Context> make_context(Device& device, uint32_t flags);
void destroy_context(const std::shared_ptr<Context>& context);

// Turns a stream argument (null, legacy and per-thread included) into a stream; null where it is none.
std::shared_ptr<Stream> find_stream(const void* handle, Context& context);
// Enqueues in the order that the legacy stream demands. `device_work` is skipped once the context has failed.
uint64_t submit(Stream& stream, std::function<void()> work, bool device_work = true);
void synchronize(Context& context);

uint64_t accounted(uint64_t size);
bool can_access(int from, int to);

}  // namespace cuda_double
