// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set; see isa.h for what that forbids.
#include "cpu/vector_reduce.h"

#include "backplane/kernels/reduce.h"
#include "cpu/vector.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

// How values of a type lie in memory, and what they are combined in.
template <typename M, typename R>
struct Plain {
  using Memory = M;
  using Register = R;
  static BACKPLANE_INLINE R load(M value) { return value; }
};
struct Float16 : Plain<uint16_t, float> {
  static BACKPLANE_INLINE float load(uint16_t value) { return bp_load_f16(value); }
};
struct BFloat16 : Plain<uint16_t, float> {
  static BACKPLANE_INLINE float load(uint16_t value) { return bp_load_bf16(value); }
};

// Blocks of registers: a row is combined in kRegisters of them side by side, which hides the latency of one.
constexpr int kRegisters = 8;

template <typename A>
constexpr int64_t kBlock = kRegisters* kLanes<A>;

template <typename A>
struct Block {
  Vector<A> part[kRegisters];
};

template <typename F, typename T>
struct ConvertedBlock {
  using from __attribute__((vector_size(kLanes<T> * sizeof(F)))) = F;
};

// kBlock values, converted. The compilers turn the lane loops of float16 and bfloat16 into vector code.
template <typename Type, typename A>
BACKPLANE_INLINE Block<A> load_block(const typename Type::Memory* values) {
  using M = typename Type::Memory;
  using R = typename Type::Register;
  Block<A> block;
  if constexpr (__is_same(M, A)) {
    for (int k = 0; k < kRegisters; ++k) block.part[k] = load<Vector<A>>(values + k * kLanes<A>);
  } else if constexpr (__is_same(M, R)) {
    using V = typename ConvertedBlock<M, A>::from;
    for (int k = 0; k < kRegisters; ++k) {
      block.part[k] = __builtin_convertvector(load<V>(values + k * kLanes<A>), Vector<A>);
    }
  } else {
    R converted[kBlock<A>];
    for (int64_t i = 0; i < kBlock<A>; ++i) converted[i] = Type::load(values[i]);
    return load_block<Plain<R, R>, A>(converted);
  }
  return block;
}

// Combining, of single values (`one`) and of registers (`many`).
struct Sum {
  template <typename A>
  static BACKPLANE_INLINE A identity() {
    return A(0);
  }
  template <typename A>
  static BACKPLANE_INLINE A one(A a, A b) {
    return static_cast<A>(a + b);
  }
  template <typename V>
  static BACKPLANE_INLINE V many(V a, V b) {
    return a + b;
  }
};
struct Prod {
  template <typename A>
  static BACKPLANE_INLINE A identity() {
    return A(1);
  }
  template <typename A>
  static BACKPLANE_INLINE A one(A a, A b) {
    // 16-bit unsigned integers would overflow as int.
    if constexpr (__is_same(A, uint16_t)) return static_cast<A>(1u * a * b);
    return static_cast<A>(a * b);
  }
  template <typename V>
  static BACKPLANE_INLINE V many(V a, V b) {
    return a * b;
  }
};

template <typename Type, typename A, typename Op>
void sum_row(const void* memory, int64_t count, int64_t, void* accumulator, int64_t*) {
  const auto* const values = static_cast<const typename Type::Memory*>(memory);
  A result = Op::template identity<A>();
  int64_t i = 0;
  if (count >= kBlock<A>) {
    Block<A> sums = load_block<Type, A>(values);
    for (i = kBlock<A>; i + kBlock<A> <= count; i += kBlock<A>) {
      const Block<A> next = load_block<Type, A>(values + i);
      for (int k = 0; k < kRegisters; ++k) sums.part[k] = Op::many(sums.part[k], next.part[k]);
    }
    for (int width = kRegisters / 2; width > 0; width /= 2) {
      for (int k = 0; k < width; ++k) sums.part[k] = Op::many(sums.part[k], sums.part[k + width]);
    }
    A lanes[kLanes<A>];
    __builtin_memcpy(lanes, &sums.part[0], sizeof lanes);
    for (int64_t width = kLanes<A> / 2; width > 0; width /= 2) {
      for (int64_t k = 0; k < width; ++k) lanes[k] = Op::one(lanes[k], lanes[k + width]);
    }
    result = lanes[0];
  }
  A rest = Op::template identity<A>();
  for (; i < count; ++i) rest = Op::one(rest, static_cast<A>(Type::load(values[i])));
  *static_cast<A*>(accumulator) = Op::one(result, rest);
}

template <typename Type, typename A>
void start(const void* memory, int64_t count, int64_t first, void* accumulators, int64_t* positions) {
  const auto* const values = static_cast<const typename Type::Memory*>(memory);
  auto* const out = static_cast<A*>(accumulators);
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<A>(Type::load(values[i]));
  for (int64_t i = 0; positions != nullptr && i < count; ++i) positions[i] = first;
}

template <typename Type, typename A, typename Op>
void add(const void* memory, int64_t count, int64_t, void* accumulators, int64_t*) {
  const auto* const values = static_cast<const typename Type::Memory*>(memory);
  auto* const out = static_cast<A*>(accumulators);
  for (int64_t i = 0; i < count; ++i) out[i] = Op::one(out[i], static_cast<A>(Type::load(values[i])));
}

template <typename A, typename Op>
void combine(void* accumulators, int64_t*, const void* others, const int64_t*, int64_t count) {
  auto* const out = static_cast<A*>(accumulators);
  const auto* const in = static_cast<const A*>(others);
  for (int64_t i = 0; i < count; ++i) out[i] = Op::one(out[i], in[i]);
}

template <typename M, typename A, M (*kStore)(A)>
void finish(const void* accumulators, const int64_t*, int64_t count, void* results) {
  const auto* const in = static_cast<const A*>(accumulators);
  auto* const out = static_cast<M*>(results);
  for (int64_t i = 0; i < count; ++i) out[i] = kStore(in[i]);
}

void finish_position(const void*, const int64_t* positions, int64_t count, void* results) {
  __builtin_memcpy(results, positions, static_cast<size_t>(count) * sizeof(int64_t));
}

template <typename T>
T keep(T value) {
  return value;
}
float float32_of(double value) { return static_cast<float>(value); }
uint16_t float16_of(double value) { return bp_store_f16(bp_cast_f64_f16(value)); }
uint16_t bfloat16_of(double value) { return bp_store_bf16(bp_cast_f64_bf16(value)); }
uint16_t float16_of_float(float value) { return bp_store_f16(value); }
uint16_t bfloat16_of_float(float value) { return bp_store_bf16(value); }

// Extremes. `better(a, b)` on numbers; NaN wins over all of them, and of zeros the maximum is +0, the minimum
// -0.
struct Greater {
  template <typename V>
  static BACKPLANE_INLINE auto better(V a, V b) {
    return a > b;
  }
  template <typename T>
  static BACKPLANE_INLINE bool takes(T a, int64_t i, T b, int64_t j) {
    return ((b > a) | ((b != b) & (a == a)) | (((a == b) | ((a != a) & (b != b))) & (j < i))) != 0;
  }
  static constexpr bool kZeroIsNegative = false;
};
struct Smaller {
  template <typename V>
  static BACKPLANE_INLINE auto better(V a, V b) {
    return a < b;
  }
  template <typename T>
  static BACKPLANE_INLINE bool takes(T a, int64_t i, T b, int64_t j) {
    return ((b < a) | ((b != b) & (a == a)) | (((a == b) | ((a != a) & (b != b))) & (j < i))) != 0;
  }
  static constexpr bool kZeroIsNegative = true;
};

template <typename T>
constexpr bool kIsFloating = __is_same(T, float) || __is_same(T, double);

BACKPLANE_INLINE bool is_negative(float value) { return bp_bits_f32(value) < 0; }
BACKPLANE_INLINE bool is_negative(double value) { return bp_bits_f64(value) < 0; }

// The better of two, exactly.
template <typename A, typename Order>
BACKPLANE_INLINE A extreme(A a, A b) {
  if constexpr (kIsFloating<A>) {
    if (a != a) return a;
    if (b != b) return b;
    if (a == 0 && b == 0) return is_negative(a) == Order::kZeroIsNegative ? a : b;
  }
  return Order::better(a, b) ? a : b;
}

// The extreme of a row but for the sign of zero, and whether there is a NaN.
template <typename Type, typename A, typename Order>
BACKPLANE_INLINE A numeric_extreme(const typename Type::Memory* values, int64_t count, bool& has_nan) {
  A best = static_cast<A>(Type::load(values[0]));
  has_nan = best != best;
  int64_t i = 0;
  if (count >= kBlock<A>) {
    Block<A> bests = load_block<Type, A>(values);
    auto nans = bests.part[0] != bests.part[0];
    for (int k = 1; k < kRegisters; ++k) nans |= bests.part[k] != bests.part[k];
    for (i = kBlock<A>; i + kBlock<A> <= count; i += kBlock<A>) {
      const Block<A> next = load_block<Type, A>(values + i);
      for (int k = 0; k < kRegisters; ++k) {
        bests.part[k] = Order::better(bests.part[k], next.part[k]) ? bests.part[k] : next.part[k];
        if constexpr (kIsFloating<A>) nans |= next.part[k] != next.part[k];
      }
    }
    for (int k = 0; k < kRegisters; ++k) {
      for (int64_t lane = 0; lane < kLanes<A>; ++lane) {
        const A value = bests.part[k][lane];
        best = Order::better(best, value) ? best : value;
      }
    }
    for (int64_t lane = 0; lane < kLanes<A>; ++lane) has_nan = has_nan || nans[lane] != 0;
  }
  for (; i < count; ++i) {
    const A value = static_cast<A>(Type::load(values[i]));
    best = Order::better(best, value) ? best : value;
    has_nan = has_nan || value != value;
  }
  return best;
}

template <typename Type, typename Predicate>
BACKPLANE_INLINE int64_t find_first(const typename Type::Memory* values, int64_t count, Predicate predicate) {
  for (int64_t i = 0; i < count; ++i) {
    if (predicate(Type::load(values[i]))) return i;
  }
  return count;
}

template <typename Type, typename A, typename Order>
void extreme_row(const void* memory, int64_t count, int64_t, void* accumulator, int64_t*) {
  const auto* const values = static_cast<const typename Type::Memory*>(memory);
  bool has_nan = false;
  A best = numeric_extreme<Type, A, Order>(values, count, has_nan);
  if constexpr (kIsFloating<A>) {
    if (has_nan) {
      best = static_cast<A>(__builtin_nan(""));
    } else if (best == 0) {
      const bool wanted = Order::kZeroIsNegative;
      const bool found = find_first<Type>(values, count, [=](A value) {
                           return value == 0 && is_negative(value) == wanted;
                         }) < count;
      best = found == wanted ? -A(0) : A(0);
    }
  }
  *static_cast<A*>(accumulator) = best;
}

template <typename Type, typename A, typename Order>
void extreme_add(const void* memory, int64_t count, int64_t, void* accumulators, int64_t*) {
  const auto* const values = static_cast<const typename Type::Memory*>(memory);
  auto* const out = static_cast<A*>(accumulators);
  for (int64_t i = 0; i < count; ++i)
    out[i] = extreme<A, Order>(out[i], static_cast<A>(Type::load(values[i])));
}

template <typename A, typename Order>
void extreme_combine(void* accumulators, int64_t*, const void* others, const int64_t*, int64_t count) {
  auto* const out = static_cast<A*>(accumulators);
  const auto* const in = static_cast<const A*>(others);
  for (int64_t i = 0; i < count; ++i) out[i] = extreme<A, Order>(out[i], in[i]);
}

// Two passes: what the extreme is, then where it is first. The second stops early, and finds the row in the
// cache.
template <typename Type, typename A, typename Order>
void position_row(const void* memory, int64_t count, int64_t first, void* accumulator, int64_t* position) {
  const auto* const values = static_cast<const typename Type::Memory*>(memory);
  bool has_nan = false;
  const A best = numeric_extreme<Type, A, Order>(values, count, has_nan);
  const int64_t at = has_nan ? find_first<Type>(values, count, [](A value) { return value != value; })
                             : find_first<Type>(values, count, [=](A value) { return value == best; });
  *static_cast<A*>(accumulator) = static_cast<A>(Type::load(values[at]));
  *position = first + at;
}

template <typename Type, typename A, typename Order>
void position_add(const void* memory, int64_t count, int64_t at, void* accumulators, int64_t* positions) {
  const auto* const values = static_cast<const typename Type::Memory*>(memory);
  auto* const out = static_cast<A*>(accumulators);
  for (int64_t i = 0; i < count; ++i) {
    const A value = static_cast<A>(Type::load(values[i]));
    const bool takes = Order::takes(out[i], positions[i], value, at);
    out[i] = takes ? value : out[i];
    positions[i] = takes ? at : positions[i];
  }
}

template <typename A, typename Order>
void position_combine(void* accumulators, int64_t* positions, const void* others,
                      const int64_t* other_positions, int64_t count) {
  auto* const out = static_cast<A*>(accumulators);
  const auto* const in = static_cast<const A*>(others);
  for (int64_t i = 0; i < count; ++i) {
    const bool takes = Order::takes(out[i], positions[i], in[i], other_positions[i]);
    out[i] = takes ? in[i] : out[i];
    positions[i] = takes ? other_positions[i] : positions[i];
  }
}

// Of signed integers too: they are added as unsigned ones, which wrap.
template <typename M, typename Op>
constexpr ReduceLoops kIntegerSum = {
    sizeof(M),      sum_row<Plain<M, M>, M, Op>, start<Plain<M, M>, M>, add<Plain<M, M>, M, Op>,
    combine<M, Op>, finish<M, M, keep<M>>};

template <typename Type, auto kStore, typename Op>
constexpr ReduceLoops kFloatSum = {sizeof(double),      sum_row<Type, double, Op>,
                                   start<Type, double>, add<Type, double, Op>,
                                   combine<double, Op>, finish<typename Type::Memory, double, kStore>};

template <typename Type, typename A, auto kStore, typename Order>
constexpr ReduceLoops kExtreme = {sizeof(A),
                                  extreme_row<Type, A, Order>,
                                  start<Type, A>,
                                  extreme_add<Type, A, Order>,
                                  extreme_combine<A, Order>,
                                  finish<typename Type::Memory, A, kStore>};

template <typename Type, typename A, typename Order>
constexpr ReduceLoops kPosition = {sizeof(A),
                                   position_row<Type, A, Order>,
                                   start<Type, A>,
                                   position_add<Type, A, Order>,
                                   position_combine<A, Order>,
                                   finish_position};

constexpr ReduceLoops kNone = {};

template <typename T>
using Same = Plain<T, T>;

}  // namespace

// clang-format off
#define BACKPLANE_SUMS(Op)                                                                                      \
  {kNone, kIntegerSum<uint8_t, Op>, kIntegerSum<uint16_t, Op>, kIntegerSum<uint32_t, Op>, kIntegerSum<uint64_t, Op>, \
   kIntegerSum<uint8_t, Op>, kIntegerSum<uint16_t, Op>, kIntegerSum<uint32_t, Op>, kIntegerSum<uint64_t, Op>,     \
   kFloatSum<Float16, float16_of, Op>, kFloatSum<BFloat16, bfloat16_of, Op>,                                     \
   kFloatSum<Same<float>, float32_of, Op>, kFloatSum<Same<double>, keep<double>, Op>}
#define BACKPLANE_EXTREME(T, Order) kExtreme<Same<T>, T, keep<T>, Order>
#define BACKPLANE_EXTREMES(Order)                                                                               \
  {BACKPLANE_EXTREME(uint8_t, Order), BACKPLANE_EXTREME(int8_t, Order), BACKPLANE_EXTREME(int16_t, Order),       \
   BACKPLANE_EXTREME(int32_t, Order), BACKPLANE_EXTREME(int64_t, Order), BACKPLANE_EXTREME(uint8_t, Order),      \
   BACKPLANE_EXTREME(uint16_t, Order), BACKPLANE_EXTREME(uint32_t, Order), BACKPLANE_EXTREME(uint64_t, Order),   \
   kExtreme<Float16, float, float16_of_float, Order>, kExtreme<BFloat16, float, bfloat16_of_float, Order>,       \
   BACKPLANE_EXTREME(float, Order), BACKPLANE_EXTREME(double, Order)}
#define BACKPLANE_POSITIONS(Order)                                                                              \
  {kPosition<Same<uint8_t>, uint8_t, Order>, kPosition<Same<int8_t>, int8_t, Order>,                             \
   kPosition<Same<int16_t>, int16_t, Order>, kPosition<Same<int32_t>, int32_t, Order>,                           \
   kPosition<Same<int64_t>, int64_t, Order>, kPosition<Same<uint8_t>, uint8_t, Order>,                           \
   kPosition<Same<uint16_t>, uint16_t, Order>, kPosition<Same<uint32_t>, uint32_t, Order>,                       \
   kPosition<Same<uint64_t>, uint64_t, Order>, kPosition<Float16, float, Order>,                                 \
   kPosition<BFloat16, float, Order>, kPosition<Same<float>, float, Order>, kPosition<Same<double>, double, Order>}

const ReduceTable reduce_table = {{
    BACKPLANE_SUMS(Sum), BACKPLANE_SUMS(Prod), BACKPLANE_EXTREMES(Greater), BACKPLANE_EXTREMES(Smaller),
    BACKPLANE_POSITIONS(Greater), BACKPLANE_POSITIONS(Smaller)}};
// clang-format on

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
