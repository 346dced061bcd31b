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

// The greatest of a row; where the row has a NaN, any of its values, for its sum is NaN whatever is taken
// off.
template <typename T>
struct Range {
  T greatest;
  bool ordinary;  // no NaN, and e^(x - greatest) is a normal number for all
};

template <typename T>
BACKPLANE_INLINE Range<T> range_of(const T* x, int64_t count) {
  using V = Vector<T>;
  const int64_t lanes = kLanes<T>;
  T greatest = x[0], least = x[0], sum = 0;  // the sum is NaN if a value is
  int64_t i = 0;
  if (count >= 4 * lanes) {
    V most[4], fewest[4], sums[4];
    for (int k = 0; k < 4; ++k) most[k] = fewest[k] = sums[k] = load<V>(x + k * lanes);
    for (i = 4 * lanes; i + 4 * lanes <= count; i += 4 * lanes) {
      for (int k = 0; k < 4; ++k) {
        const V next = load<V>(x + i + k * lanes);
        most[k] = greater_of(most[k], next);
        fewest[k] = smaller_of(fewest[k], next);
        sums[k] += next;
      }
    }
    for (int k = 0; k < 4; ++k) {
      for (int64_t lane = 0; lane < lanes; ++lane) {
        greatest = greatest > most[k][lane] ? greatest : most[k][lane];
        least = least < fewest[k][lane] ? least : fewest[k][lane];
        sum += sums[k][lane];
      }
    }
  }
  for (; i < count; ++i) {
    greatest = greatest > x[i] ? greatest : x[i];
    least = least < x[i] ? least : x[i];
    sum += x[i];
  }
  return {greatest, sum == sum && least - greatest >= ExpConstants<T>::kLowestNormal};
}

template <typename T, bool kOrdinary>
BACKPLANE_INLINE Vector<T> exp_below(Vector<T> x, Vector<T> greatest) {
  return kOrdinary ? exp_of_negative<T>(x - greatest) : exp_of<T>(x - greatest);
}

// Sum of e^(x - shift); with kStore each goes to `out`.
template <typename T, bool kStore, bool kOrdinary>
BACKPLANE_INLINE double sum_exp_of(const T* x, T* out, int64_t count, T shift) {
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
        const V e = exp_below<T, kOrdinary>(load<V>(x + i + k * lanes), shifts);
        sums[k] += e;
        if (kStore) store(out + i + k * lanes, e);
      }
    }
    if (i + lanes <= stop) {
      const V e = exp_below<T, kOrdinary>(load<V>(x + i), shifts);
      sums[0] += e;
      if (kStore) store(out + i, e);
      i += lanes;
    }
    total += static_cast<double>(lanes_sum<T>(sums[0] + sums[1]));
  }
  if (i < count) {
    const int64_t rest = count - i;
    const V e = exp_below<T, kOrdinary>(load_some<T>(x + i, rest, shift), shifts);
    if (kStore) store_some(out + i, e, rest);
    for (int64_t k = 0; k < rest; ++k) total += static_cast<double>(e[k]);
  }
  return total;
}

template <typename T, bool kStore>
BACKPLANE_INLINE double sum_exp(const T* x, T* out, int64_t count, const Range<T>& range) {
  return range.ordinary ? sum_exp_of<T, kStore, true>(x, out, count, range.greatest)
                        : sum_exp_of<T, kStore, false>(x, out, count, range.greatest);
}

template <typename T>
void softmax(const void* values, void* result, int64_t count, const void*, const void*, double) {
  const auto* const x = static_cast<const T*>(values);
  auto* const out = static_cast<T*>(result);
  const double total = sum_exp<T, true>(x, out, count, range_of(x, count));
  const T factor = static_cast<T>(1.0 / total);
  for (int64_t i = 0; i < count; ++i) out[i] *= factor;
}

template <typename T>
void log_softmax(const void* values, void* result, int64_t count, const void*, const void*, double) {
  const auto* const x = static_cast<const T*>(values);
  auto* const out = static_cast<T*>(result);
  const Range<T> range = range_of(x, count);
  const T log_total = static_cast<T>(__builtin_log(sum_exp<T, false>(x, nullptr, count, range)));
  for (int64_t i = 0; i < count; ++i) out[i] = (x[i] - range.greatest) - log_total;
}

BACKPLANE_INLINE Vector<double> load_doubles(const float* x) { return widen(load<HalfFloats>(x)); }
BACKPLANE_INLINE Vector<double> load_doubles(const double* x) { return load<Vector<double>>(x); }

// Sums in double, so that squares neither overflow nor vanish; run by run, so that those of doubles lose
// little.
template <typename T, typename Term>
BACKPLANE_INLINE double sum_terms(const T* x, int64_t count, Term term) {
  using D = Vector<double>;
  const int64_t lanes = kLanes<double>;
  double total = 0;
  int64_t i = 0;
  while (i + 4 * lanes <= count) {
    const int64_t stop = i + kRun < count ? i + kRun : count;
    D sums[4] = {D{}, D{}, D{}, D{}};
    for (; i + 4 * lanes <= stop; i += 4 * lanes) {
      for (int k = 0; k < 4; ++k) {
        sums[k] += term(load_doubles(x + i + k * lanes));
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

// Calls function(first lane, lanes of a register, Width) for the lanes of a strip: kWide registers at once,
// then one, then what is left of one.
template <int kRegisters>
struct Width {
  static constexpr int value = kRegisters;
};
template <typename T, int kWide, typename Function>
BACKPLANE_INLINE void each_group(int64_t lanes, Function function) {
  int64_t j = 0;
  for (; j + kWide * kLanes<T> <= lanes; j += kWide * kLanes<T>) function(j, kLanes<T>, Width<kWide>{});
  for (; j + kLanes<T> <= lanes; j += kLanes<T>) function(j, kLanes<T>, Width<1>{});
  if (j < lanes) function(j, lanes - j, Width<1>{});
}
template <typename T>
BACKPLANE_INLINE Vector<T> load_lanes(const T* values, int64_t count) {
  return count == kLanes<T> ? load<Vector<T>>(values) : load_some<T>(values, count, T(0));
}

// Where the rows of a strip lie.
template <typename T>
struct Rows {
  const T* first;
  int64_t stride, count, lanes;
  const T* at(int64_t i) const { return first + i * stride; }
};

// What is known of each row of a strip so far. Whole registers of it are used, so that there is room for
// them.
template <typename T>
struct Strip {
  static constexpr int64_t kRoom = kStripLanes + kLanes<T>;
  alignas(64) T greatest[kRoom];
  alignas(64) T least[kRoom];
  alignas(64) T sums[kRoom];
  alignas(64) T factors[kRoom];
  double totals[kRoom];
  bool ordinary;  // as in Range, for all rows
};

// Values of each row that are worked on at once: those of all lanes stay in the cache, and their sum in T is
// good enough.
constexpr int64_t kStripRun = 32;
// Values ahead that are fetched.
constexpr int64_t kStripAhead = 8;

constexpr float most_of(float) { return __FLT_MAX__; }
constexpr double most_of(double) { return __DBL_MAX__; }

// Takes values from `first` to `stop` into greatest and least; factors: what older sums shrink by.
template <typename T>
BACKPLANE_INLINE void widen_range(Strip<T>& strip, const Rows<T>& x, int64_t first, int64_t stop) {
  using V = Vector<T>;
  each_group<T, 4>(x.lanes, [&](int64_t j, int64_t n, auto width) {
    V most[width.value], fewest[width.value], sums[width.value];
    for (int k = 0; k < width.value; ++k) {
      most[k] = load<V>(strip.greatest + j + k * kLanes<T>);
      fewest[k] = load<V>(strip.least + j + k * kLanes<T>);
      sums[k] = V{};
    }
    for (int64_t i = first; i < stop; ++i) {
      for (int k = 0; k < width.value; ++k) {
        const V next = load_lanes(x.at(i) + j + k * kLanes<T>, n);
        most[k] = greater_of(most[k], next);
        fewest[k] = smaller_of(fewest[k], next);
        sums[k] += next;
      }
    }
    for (int k = 0; k < width.value; ++k) {
      T* const greatest = strip.greatest + j + k * kLanes<T>;
      store(strip.factors + j + k * kLanes<T>, exp_of<T>(load<V>(greatest) - most[k]));
      store(greatest, most[k]);
      store(strip.least + j + k * kLanes<T>, fewest[k]);
      const auto normal = (fewest[k] - most[k] >= ExpConstants<T>::kLowestNormal) & (sums[k] == sums[k]);
      for (int64_t lane = 0; lane < kLanes<T>; ++lane) strip.ordinary &= normal[lane] != 0;
    }
  });
}

template <typename T, bool kOrdinary>
BACKPLANE_INLINE void add_exp(Strip<T>& strip, const Rows<T>& x, int64_t first, int64_t stop) {
  using V = Vector<T>;
  // The next values come meanwhile.
  const int64_t ahead = stop + kStripRun <= x.count ? kStripRun : 0;
  each_group<T, 2>(x.lanes, [&](int64_t j, int64_t n, auto width) {
    V greatest[width.value], sums[width.value];
    for (int k = 0; k < width.value; ++k) {
      greatest[k] = load<V>(strip.greatest + j + k * kLanes<T>);
      sums[k] = V{};
    }
    for (int64_t i = first; i < stop; ++i) {
      __builtin_prefetch(x.at(i + ahead) + j);
      for (int k = 0; k < width.value; ++k)
        sums[k] += exp_below<T, kOrdinary>(load_lanes(x.at(i) + j + k * kLanes<T>, n), greatest[k]);
    }
    for (int k = 0; k < width.value; ++k) store(strip.sums + j + k * kLanes<T>, sums[k]);
  });
  for (int64_t j = 0; j < x.lanes; ++j) {
    strip.totals[j] =
        strip.totals[j] * static_cast<double>(strip.factors[j]) + static_cast<double>(strip.sums[j]);
  }
}

// The greatest of each row and the sum of e^(x - greatest), in one reading: sums so far are scaled whenever a
// greater value comes (M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018).
template <typename T>
BACKPLANE_INLINE void sum_exp_of_strip(Strip<T>& strip, const Rows<T>& x) {
  for (int64_t j = 0; j < Strip<T>::kRoom; ++j) {
    strip.greatest[j] = -most_of(T(0));
    strip.least[j] = most_of(T(0));
    strip.totals[j] = 0;
  }
  strip.ordinary = true;
  for (int64_t first = 0; first < x.count; first += kStripRun) {
    const int64_t stop = first + kStripRun < x.count ? first + kStripRun : x.count;
    widen_range(strip, x, first, stop);
    if (strip.ordinary) {
      add_exp<T, true>(strip, x, first, stop);
    } else {
      add_exp<T, false>(strip, x, first, stop);
    }
  }
}

// Stores result(x, lane) for each register of values.
template <typename T, bool kPast, typename Function>
BACKPLANE_INLINE void store_strip(const Rows<T>& x, T* out, int64_t out_stride, Function result) {
  for (int64_t i = 0; i < x.count; ++i) {
    const int64_t ahead = i + kStripAhead < x.count ? i + kStripAhead : i;
    T* const row = out + i * out_stride;
    each_group<T, 2>(x.lanes, [&](int64_t j, int64_t n, auto width) {
      __builtin_prefetch(x.at(ahead) + j);
      for (int k = 0; k < width.value; ++k) {
        const int64_t lane = j + k * kLanes<T>;
        const Vector<T> value = result(load_lanes(x.at(i) + lane, n), lane);
        if (n < kLanes<T>) {
          store_some(row + lane, value, n);
        } else if (kPast) {
          stream_store(row + lane, value);
        } else {
          store(row + lane, value);
        }
      }
    });
  }
  if (kPast) stream_fence();
}
template <typename T, typename Function>
BACKPLANE_INLINE void store_strip(const Rows<T>& x, T* out, int64_t out_stride, bool past, Function result) {
  const uint64_t misaligned =
      (reinterpret_cast<uintptr_t>(out) | static_cast<uint64_t>(out_stride) * sizeof(T)) % kVectorBytes;
  if (past && misaligned == 0) {
    store_strip<T, true>(x, out, out_stride, result);
  } else {
    store_strip<T, false>(x, out, out_stride, result);
  }
}

template <typename T>
void softmax_strip(const void* values, int64_t stride, void* result, int64_t result_stride, int64_t count,
                   int64_t lanes, bool past) {
  using V = Vector<T>;
  const Rows<T> x = {static_cast<const T*>(values), stride, count, lanes};
  auto* const out = static_cast<T*>(result);
  Strip<T> strip;
  sum_exp_of_strip(strip, x);
  for (int64_t j = 0; j < lanes; ++j) strip.factors[j] = static_cast<T>(1.0 / strip.totals[j]);
  if (strip.ordinary) {
    store_strip(x, out, result_stride, past, [&](V value, int64_t j) {
      return exp_below<T, true>(value, load<V>(strip.greatest + j)) * load<V>(strip.factors + j);
    });
  } else {
    store_strip(x, out, result_stride, past, [&](V value, int64_t j) {
      return exp_below<T, false>(value, load<V>(strip.greatest + j)) * load<V>(strip.factors + j);
    });
  }
}

template <typename T>
void log_softmax_strip(const void* values, int64_t stride, void* result, int64_t result_stride, int64_t count,
                       int64_t lanes, bool past) {
  using V = Vector<T>;
  const Rows<T> x = {static_cast<const T*>(values), stride, count, lanes};
  Strip<T> strip;
  sum_exp_of_strip(strip, x);
  for (int64_t j = 0; j < lanes; ++j) strip.factors[j] = static_cast<T>(__builtin_log(strip.totals[j]));
  store_strip(x, static_cast<T*>(result), result_stride, past, [&](V value, int64_t j) {
    return (value - load<V>(strip.greatest + j)) - load<V>(strip.factors + j);
  });
}

}  // namespace

const RowwiseTable rowwise_table = {
    {softmax<float>, log_softmax<float>, layer_norm<float>, rms_norm<float>},
    {softmax<double>, log_softmax<double>, layer_norm<double>, rms_norm<double>},
    {softmax_strip<float>, log_softmax_strip<float>, nullptr, nullptr},
    {softmax_strip<double>, log_softmax_strip<double>, nullptr, nullptr}};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
