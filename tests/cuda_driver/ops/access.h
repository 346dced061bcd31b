// SPDX-License-Identifier: Apache-2.0
// From an address that a lane gives to the bytes, with every check.
#pragma once

#include "exec/warp.h"
#include "ops/decode.h"

namespace cuda_double {

struct AccessTarget {
  uint8_t* host = nullptr;
  uint8_t* initialized = nullptr;  // one byte a byte; null where not tracked
  bool shared = false;             // for the race check
  bool global = false;
  uint64_t key = 0;  // address, for the race check
};

// Checks bounds, life, alignment and access rights; faults where the lane may not do this.
AccessTarget locate(Warp& warp, const Instr& instr, int lane, Space space, uint64_t address, uint32_t size,
                    bool write);

// The optional checks, where the launch asks for them.
void check_access(Warp& warp, const Instr& instr, int lane, const AccessTarget& target, uint32_t size,
                  Access access, const void* value);

// An address operand: the register's slot, whether it has 64 bits, and the offset, in instr.a, instr.flag and
// instr.imm. Returns the space that is meant: a call's .param variables are in local memory here.
Space decode_address_operand(Decoding& decoding, const Operand& operand, Space space);
Space take_access_space(Decoding& decoding);

// The address that a lane gives.
inline uint64_t lane_address(Warp& warp, const Instr& instr, int lane) {
  const uint64_t base = instr.flag ? warp.at<uint64_t>(instr.a)[lane] : warp.at<uint32_t>(instr.a)[lane];
  return base + static_cast<uint64_t>(instr.imm);
}

// Forgets translations that an allocation's end may have made wrong.
void refresh_translations(Block& block);

}  // namespace cuda_double
