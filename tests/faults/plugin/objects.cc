// SPDX-License-Identifier: Apache-2.0
#include "objects.h"

#include <cstring>
#include <map>
#include <mutex>

namespace faults {
namespace {

constexpr Status kLate{plugin::StatusCode::Unavailable, 0, "the device is held back and not done in time"};

// The wrapped plugin's streams, by device.
struct Streams {
  std::mutex mutex;
  std::multimap<int, plugin::Stream*> all;
};
Streams& streams() {
  static auto* instance = new Streams;
  return *instance;
}

}  // namespace

void drain(int device) noexcept {
  const std::lock_guard lock(streams().mutex);
  const auto [begin, end] = streams().all.equal_range(device);
  for (auto stream = begin; stream != end; ++stream) stream->second->synchronize(UINT64_MAX);
}

FaultyStream::FaultyStream(plugin::Stream* inner, int device) : Wrapper(inner, device) {
  const std::lock_guard lock(streams().mutex);
  streams().all.emplace(device, inner);
}

void FaultyStream::destroy() noexcept {
  {
    const std::lock_guard lock(streams().mutex);
    std::erase_if(streams().all, [&](const auto& entry) { return entry.second == inner(); });
  }
  Wrapper::destroy();
}

Status FaultyBuffer::map(uint32_t flags, uint64_t offset, uint64_t size, void** pointer) noexcept {
  return forward("Buffer.map", [&] { return inner()->map(flags, offset, size, pointer); });
}

Status FaultyBuffer::unmap(void* pointer) noexcept {
  return forward("Buffer.unmap", [&] { return inner()->unmap(pointer); });
}

Status FaultyBuffer::native_handle(void** handle) noexcept {
  return forward("Buffer.native_handle", [&] { return inner()->native_handle(handle); });
}

Status FaultyEvent::query(bool* complete) noexcept {
  return forward("Event.query", [&] {
    *complete = false;
    return plan().pass(device(), 0) ? inner()->query(complete) : plugin::kOk;
  });
}

Status FaultyEvent::wait(uint64_t timeout_ns) noexcept {
  return forward("Event.wait",
                 [&] { return plan().pass(device(), timeout_ns) ? inner()->wait(timeout_ns) : kLate; });
}

Status FaultyEvent::on_complete(void (*function)(void*, Status) noexcept, void* context) noexcept {
  return forward("Event.on_complete", [&] { return inner()->on_complete(function, context); });
}

// A lost device ends its waits, with an error.
Status FaultyEvent::signal() noexcept {
  if (plan().lost(device())) inner()->signal();
  return forward("Event.signal", [&] { return inner()->signal(); });
}

Status FaultyEvent::native_handle(void** handle) noexcept {
  return forward("Event.native_handle", [&] { return inner()->native_handle(handle); });
}

Status FaultyStream::copy(plugin::Buffer* dst, uint64_t dst_offset, plugin::Buffer* src, uint64_t src_offset,
                          uint64_t bytes) noexcept {
  return forward("Stream.copy",
                 [&] { return inner()->copy(unwrap(dst), dst_offset, unwrap(src), src_offset, bytes); });
}

Status FaultyStream::upload(plugin::Buffer* dst, uint64_t dst_offset, const void* src,
                            uint64_t bytes) noexcept {
  return forward("Stream.upload", [&] { return inner()->upload(unwrap(dst), dst_offset, src, bytes); });
}

Status FaultyStream::download(void* dst, plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept {
  return forward("Stream.download", [&] { return inner()->download(dst, unwrap(src), src_offset, bytes); });
}

Status FaultyStream::fill(plugin::Buffer* dst, uint64_t offset, uint64_t bytes, const void* pattern,
                          uint32_t pattern_size) noexcept {
  return forward("Stream.fill",
                 [&] { return inner()->fill(unwrap(dst), offset, bytes, pattern, pattern_size); });
}

Status FaultyStream::copy_from_peer(plugin::Buffer* dst, uint64_t dst_offset, plugin::Device* src_device,
                                    plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept {
  return forward("Stream.copy_from_peer", [&] {
    return inner()->copy_from_peer(unwrap(dst), dst_offset, unwrap(src_device), unwrap(src_device, src),
                                   src_offset, bytes);
  });
}

Status FaultyStream::copy_to_peer(plugin::Device* dst_device, plugin::Buffer* dst, uint64_t dst_offset,
                                  plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept {
  return forward("Stream.copy_to_peer", [&] {
    return inner()->copy_to_peer(unwrap(dst_device), unwrap(dst_device, dst), dst_offset, unwrap(src),
                                 src_offset, bytes);
  });
}

Status FaultyStream::record(plugin::Event* event) noexcept {
  return forward("Stream.record", [&] { return inner()->record(static_cast<FaultyEvent*>(event)->inner()); });
}

Status FaultyStream::wait(plugin::Event* event) noexcept {
  return forward("Stream.wait", [&] { return inner()->wait(static_cast<FaultyEvent*>(event)->inner()); });
}

Status FaultyStream::flush() noexcept {
  return forward("Stream.flush", [&] { return inner()->flush(); });
}

Status FaultyStream::query(bool* idle) noexcept {
  return forward("Stream.query", [&] {
    *idle = false;
    return plan().pass(device(), 0) ? inner()->query(idle) : plugin::kOk;
  });
}

Status FaultyStream::synchronize(uint64_t timeout_ns) noexcept {
  return forward("Stream.synchronize", [&] {
    return plan().pass(device(), timeout_ns) ? inner()->synchronize(timeout_ns) : kLate;
  });
}

Status FaultyStream::native_handle(void** handle) noexcept {
  return forward("Stream.native_handle", [&] { return inner()->native_handle(handle); });
}

namespace {

constexpr uint32_t kMostOperands = plugin::kMaxOutputs + 2 * plugin::kMaxInputs;

// The same arguments with the wrapped plugin's buffers.
struct InnerArgs {
  plugin::LaunchArgs args;
  plugin::Operand operands[kMostOperands];

  explicit InnerArgs(const plugin::LaunchArgs& outer) noexcept : args(plugin::read_struct(&outer)) {
    for (uint32_t i = 0; i < outer.operand_count; ++i) {
      operands[i] = outer.operand(i);
      operands[i].buffer = unwrap(operands[i].buffer);
    }
    args.operands = operands;
    args.operand_stride = sizeof(plugin::Operand);
    args.workspace = unwrap(args.workspace);
    args.error = unwrap(args.error);
  }
};

}  // namespace

Status FaultyKernel::workspace(const plugin::LaunchArgs* args, uint64_t* bytes) noexcept {
  return forward("Kernel.workspace", [&] {
    const InnerArgs inside(*args);
    return inner()->workspace(&inside.args, bytes);
  });
}

Status FaultyKernel::launch(plugin::Stream* stream, const plugin::LaunchArgs* args) noexcept {
  return forward("Kernel.launch", [&] {
    const InnerArgs inside(*args);
    return inner()->launch(static_cast<FaultyStream*>(stream)->inner(), &inside.args);
  });
}

plugin::Device* unwrap(plugin::Device* device) noexcept {
  return std::strcmp(device->backend_name(), kName) == 0 ? static_cast<FaultyDevice*>(device)->inner()
                                                         : device;
}

plugin::Buffer* unwrap(plugin::Device* device, plugin::Buffer* buffer) noexcept {
  return std::strcmp(device->backend_name(), kName) == 0 ? unwrap(buffer) : buffer;
}

}  // namespace faults
