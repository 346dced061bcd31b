// SPDX-License-Identifier: Apache-2.0
// Decoded PTX: each instruction is a handler plus byte offsets into a warp's register frame.
//
// A frame holds, for each register of the function, one slot per lane, lane after lane (structure of arrays),
// so that a handler runs over 32 lanes in one loop. Constants and special registers have slots too, filled
// beforehand: every source operand is a slot. A predicate's slot is one 32-bit mask.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/syntax.h"

namespace cuda_double {

constexpr int kLanes = 32;
constexpr uint32_t kFullMask = 0xffffffffu;

class Warp;
struct Instr;
struct Function;
using Handler = void (*)(Warp&, const Instr&);

// What an instruction does to the flow of control; all but kNone end a basic block.
enum class Control : uint8_t {
  kNone,
  kBranch,
  kBranchIndexed,
  kReturn,
  kExit,
  kCall,
  kBarrier,
  kWarpSync,
  kTrap
};

struct Argument {  // bytes to copy between the caller's and the callee's local memory
  uint32_t caller_offset = 0;
  uint32_t size = 0;
};

// A function that the driver itself supplies; its arguments stand in the caller's local memory.
using Builtin = void (*)(Warp&, const Instr&, int lane);

struct CallSite {
  const Function* callee = nullptr;  // null for an indirect call, whose target register is Instr::a
  std::vector<Argument> arguments;
  std::vector<Argument> results;
};

enum class BarrierKind : uint8_t { kSync, kArrive, kPopc, kAnd, kOr };

struct Instr {
  Handler run = nullptr;
  uint32_t dst = 0, a = 0, b = 0, c = 0, d = 0;  // byte offsets into the frame
  int32_t predicate = -1;                        // slot of the guard, or -1
  bool predicate_negated = false;
  Control control = Control::kNone;
  BarrierKind barrier = BarrierKind::kSync;
  bool aligned = false;  // barriers: every thread of the warp must execute this same instruction
  bool flag = false;     // a family's own use
  uint8_t mode = 0;      // a family's own use
  uint16_t count = 0;    // length of `list`
  uint32_t target = 0;   // branch target
  uint32_t line = 0;
  int64_t imm = 0;                 // address offset, or a family's own use
  const uint32_t* list = nullptr;  // slots of a vector operand, or branch targets
  const CallSite* call = nullptr;
};

struct Constant {
  uint32_t slot = 0;
  uint8_t size = 4;  // bytes a lane; 0 for a predicate mask
  uint64_t bits = 0;
};

enum class Special : uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneId,
  kWarpId,
  kNwarpId,
  kSmId,
  kNsmId,
  kGridId,
  kLaneMaskEq,
  kLaneMaskLt,
  kLaneMaskLe,
  kLaneMaskGt,
  kLaneMaskGe,
  kDynamicSharedSize,
  kTotalSharedSize,
  kDynamicSharedBase,
  kLocalBase,
};

struct SpecialUse {
  uint32_t slot = 0;
  uint8_t size = 4;
  Special which = Special::kTidX;
};

struct ParameterSlot {
  uint32_t offset = 0;
  uint32_t size = 0;
};

struct Function {
  std::string name;
  uint64_t address = 0;  // what a pointer to it holds; never used again, unlike this object's own place
  bool entry = false;
  std::vector<Instr> code;
  std::vector<uint32_t> block_last;  // for each instruction, the index of its basic block's last one
  std::vector<Constant> constants;
  std::vector<SpecialUse> specials;
  uint32_t frame_size = 0;      // bytes of registers of a warp
  uint32_t local_size = 0;      // bytes of local memory a thread, parameters of device functions included
  uint32_t shared_size = 0;     // static shared memory (entries only)
  uint32_t parameter_size = 0;  // entries only
  std::vector<ParameterSlot> parameters;  // entries: offsets in the parameter buffer; else in local memory
  std::vector<ParameterSlot> returns;
  Builtin builtin = nullptr;    // set where the function has no PTX body
  bool calls = false;           // whether it, or a function that it calls, may need more than one frame
  uint32_t max_threads = 1024;  // a block
  uint32_t required_threads[3] = {0, 0, 0};
  std::deque<std::vector<uint32_t>> lists;  // what Instr::list points to
  std::deque<CallSite> call_sites;
};

// A module's decoded code, and its variables' storage as the driver placed it.
struct Program {
  std::unique_ptr<ModuleSyntax> syntax;
  std::deque<Function> functions;
  std::unordered_map<std::string_view, Function*> by_name;
  std::unordered_map<uint64_t, const Function*> by_address;  // what a function pointer holds
};

}  // namespace cuda_double
