// SPDX-License-Identifier: Apache-2.0
#include "ops/access.h"

#include <algorithm>
#include <cstring>

#include "exec/cuda_codes.h"

namespace cuda_double {
namespace {

std::string hex(uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  do text.insert(text.begin(), kDigits[value & 15]);
  while ((value >>= 4) != 0);
  return "0x" + text;
}

std::string action(bool write, uint32_t size) {
  return std::string(write ? "write" : "read") + " of " + std::to_string(size) + " bytes";
}

AccessTarget global_target(Warp& warp, const Instr& instr, int lane, uint64_t address, uint32_t size,
                           bool write) {
  Block& block = *warp.block;
  const auto allocation = AddressSpace::instance().find(address);
  const auto fault = [&](const std::string& why) {
    warp.fault(instr, lane, kErrorIllegalAddress, action(write, size) + " at " + hex(address) + " " + why);
  };
  if (allocation == nullptr) fault(AddressSpace::instance().describe(address));
  if (address - allocation->base + size > allocation->size) {
    fault("past the end of an allocation (offset " + std::to_string(address - allocation->base) + " of " +
          std::to_string(allocation->size) + " bytes)");
  }
  const bool own = allocation->kind == MemoryKind::kHost || allocation->kind == MemoryKind::kRegistered ||
                   (block.launch->accessible_devices >> allocation->device & 1) != 0;
  if (!own)
    fault("in memory of device " + std::to_string(allocation->device) +
          ", to which peer access is not enabled");
  if (write && allocation->read_only) fault("in constant memory");
  AccessTarget target;
  target.host = allocation->host + (address - allocation->base);
  target.global = true;
  target.key = address;
  if (allocation->initialized)
    target.initialized = allocation->initialized.get() + (address - allocation->base);
  const bool cacheable = !block.launch->checks.any() && !allocation->read_only;
  if (cacheable) {
    for (int i = kTranslations - 1; i > 0; --i) block.translations[i] = block.translations[i - 1];
    block.translations[0] = {allocation->base, allocation->size, allocation->host, allocation.get()};
    if (std::find(block.held.begin(), block.held.end(), allocation) == block.held.end())
      block.held.push_back(allocation);
  }
  return target;
}

AccessTarget local_target(Warp& warp, const Instr& instr, int lane, uint64_t address, uint32_t size,
                          bool write) {
  if (address + size > warp.block->local_stride || address + size < address) {
    warp.fault(instr, lane, kErrorIllegalAddress,
               action(write, size) + " outside local memory, at offset " +
                   std::to_string(static_cast<int64_t>(address)));
  }
  AccessTarget target;
  target.host = warp.block->local_memory(warp, lane) + address;
  return target;
}

AccessTarget shared_target(Warp& warp, const Instr& instr, int lane, uint64_t address, uint32_t size,
                           bool write) {
  Block& block = *warp.block;
  if (address + size > block.shared_size || address + size < address) {
    warp.fault(instr, lane, kErrorIllegalAddress,
               action(write, size) + " outside shared memory, at offset " +
                   std::to_string(static_cast<int64_t>(address)) + " of " +
                   std::to_string(block.shared_size) + " bytes");
  }
  AccessTarget target;
  target.host = block.shared.data() + address;
  target.shared = true;
  target.key = address;
  if (block.launch->checks.uninitialized) target.initialized = block.shared_initialized.data() + address;
  return target;
}

AccessTarget parameter_target(Warp& warp, const Instr& instr, int lane, uint64_t address, uint32_t size,
                              bool write) {
  const auto& parameters = warp.block->launch->parameters;
  if (write || address + size > parameters.size() || address + size < address) {
    warp.fault(
        instr, lane, kErrorIllegalAddress,
        action(write, size) + " outside the kernel's parameters, at offset " + std::to_string(address));
  }
  AccessTarget target;
  target.host = const_cast<uint8_t*>(parameters.data()) + address;
  return target;
}

}  // namespace

void refresh_translations(Block& block) {
  const uint64_t epoch = AddressSpace::instance().epoch();
  if (block.translation_epoch == epoch) return;
  block.translation_epoch = epoch;
  for (Translation& entry : block.translations) entry = {};
}

AccessTarget locate(Warp& warp, const Instr& instr, int lane, Space space, uint64_t address, uint32_t size,
                    bool write) {
  if ((address & (size - 1)) != 0) {
    warp.fault(instr, lane, kErrorMisalignedAddress,
               "misaligned " + action(write, size) + " at " + hex(address));
  }
  const AddressSpace& addresses = AddressSpace::instance();
  if (space == Space::kGeneric) {
    const auto within = [&](uint64_t base) { return address - base < AddressSpace::kWindowSize; };
    if (within(addresses.shared_window()))
      return shared_target(warp, instr, lane, address - addresses.shared_window(), size, write);
    if (within(addresses.local_window()))
      return local_target(warp, instr, lane, address - addresses.local_window(), size, write);
    if (within(addresses.parameter_window()))
      return parameter_target(warp, instr, lane, address - addresses.parameter_window(), size, write);
  }
  switch (space) {
    case Space::kShared:
      return shared_target(warp, instr, lane, address, size, write);
    case Space::kLocal:
      return local_target(warp, instr, lane, address, size, write);
    case Space::kParam:
      return parameter_target(warp, instr, lane, address, size, write);
    default:
      return global_target(warp, instr, lane, address, size, write);
  }
}

void check_access(Warp& warp, const Instr& instr, int lane, const AccessTarget& target, uint32_t size,
                  Access access, const void* value) {
  Block& block = *warp.block;
  if (target.initialized != nullptr) {
    if (access != Access::kWrite && std::memchr(target.initialized, 0, size) != nullptr) {
      warp.fault(instr, lane, kErrorIllegalAddress,
                 "read of " + std::to_string(size) + " bytes of uninitialised " +
                     (target.shared ? "shared memory, at offset " : "memory, at ") + hex(target.key));
    }
    if (access != Access::kRead) std::memset(target.initialized, 1, size);
  }
  if (!block.launch->checks.races || (!target.shared && !target.global)) return;
  uint64_t bytes = 0;
  if (value != nullptr) std::memcpy(&bytes, value, size < 8 ? size : 8);
  const std::string race =
      block.races.touch(target.shared, target.key, size, warp.thread(lane), access, bytes);
  if (!race.empty()) warp.fault(instr, lane, kErrorLaunchFailed, race);
}

Space take_access_space(Decoding& decoding) {
  static constexpr Space kSpaces[] = {Space::kGlobal, Space::kShared, Space::kLocal, Space::kConst,
                                      Space::kParam};
  int index = decoding.choose({"global", "shared", "local", "const", "param"});
  if (index < 0) {
    static constexpr std::string_view kVariants[] = {"shared::cta", "param::entry", "param::func"};
    static constexpr int kVariantSpaces[] = {1, 4, 4};
    for (int i = 0; i < 3 && index < 0; ++i) {
      if (decoding.accept(kVariants[i])) index = kVariantSpaces[i];
    }
  }
  const Space space = index < 0 ? Space::kGeneric : kSpaces[index];
  return space == Space::kParam && !decoding.builder.function.entry ? Space::kLocal : space;
}

Space decode_address_operand(Decoding& decoding, const Operand& operand, Space space) {
  Instr& instr = decoding.instr;
  if (operand.kind != Operand::Kind::kAddress) decoding.fail("needs an address in brackets");
  instr.imm = static_cast<int64_t>(operand.value);
  instr.flag = true;
  if (operand.reg >= 0) {
    const Type type = decoding.builder.register_type(operand.reg);
    const uint8_t size = info(type).size;
    if (type == Type::kPred || (size != 4 && size != 8))
      decoding.fail("an address register of the wrong type");
    instr.flag = size == 8;
    if (size == 4 && space != Space::kShared && space != Space::kLocal && space != Space::kParam &&
        space != Space::kConst) {
      decoding.fail("a 32-bit address in this state space");
    }
    instr.a = decoding.builder.register_slot(operand.reg);
    return space;
  }
  Place place;
  instr.a = decoding.builder.constant(0, 8);
  if (operand.name.empty()) return space;
  if (decoding.builder.place(operand, place, decoding.statement.line)) {
    if (place.dynamic_shared) instr.a = decoding.builder.special(Special::kDynamicSharedBase, 8);
    if (place.space == Space::kLocal) instr.a = decoding.builder.special(Special::kLocalBase, 8);
    instr.imm += static_cast<int64_t>(place.offset);
    return space == Space::kParam ? place.space : space;
  }
  instr.imm += static_cast<int64_t>(decoding.builder.global_address(operand.name, decoding.statement.line));
  return space;
}

}  // namespace cuda_double
