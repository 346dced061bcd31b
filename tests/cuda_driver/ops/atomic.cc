// SPDX-License-Identifier: Apache-2.0
// atom and red. Lanes act one after the other, in lane order; other streams' kernels see each act whole.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "ops/access.h"
#include "ops/numeric.h"

namespace cuda_double {
namespace {

struct And {
  template <class T>
  static T apply(T m, T b, T) {
    return m & b;
  }
};
struct Or {
  template <class T>
  static T apply(T m, T b, T) {
    return m | b;
  }
};
struct Xor {
  template <class T>
  static T apply(T m, T b, T) {
    return m ^ b;
  }
};
struct Exchange {
  template <class T>
  static T apply(T, T b, T) {
    return b;
  }
};
struct Cas {
  template <class T>
  static T apply(T m, T b, T c) {
    return m == b ? c : m;
  }
};
struct Min {
  template <class T>
  static T apply(T m, T b, T) {
    return std::min(m, b);
  }
};
struct Max {
  template <class T>
  static T apply(T m, T b, T) {
    return std::max(m, b);
  }
};
struct Inc {
  template <class T>
  static T apply(T m, T b, T) {
    return m >= b ? T{0} : m + 1;
  }
};
struct Dec {
  template <class T>
  static T apply(T m, T b, T) {
    return m == 0 || m > b ? b : m - 1;
  }
};
struct Add {
  template <class T>
  static T apply(T m, T b, T) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(m) +
                            static_cast<std::make_unsigned_t<T>>(b));
    else
      return canonical(m + b);
  }
};
template <class H>
struct AddHalf {
  static uint16_t apply(uint16_t m, uint16_t b, uint16_t) {
    const double sum = fma_to_odd(to_float(H{m}), 1.0, to_float(H{b}));
    return static_cast<uint16_t>(round_double(sum, kFormatOf<H>, Rounding::kNearest));
  }
};
template <class H>
struct AddPair {
  static uint32_t apply(uint32_t m, uint32_t b, uint32_t) {
    const uint16_t low = AddHalf<H>::apply(static_cast<uint16_t>(m), static_cast<uint16_t>(b), 0);
    const uint16_t high =
        AddHalf<H>::apply(static_cast<uint16_t>(m >> 16), static_cast<uint16_t>(b >> 16), 0);
    return low | static_cast<uint32_t>(high) << 16;
  }
};

template <size_t kSize>
struct BitsOf;
template <>
struct BitsOf<2> {
  using Type = uint16_t;
};
template <>
struct BitsOf<4> {
  using Type = uint32_t;
};
template <>
struct BitsOf<8> {
  using Type = uint64_t;
};

template <class Op, class T>
T update(uint8_t* host, T b, T c) {
  using Bits = typename BitsOf<sizeof(T)>::Type;
  std::atomic_ref<Bits> cell(*reinterpret_cast<Bits*>(host));
  Bits old = cell.load(std::memory_order_relaxed);
  for (;;) {
    const T before = std::bit_cast<T>(old);
    const Bits after = std::bit_cast<Bits>(Op::apply(before, b, c));
    if (cell.compare_exchange_weak(old, after, std::memory_order_acq_rel)) return before;
  }
}

// mode: the state space; count: 0 for red, which has no result.
template <class Op, class T>
void atomic(Warp& warp, const Instr& instr) {
  T* dst = warp.at<T>(instr.dst);
  const T *b = warp.at<T>(instr.b), *c = warp.at<T>(instr.c);
  refresh_translations(*warp.block);
  const bool checks = warp.block->launch->checks.any();
  for_lanes(warp.mask, [&](int lane) {
    const AccessTarget target = locate(warp, instr, lane, static_cast<Space>(instr.mode),
                                       lane_address(warp, instr, lane), sizeof(T), true);
    if (checks) check_access(warp, instr, lane, target, sizeof(T), Access::kAtomic, nullptr);
    const T before = update<Op, T>(target.host, b[lane], c[lane]);
    if (instr.count != 0) dst[lane] = before;
  });
}

struct Row {
  std::string_view name;
  Type type;
  Handler run;
};
constexpr Row kRows[] = {
    {"and", Type::kB32, atomic<And, uint32_t>},
    {"and", Type::kB64, atomic<And, uint64_t>},
    {"or", Type::kB32, atomic<Or, uint32_t>},
    {"or", Type::kB64, atomic<Or, uint64_t>},
    {"xor", Type::kB32, atomic<Xor, uint32_t>},
    {"xor", Type::kB64, atomic<Xor, uint64_t>},
    {"exch", Type::kB32, atomic<Exchange, uint32_t>},
    {"exch", Type::kB64, atomic<Exchange, uint64_t>},
    {"cas", Type::kB16, atomic<Cas, uint16_t>},
    {"cas", Type::kB32, atomic<Cas, uint32_t>},
    {"cas", Type::kB64, atomic<Cas, uint64_t>},
    {"add", Type::kU32, atomic<Add, uint32_t>},
    {"add", Type::kS32, atomic<Add, int32_t>},
    {"add", Type::kU64, atomic<Add, uint64_t>},
    {"add", Type::kF32, atomic<Add, float>},
    {"add", Type::kF64, atomic<Add, double>},
    {"add", Type::kF16, atomic<AddHalf<Half>, uint16_t>},
    {"add", Type::kBF16, atomic<AddHalf<Bfloat>, uint16_t>},
    {"add", Type::kF16x2, atomic<AddPair<Half>, uint32_t>},
    {"add", Type::kBF16x2, atomic<AddPair<Bfloat>, uint32_t>},
    {"inc", Type::kU32, atomic<Inc, uint32_t>},
    {"dec", Type::kU32, atomic<Dec, uint32_t>},
    {"min", Type::kU32, atomic<Min, uint32_t>},
    {"min", Type::kS32, atomic<Min, int32_t>},
    {"min", Type::kU64, atomic<Min, uint64_t>},
    {"min", Type::kS64, atomic<Min, int64_t>},
    {"max", Type::kU32, atomic<Max, uint32_t>},
    {"max", Type::kS32, atomic<Max, int32_t>},
    {"max", Type::kU64, atomic<Max, uint64_t>},
    {"max", Type::kS64, atomic<Max, int64_t>},
};

Type stored_type(Type type) { return info(type).size == 2 ? Type::kB16 : type; }

void decode(Decoding& decoding) {
  const bool has_result = decoding.statement.parts.front() == "atom";
  Space space = take_access_space(decoding);
  decoding.ignore({"relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys", "noftz"});
  const Type type = decoding.type();
  const size_t first = has_result ? 1 : 0;
  if (has_result) decoding.instr.dst = decoding.destination(0, stored_type(type));
  space = decode_address_operand(decoding, decoding.operand(first), space);
  if (space == Space::kConst || space == Space::kParam) decoding.fail("atomics need global or shared memory");
  decoding.instr.mode = static_cast<uint8_t>(space);
  decoding.instr.count = has_result ? 1 : 0;
  decoding.instr.b = decoding.source(first + 1, stored_type(type));
  for (const Row& row : kRows) {
    if (row.type != type || !decoding.accept(row.name)) continue;
    const bool cas = row.name == "cas";
    decoding.expect_operands(first + (cas ? 3 : 2), first + (cas ? 3 : 2));
    if (cas) decoding.instr.c = decoding.source(first + 2, stored_type(type));
    decoding.instr.run = row.run;
    return;
  }
}

constexpr OpcodeRow kOpcodes[] = {{"atom", decode}, {"red", decode}};

}  // namespace

std::span<const OpcodeRow> atomic_opcodes() { return kOpcodes; }

}  // namespace cuda_double
