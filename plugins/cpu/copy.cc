// SPDX-License-Identifier: Apache-2.0
// The copy family. Which loop copies fastest follows from the strides once dimensions are ordered and joined.
#include <cstring>

#include "cpu/families.h"
#include "cpu/iteration.h"
#include "cpu/kernel.h"
#include "cpu/move_bytes.h"
#include "cpu/vector_copy.h"

namespace backplane::cpu {
namespace {

using plugin::make_status;
using plugin::Status;
using plugin::StatusCode;

constexpr int kOut = 0;
constexpr int kIn = 1;

// Some 8 us of copying within the caches.
constexpr int64_t kGrainBytes = 128 << 10;
// Tiles along the output's rows that one call transposes.
constexpr int64_t kTilesPerCall = 16;

class CopyKernel final : public CpuKernel {
 public:
  CopyKernel(CpuDevice& device, uint32_t element_size)
      : CpuKernel(device),
        size_(element_size),
        log2_size_(element_size == 1   ? 0
                   : element_size == 2 ? 1
                   : element_size == 4 ? 2
                                       : 3) {}

  Status run(const plugin::LaunchArgs& args) const override {
    Space<2> space = launch_space<2>(args);
    char* const out = operand_pointer(args, kOut);
    const char* const in = operand_pointer(args, kIn);
    space.order_by(kOut);
    space.merge();
    if (space.rank == 0) {
      std::memcpy(out, in, size_);
    } else if (space.rank == 1 && space.strides[kOut][0] == 1 && space.strides[kIn][0] == 1) {
      move_bytes(threads(), out, in, static_cast<uint64_t>(space.shape[0]) * size_);
    } else if (!transpose(space, out, in)) {
      copy_rows(space, out, in);
    }
    return plugin::kOk;
  }

 private:
  char* at(char* base, int64_t elements) const { return base + elements * static_cast<int64_t>(size_); }
  const char* at(const char* base, int64_t elements) const {
    return base + elements * static_cast<int64_t>(size_);
  }

  // Where the output is contiguous along the innermost dimension and the input along another: blocks of both.
  bool transpose(Space<2> space, char* out, const char* in) const {
    const int last = space.rank - 1;
    if (space.strides[kOut][last] != 1 || space.strides[kIn][last] == 1) return false;
    int across = -1;
    for (int d = 0; d < last; ++d) {
      if (space.strides[kIn][d] == 1 && space.shape[d] > 1) across = d;
    }
    if (across < 0) return false;
    for (int d = across; d + 1 < last; ++d) space.swap_dimensions(d, d + 1);

    const bool streaming = space.size() * static_cast<int64_t>(size_) >= streaming_threshold_bytes();
    const VectorCopy& loops = active_vector_copy();
    const int64_t tile = streaming ? loops.block[log2_size_] : transpose_tile(size_);
    const int64_t a_count = space.shape[last - 1];
    const int64_t b_count = space.shape[last];
    const int64_t a_calls = (a_count + tile - 1) / tile;
    const int64_t b_step = streaming ? tile : tile * kTilesPerCall;
    const int64_t b_calls = (b_count + b_step - 1) / b_step;
    const int64_t outer = space.size() / (a_count * b_count);
    const auto call = loops.transpose[log2_size_];
    const int64_t grain = std::max<int64_t>(1, kGrainBytes / (tile * std::min(b_step, b_count) * size_));
    threads().loop(outer * a_calls * b_calls, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i / a_calls % b_calls * b_step;
        const int64_t a = i % a_calls * tile;
        const Walker<2> walker(space, last - 1, i / (a_calls * b_calls));
        const int64_t to = walker.offset(kOut) + a * space.strides[kOut][last - 1] + b;
        const int64_t from = walker.offset(kIn) + b * space.strides[kIn][last] + a;
        call(at(out, to), space.strides[kOut][last - 1], at(in, from), space.strides[kIn][last],
             std::min(tile, a_count - a), std::min(b_step, b_count - b), streaming);
      }
    });
    return true;
  }

  // Row by row along the innermost dimension; a single long row is cut.
  void copy_rows(Space<2> space, char* out, const char* in) const {
    const int last = space.rank - 1;
    const int64_t row = space.shape[last];
    const int64_t piece = std::max<int64_t>(1, kGrainBytes / size_);
    const int64_t pieces = (row + piece - 1) / piece;
    const int64_t rows = space.size() / row;
    const int64_t out_stride = space.strides[kOut][last];
    const int64_t in_stride = space.strides[kIn][last];
    const bool contiguous = out_stride == 1 && in_stride == 1;
    const auto copy_row = active_vector_copy().strided[log2_size_];
    const int64_t grain = std::max<int64_t>(1, kGrainBytes / (std::min(row, piece) * size_));
    threads().loop(rows * pieces, grain, [&](int64_t begin, int64_t end) {
      Walker<2> walker(space, last, begin / pieces);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % pieces * piece;
        const int64_t count = std::min(piece, row - first);
        char* const to = at(out, walker.offset(kOut) + first * out_stride);
        const char* const from = at(in, walker.offset(kIn) + first * in_stride);
        if (contiguous) {
          std::memcpy(to, from, static_cast<size_t>(count) * size_);
        } else {
          copy_row(to, out_stride, from, in_stride, count);
        }
        if (i % pieces == pieces - 1) walker.next();
      }
    });
  }

  const uint32_t size_;
  const int log2_size_;
};

}  // namespace

Status supports_copy(const CpuDevice&, const plugin::KernelDesc& desc) {
  if (plugin::size_of(desc.types[0]) != 0) return plugin::kOk;
  return make_status(StatusCode::Unimplemented, 0, "copy: element type %u is unknown",
                     static_cast<unsigned>(desc.types[0]));
}

Status create_copy(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  *kernel = new CopyKernel(device, plugin::size_of(desc.types[0]));
  return plugin::kOk;
}

}  // namespace backplane::cpu
