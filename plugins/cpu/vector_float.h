// SPDX-License-Identifier: Apache-2.0
//
// The loops of float or double (BACKPLANE_FLOAT), made from the rows of formulas_float.def. Included once, by
// the file that exports them as table `BACKPLANE_FLOAT_TABLE` of type `BACKPLANE_FLOAT_DTYPE`.
#include "cpu/vector_loops.h"
#include "cpu/vector_math.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

#define BP_JOIN(prefix, suffix) prefix##suffix
#define BP_NAME(prefix, suffix) BP_JOIN(prefix, suffix)
#define BP(name) bp_##name##_v
#define BP_MATH(name) bpm_##name##_v
#define BP_T Reals
#define BP_BITS(value) ((Wholes)(value))
#define BP_FROM_BITS(bits) ((Reals)(bits))
// x - 0 is x for every x, -0 too.
#define BP_C(value) ((Real)(value)-Reals{})
#if BACKPLANE_FLOAT == 32
#define BP_ABS_MASK (0x7fffffff - Wholes{})
#else
#define BP_ABS_MASK (0x7fffffffffffffffL - Wholes{})
#endif
#define BP_SIGN_MASK (~BP_ABS_MASK)
#define BP_ONE_BIT (Whole(1) - Wholes{})

// The formulas, on whole vectors.
#define BACKPLANE_EXACT_1(name, expression) \
  BP_FN Reals BP(name)(Reals a) { return (expression); }
#define BACKPLANE_EXACT_2(name, expression) \
  BP_FN Reals BP(name)(Reals a, Reals b) { return (expression); }
#define BACKPLANE_EXACT_3(name, expression) \
  BP_FN Reals BP(name)(Reals a, Reals b, Reals c) { return (expression); }
#define BACKPLANE_TRUTH_1(name, expression)
#define BACKPLANE_SAME_1 BACKPLANE_EXACT_1
#define BACKPLANE_SAME_2 BACKPLANE_EXACT_2
#define BACKPLANE_SAME_3 BACKPLANE_EXACT_3
#define BACKPLANE_GRID_2 BACKPLANE_EXACT_2
#define BACKPLANE_HELPER_1 BACKPLANE_EXACT_1
#define BACKPLANE_HELPER_2 BACKPLANE_EXACT_2
#define BACKPLANE_HELPER_3 BACKPLANE_EXACT_3
#include "backplane/kernels/formulas_float.def"
#undef BACKPLANE_EXACT_1
#undef BACKPLANE_EXACT_2
#undef BACKPLANE_EXACT_3
#undef BACKPLANE_SAME_1
#undef BACKPLANE_SAME_2
#undef BACKPLANE_SAME_3
#undef BACKPLANE_GRID_2
#undef BACKPLANE_HELPER_1
#undef BACKPLANE_HELPER_2
#undef BACKPLANE_HELPER_3

// The first `count` lanes; the others are 1, on which no function does anything special.
BACKPLANE_INLINE Reals load_part(const void* address, int64_t count) {
  Reals value = BP_C(1.0);
  for (int64_t i = 0; i < count; ++i) value[i] = static_cast<const Real*>(address)[i];
  return value;
}
BACKPLANE_INLINE void store_part(void* address, Reals value, int64_t count) {
  for (int64_t i = 0; i < count; ++i) static_cast<Real*>(address)[i] = value[i];
}

// One argument of a loop: an array, or a splat that every load repeats.
struct Source {
  const char* address;
  int64_t step;  // bytes from vector to vector
};
BACKPLANE_INLINE Source source(const void* address, int64_t step) {
  return {static_cast<const char*>(address), step * kVectorBytes};
}
BACKPLANE_INLINE Reals next(Source& s) {
  const Reals value = load<Reals>(s.address);
  s.address += s.step;
  return value;
}
BACKPLANE_INLINE Reals last(const Source& s, int64_t count) {
  return s.step == 0 ? load<Reals>(s.address) : load_part(s.address, count);
}

// kPast: past the caches, to a multiple of kVectorBytes.
template <bool kPast>
BACKPLANE_INLINE void put(char* address, Reals value) {
  if constexpr (kPast) {
    stream_store(address, value);
  } else {
    store(address, value);
  }
}

template <bool kPast, typename Function>
BACKPLANE_INLINE void map_1(void* out, const void* const* in, const int64_t* step, int64_t n,
                            Function function) {
  Source a = source(in[0], step[0]);
  char* to = static_cast<char*>(out);
  for (; n >= kLanes<Real>; n -= kLanes<Real>, to += kVectorBytes) put<kPast>(to, function(next(a)));
  if (n > 0) store_part(to, function(last(a, n)), n);
}
template <bool kPast, typename Function>
BACKPLANE_INLINE void map_2(void* out, const void* const* in, const int64_t* step, int64_t n,
                            Function function) {
  Source a = source(in[0], step[0]), b = source(in[1], step[1]);
  char* to = static_cast<char*>(out);
  for (; n >= kLanes<Real>; n -= kLanes<Real>, to += kVectorBytes) {
    const Reals x = next(a), y = next(b);
    put<kPast>(to, function(x, y));
  }
  if (n > 0) store_part(to, function(last(a, n), last(b, n)), n);
}
template <bool kPast, typename Function>
BACKPLANE_INLINE void map_3(void* out, const void* const* in, const int64_t* step, int64_t n,
                            Function function) {
  Source a = source(in[0], step[0]), b = source(in[1], step[1]), c = source(in[2], step[2]);
  char* to = static_cast<char*>(out);
  for (; n >= kLanes<Real>; n -= kLanes<Real>, to += kVectorBytes) {
    const Reals x = next(a), y = next(b), z = next(c);
    put<kPast>(to, function(x, y, z));
  }
  if (n > 0) store_part(to, function(last(a, n), last(b, n), last(c, n)), n);
}

#define BACKPLANE_LOOP(name) \
  template <bool kPast>      \
  void loop_##name(void* out, const void* const* in, const int64_t* step, int64_t n)
#define BACKPLANE_EXACT_1(name, expression)                              \
  BACKPLANE_LOOP(name) {                                                 \
    map_1<kPast>(out, in, step, n, [](Reals a) { return BP(name)(a); }); \
  }
#define BACKPLANE_EXACT_2(name, expression)                                          \
  BACKPLANE_LOOP(name) {                                                             \
    map_2<kPast>(out, in, step, n, [](Reals a, Reals b) { return BP(name)(a, b); }); \
  }
#define BACKPLANE_EXACT_3(name, expression)                                                      \
  BACKPLANE_LOOP(name) {                                                                         \
    map_3<kPast>(out, in, step, n, [](Reals a, Reals b, Reals c) { return BP(name)(a, b, c); }); \
  }
#define BACKPLANE_SAME_1 BACKPLANE_EXACT_1
#define BACKPLANE_SAME_2 BACKPLANE_EXACT_2
#define BACKPLANE_SAME_3 BACKPLANE_EXACT_3
#define BACKPLANE_GRID_2 BACKPLANE_EXACT_2
#define BACKPLANE_HELPER_1(name, expression)
#define BACKPLANE_HELPER_2(name, expression)
#define BACKPLANE_HELPER_3(name, expression)
#include "backplane/kernels/formulas_float.def"
#undef BACKPLANE_EXACT_1
#undef BACKPLANE_EXACT_2
#undef BACKPLANE_EXACT_3
#undef BACKPLANE_SAME_1
#undef BACKPLANE_SAME_2
#undef BACKPLANE_SAME_3
#undef BACKPLANE_GRID_2

#define BACKPLANE_ROW(name, flags)                                                            \
  {plugin::ScalarOp::name, plugin::DType::BACKPLANE_FLOAT_DTYPE, (flags), loop_##name<false>, \
   loop_##name<true>},
#define BACKPLANE_EXACT_1(name, expression) BACKPLANE_ROW(name, kLoopTakesSplat | kLoopIsExact)
#define BACKPLANE_EXACT_2 BACKPLANE_EXACT_1
#define BACKPLANE_EXACT_3 BACKPLANE_EXACT_1
#define BACKPLANE_SAME_1(name, expression) BACKPLANE_ROW(name, kLoopTakesSplat)
#define BACKPLANE_SAME_2 BACKPLANE_SAME_1
#define BACKPLANE_SAME_3 BACKPLANE_SAME_1
#define BACKPLANE_GRID_2 BACKPLANE_SAME_1
constexpr Loop kRows[] = {
#include "backplane/kernels/formulas_float.def"
};

}  // namespace

const LoopTable BACKPLANE_FLOAT_TABLE = {kRows, static_cast<int>(sizeof kRows / sizeof kRows[0])};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
