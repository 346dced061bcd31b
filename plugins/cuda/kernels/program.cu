// SPDX-License-Identifier: Apache-2.0
//
// Runs a whole elementwise program, one element a thread, deciding at every step which operation it is: the
// way that needs no compiler on the machine. With NVRTC, fused programs are compiled instead (fused.cpp).
//
// A slot holds any value in 64 bits: integers extended by their sign or by zeros, bool 0 or 1, float16,
// bfloat16 and float32 as float32's bits, float64 as its bits.
#include "heavy.cuh"
#include "walk.cuh"

#define BPC_WANTED(number) true
#define BPC_TYPE bool
#define BPC_KIND BPC_KIND_BOOL
#include "evaluate.inl"
#undef BPC_TYPE
#undef BPC_KIND
#define BPC_TYPE i64
#define BPC_KIND BPC_KIND_INTEGER
#include "evaluate.inl"
#undef BPC_TYPE
#undef BPC_KIND
#define BPC_TYPE u64
#define BPC_KIND BPC_KIND_INTEGER
#include "evaluate.inl"
#undef BPC_TYPE
#undef BPC_KIND
#define BPC_TYPE f32
#define BPC_KIND BPC_KIND_FLOATING
#include "evaluate.inl"
#undef BPC_TYPE
#undef BPC_KIND
#define BPC_TYPE f64
#define BPC_KIND BPC_KIND_FLOATING
#include "evaluate.inl"

namespace backplane::cuda {

enum Op : u32 { kPositive = 0, kCast = 1, kIota = 2, kWhere = 3, kNextafter = 24 };

BPC_DEVICE u64 to_slot(bp_f32 value) { return static_cast<u32>(bp_bits_f32(value)); }
BPC_DEVICE u64 to_slot(bp_f64 value) { return static_cast<u64>(bp_bits_f64(value)); }
template <typename Integer>
BPC_DEVICE u64 to_slot(Integer value) {
  return static_cast<u64>(static_cast<i64>(value));
}

template <typename Type>
BPC_DEVICE typename Type::Value from_slot(u64 slot) {
  if constexpr (sizeof(typename Type::Value) == 8 && Type::kId == type_f64::kId) {
    return bp_from_bits_f64(static_cast<bp_i64>(slot));
  } else if constexpr (Type::kId >= type_f16::kId) {
    return bp_from_bits_f32(static_cast<bp_i32>(slot));
  } else {
    return static_cast<typename Type::Value>(slot);
  }
}

BPC_DEVICE u64 convert(u32 from, u32 to, u64 slot) {
  u64 result = 0;
  with_type(from, [&](auto source) {
    using Source = decltype(source);
    const typename Source::Value value = from_slot<Source>(slot);
    with_type(to, [&](auto target) { result = to_slot(cast(source, target, value)); });
  });
  return result;
}

// Cuts or rounds what its class computed to the type itself.
BPC_DEVICE u64 narrow(u32 type, u64 slot) {
  switch (type) {
    case type_i8::kId:
      return to_slot(static_cast<bp_i8>(slot));
    case type_i16::kId:
      return to_slot(static_cast<bp_i16>(slot));
    case type_i32::kId:
      return to_slot(static_cast<bp_i32>(slot));
    case type_u8::kId:
      return static_cast<bp_u8>(slot);
    case type_u16::kId:
      return static_cast<bp_u16>(slot);
    case type_u32::kId:
      return static_cast<bp_u32>(slot);
    case type_f16::kId:
      return to_slot(bp_nearest_f16(from_slot<type_f32>(slot)));
    case type_bf16::kId:
      return to_slot(bp_nearest_bf16(from_slot<type_f32>(slot)));
    default:
      return slot;
  }
}

BPC_DEVICE bool is_truth(u32 op) { return (op >= 30 && op <= 43) || (op >= 71 && op <= 74); }

template <typename Class, typename Same, typename Truth>
BPC_DEVICE u64 evaluate_class(u32 op, u32 type, const u64 (&slot)[3], Same same, Truth truth) {
  const typename Class::Value a = from_slot<Class>(slot[0]), b = from_slot<Class>(slot[1]),
                              c = from_slot<Class>(slot[2]);
  if (is_truth(op)) return truth(op, a, b);
  return narrow(type, to_slot(same(op, a, b, c)));
}

BPC_DEVICE u64 next_half(u32 type, const u64 (&slot)[3]) {
  const bp_f32 a = from_slot<type_f32>(slot[0]), b = from_slot<type_f32>(slot[1]);
  return to_slot(type == type_f16::kId ? bp_nextafter_f16(a, b) : bp_nextafter_bf16(a, b));
}

// `type` is the arguments' type.
BPC_DEVICE u64 evaluate(u32 op, u32 type, const u64 (&slot)[3]) {
  switch (type) {
    case type_bool::kId:
      return evaluate_class<type_bool>(op, type, slot, evaluate_bool, evaluate_truth_bool);
    case type_i8::kId:
    case type_i16::kId:
    case type_i32::kId:
    case type_i64::kId:
      return evaluate_class<type_i64>(op, type, slot, evaluate_i64, evaluate_truth_i64);
    case type_f16::kId:
    case type_bf16::kId:
      if (op == kNextafter) return next_half(type, slot);
      return evaluate_class<type_f32>(op, type, slot, evaluate_f32, evaluate_truth_f32);
    case type_f32::kId:
      return evaluate_class<type_f32>(op, type, slot, evaluate_f32, evaluate_truth_f32);
    case type_f64::kId:
      return evaluate_class<type_f64>(op, type, slot, evaluate_f64, evaluate_truth_f64);
    default:
      return evaluate_class<type_u64>(op, type, slot, evaluate_u64, evaluate_truth_u64);
  }
}

constexpr u32 kScalarSlot = 0x40;
constexpr u32 kResultSlot = 0x80;

// The values of one element's inputs and results, and their types.
struct Frame {
  u64 inputs[kMostInputs];
  u64 results[kMostInstructions];

  BPC_METHOD u64 value(const ProgramParams& p, u32 slot) const {
    if (slot >= kResultSlot) return results[slot - kResultSlot];
    return slot >= kScalarSlot ? p.scalars[slot - kScalarSlot] : inputs[slot];
  }
};

BPC_DEVICE u32 type_of(const ProgramParams& p, u32 slot) {
  if (slot >= kResultSlot) return p.steps[slot - kResultSlot].result;
  return slot >= kScalarSlot ? p.scalar_types[slot - kScalarSlot] : p.input_types[slot];
}

BPC_DEVICE u64 run_step(const ProgramParams& p, const Step& step, const Frame& frame, i64 point) {
  if (step.op == kIota) return convert(type_i64::kId, step.result, static_cast<u64>(point));
  const u64 a = frame.value(p, step.args[0]);
  if (step.op == kPositive) return a;
  if (step.op == kCast) return convert(type_of(p, step.args[0]), step.result, a);
  const u64 slots[3] = {a, frame.value(p, step.args[1]), frame.value(p, step.args[2])};
  if (step.op == kWhere) return slots[0] != 0 ? slots[1] : slots[2];
  return evaluate(step.op, type_of(p, step.args[0]), slots);
}

BPC_DEVICE u64 load_slot(u32 type, u64 address, i64 index) {
  u64 slot = 0;
  with_type(type, [&](auto tag) { slot = to_slot(load_at<decltype(tag)>(address, index)); });
  return slot;
}

BPC_DEVICE void store_slot(u32 type, u64 address, i64 index, u64 slot) {
  with_type(type, [&](auto tag) {
    using Type = decltype(tag);
    store_at<Type>(address, index, from_slot<Type>(slot));
  });
}

}  // namespace backplane::cuda

using namespace backplane::cuda;

extern "C" __global__ void __launch_bounds__(kBlockThreads) program(const __grid_constant__ ProgramParams p) {
  for (i64 point = thread_index(); point < p.space.count; point += thread_count()) {
    Frame frame;
    for (u32 i = 0; i < p.input_count; ++i)
      frame.inputs[i] = load_slot(p.input_types[i], p.in[i].address, locate(p.space, point, p.in[i]));
    for (u32 i = 0; i < p.step_count; ++i) frame.results[i] = run_step(p, p.steps[i], frame, point);
    for (u32 i = 0; i < p.output_count; ++i)
      store_slot(p.output_types[i], p.out[i].address, locate(p.space, point, p.out[i]),
                 frame.value(p, p.outputs[i]));
  }
}
