// SPDX-License-Identifier: Apache-2.0
//
// softmax, log_softmax, layer_norm and rms_norm along rows, compiled for float32 (float16 and bfloat16 too)
// and float64 (BPC_TYPE). `lanes` threads of a block share a row. The maximum is taken off before exp, so
// that nothing overflows; the variance is that of the differences from the mean.
#include "accumulate.cuh"
#include "domains.cuh"

namespace backplane::cuda {

using Class = BPC_PASTE(type, _, BPC_TYPE);
using Value = Class::Value;
using Sum = BPC_PASTE(sum, _, BPC_TYPE);
using Max = BPC_PASTE(max, _, BPC_TYPE);

struct Row {
  i64 in;
  i64 out;
  u32 lane;
  bool here;  // lanes past the last row take part in the barriers and in nothing else
};

BPC_DEVICE Value read(const RowwiseParams& p, const Row& row, i64 i) {
  return load_as<Class>(p.type, p.in.address, row.in + i * p.in_stride);
}
BPC_DEVICE void write(const RowwiseParams& p, const Row& row, i64 i, Value value) {
  store_as<Class>(p.type, p.out.address, row.out + i * p.out_stride, value);
}

// The accumulated `element(i)` of the row, the same in all its lanes.
template <typename Accumulator, typename Element>
BPC_DEVICE Value reduce(const RowwiseParams& p, const Row& row, Element element) {
  using Part = typename Accumulator::Part;
  __shared__ Value results[kBlockThreads];
  Part part = Accumulator::identity();
  if (row.here)
    for (i64 i = row.lane; i < p.length; i += p.lanes) Accumulator::take(part, element(i), i);
  part = join_lanes<Accumulator>(part, row.lane, p.lanes);
  if (row.lane == 0) results[threadIdx.x] = Accumulator::value(part);
  __syncthreads();
  const Value value = results[threadIdx.x - row.lane];
  __syncthreads();
  return value;
}

template <typename Element>
BPC_DEVICE void write_row(const RowwiseParams& p, const Row& row, Element element) {
  if (!row.here) return;
  for (i64 i = row.lane; i < p.length; i += p.lanes) write(p, row, i, element(i));
}

BPC_DEVICE Value weight(const RowwiseParams& p, i64 i) {
  return p.weight == 0 ? Value{1} : load_as<Class>(p.type, p.weight, i * p.weight_stride);
}
BPC_DEVICE Value bias(const RowwiseParams& p, i64 i) {
  return p.bias == 0 ? Value{0} : load_as<Class>(p.type, p.bias, i * p.bias_stride);
}

template <typename Body>
BPC_DEVICE void for_each_row(const RowwiseParams& p, Body body) {
  const u32 lane = threadIdx.x % p.lanes, group = threadIdx.x / p.lanes;
  const i64 groups = kBlockThreads / p.lanes;
  for (i64 base = blockIdx.x * groups; base < p.rows.count; base += gridDim.x * groups) {
    const i64 row = base + group;
    const bool here = row < p.rows.count;
    body(Row{here ? locate(p.rows, row, p.in) : 0, here ? locate(p.rows, row, p.out) : 0, lane, here});
  }
}

#define BPC_F(name) BPC_FORMULA(name)
#define BPC_MATH(name) BPC_PASTE(bpm_##name, _, BPC_TYPE)

BPC_DEVICE void softmax_row(const RowwiseParams& p, const Row& row) {
  const Value most = reduce<Max>(p, row, [&](i64 i) { return read(p, row, i); });
  const Value sum = reduce<Sum>(p, row, [&](i64 i) { return BPC_F(exp)(read(p, row, i) - most); });
  write_row(p, row, [&](i64 i) { return BPC_MATH(divide)(BPC_F(exp)(read(p, row, i) - most), sum); });
}

BPC_DEVICE void log_softmax_row(const RowwiseParams& p, const Row& row) {
  const Value most = reduce<Max>(p, row, [&](i64 i) { return read(p, row, i); });
  const Value sum = reduce<Sum>(p, row, [&](i64 i) { return BPC_F(exp)(read(p, row, i) - most); });
  const Value log_sum = BPC_F(log)(sum);
  write_row(p, row, [&](i64 i) { return (read(p, row, i) - most) - log_sum; });
}

// A row is measured in units of a power of two near its greatest magnitude, so that no square overflows or
// vanishes.
struct Unit {
  Value size;
  Value inverse;
  Value epsilon;  // in units squared; infinite where epsilon is all that counts
};

BPC_DEVICE Value power_of_two_below(bp_f32 value) {
  const bp_i32 least = 0x00800000, most = 0x7e000000;
  const bp_i32 bits = bp_bits_f32(value) & 0x7f800000;
  return bp_from_bits_f32(bits < least ? least : bits > most ? most : bits);
}
BPC_DEVICE Value power_of_two_below(bp_f64 value) {
  const bp_i64 least = 0x0010000000000000LL, most = 0x7fc0000000000000LL;
  const bp_i64 bits = bp_bits_f64(value) & 0x7ff0000000000000LL;
  return bp_from_bits_f64(bits < least ? least : bits > most ? most : bits);
}

BPC_DEVICE Unit unit_of(const RowwiseParams& p, const Row& row) {
  const Value most = reduce<Max>(p, row, [&](i64 i) { return BPC_F(abs)(read(p, row, i)); });
  Unit unit;
  unit.size = most - most == 0 && most > 0 ? power_of_two_below(most) : Value{1};
  unit.inverse = BPC_MATH(divide)(Value{1}, unit.size);
  unit.epsilon = static_cast<Value>(p.epsilon) * unit.inverse * unit.inverse;
  return unit;
}

// (x - mean) / sqrt(mean of squares + epsilon) * weight + bias, for x and the mean in units.
BPC_DEVICE void write_normalised(const RowwiseParams& p, const Row& row, const Unit& unit, Value mean,
                                 Value squares) {
  const bool only_epsilon = unit.epsilon - unit.epsilon != 0;
  const Value variance = BPC_MATH(divide)(squares, static_cast<Value>(p.length));
  const Value deviation =
      BPC_MATH(sqrt)(only_epsilon ? static_cast<Value>(p.epsilon) : variance + unit.epsilon);
  write_row(p, row, [&](i64 i) {
    const Value difference = read(p, row, i) * unit.inverse - mean;
    const Value scaled = BPC_MATH(divide)(only_epsilon ? difference * unit.size : difference, deviation);
    return scaled * weight(p, i) + bias(p, i);
  });
}

BPC_DEVICE void layer_norm_row(const RowwiseParams& p, const Row& row) {
  const Unit unit = unit_of(p, row);
  const Value sum = reduce<Sum>(p, row, [&](i64 i) { return read(p, row, i) * unit.inverse; });
  const Value mean = BPC_MATH(divide)(sum, static_cast<Value>(p.length));
  const Value squares =
      reduce<Sum>(p, row, [&](i64 i) { return BPC_F(square)(read(p, row, i) * unit.inverse - mean); });
  write_normalised(p, row, unit, mean, squares);
}

BPC_DEVICE void rms_norm_row(const RowwiseParams& p, const Row& row) {
  const Unit unit = unit_of(p, row);
  const Value squares =
      reduce<Sum>(p, row, [&](i64 i) { return BPC_F(square)(read(p, row, i) * unit.inverse); });
  write_normalised(p, row, unit, 0, squares);
}

}  // namespace backplane::cuda

using namespace backplane::cuda;

#define BPC_ROWWISE(NAME)                                         \
  extern "C" __global__ void __launch_bounds__(kBlockThreads)     \
      NAME(const __grid_constant__ RowwiseParams p) {             \
    for_each_row(p, [&](const Row& row) { NAME##_row(p, row); }); \
  }
BPC_ROWWISE(softmax)
BPC_ROWWISE(log_softmax)
BPC_ROWWISE(layer_norm)
BPC_ROWWISE(rms_norm)
