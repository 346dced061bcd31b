// SPDX-License-Identifier: Apache-2.0
// shfl, vote, match, redux, activemask, bar.warp.sync: lanes of one warp exchange values. All that take a
// member mask wait until its live lanes stand at the same instruction (see control.cc); Instr::d is the
// mask's slot.
#include <algorithm>

#include "ops/decode.h"
#include "ops/lanes.h"

namespace cuda_double {
namespace {

enum ShuffleMode : uint8_t { kUp, kDown, kButterfly, kIndex };

// The pseudo-code of the PTX ISA, section "shfl.sync". c: clamp in bits 0 to 4, segment mask in bits 8 to 12.
void shuffle(Warp& warp, const Instr& instr) {
  uint32_t* dst = warp.at<uint32_t>(instr.dst);
  const uint32_t* b = warp.at<uint32_t>(instr.b);
  const uint32_t* c = warp.at<uint32_t>(instr.c);
  const uint32_t* slot = warp.at<uint32_t>(instr.a);
  uint32_t values[kLanes];
  std::copy_n(slot, kLanes, values);
  uint32_t valid = 0;
  for_lanes(warp.mask, [&](int lane) {
    const int offset = static_cast<int>(b[lane] & 0x1f);
    const int clamp = static_cast<int>(c[lane] & 0x1f), segment = static_cast<int>(c[lane] >> 8 & 0x1f);
    const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    int from = lane;
    bool inside = false;
    switch (instr.mode) {
      case kUp:
        from = lane - offset, inside = from >= most;
        break;
      case kDown:
        from = lane + offset, inside = from <= most;
        break;
      case kButterfly:
        from = lane ^ offset, inside = from <= most;
        break;
      default:
        from = least | (offset & ~segment), inside = from <= most;
    }
    if (!inside) from = lane;
    dst[lane] = values[from];
    valid |= static_cast<uint32_t>(inside) << lane;
  });
  if (instr.count == 0) return;
  uint32_t& predicate = warp.predicate(static_cast<uint32_t>(instr.imm));
  predicate = (predicate & ~warp.mask) | valid;
}

void decode_second_predicate(Decoding& decoding, const Operand& target) {
  if (target.second < 0) return;
  if (decoding.builder.register_type(target.second) != Type::kPred)
    decoding.fail("a predicate is needed after '|'");
  decoding.instr.imm = decoding.builder.register_slot(target.second);
  decoding.instr.count = 1;
}

void decode_shfl(Decoding& decoding) {
  decoding.require("sync");
  const int mode = decoding.choose({"up", "down", "bfly", "idx"});
  decoding.require("b32");
  if (mode < 0) decoding.fail("needs .up, .down, .bfly or .idx");
  decoding.expect_operands(5, 5);
  decoding.instr.control = Control::kWarpSync;
  decoding.instr.mode = static_cast<uint8_t>(mode);
  decoding.instr.dst = decoding.destination(0, Type::kB32);
  decode_second_predicate(decoding, decoding.operand(0));
  decoding.instr.a = decoding.source(1, Type::kB32);
  decoding.instr.b = decoding.source(2, Type::kB32);
  decoding.instr.c = decoding.source(3, Type::kB32);
  decoding.instr.d = decoding.source(4, Type::kB32);
  decoding.instr.run = shuffle;
}

enum VoteMode : uint8_t { kAll, kAny, kUni, kBallot };

void vote(Warp& warp, const Instr& instr) {
  const uint32_t votes = warp.predicate(instr.a) ^ (instr.count != 0 ? kFullMask : 0);
  const uint32_t* members = warp.at<uint32_t>(instr.d);
  uint32_t results[kLanes];
  for_lanes(warp.mask, [&](int lane) {
    const uint32_t here = members[lane] & warp.mask;
    const uint32_t yes = votes & here;
    const uint32_t answers[] = {yes == here, yes != 0, yes == here || yes == 0, yes};
    results[lane] = answers[instr.mode];
  });
  if (instr.mode == kBallot) {
    uint32_t* dst = warp.at<uint32_t>(instr.dst);
    for_lanes(warp.mask, [&](int lane) { dst[lane] = results[lane]; });
    return;
  }
  uint32_t& dst = warp.predicate(instr.dst);
  for_lanes(warp.mask, [&](int lane) { dst = (dst & ~(1u << lane)) | results[lane] << lane; });
}

void decode_vote(Decoding& decoding) {
  decoding.require("sync");
  const int mode = decoding.choose({"all", "any", "uni", "ballot"});
  if (mode < 0) decoding.fail("needs .all, .any, .uni or .ballot");
  decoding.require(mode == kBallot ? "b32" : "pred");
  decoding.expect_operands(3, 3);
  decoding.instr.control = Control::kWarpSync;
  decoding.instr.mode = static_cast<uint8_t>(mode);
  decoding.instr.dst = decoding.destination(0, mode == kBallot ? Type::kB32 : Type::kPred);
  decoding.instr.a = decoding.predicate(decoding.operand(1));
  decoding.instr.count = decoding.operand(1).negated ? 1 : 0;
  decoding.instr.d = decoding.source(2, Type::kB32);
  decoding.instr.run = vote;
}

template <class T>
void match(Warp& warp, const Instr& instr) {  // mode 0: any, 1: all
  const T* a = warp.at<T>(instr.a);
  const uint32_t* members = warp.at<uint32_t>(instr.d);
  uint32_t* dst = warp.at<uint32_t>(instr.dst);
  uint32_t results[kLanes], all = 0;
  for_lanes(warp.mask, [&](int lane) {
    const uint32_t here = members[lane] & warp.mask;
    uint32_t same = 0;
    for_lanes(here, [&](int other) { same |= static_cast<uint32_t>(a[other] == a[lane]) << other; });
    all |= static_cast<uint32_t>(same == here) << lane;
    results[lane] = instr.mode == 0 ? same : (same == here ? here : 0);
  });
  for_lanes(warp.mask, [&](int lane) { dst[lane] = results[lane]; });
  if (instr.count == 0) return;
  uint32_t& predicate = warp.predicate(static_cast<uint32_t>(instr.imm));
  predicate = (predicate & ~warp.mask) | all;
}

void decode_match(Decoding& decoding) {
  const int mode = decoding.choose({"any", "all"});
  decoding.require("sync");
  if (mode < 0) decoding.fail("needs .any or .all");
  const Type type = decoding.type();
  decoding.expect_operands(3, 3);
  decoding.instr.control = Control::kWarpSync;
  decoding.instr.mode = static_cast<uint8_t>(mode);
  decoding.instr.dst = decoding.destination(0, Type::kB32);
  decode_second_predicate(decoding, decoding.operand(0));
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.d = decoding.source(2, Type::kB32);
  if (type == Type::kB32) decoding.instr.run = match<uint32_t>;
  if (type == Type::kB64) decoding.instr.run = match<uint64_t>;
}

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  }
};
struct Min {
  template <class T>
  static T apply(T a, T b) {
    return std::min(a, b);
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) {
    return std::max(a, b);
  }
};
struct And {
  template <class T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return a ^ b;
  }
};

template <class Op, class T>
void reduce(Warp& warp, const Instr& instr) {
  const T* a = warp.at<T>(instr.a);
  const uint32_t* members = warp.at<uint32_t>(instr.d);
  T results[kLanes];
  for_lanes(warp.mask, [&](int lane) {
    uint32_t rest = members[lane] & warp.mask;
    T value = a[__builtin_ctz(rest)];
    for (rest &= rest - 1; rest != 0; rest &= rest - 1) value = Op::apply(value, a[__builtin_ctz(rest)]);
    results[lane] = value;
  });
  T* dst = warp.at<T>(instr.dst);
  for_lanes(warp.mask, [&](int lane) { dst[lane] = results[lane]; });
}

struct ReduceRow {
  std::string_view name;
  Type type;
  Handler run;
};
constexpr ReduceRow kReductions[] = {
    {"add", Type::kU32, reduce<Add, uint32_t>}, {"add", Type::kS32, reduce<Add, int32_t>},
    {"min", Type::kU32, reduce<Min, uint32_t>}, {"min", Type::kS32, reduce<Min, int32_t>},
    {"max", Type::kU32, reduce<Max, uint32_t>}, {"max", Type::kS32, reduce<Max, int32_t>},
    {"and", Type::kB32, reduce<And, uint32_t>}, {"or", Type::kB32, reduce<Or, uint32_t>},
    {"xor", Type::kB32, reduce<Xor, uint32_t>},
};

void decode_redux(Decoding& decoding) {
  decoding.require("sync");
  const Type type = decoding.type();
  decoding.expect_operands(3, 3);
  decoding.instr.control = Control::kWarpSync;
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.d = decoding.source(2, Type::kB32);
  for (const ReduceRow& row : kReductions) {
    if (row.type == type && decoding.accept(row.name)) decoding.instr.run = row.run;
  }
  if (decoding.instr.run == nullptr) decoding.fail("unknown reduction for this type");
}

void activemask(Warp& warp, const Instr& instr) {
  uint32_t* dst = warp.at<uint32_t>(instr.dst);
  for_lanes(warp.mask, [&](int lane) { dst[lane] = warp.mask; });
}

void decode_activemask(Decoding& decoding) {
  decoding.require("b32");
  decoding.expect_operands(1, 1);
  decoding.instr.dst = decoding.destination(0, Type::kB32);
  decoding.instr.run = activemask;
}

void elect(Warp& warp, const Instr& instr) {
  const uint32_t* members = warp.at<uint32_t>(instr.d);
  uint32_t leaders = 0;
  uint32_t* dst = warp.at<uint32_t>(instr.dst);
  for_lanes(warp.mask, [&](int lane) {
    const int leader = __builtin_ctz(members[lane] & warp.mask);
    dst[lane] = static_cast<uint32_t>(leader);
    leaders |= static_cast<uint32_t>(leader == lane) << lane;
  });
  if (instr.count == 0) return;
  uint32_t& predicate = warp.predicate(static_cast<uint32_t>(instr.imm));
  predicate = (predicate & ~warp.mask) | leaders;
}

void decode_elect(Decoding& decoding) {
  decoding.require("sync");
  decoding.expect_operands(2, 2);
  decoding.instr.control = Control::kWarpSync;
  decoding.instr.dst = decoding.destination(0, Type::kB32);
  decode_second_predicate(decoding, decoding.operand(0));
  decoding.instr.d = decoding.source(1, Type::kB32);
  decoding.instr.run = elect;
}

constexpr OpcodeRow kRows[] = {
    {"shfl", decode_shfl},
    {"vote", decode_vote},
    {"match", decode_match},
    {"redux", decode_redux},
    {"activemask", decode_activemask},
    {"elect", decode_elect},
};

}  // namespace

std::span<const OpcodeRow> warp_opcodes() { return kRows; }

}  // namespace cuda_double
