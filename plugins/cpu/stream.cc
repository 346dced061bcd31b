// SPDX-License-Identifier: Apache-2.0
#include "cpu/stream.h"

#include <utility>

#include "cpu/buffer.h"
#include "cpu/device.h"
#include "cpu/move_bytes.h"

namespace backplane::cpu {
namespace {

using plugin::make_status;
using plugin::Status;
using plugin::StatusCode;

char* at(plugin::Buffer* buffer, uint64_t offset) noexcept {
  return static_cast<char*>(buffer->host_pointer()) + offset;
}

// Launch arguments with all they point to.
struct OwnedLaunch {
  explicit OwnedLaunch(const plugin::LaunchArgs& source)
      : args(plugin::read_struct(&source)),
        scalars(source.scalars, source.scalars + source.scalar_count),
        label(source.label == nullptr ? "" : source.label) {
    operands.reserve(source.operand_count);
    for (uint32_t i = 0; i < source.operand_count; ++i) operands.push_back(source.operand(i));
  }

  const plugin::LaunchArgs& get() {
    args.struct_size = sizeof args;
    args.operand_stride = sizeof(plugin::Operand);
    args.operands = operands.data();
    args.scalars = scalars.data();
    args.label = label.c_str();
    return args;
  }

  plugin::LaunchArgs args;
  std::vector<plugin::Operand> operands;
  std::vector<plugin::Scalar> scalars;
  std::string label;
};

struct ReleaseKernel {
  void operator()(CpuKernel* kernel) const noexcept { kernel->release(); }
};

}  // namespace

CpuStream::~CpuStream() {
  // The child of a fork has no such thread to join.
  if (worker_.joinable() && forked()) worker_.detach();
}

void CpuStream::destroy() noexcept {
  if (worker_.joinable() && !forked()) {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }
  delete this;
}

void CpuStream::enqueue(Work work) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  if (!worker_.joinable()) worker_ = std::thread([this] { work_through_queue(); });
  changed_.notify_all();
}

void CpuStream::work_through_queue() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Work& work = queue_.front();
    lock.unlock();
    const Status status = plugin::guard([&] { return work(); });
    work = nullptr;  // drops its kernel and events before anybody sees the stream idle
    lock.lock();
    if (!status.ok() && failure_.code == StatusCode::Ok) failure_ = OwnedStatus::from(status);
    queue_.pop_front();
    changed_.notify_all();
  }
}

Status CpuStream::move_bytes(void* dst, const void* src, uint64_t bytes) noexcept {
  return plugin::guard([&] {
    if (bytes == 0) return plugin::kOk;
    Threads& threads = device_.threads();
    if (synchronous()) {
      backplane::cpu::move_bytes(threads, dst, src, bytes);
    } else {
      enqueue([=, &threads] {
        backplane::cpu::move_bytes(threads, dst, src, bytes);
        return plugin::kOk;
      });
    }
    return plugin::kOk;
  });
}

Status CpuStream::copy(plugin::Buffer* dst, uint64_t dst_offset, plugin::Buffer* src, uint64_t src_offset,
                       uint64_t bytes) noexcept {
  if (Status status = check_range("copy to", dst->size(), dst_offset, bytes); !status.ok()) return status;
  if (Status status = check_range("copy from", src->size(), src_offset, bytes); !status.ok()) return status;
  return move_bytes(at(dst, dst_offset), at(src, src_offset), bytes);
}

Status CpuStream::upload(plugin::Buffer* dst, uint64_t dst_offset, const void* src, uint64_t bytes) noexcept {
  if (Status status = check_range("upload", dst->size(), dst_offset, bytes); !status.ok()) return status;
  return move_bytes(at(dst, dst_offset), src, bytes);
}

Status CpuStream::download(void* dst, plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept {
  if (Status status = check_range("download", src->size(), src_offset, bytes); !status.ok()) return status;
  return move_bytes(dst, at(src, src_offset), bytes);
}

Status CpuStream::fill(plugin::Buffer* dst, uint64_t offset, uint64_t bytes, const void* pattern,
                       uint32_t pattern_size) noexcept {
  const bool known = pattern_size == 1 || pattern_size == 2 || pattern_size == 4 || pattern_size == 8;
  if (!known || offset % pattern_size != 0 || bytes % pattern_size != 0) {
    return make_status(
        StatusCode::InvalidArgument, 0,
        "fill: the pattern has %u bytes (1, 2, 4 or 8 are possible), which must divide offset and size",
        pattern_size);
  }
  if (Status status = check_range("fill", dst->size(), offset, bytes); !status.ok()) return status;
  if (bytes == 0) return plugin::kOk;
  return plugin::guard([&] {
    const uint64_t repeated = repeat_pattern(pattern, pattern_size);
    char* const begin = at(dst, offset);
    Threads& threads = device_.threads();
    if (synchronous()) {
      fill_bytes(threads, begin, bytes, repeated);
    } else {
      enqueue([=, &threads] {
        fill_bytes(threads, begin, bytes, repeated);
        return plugin::kOk;
      });
    }
    return plugin::kOk;
  });
}

Status CpuStream::copy_from_peer(plugin::Buffer* dst, uint64_t dst_offset, plugin::Device*,
                                 plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept {
  if (src->host_pointer() == nullptr)
    return plugin::unimplemented("a copy from memory that the host cannot see");
  return copy(dst, dst_offset, src, src_offset, bytes);
}

Status CpuStream::copy_to_peer(plugin::Device*, plugin::Buffer* dst, uint64_t dst_offset, plugin::Buffer* src,
                               uint64_t src_offset, uint64_t bytes) noexcept {
  if (dst->host_pointer() == nullptr)
    return plugin::unimplemented("a copy to memory that the host cannot see");
  return copy(dst, dst_offset, src, src_offset, bytes);
}

Status CpuStream::record(plugin::Event* event) noexcept {
  auto* const own = static_cast<CpuEvent*>(event);
  if (own->host()) return make_status(StatusCode::InvalidArgument, 0, "a host event cannot be recorded");
  return plugin::guard([&] {
    if (synchronous()) {
      own->set_current(nullptr);
      return plugin::kOk;
    }
    auto completion = std::make_shared<Completion>();
    enqueue([this, completion] {
      OwnedStatus failure;
      {
        const std::lock_guard lock(mutex_);
        failure = failure_;
      }
      completion->complete(failure);
      return plugin::kOk;
    });
    own->set_current(std::move(completion));
    return plugin::kOk;
  });
}

// A failure of what the event stands for belongs to the stream that it happened in: here it only orders.
Status CpuStream::wait(plugin::Event* event) noexcept {
  return plugin::guard([&] {
    const auto completion = static_cast<CpuEvent*>(event)->current();
    if (completion == nullptr) return plugin::kOk;
    if (synchronous()) {
      static_cast<void>(completion->wait(UINT64_MAX));
    } else {
      enqueue([completion] {
        static_cast<void>(completion->wait(UINT64_MAX));
        return plugin::kOk;
      });
    }
    return plugin::kOk;
  });
}

Status CpuStream::query(bool* idle) noexcept {
  *idle = true;
  if (synchronous()) return plugin::kOk;
  const std::lock_guard lock(mutex_);
  *idle = queue_.empty();
  return plugin::kOk;
}

Status CpuStream::synchronize(uint64_t timeout_ns) noexcept {
  if (synchronous()) return plugin::kOk;
  return plugin::guard([&] {
    std::unique_lock lock(mutex_);
    if (!wait_for(changed_, lock, timeout_ns, [&] { return queue_.empty(); })) {
      return make_status(StatusCode::Unavailable, 0, "the stream still has work after %llu ns",
                         static_cast<unsigned long long>(timeout_ns));
    }
    return std::exchange(failure_, OwnedStatus{}).get();
  });
}

Status CpuStream::launch(CpuKernel* kernel, const plugin::LaunchArgs& args) noexcept {
  if (synchronous()) return kernel->run_guarded(args);
  return plugin::guard([&] {
    auto owned = std::make_shared<OwnedLaunch>(args);
    kernel->retain();
    const std::shared_ptr<CpuKernel> held(kernel, ReleaseKernel{});
    enqueue([owned, held] { return held->run_guarded(owned->get()); });
    return plugin::kOk;
  });
}

}  // namespace backplane::cpu
