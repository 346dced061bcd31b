// SPDX-License-Identifier: Apache-2.0
// The index family: gather, scatter, nonzero.
#include <atomic>
#include <cstring>
#include <numeric>
#include <utility>

#include "cpu/families.h"
#include "cpu/iteration.h"
#include "cpu/kernel.h"
#include "cpu/move_bytes.h"
#include "cpu/vector_loops.h"

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

// Rows of more are copied as they come: starting one costs little beside it.
constexpr int64_t kLongRowBytes = 4096;
constexpr int64_t kRowsAhead = 4;

// The operand with the indices.
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

// Remembers the first point, in row-major order, whose index was out of range.
class ErrorWord {
 public:
  explicit ErrorWord(const plugin::LaunchArgs& args) {
    if (args.error != nullptr) {
      word_ = reinterpret_cast<int64_t*>(static_cast<char*>(args.error->host_pointer()) + args.error_offset);
    }
  }

  void report(int64_t point) const {
    if (word_ == nullptr) return;
    std::atomic_ref<int64_t> word(*word_);
    int64_t known = word.load(std::memory_order_relaxed);
    while ((known == 0 || known > point + 1) && !word.compare_exchange_weak(known, point + 1)) {
    }
  }

 private:
  int64_t* word_ = nullptr;
};

// One launch of gather or scatter on elements of type T. They differ in which operand the index moves: the
// source, operand 2, or the output, operand 0; the other is walked with the points.
template <typename T, typename Index>
class Move {
 public:
  Move(const plugin::LaunchArgs& args, bool scatter)
      : scatter_(scatter),
        reached_(scatter ? 0 : 2),
        walked_(scatter ? 2 : 0),
        axis_size_(args.axis_size),
        axis_stride_(args.axis_stride),
        space_(launch_space<3>(args)),
        walked_base_(operand_pointer(args, static_cast<uint32_t>(walked_))),
        reached_base_(operand_pointer(args, static_cast<uint32_t>(reached_))),
        indices_(operand_pointer<const Index>(args, kIndex)),
        error_(args) {
    space_.merge();
    if (space_.rank == 0) {
      constexpr int64_t kNoStrides[3] = {};
      space_.push(1, kNoStrides);
    }
    last_ = space_.rank - 1;
  }

  void run(Threads& threads) const {
    if (scatter_) {
      run_scatter(threads);
    } else if (takes_rows()) {
      run_rows(threads);
    } else {
      run_gather(threads);
    }
  }

 private:
  static constexpr auto kSize = static_cast<int64_t>(sizeof(T));

  int64_t row() const { return space_.shape[last_]; }

  // Where the element of an index lies, in bytes from the point's own; false if it is out of range.
  bool locate(Index index, int64_t* offset) const {
    const int64_t wrapped = index < 0 ? index + axis_size_ : static_cast<int64_t>(index);
    if (wrapped < 0 || wrapped >= axis_size_) return false;
    *offset = wrapped * axis_stride_ * kSize;
    return true;
  }

  void move(char* at_walked, char* at_reached, int64_t count) const {
    const int64_t walked_stride = space_.strides[walked_][last_];
    const int64_t reached_stride = space_.strides[reached_][last_];
    if (scatter_) {
      copy_elements<T>(at_reached, reached_stride, at_walked, walked_stride, count);
    } else {
      copy_elements<T>(at_walked, walked_stride, at_reached, reached_stride, count);
    }
  }

  // Points [begin, end) of one row, whose first point has number `point`.
  void move_row(const Walker<3>& walker, int64_t point, int64_t begin, int64_t end) const {
    const int64_t walked_stride = space_.strides[walked_][last_] * kSize;
    const int64_t reached_stride = space_.strides[reached_][last_] * kSize;
    const int64_t index_stride = space_.strides[kIndex][last_];
    char* const at_walked = walked_base_ + walker.offset(walked_) * kSize + begin * walked_stride;
    char* const at_reached = reached_base_ + walker.offset(reached_) * kSize + begin * reached_stride;
    const Index* const index = indices_ + walker.offset(kIndex) + begin * index_stride;
    int64_t offset = 0;
    if (index_stride == 0) {
      if (locate(*index, &offset)) {
        move(at_walked, at_reached + offset, end - begin);
      } else {
        error_.report(point + begin);
      }
      return;
    }
    for (int64_t i = 0; i < end - begin; ++i) {
      if (!locate(index[i * index_stride], &offset)) {
        error_.report(point + begin + i);
        continue;
      }
      move(at_walked + i * walked_stride, at_reached + i * reached_stride + offset, 1);
    }
  }

  // Whether whole rows are taken, from anywhere to one after the other.
  bool takes_rows() const {
    return space_.rank == 2 && space_.strides[kIndex][1] == 0 && space_.strides[walked_][1] == 1 &&
           space_.strides[reached_][1] == 1 && space_.strides[walked_][0] == row() &&
           row() * kSize <= kLongRowBytes;
  }

  // The row after next is on its way from memory while one is copied, and large results go past the caches.
  void run_rows(Threads& threads) const {
    const int64_t bytes = row() * kSize;
    const int64_t rows = space_.shape[0];
    const bool streaming = bytes % 64 == 0 && reinterpret_cast<uintptr_t>(walked_base_) % 64 == 0 &&
                           rows * bytes >= streaming_threshold_bytes();
    const StrideTable& table = active_stride_loops();
    threads.loop(rows, std::max<int64_t>(1, kGrainPoints / row()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        prefetch_row(std::min(i + kRowsAhead, end - 1), bytes);
        int64_t offset = 0;
        if (!locate(indices_[i * space_.strides[kIndex][0]], &offset)) {
          error_.report(i * row());
          continue;
        }
        char* const to = walked_base_ + i * bytes;
        const char* const from = reached_base_ + i * space_.strides[reached_][0] * kSize + offset;
        if (streaming) {
          table.stream(to, from, bytes);
        } else {
          std::memcpy(to, from, static_cast<size_t>(bytes));
        }
      }
      if (streaming) table.fence();
    });
  }

  void prefetch_row(int64_t i, int64_t bytes) const {
    int64_t offset = 0;
    if (!locate(indices_[i * space_.strides[kIndex][0]], &offset)) return;
    const char* const from = reached_base_ + i * space_.strides[reached_][0] * kSize + offset;
    for (int64_t line = 0; line < bytes; line += 64) __builtin_prefetch(from + line);
  }

  // Any order will do: rows, cut where they are long.
  void run_gather(Threads& threads) const {
    const int64_t rows = space_.size() / row();
    const int64_t pieces = (row() + kGrainPoints - 1) / kGrainPoints;
    const int64_t grain = std::max<int64_t>(1, kGrainPoints / std::min(row(), kGrainPoints));
    threads.loop(rows * pieces, grain, [&](int64_t begin, int64_t end) {
      Walker<3> walker(space_, last_, begin / pieces);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % pieces * kGrainPoints;
        move_row(walker, i / pieces * row(), first, std::min(first + kGrainPoints, row()));
        if (i % pieces == pieces - 1) walker.next();
      }
    });
  }

  // Each thread does its share of one dimension, all points of it in order.
  void run_scatter(Threads& threads) const {
    const int shared = find_independent();
    const int64_t extent = shared < 0 ? 1 : space_.shape[shared];
    const int64_t grain = std::max<int64_t>(1, kGrainPoints * extent / space_.size());
    threads.loop(extent, grain,
                 [&](int64_t begin, int64_t end) { scatter_share(shared, extent, begin, end); });
  }

  // Points whose coordinate along `shared` is in [begin, end); all of them where `shared` is -1.
  void scatter_share(int shared, int64_t extent, int64_t begin, int64_t end) const {
    const int64_t rows = space_.size() / row();
    Walker<3> walker(space_, last_, 0);
    if (shared == last_) {
      for (int64_t i = 0; i < rows; ++i, walker.next()) move_row(walker, i * row(), begin, end);
      return;
    }
    int64_t inside = 1;
    for (int d = shared + 1; d < last_; ++d) inside *= space_.shape[d];
    for (int64_t i = 0; i < rows; ++i, walker.next()) {
      const int64_t coordinate = shared < 0 ? 0 : i / inside % extent;
      if (coordinate >= begin && coordinate < end) move_row(walker, i * row(), 0, row());
    }
  }

  // A dimension along which points reach different places whatever their indices are, so that threads may
  // share it out: what lies between two of its steps is more than all else can span, or all else moves in
  // steps larger than its whole extent. The longest; -1 if there is none, and then the order of writes allows
  // one thread only.
  int find_independent() const {
    int best = -1;
    for (int d = 0; d < space_.rank; ++d) {
      const int64_t step = std::abs(space_.strides[reached_][d]);
      if (step == 0) continue;
      int64_t span = (axis_size_ - 1) * std::abs(axis_stride_);
      int64_t steps = std::abs(axis_stride_);
      for (int e = 0; e < space_.rank; ++e) {
        if (e == d) continue;
        span += (space_.shape[e] - 1) * std::abs(space_.strides[reached_][e]);
        steps = std::gcd(steps, space_.strides[reached_][e]);
      }
      const bool independent = step > span || (space_.shape[d] - 1) * step < steps;
      if (independent && (best < 0 || space_.shape[d] > space_.shape[best])) best = d;
    }
    return best;
  }

  const bool scatter_;
  const int reached_, walked_;  // operands
  const int64_t axis_size_, axis_stride_;
  Space<3> space_;
  int last_ = 0;
  char* const walked_base_;
  char* const reached_base_;
  const Index* const indices_;
  const ErrorWord error_;
};

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
  void run_as(const plugin::LaunchArgs& args) const {
    Move<T, Index>(args, scatter_).run(threads());
  }

  const bool scatter_;
  const bool wide_index_;
  const uint32_t size_;
};

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
