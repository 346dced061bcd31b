// SPDX-License-Identifier: Apache-2.0
// The index family: gather, scatter, nonzero.
#include <atomic>
#include <cstring>
#include <numeric>
#include <utility>

#include "cpu/families.h"
#include "cpu/iteration.h"
#include "cpu/kernel.h"

namespace backplane::cpu {
namespace {

using plugin::DType;
using plugin::IndexOp;
using plugin::make_status;
using plugin::Status;
using plugin::StatusCode;

constexpr int64_t kGrainPoints = 16384;
// Elements of one piece whose true ones are counted, then written.
constexpr int64_t kPiece = 32768;

// Gather's and scatter's operands: what is walked with the points, the indices, and what is reached by them.
constexpr int kIndex = 1;

template <typename T>
void copy_elements(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t count) {
  if (dst_stride == 1 && src_stride == 1) {
    std::memcpy(dst, src, static_cast<size_t>(count) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(dst + i * dst_stride * static_cast<int64_t>(sizeof(T)),
                src + i * src_stride * static_cast<int64_t>(sizeof(T)), sizeof(T));
  }
}

// Gather and scatter differ in which operand the index moves: the source, operand 2, or the output, operand
// 0.
class MoveKernel final : public CpuKernel {
 public:
  MoveKernel(CpuDevice& device, const plugin::KernelDesc& desc)
      : CpuKernel(device),
        scatter_(desc.op == static_cast<uint8_t>(IndexOp::Scatter)),
        wide_index_(desc.types[1] == DType::Int64),
        size_(plugin::size_of(desc.types[0])) {}

  Status run(const plugin::LaunchArgs& args) const override {
    static constexpr void (MoveKernel::*kRuns[2][4])(const plugin::LaunchArgs&)
        const = {{&MoveKernel::run_as<uint8_t, int32_t>, &MoveKernel::run_as<uint16_t, int32_t>,
                  &MoveKernel::run_as<uint32_t, int32_t>, &MoveKernel::run_as<uint64_t, int32_t>},
                 {&MoveKernel::run_as<uint8_t, int64_t>, &MoveKernel::run_as<uint16_t, int64_t>,
                  &MoveKernel::run_as<uint32_t, int64_t>, &MoveKernel::run_as<uint64_t, int64_t>}};
    const int size = size_ == 1 ? 0 : size_ == 2 ? 1 : size_ == 4 ? 2 : 3;
    (this->*kRuns[wide_index_ ? 1 : 0][size])(args);
    return plugin::kOk;
  }

 private:
  template <typename T, typename Index>
  void run_as(const plugin::LaunchArgs& args) const;

  const bool scatter_;
  const bool wide_index_;
  const uint32_t size_;
};

// Remembers the first point, in row-major order, whose index was out of range.
class ErrorWord {
 public:
  explicit ErrorWord(const plugin::LaunchArgs& args) {
    if (args.error != nullptr) {
      word_ = reinterpret_cast<int64_t*>(static_cast<char*>(args.error->host_pointer()) + args.error_offset);
    }
  }

  void report(int64_t point) {
    if (word_ == nullptr) return;
    std::atomic_ref<int64_t> word(*word_);
    int64_t known = word.load(std::memory_order_relaxed);
    while ((known == 0 || known > point + 1) && !word.compare_exchange_weak(known, point + 1)) {
    }
  }

 private:
  int64_t* word_ = nullptr;
};

// A dimension along which points reach different places whatever their indices are, so that threads may share
// it out: what lies between two of its steps is more than all else can span, or all else moves in steps
// larger than its whole extent. The longest; -1 if there is none, and then the order of writes allows one
// thread only.
int find_independent(const Space<3>& space, int reached, int64_t axis_size, int64_t axis_stride) {
  int best = -1;
  for (int d = 0; d < space.rank; ++d) {
    const int64_t step = std::abs(space.strides[reached][d]);
    if (step == 0) continue;
    int64_t span = (axis_size - 1) * std::abs(axis_stride);
    int64_t steps = std::abs(axis_stride);
    for (int e = 0; e < space.rank; ++e) {
      if (e == d) continue;
      span += (space.shape[e] - 1) * std::abs(space.strides[reached][e]);
      steps = std::gcd(steps, space.strides[reached][e]);
    }
    const bool independent = step > span || (space.shape[d] - 1) * step < steps;
    if (independent && (best < 0 || space.shape[d] > space.shape[best])) best = d;
  }
  return best;
}

template <typename T, typename Index>
void MoveKernel::run_as(const plugin::LaunchArgs& args) const {
  const int reached = scatter_ ? 0 : 2;
  const int walked = 2 - reached;
  Space<3> space = launch_space<3>(args);
  space.merge();
  if (space.rank == 0) {
    constexpr int64_t kNoStrides[3] = {};
    space.push(1, kNoStrides);
  }
  char* const walked_base = operand_pointer(args, static_cast<uint32_t>(walked));
  char* const reached_base = operand_pointer(args, static_cast<uint32_t>(reached));
  const Index* const indices = operand_pointer<const Index>(args, kIndex);
  const int last = space.rank - 1;
  const int64_t row = space.shape[last];
  constexpr auto size = static_cast<int64_t>(sizeof(T));
  ErrorWord error(args);

  // Where the element of an index lies, in bytes from the point's own; false if it is out of range.
  const auto locate = [&](Index index, int64_t* offset) {
    const int64_t wrapped = index < 0 ? index + args.axis_size : static_cast<int64_t>(index);
    *offset = wrapped * args.axis_stride * size;
    return wrapped >= 0 && wrapped < args.axis_size;
  };
  const auto move = [&](char* at_walked, char* at_reached, int64_t count) {
    const int64_t walked_stride = space.strides[walked][last];
    const int64_t reached_stride = space.strides[reached][last];
    if (scatter_) {
      copy_elements<T>(at_reached, reached_stride, at_walked, walked_stride, count);
    } else {
      copy_elements<T>(at_walked, walked_stride, at_reached, reached_stride, count);
    }
  };
  // Points [first, last) of one row, whose number is `point`.
  const auto move_row = [&](const Walker<3>& walker, int64_t point, int64_t begin, int64_t end) {
    char* const at_walked =
        walked_base + (walker.offset(walked) + begin * space.strides[walked][last]) * size;
    char* const at_reached =
        reached_base + (walker.offset(reached) + begin * space.strides[reached][last]) * size;
    const Index* const index = indices + walker.offset(kIndex) + begin * space.strides[kIndex][last];
    int64_t offset = 0;
    if (space.strides[kIndex][last] == 0) {
      if (locate(*index, &offset)) {
        move(at_walked, at_reached + offset, end - begin);
      } else {
        error.report(point + begin);
      }
      return;
    }
    for (int64_t i = 0; i < end - begin; ++i) {
      if (!locate(index[i * space.strides[kIndex][last]], &offset)) {
        error.report(point + begin + i);
        continue;
      }
      move(at_walked + i * space.strides[walked][last] * size,
           at_reached + i * space.strides[reached][last] * size + offset, 1);
    }
  };
  const int64_t rows = space.size() / row;
  if (!scatter_) {
    // Any order will do: rows, cut where they are long.
    const int64_t pieces = (row + kGrainPoints - 1) / kGrainPoints;
    const int64_t grain = std::max<int64_t>(1, kGrainPoints / std::min(row, kGrainPoints));
    threads().loop(rows * pieces, grain, [&](int64_t begin, int64_t end) {
      Walker<3> walker(space, last, begin / pieces);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % pieces * kGrainPoints;
        move_row(walker, i / pieces * row, first, std::min(first + kGrainPoints, row));
        if (i % pieces == pieces - 1) walker.next();
      }
    });
    return;
  }
  // Each thread does its share of one dimension, all points of it in order.
  const int shared = find_independent(space, reached, args.axis_size, args.axis_stride);
  const int64_t extent = shared < 0 ? 1 : space.shape[shared];
  const int64_t grain = std::max<int64_t>(1, kGrainPoints * extent / space.size());
  threads().loop(extent, grain, [&](int64_t begin, int64_t end) {
    if (shared == last) {
      Walker<3> walker(space, last, 0);
      for (int64_t i = 0; i < rows; ++i, walker.next()) move_row(walker, i * row, begin, end);
      return;
    }
    // Rows whose coordinate along the shared dimension is in this share.
    int64_t inside = 1;
    for (int d = shared + 1; d < last; ++d) inside *= space.shape[d];
    Walker<3> walker(space, last, 0);
    for (int64_t i = 0; i < rows; ++i, walker.next()) {
      const int64_t coordinate = shared < 0 ? 0 : i / inside % extent;
      if (coordinate >= begin && coordinate < end) move_row(walker, i * row, 0, row);
    }
  });
}

// Positions of true elements. Every piece is counted, and then knows where its positions go.
class NonzeroKernel final : public CpuKernel {
 public:
  explicit NonzeroKernel(CpuDevice& device) : CpuKernel(device) {}

  Status workspace(const plugin::LaunchArgs* args, uint64_t* bytes) noexcept override {
    *bytes = static_cast<uint64_t>(pieces(*args)) * sizeof(int64_t);
    return plugin::kOk;
  }

  Status run(const plugin::LaunchArgs& args) const override {
    if (args.workspace_bytes < static_cast<uint64_t>(pieces(args)) * sizeof(int64_t)) {
      return make_status(StatusCode::InvalidArgument, 0, "%s: the workspace is too small", args.label);
    }
    const int64_t size = args.shape[0];
    int64_t* const positions = operand_pointer<int64_t>(args, 0);
    const uint8_t* const input = operand_pointer<const uint8_t>(args, 2);
    auto* const counts = reinterpret_cast<int64_t*>(static_cast<char*>(args.workspace->host_pointer()) +
                                                    args.workspace_offset);
    threads().loop(pieces(args), 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        int64_t count = 0;
        for (int64_t i = piece * kPiece; i < std::min((piece + 1) * kPiece, size); ++i)
          count += input[i] != 0;
        counts[piece] = count;
      }
    });
    int64_t total = 0;
    for (int64_t piece = 0; piece < pieces(args); ++piece) total += std::exchange(counts[piece], total);
    *operand_pointer<int64_t>(args, 1) = total;
    threads().loop(pieces(args), 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        int64_t* next = positions + counts[piece];
        for (int64_t i = piece * kPiece; i < std::min((piece + 1) * kPiece, size); ++i) {
          if (input[i] != 0) *next++ = i;
        }
      }
    });
    return plugin::kOk;
  }

 private:
  static int64_t pieces(const plugin::LaunchArgs& args) { return (args.shape[0] + kPiece - 1) / kPiece; }
};

}  // namespace

Status supports_index(const CpuDevice&, const plugin::KernelDesc& desc) {
  if (desc.op > static_cast<uint8_t>(IndexOp::Nonzero)) {
    return make_status(StatusCode::Unimplemented, 0, "index: operation %u is unknown",
                       static_cast<unsigned>(desc.op));
  }
  if (desc.op == static_cast<uint8_t>(IndexOp::Nonzero)) {
    if (desc.types[0] == DType::Int64 && desc.types[1] == DType::Bool) return plugin::kOk;
    return make_status(StatusCode::InvalidArgument, 0, "nonzero takes bool and gives int64");
  }
  if (plugin::size_of(desc.types[0]) == 0) {
    return make_status(StatusCode::InvalidArgument, 0, "index: the element type is unknown");
  }
  if (desc.types[1] != DType::Int32 && desc.types[1] != DType::Int64) {
    return make_status(StatusCode::Unimplemented, 0, "index: indices are int32 or int64");
  }
  return plugin::kOk;
}

Status create_index(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  if (desc.op == static_cast<uint8_t>(IndexOp::Nonzero)) {
    *kernel = new NonzeroKernel(device);
  } else {
    *kernel = new MoveKernel(device, desc);
  }
  return plugin::kOk;
}

}  // namespace backplane::cpu
