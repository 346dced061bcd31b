// SPDX-License-Identifier: Apache-2.0
// The elementwise family: a program over an iteration space.
#include <algorithm>

#include "backplane/plugin/base.h"
#include "cpu/compiled_program.h"
#include "cpu/elementwise_blocks.h"
#include "cpu/families.h"
#include "cpu/iteration.h"
#include "cpu/kernel.h"
#include "cpu/move_bytes.h"

namespace backplane::cpu {
namespace {

using plugin::make_status;
using plugin::Status;
using plugin::StatusCode;

// Float32 additions that take some 8 us.
constexpr int64_t kGrain = 32 << 10;
// Where ranges may be cut: vector functions look at all lanes of a register together, so that a point's
// neighbours must be the same whatever the number of threads.
constexpr int64_t kCut = 1024;

class ElementwiseKernel final : public CpuKernel {
 public:
  ElementwiseKernel(CpuDevice& device, const plugin::Program& program)
      : CpuKernel(device),
        program_(program),
        outputs_(program.output_count),
        inputs_(program.input_count),
        scalars_(program.scalar_count),
        grain_(std::max<int64_t>(kCut, kGrain / std::max(1, program_.cost()))),
        point_bytes_(int64_t{1} << memory_log2(output_type(program, 0))),
        small_(small_points()) {}

  Status run(const plugin::LaunchArgs& args) const override {
    if (args.operand_count != outputs_ + inputs_ || args.scalar_count < scalars_) {
      return make_status(StatusCode::InvalidArgument, 0,
                         "%s: %u operands and %u scalars; the program has %u and %u", args.label,
                         args.operand_count, args.scalar_count, outputs_ + inputs_, scalars_);
    }
    if (args.rank == 1 && args.shape[0] <= small_ && lies_dense(args)) {
      run_small(args);
    } else if (args.rank == 0) {
      run_row(args, 1, 0);
    } else if (args.rank == 1) {
      run_row(args, args.shape[0], 1);
    } else {
      run_rows(args);
    }
    return plugin::kOk;
  }

 private:
  // The most points that one operation over whole arrays does in the calling thread, within the cache; -1 for
  // other programs.
  int64_t small_points() const noexcept {
    const Step* step = program_.single();
    if (step == nullptr || step->arity == 0 || (scalars_ != 0 && !program_.single_takes_splats())) return -1;
    return std::min(grain_, streaming_threshold_bytes() / point_bytes_ - 1);
  }

  bool lies_dense(const plugin::LaunchArgs& args) const noexcept {
    for (uint32_t i = 0; i < outputs_ + inputs_; ++i)
      if (args.operand(i).strides[0] != 1) return false;
    return true;
  }

  // The way of small contiguous launches: no allocation, and as little as can be before the loop.
  void run_small(const plugin::LaunchArgs& args) const noexcept {
    const Step& step = *program_.single();
    alignas(kSplatBytes) char splats[3][kSplatBytes];
    const void* in[3] = {};
    int64_t steps[3] = {};
    for (int k = 0; k < step.arity; ++k) {
      const uint8_t value = step.args[k];
      if (value < kFirstScalar) {
        in[k] = operand_pointer(args, outputs_ + value);
        steps[k] = 1;
      } else {
        program_.splat(splats[k], value, args.scalars[value - kFirstScalar]);
        in[k] = splats[k];
      }
    }
    step.loop(operand_pointer(args, 0), in, steps, args.shape[0]);
  }

  // One dimension, or none.
  void run_row(const plugin::LaunchArgs& args, int64_t n, int rank) const {
    const void* in[plugin::kMaxInputs];
    void* out[plugin::kMaxOutputs] = {};
    int64_t in_strides[plugin::kMaxInputs], out_strides[plugin::kMaxOutputs];
    bool contiguous = true, whole = true;
    for (uint32_t i = 0; i < outputs_; ++i) {
      out[i] = operand_pointer(args, i);
      out_strides[i] = rank == 0 ? 1 : args.operand(i).strides[0];
      contiguous = contiguous && out_strides[i] == 1;
    }
    for (uint32_t i = 0; i < inputs_; ++i) {
      in[i] = operand_pointer(args, outputs_ + i);
      in_strides[i] = rank == 0 ? 1 : args.operand(outputs_ + i).strides[0];
      whole = whole && in_strides[i] == 1;
    }
    const bool streaming = contiguous && n * point_bytes_ >= streaming_threshold_bytes();
    if (const Step* step = program_.single(); step != nullptr && contiguous && whole && scalars_ == 0 &&
                                              (!streaming || can_stream(*step, out[0]))) {
      run_single(*step, out[0], in, n, streaming);
    } else {
      run_tiles({in, in_strides, args.scalars, out, out_strides, 0, streaming}, n);
    }
  }

  // One loop over whole arrays.
  void run_single(const Step& step, void* out, const void* const* in, int64_t n, bool streaming) const {
    static constexpr int64_t kWhole[3] = {1, 1, 1};
    if (step.arity == 0) {
      step.iota(out, 0, n);
    } else if (n <= grain_ && !streaming) {
      const void* ordered[3] = {in[step.args[0]], in[step.args[1]], in[step.args[2]]};
      step.loop(out, ordered, kWhole, n);
    } else {
      const plugin::Program& program = program_.program();
      threads().loop((n + kCut - 1) / kCut, grain_ / kCut, [&](int64_t begin, int64_t end) {
        const void* part[3];
        for (int k = 0; k < 3; ++k) {
          const int log2 = memory_log2(program.input_types[step.args[k]]);
          part[k] = static_cast<const char*>(in[step.args[k]]) + (begin * kCut << log2);
        }
        (streaming ? step.stream : step.loop)(static_cast<char*>(out) + begin * kCut * point_bytes_, part,
                                              kWhole, std::min(end * kCut, n) - begin * kCut);
        if (streaming) active_stride_loops().fence();
      });
    }
  }

  // Any strides, one dimension.
  void run_tiles(const CompiledProgram::Run& run, int64_t n) const {
    threads().loop((n + kCut - 1) / kCut, grain_ / kCut, [&](int64_t begin, int64_t end) {
      run_part(run, begin * kCut, std::min(end * kCut, n) - begin * kCut);
    });
  }

  void run_part(const CompiledProgram::Run& whole, int64_t begin, int64_t n) const {
    const void* in[plugin::kMaxInputs];
    void* out[plugin::kMaxOutputs];
    const plugin::Program& program = program_.program();
    for (uint32_t i = 0; i < inputs_; ++i) {
      const int64_t bytes =
          whole.input_strides[i] * static_cast<int64_t>(plugin::size_of(program.input_types[i]));
      in[i] = static_cast<const char*>(whole.inputs[i]) + begin * bytes;
    }
    for (uint32_t i = 0; i < outputs_; ++i) {
      const int64_t bytes =
          whole.output_strides[i] * static_cast<int64_t>(plugin::size_of(output_type(program, i)));
      out[i] = static_cast<char*>(whole.outputs[i]) + begin * bytes;
    }
    CompiledProgram::Run part = whole;
    part.inputs = in;
    part.outputs = out;
    part.first = whole.first + begin;
    program_.run(part, n);
  }

  // Several dimensions: row by row along the last, long rows in pieces; or in blocks.
  void run_rows(const plugin::LaunchArgs& args) const {
    ProgramSpace space;
    space.rank = static_cast<int>(args.rank);
    for (int d = 0; d < space.rank; ++d) space.shape[d] = args.shape[d];
    for (uint32_t k = 0; k < outputs_ + inputs_; ++k) {
      for (int d = 0; d < space.rank; ++d) space.strides[k][d] = args.operand(k).strides[d];
    }
    if (wants_blocks(space, outputs_ + inputs_)) {
      char* origins[kMostOperands];
      for (uint32_t k = 0; k < outputs_ + inputs_; ++k) origins[k] = operand_pointer(args, k);
      run_blocks(threads(), program_, space, origins, args.scalars, grain_);
      return;
    }
    const int last = space.rank - 1;
    const int64_t row = space.shape[last];
    const int64_t pieces = (row + grain_ - 1) / grain_;
    const int64_t rows = space.size() / row;
    const int64_t grain = std::max<int64_t>(1, grain_ / (std::min(row, grain_) + kRowCost));
    threads().loop(rows * pieces, grain, [&](int64_t begin, int64_t end) {
      Walker<kMostOperands> walker(space, last, begin / pieces);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % pieces * grain_;
        run_piece(args, space, walker, first, std::min(grain_, row - first));
        if (i % pieces == pieces - 1) walker.next();
      }
    });
  }

  void run_piece(const plugin::LaunchArgs& args, const ProgramSpace& space,
                 const Walker<kMostOperands>& walker, int64_t first, int64_t n) const {
    const void* in[plugin::kMaxInputs];
    void* out[plugin::kMaxOutputs];
    int64_t in_strides[plugin::kMaxInputs], out_strides[plugin::kMaxOutputs];
    const plugin::Program& program = program_.program();
    const auto place = [&](uint32_t k, plugin::DType type, int64_t& stride) {
      stride = space.strides[k][space.rank - 1];
      const int64_t elements = walker.offset(static_cast<int>(k)) + first * stride;
      return operand_pointer(args, k) + elements * static_cast<int64_t>(plugin::size_of(type));
    };
    for (uint32_t i = 0; i < outputs_; ++i) out[i] = place(i, output_type(program, i), out_strides[i]);
    for (uint32_t i = 0; i < inputs_; ++i) in[i] = place(outputs_ + i, program.input_types[i], in_strides[i]);
    program_.run({in, in_strides, args.scalars, out, out_strides, 0, false}, n);
  }

  // What starting a row costs, in points.
  static constexpr int64_t kRowCost = 64;

  const CompiledProgram program_;
  const uint32_t outputs_, inputs_, scalars_;
  const int64_t grain_;
  const int64_t point_bytes_;
  const int64_t small_;
};

}  // namespace

Status supports_elementwise(const CpuDevice&, const plugin::KernelDesc& desc) {
  return check_program(desc.program);
}

Status create_elementwise(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  *kernel = new ElementwiseKernel(device, desc.program);
  return plugin::kOk;
}

}  // namespace backplane::cpu
