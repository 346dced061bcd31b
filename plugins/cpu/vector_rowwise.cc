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
  const int64_t lanes = kLanes<T>;
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
  const int64_t lanes = kLanes<T>;
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
  using Narrow __attribute__((vector_size(kLanes<double> * sizeof(T)))) = T;
  const int64_t lanes = kLanes<double>;
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

// Calls function(first lane, count) for whole registers of a strip's lanes and then for what is left.
template <typename T, typename Function>
BACKPLANE_INLINE void each_register(int64_t lanes, Function function) {
  int64_t j = 0;
  for (; j + kLanes<T> <= lanes; j += kLanes<T>) function(j, kLanes<T>);
  if (j < lanes) function(j, lanes - j);
}
template <typename T>
BACKPLANE_INLINE Vector<T> load_lanes(const T* values, int64_t count) {
  return count == kLanes<T> ? load<Vector<T>>(values) : load_some<T>(values, count, T(0));
}
template <typename T>
BACKPLANE_INLINE void store_lanes(T* out, Vector<T> value, int64_t count) {
  if (count == kLanes<T>) {
    store(out, value);
  } else {
    store_some(out, value, count);
  }
}

// What is known of each row of a strip. Whole registers of it are used, so that there is room for them.
template <typename T>
struct Strip {
  alignas(64) T greatest[kStripLanes + kLanes<T>];
  alignas(64) T sums[kStripLanes + kLanes<T>];
  double totals[kStripLanes + kLanes<T>];
};

template <typename T>
BACKPLANE_INLINE void find_greatest(Strip<T>& strip, const T* x, int64_t stride, int64_t count,
                                    int64_t lanes) {
  using V = Vector<T>;
  each_register<T>(lanes, [&](int64_t j, int64_t n) { store(strip.greatest + j, load_lanes(x + j, n)); });
  for (int64_t i = 1; i < count; ++i) {
    each_register<T>(lanes, [&](int64_t j, int64_t n) {
      const V best = load<V>(strip.greatest + j), next = load_lanes(x + i * stride + j, n);
      store(strip.greatest + j, best > next ? best : next);
    });
  }
}

// Sums of e^(x - greatest), in T over kStripRun values and in double over those; with kStore each goes to
// `out`.
constexpr int64_t kStripRun = 64;
template <typename T, bool kStore>
BACKPLANE_INLINE void sum_exp_of_strip(Strip<T>& strip, const T* x, int64_t stride, T* out,
                                       int64_t out_stride, int64_t count, int64_t lanes) {
  using V = Vector<T>;
  for (double& total : strip.totals) total = 0;
  for (int64_t first = 0; first < count; first += kStripRun) {
    const int64_t stop = first + kStripRun < count ? first + kStripRun : count;
    for (T& sum : strip.sums) sum = 0;
    for (int64_t i = first; i < stop; ++i) {
      each_register<T>(lanes, [&](int64_t j, int64_t n) {
        const V e = exp_of<T>(load_lanes(x + i * stride + j, n) - load<V>(strip.greatest + j));
        store(strip.sums + j, load<V>(strip.sums + j) + e);
        if (kStore) store_lanes(out + i * out_stride + j, e, n);
      });
    }
    for (int64_t j = 0; j < lanes; ++j) strip.totals[j] += static_cast<double>(strip.sums[j]);
  }
}

template <typename T>
void softmax_strip(const void* values, int64_t stride, void* result, int64_t result_stride, int64_t count,
                   int64_t lanes) {
  const auto* const x = static_cast<const T*>(values);
  auto* const out = static_cast<T*>(result);
  Strip<T> strip;
  find_greatest(strip, x, stride, count, lanes);
  sum_exp_of_strip<T, true>(strip, x, stride, out, result_stride, count, lanes);
  for (int64_t j = 0; j < lanes; ++j) strip.sums[j] = static_cast<T>(1.0 / strip.totals[j]);
  for (int64_t i = 0; i < count; ++i) {
    T* const row = out + i * result_stride;
    for (int64_t j = 0; j < lanes; ++j) row[j] *= strip.sums[j];
  }
}

template <typename T>
void log_softmax_strip(const void* values, int64_t stride, void* result, int64_t result_stride, int64_t count,
                       int64_t lanes) {
  const auto* const x = static_cast<const T*>(values);
  auto* const out = static_cast<T*>(result);
  Strip<T> strip;
  find_greatest(strip, x, stride, count, lanes);
  sum_exp_of_strip<T, false>(strip, x, stride, nullptr, 0, count, lanes);
  for (int64_t j = 0; j < lanes; ++j) strip.sums[j] = static_cast<T>(__builtin_log(strip.totals[j]));
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < lanes; ++j)
      out[i * result_stride + j] = (x[i * stride + j] - strip.greatest[j]) - strip.sums[j];
  }
}

}  // namespace

const RowwiseTable rowwise_table = {
    {softmax<float>, log_softmax<float>, layer_norm<float>, rms_norm<float>},
    {softmax<double>, log_softmax<double>, layer_norm<double>, rms_norm<double>},
    {softmax_strip<float>, log_softmax_strip<float>, nullptr, nullptr},
    {softmax_strip<double>, log_softmax_strip<double>, nullptr, nullptr}};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
