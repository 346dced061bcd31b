// SPDX-License-Identifier: Apache-2.0
#include "driver/state.h"

#include <unistd.h>

#include <algorithm>

#include "driver/report.h"

namespace cuda_double {
namespace {

std::atomic<int> init_state{-1};  // -1: cuInit not called yet

constexpr int kNoDevice = 100;

void make_devices(Driver& state) {
  for (const DeviceConfig& config : state.config.devices) {
    auto& device = *state.devices.emplace_back(std::make_unique<Device>());
    device.config = config;
    device.ordinal = static_cast<int>(state.devices.size() - 1);
  }
}

std::shared_ptr<Stream> per_thread_stream(Context& context) {
  thread_local std::map<uint64_t, std::shared_ptr<Stream>> streams;
  auto& stream = streams[context.handle];
  if (stream == nullptr) {
    stream = Stream::start(&context, 0, 0, driver().config.seed + driver().next_stream_seed++,
                           driver().config.delay_us);
    const std::lock_guard lock(context.mutex);
    context.streams[~context.streams.size()] = stream;
  }
  return stream;
}

}  // namespace

std::atomic<bool> deinitialized{false};

Driver& driver() {
  static Driver* instance = new Driver;  // never destroyed: streams' threads may outlive main
  return *instance;
}

int initialize() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (init_state == 0) return 0;
  Driver& state = driver();
  state.config = read_config();
  set_report_file(state.config.report_file);
  if (state.config.init_error != 0) return state.config.init_error;
  if (state.config.devices.empty()) return kNoDevice;
  state.process = static_cast<int>(getpid());
  make_devices(state);
  init_state = 0;
  return 0;
}

bool initialized() { return init_state == 0; }

ContextStack& context_stack() {
  thread_local ContextStack stack;
  return stack;
}

std::shared_ptr<Context> current_context() {
  if (context_stack().empty()) return nullptr;
  return driver().contexts.find(as_handle<void*>(context_stack().back()));
}

std::shared_ptr<Context> make_context(Device& device, uint32_t flags) {
  auto context = std::make_shared<Context>();
  context->device = &device;
  context->flags = flags;
  context->handle = driver().contexts.add(context);
  context->legacy = Stream::start(context.get(), 0, 0, driver().config.seed + driver().next_stream_seed++,
                                  driver().config.delay_us);
  return context;
}

void destroy_context(const std::shared_ptr<Context>& context) {
  driver().contexts.remove(as_handle<void*>(context->handle));
  synchronize(*context);
  const std::lock_guard lock(context->mutex);
  for (const auto& [handle, stream] : context->streams) {
    driver().streams.remove(as_handle<void*>(handle));
    stream->close();
  }
  context->legacy->close();
  for (const auto& [handle, module] : context->modules) {
    driver().modules.remove(as_handle<void*>(handle));
    for (const auto& [name, function] : module->functions)
      driver().functions.remove(as_handle<void*>(function));
    for (const auto& [name, variable] : module->variables) {
      AddressSpace::instance().release(variable->base);
      context->device->in_use -= accounted(variable->size);
    }
  }
  for (const auto& [base, size] : context->memory) {
    AddressSpace::instance().release(base);
    context->device->in_use -= size;
  }
  context->memory.clear();
  context->modules.clear();
  context->streams.clear();
  // Streams keep a plain pointer to their context: it stays, empty, for as long as the process.
  static std::vector<std::shared_ptr<Context>>* kept = new std::vector<std::shared_ptr<Context>>;
  static std::mutex kept_mutex;
  const std::lock_guard kept_lock(kept_mutex);
  kept->push_back(context);
}

std::shared_ptr<Stream> find_stream(const void* handle, Context& context) {
  constexpr uintptr_t kLegacy = 1, kPerThread = 2;
  const auto value = reinterpret_cast<uintptr_t>(handle);
  if (value == 0 || value == kLegacy) return context.legacy;
  if (value == kPerThread) return per_thread_stream(context);
  return driver().streams.find(handle);
}

uint64_t submit(Stream& stream, std::function<void()> work, bool device_work) {
  Context& context = *stream.context;
  if (device_work) {
    work = [&context, inner = std::move(work)] {
      if (context.failure == 0) inner();
    };
  }
  const std::lock_guard order(context.order);
  std::vector<Stream::Position> after;
  if (&stream == context.legacy.get()) {
    const std::lock_guard lock(context.mutex);
    for (const auto& [handle, other] : context.streams) {
      if (other->blocking() && !other->idle()) after.emplace_back(other, other->submitted());
    }
  } else if (stream.blocking() && !context.legacy->idle()) {
    after.emplace_back(context.legacy, context.legacy->submitted());
  }
  return stream.enqueue(std::move(work), std::move(after));
}

void synchronize(Context& context) {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard lock(context.mutex);
    for (const auto& [handle, stream] : context.streams) streams.push_back(stream);
  }
  streams.push_back(context.legacy);
  for (const auto& stream : streams) stream->synchronize();
}

uint64_t accounted(uint64_t size) { return (size + 511) / 512 * 512; }

bool can_access(int from, int to) {
  const auto& peers = driver().config.peers;
  return std::find(peers.begin(), peers.end(), std::pair{from, to}) != peers.end();
}

namespace {
// Runs when the library is finalised: calls from static destructors find the driver gone, as with the real
// one.
[[gnu::destructor]] void finish() { deinitialized = true; }
}  // namespace

}  // namespace cuda_double
