// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set; see isa.h for what that forbids.
#include "cpu/vector_rowwise.h"

#include "cpu/vector_exp.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

// Values whose sum is made in the type itself before it goes into a double: few enough that little is lost.
constexpr int64_t kRun = 512;

template <typename T>
BACKPLANE_INLINE T lanes_sum(Vector<T> v) {
  T lanes[kLanes<T>];
  store(lanes, v);
  for (int64_t width = kLanes<T> / 2; width > 0; width /= 2) {
    for (int64_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

// The last lanes of a row, the rest `fill`.
template <typename T>
BACKPLANE_INLINE Vector<T> load_some(const T* values, int64_t count, T fill) {
  T lanes[kLanes<T>];
  for (int64_t i = 0; i < kLanes<T>; ++i) lanes[i] = i < count ? values[i] : fill;
  return load<Vector<T>>(lanes);
}
template <typename T>
BACKPLANE_INLINE void store_some(T* out, Vector<T> value, int64_t count) {
  T lanes[kLanes<T>];
  store(lanes, value);
  for (int64_t i = 0; i < count; ++i) out[i] = lanes[i];
}

// The greatest; whether a NaN is passed over is no matter, for it makes the sum NaN.
template <typename T>
BACKPLANE_INLINE T greatest(const T* x, int64_t count) {
  using V = Vector<T>;
  constexpr int64_t lanes = kLanes<T>;
  T best = x[0];
  int64_t i = 0;
  if (count >= 4 * lanes) {
    V parts[4];
    for (int k = 0; k < 4; ++k) parts[k] = load<V>(x + k * lanes);
    for (i = 4 * lanes; i + 4 * lanes <= count; i += 4 * lanes) {
      for (int k = 0; k < 4; ++k) {
        const V next = load<V>(x + i + k * lanes);
        parts[k] = parts[k] > next ? parts[k] : next;
      }
    }
    for (int k = 0; k < 4; ++k) {
      for (int64_t lane = 0; lane < lanes; ++lane) best = best > parts[k][lane] ? best : parts[k][lane];
    }
  }
  for (; i < count; ++i) best = best > x[i] ? best : x[i];
  return best;
}

// Sum of e^(x - shift); with kStore each goes to `out`.
template <typename T, bool kStore>
BACKPLANE_INLINE double sum_exp(const T* x, T* out, int64_t count, T shift) {
  using V = Vector<T>;
  constexpr int64_t lanes = kLanes<T>;
  const V shifts = broadcast(shift);
  double total = 0;
  int64_t i = 0;
  while (i + lanes <= count) {
    const int64_t stop = i + kRun < count ? i + kRun : count;
    V sums[2] = {V{}, V{}};
    for (; i + 2 * lanes <= stop; i += 2 * lanes) {
      for (int k = 0; k < 2; ++k) {
        const V e = exp_of<T>(load<V>(x + i + k * lanes) - shifts);
        sums[k] += e;
        if (kStore) store(out + i + k * lanes, e);
      }
    }
    if (i + lanes <= stop) {
      const V e = exp_of<T>(load<V>(x + i) - shifts);
      sums[0] += e;
      if (kStore) store(out + i, e);
      i += lanes;
    }
    total += static_cast<double>(lanes_sum<T>(sums[0] + sums[1]));
  }
  if (i < count) {
    const int64_t rest = count - i;
    const V e = exp_of<T>(load_some<T>(x + i, rest, T(0)) - shifts);
    if (kStore) store_some(out + i, e, rest);
    for (int64_t k = 0; k < rest; ++k) total += static_cast<double>(e[k]);
  }
  return total;
}

template <typename T>
void softmax(const void* values, void* result, int64_t count, const void*, const void*, double) {
  const auto* const x = static_cast<const T*>(values);
  auto* const out = static_cast<T*>(result);
  const double total = sum_exp<T, true>(x, out, count, greatest(x, count));
  const T factor = static_cast<T>(1.0 / total);
  for (int64_t i = 0; i < count; ++i) out[i] *= factor;
}

template <typename T>
void log_softmax(const void* values, void* result, int64_t count, const void*, const void*, double) {
  const auto* const x = static_cast<const T*>(values);
  auto* const out = static_cast<T*>(result);
  const T shift = greatest(x, count);
  const T log_total = static_cast<T>(__builtin_log(sum_exp<T, false>(x, nullptr, count, shift)));
  for (int64_t i = 0; i < count; ++i) out[i] = (x[i] - shift) - log_total;
}

// Sums in double, so that squares neither overflow nor vanish; run by run, so that those of doubles lose
// little.
template <typename T, typename Term>
BACKPLANE_INLINE double sum_terms(const T* x, int64_t count, Term term) {
  using D = Vector<double>;
  typedef T Narrow __attribute__((vector_size(kLanes<double> * sizeof(T))));
  constexpr int64_t lanes = kLanes<double>;
  double total = 0;
  int64_t i = 0;
  while (i + 4 * lanes <= count) {
    const int64_t stop = i + kRun < count ? i + kRun : count;
    D sums[4] = {D{}, D{}, D{}, D{}};
    for (; i + 4 * lanes <= stop; i += 4 * lanes) {
      for (int k = 0; k < 4; ++k) {
        sums[k] += term(__builtin_convertvector(load<Narrow>(x + i + k * lanes), D));
      }
    }
    total += lanes_sum<double>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
  for (; i < count; ++i) total += term(static_cast<double>(x[i]));
  return total;
}

template <typename T>
BACKPLANE_INLINE void scale(const T* x, T* out, int64_t count, T shift, T factor, const T* weight,
                            const T* bias) {
  if (weight != nullptr && bias != nullptr) {
    for (int64_t i = 0; i < count; ++i) out[i] = (x[i] - shift) * factor * weight[i] + bias[i];
  } else if (weight != nullptr) {
    for (int64_t i = 0; i < count; ++i) out[i] = (x[i] - shift) * factor * weight[i];
  } else if (bias != nullptr) {
    for (int64_t i = 0; i < count; ++i) out[i] = (x[i] - shift) * factor + bias[i];
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = (x[i] - shift) * factor;
  }
}

template <typename T>
void layer_norm(const void* values, void* result, int64_t count, const void* weight, const void* bias,
                double epsilon) {
  const auto* const x = static_cast<const T*>(values);
  const double mean = sum_terms(x, count, [](auto v) { return v; }) / static_cast<double>(count);
  const double variance =
      sum_terms(x, count, [=](auto v) { return (v - mean) * (v - mean); }) / static_cast<double>(count);
  const double factor = 1.0 / __builtin_sqrt(variance + epsilon);
  scale(x, static_cast<T*>(result), count, static_cast<T>(mean), static_cast<T>(factor),
        static_cast<const T*>(weight), static_cast<const T*>(bias));
}

template <typename T>
void rms_norm(const void* values, void* result, int64_t count, const void* weight, const void* bias,
              double epsilon) {
  const auto* const x = static_cast<const T*>(values);
  const double mean_square = sum_terms(x, count, [](auto v) { return v * v; }) / static_cast<double>(count);
  const double factor = 1.0 / __builtin_sqrt(mean_square + epsilon);
  scale(x, static_cast<T*>(result), count, T(0), static_cast<T>(factor), static_cast<const T*>(weight),
        static_cast<const T*>(bias));
}

}  // namespace

const RowwiseTable rowwise_table = {
    {softmax<float>, log_softmax<float>, layer_norm<float>, rms_norm<float>},
    {softmax<double>, log_softmax<double>, layer_norm<double>, rms_norm<double>}};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
