// SPDX-License-Identifier: Apache-2.0
//
// Devices whose memory nobody else sees and whose streams work in threads of their own, each piece after a
// random delay. They copy, contiguous or strided, and run native kernels, once and without arguments; one
// whose entry is "fail" makes the stream fail until it is synchronised. Options (BACKPLANE_<PLUGIN>_<KEY>):
//   devices      how many there are (2)          memory       MiB of each (64 GiB if not given)
//   delay_us     longest delay (0)               seed         of the delays
//   host_events  "0": there are none             pinned       "0": there is no pinned memory
//   offsets      "0": buffers take no offsets
#ifndef BACKPLANE_TESTS_UNIT_MIDDLE_FAR_H_
#define BACKPLANE_TESTS_UNIT_MIDDLE_FAR_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "backplane/plugin/base.h"

namespace far {

namespace plugin = backplane::plugin;
using plugin::kOk;
using plugin::Status;
using plugin::StatusCode;

struct Options {
  explicit Options(const plugin::HostInfo* host);
  uint32_t devices = 2;
  uint64_t memory = uint64_t{64} << 30;
  uint64_t delay_us = 0, seed = 1;
  bool host_events = true, pinned = true, offsets = true;
};

// One moment, completed once.
class Moment {
 public:
  using Function = void (*)(void*, Status) noexcept;
  void complete(bool failed);
  Status query(bool* complete);
  Status wait(uint64_t timeout_ns);
  void on_complete(Function function, void* context);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool complete_ = false, failed_ = false;
  std::vector<std::pair<Function, void*>> functions_;
};

class FarEvent final : public plugin::EventBase {
 public:
  explicit FarEvent(bool host) : host_(host), moment_(host ? std::make_shared<Moment>() : nullptr) {}
  void destroy() noexcept override { delete this; }
  Status query(bool* complete) noexcept override;
  Status wait(uint64_t timeout_ns) noexcept override;
  Status on_complete(Moment::Function function, void* context) noexcept override;
  Status signal() noexcept override;
  std::shared_ptr<Moment> moment();
  void set(std::shared_ptr<Moment> moment);

 private:
  const bool host_;
  std::mutex mutex_;
  std::shared_ptr<Moment> moment_;  // null: never recorded
};

class FarBuffer final : public plugin::BufferBase {
 public:
  FarBuffer(uint64_t size, bool pinned, std::atomic<uint64_t>* used);
  FarBuffer(void* memory, uint64_t size) noexcept;  // of somebody else's
  void destroy() noexcept override;
  uint64_t size() const noexcept override { return size_; }
  void* host_pointer() const noexcept override { return pinned_ ? memory_ : nullptr; }
  Status native_handle(void** handle) noexcept override { return *handle = memory_, kOk; }
  char* at(uint64_t offset) const noexcept { return memory_ + offset; }

 private:
  ~FarBuffer() = default;
  const uint64_t size_;
  const bool pinned_;
  std::atomic<uint64_t>* used_;
  char* const memory_;
};

class FarStream final : public plugin::StreamBase {
 public:
  explicit FarStream(const Options& options);
  void destroy() noexcept override;
  Status copy(plugin::Buffer* dst, uint64_t to, plugin::Buffer* src, uint64_t from,
              uint64_t bytes) noexcept override;
  Status upload(plugin::Buffer* dst, uint64_t to, const void* src, uint64_t bytes) noexcept override;
  Status download(void* dst, plugin::Buffer* src, uint64_t from, uint64_t bytes) noexcept override;
  Status fill(plugin::Buffer* dst, uint64_t to, uint64_t bytes, const void* pattern,
              uint32_t size) noexcept override;
  Status record(plugin::Event* event) noexcept override;
  Status wait(plugin::Event* event) noexcept override;
  Status query(bool* idle) noexcept override;
  Status synchronize(uint64_t timeout_ns) noexcept override;
  Status add(std::function<void()> work) noexcept;
  void fail() noexcept { failed_ = true; }

 private:
  ~FarStream() = default;
  void run();
  void pause();

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;  // the front one is running
  bool stopping_ = false;
  std::atomic<bool> failed_{false};
  std::mt19937_64 random_;
  std::thread thread_;
};

}  // namespace far

#endif  // BACKPLANE_TESTS_UNIT_MIDDLE_FAR_H_
