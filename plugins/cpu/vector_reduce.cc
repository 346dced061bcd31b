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
constexpr int kRegisters = 4;

template <typename A>
constexpr int64_t kBlock = kRegisters* kLanes<A>;

template <typename A>
struct Block {
  Vector<A> part[kRegisters];
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
    static_assert(__is_same(M, float) && __is_same(A, double));
    for (int k = 0; k < kRegisters; ++k) block.part[k] = widen(load<HalfFloats>(values + k * kLanes<A>));
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

template <typename A, typename Op>
BACKPLANE_INLINE A sum_block(Block<A> sums) {
  for (int width = kRegisters / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) sums.part[k] = Op::many(sums.part[k], sums.part[k + width]);
  }
  A lanes[kLanes<A>];
  __builtin_memcpy(lanes, &sums.part[0], sizeof lanes);
  for (int64_t width = kLanes<A> / 2; width > 0; width /= 2) {
    for (int64_t k = 0; k < width; ++k) lanes[k] = Op::one(lanes[k], lanes[k + width]);
  }
  return lanes[0];
}

// Rows of `count` values each, read side by side.
template <typename Type, typename A, typename Op, int kRows>
BACKPLANE_INLINE void sum_rows(const typename Type::Memory* const (&rows)[kRows], int64_t count,
                               A* const (&results)[kRows]) {
  int64_t whole = 0;
  A firsts[kRows];
  for (int r = 0; r < kRows; ++r) firsts[r] = Op::template identity<A>();
  if (count >= kBlock<A>) {
    Block<A> sums[kRows];
    for (int r = 0; r < kRows; ++r) sums[r] = load_block<Type, A>(rows[r]);
    for (whole = kBlock<A>; whole + kBlock<A> <= count; whole += kBlock<A>) {
      for (int r = 0; r < kRows; ++r) {
        const Block<A> next = load_block<Type, A>(rows[r] + whole);
        for (int k = 0; k < kRegisters; ++k) sums[r].part[k] = Op::many(sums[r].part[k], next.part[k]);
      }
    }
    for (int r = 0; r < kRows; ++r) firsts[r] = sum_block<A, Op>(sums[r]);
  }
  for (int r = 0; r < kRows; ++r) {
    A rest = Op::template identity<A>();
    for (int64_t i = whole; i < count; ++i) rest = Op::one(rest, static_cast<A>(Type::load(rows[r][i])));
    *results[r] = Op::one(firsts[r], rest);
  }
}

template <typename Type, typename A, typename Op>
void sum_row(const void* memory, int64_t count, int64_t, void* accumulator, int64_t*) {
  sum_rows<Type, A, Op, 1>({static_cast<const typename Type::Memory*>(memory)}, count,
                           {static_cast<A*>(accumulator)});
}
template <typename Type, typename A, typename Op>
void sum_pair(const void* first, const void* second, int64_t count, void* first_sum, void* second_sum) {
  using M = typename Type::Memory;
  sum_rows<Type, A, Op, 2>({static_cast<const M*>(first), static_cast<const M*>(second)}, count,
                           {static_cast<A*>(first_sum), static_cast<A*>(second_sum)});
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

template <typename T>
constexpr bool kIsFloating = __is_same(T, float) || __is_same(T, double);

// Whether there was a NaN among all that was looked at. Of comparisons of vectors with themselves g++ 12
// makes several instructions of AVX-512 each.
template <typename A>
class Nans {
 public:
  BACKPLANE_INLINE void look([[maybe_unused]] Vector<A> a, [[maybe_unused]] Vector<A> b) {
    if constexpr (kIsFloating<A>) found_ |= unordered(a, b);
  }
  BACKPLANE_INLINE bool any() const { return is_any(found_); }

 private:
#if defined(__AVX512F__)
  using Found = uint32_t;  // a bit for each lane
  static BACKPLANE_INLINE bool is_any(Found found) { return found != 0; }
  static BACKPLANE_INLINE Found unordered(Vector<float> a, Vector<float> b) {
    return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), _CMP_UNORD_Q);
  }
  static BACKPLANE_INLINE Found unordered(Vector<double> a, Vector<double> b) {
    return _mm512_cmp_pd_mask(reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(b), _CMP_UNORD_Q);
  }
#else
  using Found = decltype(Vector<A>{} != Vector<A>{});
  static BACKPLANE_INLINE Found unordered(Vector<A> a, Vector<A> b) { return (a != a) | (b != b); }
  static BACKPLANE_INLINE bool is_any(Found found) {
    bool any = false;
    for (int64_t lane = 0; lane < kLanes<A>; ++lane) any = any || found[lane] != 0;
    return any;
  }
#endif
  Found found_{};
};

// Extremes. `better(a, b)` on numbers; NaN wins over all of them, and of zeros the maximum is +0, the minimum
// -0.
struct Greater {
  template <typename V>
  static BACKPLANE_INLINE V many(V a, V b) {
    return greater_of(a, b);
  }
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
  static BACKPLANE_INLINE V many(V a, V b) {
    return smaller_of(a, b);
  }
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

template <typename A, typename Order>
BACKPLANE_INLINE A best_of_block(Block<A> block) {
  for (int width = kRegisters / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) block.part[k] = Order::many(block.part[k], block.part[k + width]);
  }
  A lanes[kLanes<A>];
  store(lanes, block.part[0]);
  for (int64_t width = kLanes<A> / 2; width > 0; width /= 2) {
    for (int64_t k = 0; k < width; ++k)
      lanes[k] = Order::better(lanes[k], lanes[k + width]) ? lanes[k] : lanes[k + width];
  }
  return lanes[0];
}

// The extremes of rows of `count` values each, read side by side, but for the sign of zero. Whether any of
// them has a NaN, which makes the extremes worthless.
template <typename Type, typename A, typename Order, int kRows>
BACKPLANE_INLINE bool numeric_extremes(const typename Type::Memory* const (&rows)[kRows], int64_t count,
                                       A (&best)[kRows]) {
  bool has_nan = false;
  int64_t whole = 0;
  for (int r = 0; r < kRows; ++r) best[r] = static_cast<A>(Type::load(rows[r][0]));
  if (count >= kBlock<A>) {
    Block<A> bests[kRows];
    for (int r = 0; r < kRows; ++r) bests[r] = load_block<Type, A>(rows[r]);
    Nans<A> nans;
    for (int r = 0; r < kRows; ++r) {
      for (int k = 0; k < kRegisters; k += 2) nans.look(bests[r].part[k], bests[r].part[k + 1]);
    }
    for (whole = kBlock<A>; whole + kBlock<A> <= count; whole += kBlock<A>) {
      for (int r = 0; r < kRows; ++r) {
        const Block<A> next = load_block<Type, A>(rows[r] + whole);
        for (int k = 0; k < kRegisters; ++k) bests[r].part[k] = Order::many(bests[r].part[k], next.part[k]);
        for (int k = 0; k < kRegisters; k += 2) nans.look(next.part[k], next.part[k + 1]);
      }
    }
    for (int r = 0; r < kRows; ++r) best[r] = best_of_block<A, Order>(bests[r]);
    has_nan = nans.any();
  }
  for (int r = 0; r < kRows; ++r) {
    for (int64_t i = whole; i < count; ++i) {
      const A value = static_cast<A>(Type::load(rows[r][i]));
      best[r] = Order::better(best[r], value) ? best[r] : value;
      has_nan = has_nan || value != value;
    }
  }
  return has_nan;
}

template <typename Type, typename Predicate>
BACKPLANE_INLINE int64_t find_first(const typename Type::Memory* values, int64_t count, Predicate predicate) {
  for (int64_t i = 0; i < count; ++i) {
    if (predicate(Type::load(values[i]))) return i;
  }
  return count;
}

// `best` of a row without NaN, with the sign of its zeros.
template <typename Type, typename A, typename Order>
BACKPLANE_INLINE A with_zeros_sign(const typename Type::Memory* values, int64_t count, A best) {
  if constexpr (kIsFloating<A>) {
    if (best == 0) {
      const bool wanted = Order::kZeroIsNegative;
      const bool found = find_first<Type>(values, count, [=](A value) {
                           return value == 0 && is_negative(value) == wanted;
                         }) < count;
      return found == wanted ? -A(0) : A(0);
    }
  }
  return best;
}

template <typename Type, typename A, typename Order>
void extreme_row(const void* memory, int64_t count, int64_t, void* accumulator, int64_t*) {
  const auto* const values = static_cast<const typename Type::Memory*>(memory);
  A best[1];
  const bool has_nan = numeric_extremes<Type, A, Order, 1>({values}, count, best);
  *static_cast<A*>(accumulator) = kIsFloating<A> && has_nan
                                      ? static_cast<A>(__builtin_nan(""))
                                      : with_zeros_sign<Type, A, Order>(values, count, best[0]);
}
template <typename Type, typename A, typename Order>
void extreme_pair(const void* first, const void* second, int64_t count, void* first_best, void* second_best) {
  using M = typename Type::Memory;
  const M* const rows[2] = {static_cast<const M*>(first), static_cast<const M*>(second)};
  A best[2];
  if (numeric_extremes<Type, A, Order, 2>(rows, count, best)) {
    extreme_row<Type, A, Order>(first, count, 0, first_best, nullptr);
    extreme_row<Type, A, Order>(second, count, 0, second_best, nullptr);
    return;
  }
  *static_cast<A*>(first_best) = with_zeros_sign<Type, A, Order>(rows[0], count, best[0]);
  *static_cast<A*>(second_best) = with_zeros_sign<Type, A, Order>(rows[1], count, best[1]);
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
  A best[1];
  const bool has_nan = numeric_extremes<Type, A, Order, 1>({values}, count, best);
  const int64_t at = has_nan ? find_first<Type>(values, count, [](A value) { return value != value; })
                             : find_first<Type>(values, count, [&](A value) { return value == best[0]; });
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
constexpr ReduceLoops kIntegerSum = {sizeof(M),
                                     sum_row<Plain<M, M>, M, Op>,
                                     sum_pair<Plain<M, M>, M, Op>,
                                     start<Plain<M, M>, M>,
                                     add<Plain<M, M>, M, Op>,
                                     combine<M, Op>,
                                     finish<M, M, keep<M>>};

template <typename Type, auto kStore, typename Op>
constexpr ReduceLoops kFloatSum = {sizeof(double),
                                   sum_row<Type, double, Op>,
                                   sum_pair<Type, double, Op>,
                                   start<Type, double>,
                                   add<Type, double, Op>,
                                   combine<double, Op>,
                                   finish<typename Type::Memory, double, kStore>};

template <typename Type, typename A, auto kStore, typename Order>
constexpr ReduceLoops kExtreme = {sizeof(A),
                                  extreme_row<Type, A, Order>,
                                  extreme_pair<Type, A, Order>,
                                  start<Type, A>,
                                  extreme_add<Type, A, Order>,
                                  extreme_combine<A, Order>,
                                  finish<typename Type::Memory, A, kStore>};

template <typename Type, typename A, typename Order>
constexpr ReduceLoops kPosition = {sizeof(A),      position_row<Type, A, Order>, nullptr,
                                   start<Type, A>, position_add<Type, A, Order>, position_combine<A, Order>,
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
