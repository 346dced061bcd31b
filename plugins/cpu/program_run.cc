// SPDX-License-Identifier: Apache-2.0
// Running a translated program, tile by tile.
#include <algorithm>
#include <cstring>

#include "cpu/compiled_program.h"

namespace backplane::cpu {
namespace {

// 58 places of 64 elements of 8 bytes, the longest program's, fit.
constexpr int64_t kMostScratchBytes = 32 << 10;

int value_of_output(const plugin::Program& program, int output) {
  const uint8_t slot = program.outputs[output];
  if (slot < plugin::kScalarSlot) return slot;
  if (slot < plugin::kResultSlot) return kFirstScalar + slot - plugin::kScalarSlot;
  return kFirstResult + slot - plugin::kResultSlot;
}

}  // namespace

bool can_stream(const Step& step, const void* out) noexcept {
  return step.stream != nullptr && reinterpret_cast<uintptr_t>(out) % kSplatBytes == 0;
}

// Where each value of the current tile is.
struct CompiledProgram::Tile {
  alignas(64) char scratch[kMostScratchBytes];
  const void* address[kMaxValues];
  int64_t step[kMaxValues];
  bool constant[kMaxValues];
};

void CompiledProgram::set_constant(Tile& tile, int value, const void* bits, int64_t n) const {
  const int log2 = register_log2(types_[value]);
  char* const place = tile.scratch + places_[value] * place_bytes_;
  const bool array = needs_array_[value];
  active_stride_loops().fill[log2](place, bits, array ? std::min(n, tile_) : kSplatBytes >> log2);
  tile.address[value] = place;
  tile.step[value] = array ? 1 : 0;
  tile.constant[value] = true;
}

void CompiledProgram::splat(void* place, int value, plugin::Scalar scalar) const noexcept {
  const int log2 = register_log2(types_[value]);
  const uint64_t bits = scalar_register(types_[value], scalar);
  active_stride_loops().fill[log2](place, &bits, kSplatBytes >> log2);
}

void CompiledProgram::prepare_constants(Tile& tile, const Run& run, int64_t n) const {
  for (int i = 0; i < program_.input_count; ++i) {
    tile.constant[i] = false;
    if (run.input_strides[i] != 0) continue;
    const uint64_t bits = element_register(types_[i], run.inputs[i]);
    set_constant(tile, i, &bits, n);
  }
  for (int i = 0; i < program_.scalar_count; ++i) {
    const uint64_t bits = scalar_register(types_[kFirstScalar + i], run.scalars[i]);
    set_constant(tile, kFirstScalar + i, &bits, n);
  }
}

// An input is used where it lies if its elements are registers, side by side.
void CompiledProgram::load_inputs(Tile& tile, const Run& run, int64_t begin, int64_t n) const {
  for (int i = 0; i < program_.input_count; ++i) {
    if (tile.constant[i]) continue;
    const plugin::DType type = types_[i];
    const int log2 = memory_log2(type);
    const int64_t stride = run.input_strides[i];
    const char* const from = static_cast<const char*>(run.inputs[i]) + begin * stride * (int64_t{1} << log2);
    const MapFunction widen = active_convert_loops().load[static_cast<int>(type)];
    char* const place = tile.scratch + places_[i] * place_bytes_;
    char* const raw = widen != nullptr ? tile.scratch + (place_count_ - 1) * place_bytes_ : place;
    const void* at = from;
    if (stride != 1) {
      active_stride_loops().gather[log2](raw, from, stride, n);
      at = raw;
    } else if (needs_copy_[i] && widen == nullptr) {
      std::memcpy(place, from, static_cast<size_t>(n) << log2);
      at = place;
    }
    if (widen != nullptr) {
      widen(place, at, n);
      at = place;
    }
    tile.address[i] = at;
    tile.step[i] = 1;
  }
}

void CompiledProgram::run_steps(Tile& tile, const Run& run, int64_t begin, int64_t n) const {
  const int last = program_.instruction_count - 1;
  const bool direct = writes_directly(run);
  for (int i = 0; i <= last; ++i) {
    const Step& step = steps_[i];
    const int value = kFirstResult + i;
    char* out = tile.scratch + places_[value] * place_bytes_;
    if (direct && i == last) {
      out = static_cast<char*>(run.outputs[direct_output_]) + (begin << memory_log2(types_[value]));
    }
    if (step.loop != nullptr) {
      const void* in[3] = {};
      int64_t steps[3] = {};
      for (int k = 0; k < step.arity; ++k) {
        in[k] = tile.address[step.args[k]];
        steps[k] = tile.step[step.args[k]];
      }
      (direct && i == last && run.streaming ? step.stream : step.loop)(out, in, steps, n);
    } else if (step.cast != nullptr) {
      step.cast(out, tile.address[step.args[0]], n);
    } else {
      step.iota(out, run.first + begin, n);
    }
    if (step.round != nullptr) step.round(out, out, n);
    tile.address[value] = out;
    tile.step[value] = 1;
  }
}

bool CompiledProgram::writes_directly(const Run& run) const {
  if (direct_output_ < 0 || run.output_strides[direct_output_] != 1) return false;
  return !run.streaming || can_stream(steps_[program_.instruction_count - 1], run.outputs[direct_output_]);
}

void CompiledProgram::store_output(const Tile& tile, const Run& run, int output, int64_t begin,
                                   int64_t n) const {
  const int value = value_of_output(program_, output);
  const plugin::DType type = types_[value];
  const int log2 = memory_log2(type);
  const int64_t stride = run.output_strides[output];
  char* const to = static_cast<char*>(run.outputs[output]) + begin * stride * (int64_t{1} << log2);
  const void* from = tile.address[value];
  if (from == to) return;
  const MapFunction narrow = active_convert_loops().store[static_cast<int>(type)];
  if (narrow != nullptr) {
    // Rounding happens here, unless the result was rounded already for another use.
    void* const raw = const_cast<char*>(tile.scratch) + (place_count_ - 1) * place_bytes_;
    const bool last = stride == 1 && !run.streaming;
    narrow(last ? to : raw, from, n);
    if (last) return;
    from = raw;
  }
  if (stride != 1) {
    active_stride_loops().scatter[log2](to, stride, from, n);
  } else if (run.streaming) {
    active_stride_loops().stream(to, from, n << log2);
  } else {
    std::memcpy(to, from, static_cast<size_t>(n) << log2);
  }
}

void CompiledProgram::run(const Run& run, int64_t n) const noexcept {
  Tile tile;  // left uninitialised: only what the program uses is written before it is read
  prepare_constants(tile, run, n);
  for (int64_t begin = 0; begin < n; begin += tile_) {
    const int64_t count = std::min(tile_, n - begin);
    load_inputs(tile, run, begin, count);
    run_steps(tile, run, begin, count);
    for (int i = 0; i < program_.output_count; ++i) {
      if (!(i == direct_output_ && writes_directly(run))) store_output(tile, run, i, begin, count);
    }
  }
  if (run.streaming) active_stride_loops().fence();
}

}  // namespace backplane::cpu
