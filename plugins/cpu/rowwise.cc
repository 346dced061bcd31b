// SPDX-License-Identifier: Apache-2.0
// The rowwise family. Rows that are contiguous and of the type computed in are worked on where they lie;
// others are gathered, several at once, into memory that stays in the cache.
#include "cpu/families.h"
#include "cpu/iteration.h"
#include "cpu/kernel.h"
#include "cpu/move_bytes.h"
#include "cpu/scratch.h"
#include "cpu/vector_copy.h"
#include "cpu/vector_loops.h"
#include "cpu/vector_rowwise.h"

namespace backplane::cpu {
namespace {

using plugin::DType;
using plugin::make_status;
using plugin::Status;
using plugin::StatusCode;

constexpr int kOut = 0;
constexpr int kIn = 1;

// Values whose exponentials take some 8 us.
constexpr int64_t kGrainValues = 8192;
// Bytes of rows gathered at once, within the second-level cache, and rows of a cache line.
constexpr int64_t kGatheredBytes = 256 << 10;
constexpr int64_t kMostRows = 64;
// Rows side by side, fewer than which are gathered.
constexpr int64_t kFewRows = 16;
// Shorter rows are stored where they are made: only whole cache lines gain by going past the caches.
constexpr int64_t kShortRowBytes = 1024;

int log2_size(uint32_t size) { return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3; }

class RowwiseKernel final : public CpuKernel {
 public:
  RowwiseKernel(CpuDevice& device, const plugin::KernelDesc& desc)
      : CpuKernel(device),
        type_(desc.types[0]),
        has_weight_((desc.flags & plugin::kRowwiseWeight) != 0),
        has_bias_((desc.flags & plugin::kRowwiseBias) != 0),
        size_(plugin::size_of(type_)),
        compute_size_(plugin::size_of(desc.compute_type)) {
    const RowwiseTable& table = active_rowwise_table();
    const bool wide = desc.compute_type == DType::Float64;
    function_ = (wide ? table.float64 : table.float32)[desc.op];
    if (type_ == desc.compute_type) strip_ = (wide ? table.float64_strip : table.float32_strip)[desc.op];
    if (type_ != desc.compute_type) {
      load_ = active_convert_loops().load[static_cast<size_t>(type_)];
      store_ = active_convert_loops().store[static_cast<size_t>(type_)];
    }
  }

  Status run(const plugin::LaunchArgs& args) const override;

 private:
  struct Rows {
    Space<2> space;  // all dimensions but the row's
    int64_t length;
    int64_t strides[2];  // along a row
    char* base[2];
    double epsilon;
  };

  void run_in_place(const Rows& rows, int64_t begin, int64_t end, const char* weight, const char* bias) const;
  void run_past_caches(const Rows& rows, int64_t begin, int64_t end, const char* weight,
                       const char* bias) const;
  bool lies_side_by_side(const Rows& rows) const;
  void run_strips(const Rows& rows) const;
  void run_gathered(const Rows& rows, int64_t batch, int64_t begin, int64_t end, const char* weight,
                    const char* bias) const;
  void move(char* dst, int64_t dst_row, int64_t dst_along, const char* src, int64_t src_row,
            int64_t src_along, int64_t rows, int64_t length) const;
  const char* parameter(const plugin::LaunchArgs& args, uint32_t operand, int64_t length, char* memory) const;

  const DType type_;
  const bool has_weight_;
  const bool has_bias_;
  const uint32_t size_;          // of an element
  const uint32_t compute_size_;  // of an element while it is computed with
  RowFunction function_ = nullptr;
  StripFunction strip_ = nullptr;  // null where rows side by side are gathered
  MapFunction load_ = nullptr;     // null where elements need no conversion
  MapFunction store_ = nullptr;
};

// Weight or bias as contiguous values of the type computed in, in `memory` if it does not lie so already.
const char* RowwiseKernel::parameter(const plugin::LaunchArgs& args, uint32_t operand, int64_t length,
                                     char* memory) const {
  const int64_t stride = args.operand(operand).strides[args.rank - 1];
  const char* const source = operand_pointer(args, operand);
  if (load_ == nullptr && stride == 1) return source;
  char* const gathered = load_ == nullptr ? memory : memory + length * compute_size_;
  active_vector_copy().strided[log2_size(size_)](gathered, 1, source, stride, length);
  if (load_ != nullptr) load_(memory, gathered, length);
  return memory;
}

Status RowwiseKernel::run(const plugin::LaunchArgs& args) const {
  Rows rows{launch_space<2>(args), 1, {1, 1}, {operand_pointer(args, kOut), operand_pointer(args, kIn)}, 0};
  const int last = rows.space.rank - 1;
  rows.length = rows.space.shape[last];
  for (int k = 0; k < 2; ++k) rows.strides[k] = rows.space.strides[k][last];
  rows.epsilon = args.scalar_count > 0 ? args.scalars[0].f : 0.0;
  --rows.space.rank;
  rows.space.order_by(kIn);
  rows.space.merge();
  const int64_t count = rows.space.size();

  // Parameters are made contiguous before the rows, once: each at most two copies of a row.
  const int64_t parameter_bytes = (rows.length * (compute_size_ + size_) + 63) / 64 * 64;
  char* const parameters =
      has_weight_ || has_bias_ ? thread_scratch<Scratch::Parameters>(2 * parameter_bytes) : nullptr;
  const char* const weight = has_weight_ ? parameter(args, 2, rows.length, parameters) : nullptr;
  const char* const bias =
      has_bias_ ? parameter(args, has_weight_ ? 3 : 2, rows.length, parameters + parameter_bytes) : nullptr;

  const int64_t grain = std::max<int64_t>(1, kGrainValues / rows.length);
  const bool in_place =
      load_ == nullptr && (rows.length == 1 || (rows.strides[kOut] == 1 && rows.strides[kIn] == 1));
  if (in_place) {
    const int64_t bytes = rows.length * size_;
    const bool streaming = bytes >= kShortRowBytes && bytes <= kGatheredBytes &&
                           rows.base[kIn] != rows.base[kOut] && count * bytes >= streaming_threshold_bytes();
    threads().loop(count, grain, [&](int64_t begin, int64_t end) {
      if (streaming) {
        run_past_caches(rows, begin, end, weight, bias);
      } else {
        run_in_place(rows, begin, end, weight, bias);
      }
    });
    return plugin::kOk;
  }
  if (lies_side_by_side(rows)) {
    run_strips(rows);
    return plugin::kOk;
  }
  const int64_t line = 64 / static_cast<int64_t>(size_);
  const int64_t fitting = kGatheredBytes / (rows.length * compute_size_) / line * line;
  const int64_t batch = std::clamp(fitting, line, kMostRows);
  threads().loop((count + batch - 1) / batch, std::max<int64_t>(1, grain / batch),
                 [&](int64_t begin, int64_t end) {
                   run_gathered(rows, batch, begin * batch, std::min(end * batch, count), weight, bias);
                 });
  return plugin::kOk;
}

void RowwiseKernel::run_in_place(const Rows& rows, int64_t begin, int64_t end, const char* weight,
                                 const char* bias) const {
  Walker<2> walker(rows.space, rows.space.rank, begin);
  for (int64_t i = begin; i < end; ++i, walker.next()) {
    function_(rows.base[kIn] + walker.offset(kIn) * size_, rows.base[kOut] + walker.offset(kOut) * size_,
              rows.length, weight, bias, rows.epsilon);
  }
}

// Results that no cache holds: each row is made in memory that one does, and stored past them.
void RowwiseKernel::run_past_caches(const Rows& rows, int64_t begin, int64_t end, const char* weight,
                                    const char* bias) const {
  const StrideTable& table = active_stride_loops();
  char* const made = thread_scratch<Scratch::Panels>(rows.length * size_);
  Walker<2> walker(rows.space, rows.space.rank, begin);
  for (int64_t i = begin; i < end; ++i, walker.next()) {
    function_(rows.base[kIn] + walker.offset(kIn) * size_, made, rows.length, weight, bias, rows.epsilon);
    table.stream(rows.base[kOut] + walker.offset(kOut) * size_, made, rows.length * size_);
  }
  table.fence();
}

// Whether values of the same place in neighbouring rows are neighbours, in both operands.
bool RowwiseKernel::lies_side_by_side(const Rows& rows) const {
  const int inner = rows.space.rank - 1;
  return strip_ != nullptr && inner >= 0 && rows.space.shape[inner] >= kFewRows &&
         rows.space.strides[kOut][inner] == 1 && rows.space.strides[kIn][inner] == 1;
}

// Strips as wide as leaves enough of them for all threads.
void RowwiseKernel::run_strips(const Rows& rows) const {
  const int inner = rows.space.rank - 1;
  const int64_t lanes = rows.space.shape[inner];
  const int64_t line = 64 / static_cast<int64_t>(size_);
  const int64_t outer = rows.space.size() / lanes;
  const int64_t wanted = (4 * threads().count() + outer - 1) / outer;
  const int64_t width = std::clamp((lanes / wanted + line - 1) / line * line, line, kStripLanes);
  const int64_t strips = (lanes + width - 1) / width;
  const int64_t grain = std::max<int64_t>(1, kGrainValues / (width * rows.length));
  const bool past = rows.base[kIn] != rows.base[kOut] &&
                    rows.space.size() * rows.length * size_ >= streaming_threshold_bytes();
  threads().loop(outer * strips, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Walker<2> walker(rows.space, inner, i / strips);
      const int64_t first = i % strips * width;
      strip_(rows.base[kIn] + (walker.offset(kIn) + first) * size_, rows.strides[kIn],
             rows.base[kOut] + (walker.offset(kOut) + first) * size_, rows.strides[kOut], rows.length,
             std::min(width, lanes - first), past);
    }
  });
}

// `rows` rows of `length`, from one pair of strides to another.
void RowwiseKernel::move(char* dst, int64_t dst_row, int64_t dst_along, const char* src, int64_t src_row,
                         int64_t src_along, int64_t rows, int64_t length) const {
  const VectorCopy& copy = active_vector_copy();
  const int kind = log2_size(size_);
  if (rows > 1 && src_row == 1 && dst_along == 1) {
    copy.transpose[kind](dst, dst_row, src, src_along, rows, length, false);
  } else if (rows > 1 && src_along == 1 && dst_row == 1) {
    copy.transpose[kind](dst, dst_along, src, src_row, length, rows, false);
  } else {
    for (int64_t i = 0; i < rows; ++i) {
      copy.strided[kind](dst + i * dst_row * size_, dst_along, src + i * src_row * size_, src_along, length);
    }
  }
}

void RowwiseKernel::run_gathered(const Rows& rows, int64_t batch, int64_t begin, int64_t end,
                                 const char* weight, const char* bias) const {
  const int64_t values = batch * rows.length;
  char* const computed = thread_scratch<Scratch::Panels>(values * (compute_size_ + size_) + 128);
  // Where elements need no conversion they are gathered where they are computed with.
  char* const gathered = load_ == nullptr ? computed : computed + (values * compute_size_ + 63) / 64 * 64;
  const int inner = rows.space.rank - 1;
  const int64_t extent = inner < 0 ? 1 : rows.space.shape[inner];
  const int64_t row_strides[2] = {inner < 0 ? 0 : rows.space.strides[kOut][inner],
                                  inner < 0 ? 0 : rows.space.strides[kIn][inner]};
  for (int64_t i = begin; i < end;) {
    // Rows along the innermost dimension lie at equal distances.
    const int64_t count = std::min({batch, end - i, extent - i % extent});
    const Walker<2> walker(rows.space, rows.space.rank, i);
    char* const out = rows.base[kOut] + walker.offset(kOut) * size_;
    const char* const in = rows.base[kIn] + walker.offset(kIn) * size_;
    move(gathered, rows.length, 1, in, row_strides[kIn], rows.strides[kIn], count, rows.length);
    if (load_ != nullptr) load_(computed, gathered, count * rows.length);
    for (int64_t k = 0; k < count; ++k) {
      char* const row = computed + k * rows.length * compute_size_;
      function_(row, row, rows.length, weight, bias, rows.epsilon);
    }
    if (store_ != nullptr) store_(gathered, computed, count * rows.length);
    move(out, row_strides[kOut], rows.strides[kOut], gathered, rows.length, 1, count, rows.length);
    i += count;
  }
}

}  // namespace

Status supports_rowwise(const CpuDevice&, const plugin::KernelDesc& desc) {
  if (desc.op >= kRowwiseOps) {
    return make_status(StatusCode::Unimplemented, 0, "rowwise: operation %u is unknown",
                       static_cast<unsigned>(desc.op));
  }
  const DType type = desc.types[0];
  const bool half = type == DType::Float16 || type == DType::BFloat16;
  const bool single = type == DType::Float32 || half;
  if (single && desc.compute_type == DType::Float32) return plugin::kOk;
  if (type == DType::Float64 && desc.compute_type == DType::Float64) return plugin::kOk;
  return make_status(
      StatusCode::Unimplemented, 0,
      "rowwise: type %u computed in type %u is not offered: float16, bfloat16 and float32 are computed in "
      "float32, float64 in float64",
      static_cast<unsigned>(type), static_cast<unsigned>(desc.compute_type));
}

Status create_rowwise(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  *kernel = new RowwiseKernel(device, desc);
  return plugin::kOk;
}

}  // namespace backplane::cpu
