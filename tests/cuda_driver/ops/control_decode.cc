// SPDX-License-Identifier: Apache-2.0
// Decoding of branches, calls, barriers and fences; and the instructions of the stack.
#include <algorithm>
#include <atomic>

#include "exec/cuda_codes.h"
#include "ops/access.h"

namespace cuda_double {
namespace {

using Kind = Operand::Kind;

void decode_bra(Decoding& decoding) {
  decoding.accept("uni");
  decoding.expect_operands(1, 1);
  decoding.instr.control = Control::kBranch;
  decoding.instr.target = decoding.builder.label(decoding.operand(0).name, decoding.statement.line);
}

void decode_brx(Decoding& decoding) {
  decoding.require("idx");
  decoding.accept("uni");
  decoding.expect_operands(2, 2);
  decoding.instr.control = Control::kBranchIndexed;
  decoding.instr.a = decoding.source(0, Type::kU32);
  const auto& lists = decoding.builder.syntax.branch_targets;
  const auto found = lists.find(decoding.operand(1).name);
  if (found == lists.end()) decoding.fail("unknown list of targets");
  std::vector<uint32_t> targets;
  for (const std::string_view name : found->second)
    targets.push_back(decoding.builder.label(name, decoding.statement.line));
  decoding.list(std::move(targets));
}

void decode_ret(Decoding& decoding) {
  decoding.accept("uni");
  decoding.expect_operands(0, 0);
  decoding.instr.control = Control::kReturn;
}

void decode_exit(Decoding& decoding) {
  decoding.expect_operands(0, 0);
  decoding.instr.control = Control::kExit;
}

void decode_trap(Decoding& decoding) {
  decoding.expect_operands(0, 0);
  decoding.instr.control = Control::kTrap;
  decoding.instr.flag = decoding.statement.parts.front() == "brkpt";
}

std::vector<Argument> arguments(Decoding& decoding, const Operand& list) {
  std::vector<Argument> result;
  for (const Operand& item : list.items) {
    Place place;
    if (item.kind != Kind::kSymbol || item.local < 0 ||
        !decoding.builder.place(item, place, decoding.statement.line)) {
      decoding.fail("arguments must be .param variables");
    }
    const Variable& variable = decoding.builder.syntax.locals[static_cast<size_t>(item.local)];
    result.push_back({static_cast<uint32_t>(place.offset), static_cast<uint32_t>(variable.size)});
  }
  return result;
}

void decode_call(Decoding& decoding) {
  decoding.accept("uni");
  decoding.instr.control = Control::kCall;
  CallSite& site = decoding.builder.function.call_sites.emplace_back();
  decoding.instr.call = &site;
  size_t next = 0;
  if (decoding.operand(0).kind == Kind::kList) site.results = arguments(decoding, decoding.operand(next++));
  const Operand& target = decoding.operand(next++);
  if (next < decoding.operands() && decoding.operand(next).kind == Kind::kList) {
    site.arguments = arguments(decoding, decoding.operand(next));
  }
  if (target.kind == Kind::kRegister) {
    decoding.instr.a = decoding.source(target, Type::kU64);
    decoding.builder.function.calls = true;
    return;
  }
  site.callee = decoding.builder.find_function(target.name);
  const auto& functions = decoding.builder.module.functions;
  const bool defined = std::any_of(functions.begin(), functions.end(), [&](const FunctionSyntax& function) {
    return site.callee != nullptr && function.name == site.callee->name && function.has_body;
  });
  if (!defined && (site.callee == nullptr || site.callee->builtin == nullptr)) {
    decoding.fail("call of the unknown function '" + std::string(target.name) + "'");
  }
  if (site.callee->builtin == nullptr) decoding.builder.function.calls = true;
}

void warp_barrier(Warp& warp, const Instr&) {
  if (warp.block->launch->checks.races) warp.block->races.warp_barrier(warp.index, warp.mask);
}

void decode_warp_barrier(Decoding& decoding) {
  decoding.require("sync");
  decoding.expect_operands(1, 1);
  decoding.instr.control = Control::kWarpSync;
  decoding.instr.flag = true;
  decoding.instr.d = decoding.source(0, Type::kB32);
  decoding.instr.run = warp_barrier;
}

void decode_reduction(Decoding& decoding) {
  const int operation = decoding.choose({"popc", "and", "or"});
  if (operation < 0) decoding.fail("needs .popc, .and or .or");
  static constexpr BarrierKind kKinds[] = {BarrierKind::kPopc, BarrierKind::kAnd, BarrierKind::kOr};
  decoding.require(operation == 0 ? "u32" : "pred");
  decoding.expect_operands(3, 4);
  decoding.instr.barrier = kKinds[operation];
  decoding.instr.dst = decoding.destination(0, operation == 0 ? Type::kU32 : Type::kPred);
  decoding.instr.a = decoding.source(1, Type::kU32);
  const size_t last = decoding.operands() - 1;
  if (last == 3) {
    decoding.instr.mode = 1;
    decoding.instr.b = decoding.source(2, Type::kU32);
  }
  decoding.instr.c = decoding.predicate(decoding.operand(last));
  decoding.instr.flag = decoding.operand(last).negated;
}

void decode_barrier(Decoding& decoding) {
  decoding.accept("cta");
  if (decoding.accept("warp")) return decode_warp_barrier(decoding);
  decoding.instr.control = Control::kBarrier;
  decoding.instr.aligned = decoding.accept("aligned") || decoding.statement.parts.front() == "bar";
  if (decoding.accept("red")) return decode_reduction(decoding);
  const bool arrive = decoding.choose({"sync", "arrive"}) == 1;
  decoding.expect_operands(arrive ? 2 : 1, 2);
  decoding.instr.barrier = arrive ? BarrierKind::kArrive : BarrierKind::kSync;
  decoding.instr.a = decoding.source(0, Type::kU32);
  if (decoding.operands() == 2) {
    decoding.instr.mode = 1;
    decoding.instr.b = decoding.source(1, Type::kU32);
  }
}

void fence(Warp&, const Instr&) { std::atomic_thread_fence(std::memory_order_seq_cst); }
void nothing(Warp&, const Instr&) {}

void decode_fence(Decoding& decoding) {
  decoding.ignore(
      {"sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "gl", "sys", "proxy", "alias"});
  decoding.expect_operands(0, 0);
  decoding.instr.run = fence;
}

void decode_nanosleep(Decoding& decoding) {
  decoding.require("u32");
  decoding.expect_operands(1, 1);
  decoding.source(0, Type::kU32);
  decoding.instr.run = nothing;
}

void decode_pmevent(Decoding& decoding) {
  decoding.accept("mask");
  decoding.instr.run = nothing;
}

void allocate_stack(Warp& warp, const Instr& instr) {
  uint64_t* dst = warp.at<uint64_t>(instr.dst);
  const uint64_t* size = warp.at<uint64_t>(instr.a);
  const uint64_t alignment = std::max<uint64_t>(static_cast<uint64_t>(instr.imm), 16);
  const uint64_t start = (warp.frame->stack_top + alignment - 1) / alignment * alignment;
  uint64_t most = 0;
  for_lanes(warp.mask, [&](int lane) { most = std::max(most, size[lane]); });
  if (start + most > warp.block->local_stride) {
    warp.fault(instr, __builtin_ctz(warp.mask), kErrorHardwareStackError, "stack overflow in alloca");
  }
  warp.frame->stack_top = static_cast<uint32_t>(start + most);
  for_lanes(warp.mask, [&](int lane) { dst[lane] = start; });
}

void decode_alloca(Decoding& decoding) {
  const Type type = decoding.type();
  decoding.expect_operands(2, 3);
  decoding.builder.function.calls = true;
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  if (decoding.operands() == 3) decoding.instr.imm = static_cast<int64_t>(decoding.operand(2).value);
  if (info(type).size == 8) decoding.instr.run = allocate_stack;
}

void save_stack(Warp& warp, const Instr& instr) {
  uint64_t* dst = warp.at<uint64_t>(instr.dst);
  for_lanes(warp.mask, [&](int lane) { dst[lane] = warp.frame->stack_top; });
}

void restore_stack(Warp& warp, const Instr& instr) {
  const uint64_t* src = warp.at<uint64_t>(instr.a);
  if (warp.mask == warp.frame->lanes)
    warp.frame->stack_top = static_cast<uint32_t>(src[__builtin_ctz(warp.mask)]);
}

void decode_stack(Decoding& decoding) {
  const Type type = decoding.type();
  decoding.expect_operands(1, 1);
  const bool save = decoding.statement.parts.front() == "stacksave";
  if (save)
    decoding.instr.dst = decoding.destination(0, type);
  else
    decoding.instr.a = decoding.source(0, type);
  if (info(type).size == 8) decoding.instr.run = save ? save_stack : restore_stack;
}

constexpr OpcodeRow kRows[] = {
    {"bra", decode_bra},         {"brx", decode_brx},
    {"ret", decode_ret},         {"exit", decode_exit},
    {"trap", decode_trap},       {"brkpt", decode_trap},
    {"call", decode_call},       {"bar", decode_barrier},
    {"barrier", decode_barrier}, {"membar", decode_fence},
    {"fence", decode_fence},     {"nanosleep", decode_nanosleep},
    {"pmevent", decode_pmevent}, {"alloca", decode_alloca},
    {"stacksave", decode_stack}, {"stackrestore", decode_stack},
};

}  // namespace

std::span<const OpcodeRow> control_opcodes() { return kRows; }

}  // namespace cuda_double
