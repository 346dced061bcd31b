// SPDX-License-Identifier: Apache-2.0
//
// Launching a kernel in order: waits for what it must come after, hands it scratch, notes what it uses.
#ifndef BACKPLANE_SRC_STREAM_LAUNCH_H_
#define BACKPLANE_SRC_STREAM_LAUNCH_H_

#include <array>
#include <string>

#include "memory/storage.h"
#include "stream/kernel_cache.h"

namespace backplane::internal {

inline constexpr uint32_t kMaxOperands = plugin::kMaxOutputs + 2 * plugin::kMaxInputs;

// LaunchArgs with room for what they point to. The first `outputs` operands are written.
struct Launch {
  plugin::LaunchArgs args{};
  uint32_t outputs = 1;
  bool overwrites = false;  // nothing is left of what the outputs' storages held
  std::array<Storage*, kMaxOperands> storages;
  std::array<plugin::Operand, kMaxOperands> operands;
  std::array<plugin::Scalar, 2 * plugin::kMaxScalars> scalars;

  explicit Launch(const char* label) noexcept {
    args.struct_size = sizeof args;
    args.operand_stride = sizeof(plugin::Operand);
    args.label = label;
  }

  // The next operand; its strides are the caller's to fill in.
  plugin::Operand& add_operand(Storage& storage, uint64_t byte_offset) noexcept {
    const uint32_t i = args.operand_count++;
    storages[i] = &storage;
    const Block& block = storage.block();
    plugin::Operand& operand = operands[i];
    operand.buffer = block.buffer;
    operand.offset = block.offset + byte_offset;
    operand.address = block.address == 0 ? 0 : block.address + byte_offset;
    return operand;
  }
  void add_scalar(plugin::Scalar scalar) noexcept { scalars[args.scalar_count++] = scalar; }

  // Queues the kernel on the current stream of `device`. With a `failure` the kernel gets an error word, and
  // that message is thrown at the next read of an output if the kernel sets it.
  void run(DeviceState& device, plugin::Kernel* kernel, plugin::Family family,
           const std::string* failure = nullptr) {
    args.operands = operands.data();
    args.scalars = scalars.data();
    StreamState& stream = current_stream(device);
    // The usual case on a CPU: nothing is queued anywhere, so the call is the work.
    if (stream.direct && !may_need_workspace(family) && !needs_care()) [[likely]]
      return device.check(kernel->launch(stream.stream, &args), args.label);
    run_with_care(device, stream, kernel, family, failure);
  }

 private:
  static bool may_need_workspace(plugin::Family family) noexcept {
    return family != plugin::Family::Elementwise && family != plugin::Family::Copy &&
           family != plugin::Family::Random;
  }
  bool needs_care() const noexcept {
    for (uint32_t i = 0; i < args.operand_count; ++i)
      if (storages[i]->needs_care()) return true;
    return false;
  }
  void run_with_care(DeviceState& device, StreamState& stream, plugin::Kernel* kernel, plugin::Family family,
                     const std::string* failure);
  void run_in_order(DeviceState& device, StreamState& stream, plugin::Kernel* kernel);
  void run_checked(DeviceState& device, StreamState& stream, plugin::Kernel* kernel,
                   const std::string* failure);
  void spread_poison(const std::shared_ptr<PendingError>& error);
};

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_STREAM_LAUNCH_H_
