// SPDX-License-Identifier: Apache-2.0
#include "cpu/elementwise_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cpu/vector_copy.h"

namespace backplane::cpu {
namespace {

using plugin::DType;

// A row this long is worth a start of its own.
constexpr int64_t kLongRow = 512;
constexpr int64_t kMostPoints = 1024;
constexpr int64_t kPackBytes = 32 << 10;

// One operand's part of a block.
struct Part {
  char* address;
  int64_t row_stride, stride;  // in elements
  int log2;                    // of the element's bytes
};

struct Shape {
  int64_t rows, columns;
};

// The stride, if one stride leads through the whole block.
bool is_line(const Part& part, Shape shape, int64_t* stride) {
  *stride = shape.columns == 1 ? part.row_stride : part.stride;
  return shape.rows == 1 || shape.columns == 1 || part.row_stride == part.stride * shape.columns;
}

void pack(char* to, const Part& part, Shape shape) {
  if (part.row_stride == 1 && part.stride != 1) {
    active_vector_copy().transpose[part.log2](to, shape.columns, part.address, part.stride, shape.rows,
                                              shape.columns, false);
    return;
  }
  const StrideTable& table = active_stride_loops();
  for (int64_t r = 0; r < shape.rows; ++r) {
    const char* const from = part.address + r * part.row_stride * (int64_t{1} << part.log2);
    if (part.stride == 1) {
      std::memcpy(to, from, static_cast<size_t>(shape.columns) << part.log2);
    } else if (part.stride == 0) {
      table.fill[part.log2](to, from, shape.columns);
    } else {
      table.gather[part.log2](to, from, part.stride, shape.columns);
    }
    to += shape.columns << part.log2;
  }
}

void unpack(const Part& part, const char* from, Shape shape) {
  for (int64_t r = 0; r < shape.rows; ++r) {
    char* const to = part.address + r * part.row_stride * (int64_t{1} << part.log2);
    active_stride_loops().scatter[part.log2](to, part.stride, from, shape.columns);
    from += shape.columns << part.log2;
  }
}

class Blocks {
 public:
  Blocks(const CompiledProgram& program, const ProgramSpace& space, char* const* origins,
         const plugin::Scalar* scalars)
      : program_(program), space_(space), origins_(origins), scalars_(scalars) {
    const plugin::Program& source = program.program();
    outputs_ = source.output_count;
    operands_ = outputs_ + source.input_count;
    int64_t bytes = 0;
    for (int k = 0; k < operands_; ++k) {
      const DType type =
          k < outputs_ ? output_type(source, static_cast<uint32_t>(k)) : source.input_types[k - outputs_];
      log2_[k] = memory_log2(type);
      bytes += int64_t{1} << log2_[k];
    }
    const int64_t points = std::min(kMostPoints, kPackBytes / bytes);
    const int64_t rows = space.shape[space.rank - 2], columns = space.shape[space.rank - 1];
    block_.columns = std::min(columns, across() ? points / 16 : points);
    block_.rows = std::min(rows, std::max<int64_t>(1, across() ? 16 : points / block_.columns));
    row_blocks_ = (rows + block_.rows - 1) / block_.rows;
    column_blocks_ = (columns + block_.columns - 1) / block_.columns;
    count_ = space.size() / (rows * columns) * row_blocks_ * column_blocks_;
  }

  int64_t count() const { return count_; }
  int64_t points() const { return block_.rows * block_.columns; }

  void run(int64_t index) const {
    const int rank = space_.rank;
    const int64_t column = index % column_blocks_ * block_.columns;
    const int64_t row = index / column_blocks_ % row_blocks_ * block_.rows;
    const Walker<kMostOperands> walker(space_, rank - 2, index / (column_blocks_ * row_blocks_));
    const Shape shape = {std::min(block_.rows, space_.shape[rank - 2] - row),
                         std::min(block_.columns, space_.shape[rank - 1] - column)};
    Part parts[kMostOperands];
    for (int k = 0; k < operands_; ++k) {
      const int64_t row_stride = space_.strides[k][rank - 2], stride = space_.strides[k][rank - 1];
      const int64_t elements = walker.offset(k) + row * row_stride + column * stride;
      parts[k] = {origins_[k] + elements * (int64_t{1} << log2_[k]), row_stride, stride, log2_[k]};
    }
    run_block(parts, shape);
  }

 private:
  // Whether an operand's neighbours lie along the rows' dimension instead.
  bool across() const {
    for (int k = 0; k < operands_; ++k) {
      if (std::abs(space_.strides[k][space_.rank - 1]) > std::abs(space_.strides[k][space_.rank - 2]) &&
          space_.strides[k][space_.rank - 2] != 0)
        return true;
    }
    return false;
  }

  void run_block(const Part* parts, Shape shape) const {
    alignas(64) char packed[kPackBytes + 64 * kMostOperands];
    char* free = packed;
    const int64_t n = shape.rows * shape.columns;
    const auto take = [&](int log2) {
      char* const place = free;
      free += ((n << log2) + 63) / 64 * 64;
      return place;
    };
    const void* inputs[plugin::kMaxInputs];
    void* outputs[plugin::kMaxOutputs];
    int64_t input_strides[plugin::kMaxInputs], output_strides[plugin::kMaxOutputs];
    for (int k = outputs_; k < operands_; ++k) {
      const int i = k - outputs_;
      inputs[i] = parts[k].address;
      if (is_line(parts[k], shape, &input_strides[i])) continue;
      char* const place = take(parts[k].log2);
      pack(place, parts[k], shape);
      inputs[i] = place;
      input_strides[i] = 1;
    }
    bool apart[plugin::kMaxOutputs];
    for (int k = 0; k < outputs_; ++k) {
      apart[k] = !is_line(parts[k], shape, &output_strides[k]);
      outputs[k] = apart[k] ? take(parts[k].log2) : parts[k].address;
      if (apart[k]) output_strides[k] = 1;
    }
    program_.run({inputs, input_strides, scalars_, outputs, output_strides, 0, false}, n);
    for (int k = 0; k < outputs_; ++k) {
      if (apart[k]) unpack(parts[k], static_cast<const char*>(outputs[k]), shape);
    }
  }

  const CompiledProgram& program_;
  const ProgramSpace& space_;
  char* const* const origins_;
  const plugin::Scalar* const scalars_;
  int outputs_ = 0, operands_ = 0;
  int log2_[kMostOperands] = {};
  Shape block_ = {};
  int64_t row_blocks_ = 0, column_blocks_ = 0, count_ = 0;
};

}  // namespace

bool wants_blocks(const ProgramSpace& space, uint32_t operands) noexcept {
  if (space.shape[space.rank - 1] < kLongRow) return true;
  for (uint32_t k = 0; k < operands; ++k) {
    if (std::abs(space.strides[k][space.rank - 1]) > 1) return true;
  }
  return false;
}

void run_blocks(Threads& threads, const CompiledProgram& program, const ProgramSpace& space,
                char* const* origins, const plugin::Scalar* scalars, int64_t grain) {
  const Blocks blocks(program, space, origins, scalars);
  threads.loop(blocks.count(), std::max<int64_t>(1, grain / blocks.points()),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) blocks.run(i);
               });
}

}  // namespace backplane::cpu
