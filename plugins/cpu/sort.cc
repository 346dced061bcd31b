// SPDX-License-Identifier: Apache-2.0
// The sort family: stable sorting along the last dimension, and binary search.
#include "cpu/families.h"
#include "cpu/iteration.h"
#include "cpu/kernel.h"
#include "cpu/radix_sort.h"
#include "cpu/scratch.h"
#include "cpu/sort_keys.h"

namespace backplane::cpu {
namespace {

using plugin::DType;
using plugin::make_status;
using plugin::SortOp;
using plugin::Status;
using plugin::StatusCode;

constexpr int64_t kGrainValues = 512;  // some 8 us of sorting
constexpr int64_t kGrainSearches = 256;
// Rows up to this long are sorted by one thread each, in memory of its own.
constexpr int64_t kLongRow = 65536;

// What all rows of a launch have in common. Outputs that are not wanted are null.
struct Rows {
  Space<3> space;  // all dimensions but the row's; operands: values, indices, input
  int64_t length;
  int64_t strides[3];  // along a row
  char* base[3];
};

constexpr int kValues = 0;
constexpr int kIndices = 1;
constexpr int kInput = 2;

// Pairs are 8 bytes where keys and positions fit, else 16.
using NarrowPair = KeyedPosition<uint32_t, uint32_t>;
using WidePair = KeyedPosition<uint64_t, uint64_t>;

bool needs_wide_pairs(uint32_t element_size, int64_t length) {
  return element_size == 8 || length > static_cast<int64_t>(UINT32_MAX);
}

template <typename Key>
class RowSorter {
 public:
  using Bits = typename Key::Bits;

  RowSorter(const Rows& rows, bool descending) : rows_(rows), descending_(descending) {}

  template <typename Pair>
  void fill(int64_t row, Pair* pairs, int64_t begin, int64_t end) const {
    const Bits* const input = row_of<const Bits>(row, kInput);
    const int64_t stride = rows_.strides[kInput];
    for (int64_t i = begin; i < end; ++i) {
      const Bits bits = input[i * stride];
      pairs[i] = {descending_ ? Key::descending_key(bits) : Key::key(bits),
                  static_cast<decltype(pairs[i].position)>(i)};
    }
  }

  template <typename Pair>
  void store(int64_t row, const Pair* pairs, int64_t begin, int64_t end) const {
    if (rows_.base[kValues] != nullptr) {
      // From the input rather than from the keys, which do not tell zeros and NaNs apart.
      const Bits* const input = row_of<const Bits>(row, kInput);
      Bits* const values = row_of<Bits>(row, kValues);
      for (int64_t i = begin; i < end; ++i) {
        values[i * rows_.strides[kValues]] =
            input[static_cast<int64_t>(pairs[i].position) * rows_.strides[kInput]];
      }
    }
    if (rows_.base[kIndices] != nullptr) {
      int64_t* const indices = row_of<int64_t>(row, kIndices);
      for (int64_t i = begin; i < end; ++i) {
        indices[i * rows_.strides[kIndices]] = static_cast<int64_t>(pairs[i].position);
      }
    }
  }

 private:
  template <typename T>
  T* row_of(int64_t row, int operand) const {
    return reinterpret_cast<T*>(rows_.base[operand]) +
           Walker<3>(rows_.space, rows_.space.rank, row).offset(operand);
  }

  const Rows& rows_;
  const bool descending_;
};

class SortKernel final : public CpuKernel {
 public:
  SortKernel(CpuDevice& device, const plugin::KernelDesc& desc)
      : CpuKernel(device), type_(desc.types[0]), flags_(desc.flags), size_(plugin::size_of(desc.types[0])) {}

  Status workspace(const plugin::LaunchArgs* args, uint64_t* bytes) noexcept override {
    *bytes = workspace_bytes(args->shape[args->rank - 1]);
    return plugin::kOk;
  }

  Status run(const plugin::LaunchArgs& args) const override {
    const Rows rows = read_rows(args);
    if (args.workspace_bytes < workspace_bytes(rows.length)) {
      return make_status(StatusCode::InvalidArgument, 0, "%s: the workspace is too small", args.label);
    }
    with_key_type(type_, [&](auto key) {
      using Key = decltype(key);
      if (needs_wide_pairs(size_, rows.length)) {
        sort_rows<Key, WidePair>(args, rows);
      } else if constexpr (sizeof(typename Key::Bits) <= sizeof(NarrowPair::key)) {
        sort_rows<Key, NarrowPair>(args, rows);
      }
    });
    return plugin::kOk;
  }

 private:
  uint64_t workspace_bytes(int64_t length) const {
    if (length <= kLongRow) return 0;
    return static_cast<uint64_t>(length) * 2 *
           (needs_wide_pairs(size_, length) ? sizeof(WidePair) : sizeof(NarrowPair));
  }

  Rows read_rows(const plugin::LaunchArgs& args) const;
  template <typename Key, typename Pair>
  void sort_rows(const plugin::LaunchArgs& args, const Rows& rows) const;

  const DType type_;
  const uint8_t flags_;
  const uint32_t size_;
};

Rows SortKernel::read_rows(const plugin::LaunchArgs& args) const {
  Rows rows{};
  // Operands are the outputs that the flags ask for, then the input.
  int operands[3] = {-1, -1, 0};
  int next = 0;
  if ((flags_ & plugin::kSortValues) != 0) operands[kValues] = next++;
  if ((flags_ & plugin::kSortIndices) != 0) operands[kIndices] = next++;
  operands[kInput] = next;
  const int last = static_cast<int>(args.rank) - 1;
  rows.length = args.shape[last];
  for (int d = 0; d <= last; ++d) {
    int64_t strides[3] = {};
    for (int k = 0; k < 3; ++k) {
      if (operands[k] >= 0) strides[k] = args.operand(static_cast<uint32_t>(operands[k])).strides[d];
    }
    if (d < last) {
      rows.space.push(args.shape[d], strides);
    } else {
      std::copy(strides, strides + 3, rows.strides);
    }
  }
  for (int k = 0; k < 3; ++k) {
    if (operands[k] >= 0) rows.base[k] = operand_pointer(args, static_cast<uint32_t>(operands[k]));
  }
  rows.space.merge();
  return rows;
}

template <typename Key, typename Pair>
void SortKernel::sort_rows(const plugin::LaunchArgs& args, const Rows& rows) const {
  const RowSorter<Key> sorter(rows, (flags_ & plugin::kSortDescending) != 0);
  constexpr int key_bits = static_cast<int>(sizeof(typename Key::Bits)) * 8;
  const int64_t length = rows.length;
  if (length <= kLongRow) {
    threads().loop(rows.space.size(), std::max<int64_t>(1, kGrainValues / length),
                   [&](int64_t begin, int64_t end) {
                     auto* const pairs = reinterpret_cast<Pair*>(
                         thread_scratch<Scratch::Panels>(length * 2 * static_cast<int64_t>(sizeof(Pair))));
                     for (int64_t row = begin; row < end; ++row) {
                       sorter.fill(row, pairs, 0, length);
                       sorter.store(row, sort_pairs(pairs, pairs + length, length, key_bits), 0, length);
                     }
                   });
    return;
  }
  auto* const pairs =
      reinterpret_cast<Pair*>(static_cast<char*>(args.workspace->host_pointer()) + args.workspace_offset);
  constexpr int64_t kPart = 32768;
  for (int64_t row = 0; row < rows.space.size(); ++row) {
    threads().loop(length, kPart, [&](int64_t begin, int64_t end) { sorter.fill(row, pairs, begin, end); });
    const Pair* const sorted = sort_pairs_in_parallel(threads(), pairs, pairs + length, length, key_bits);
    threads().loop(length, kPart, [&](int64_t begin, int64_t end) { sorter.store(row, sorted, begin, end); });
  }
}

class SearchKernel final : public CpuKernel {
 public:
  SearchKernel(CpuDevice& device, const plugin::KernelDesc& desc)
      : CpuKernel(device), type_(desc.types[1]), right_((desc.flags & plugin::kSearchRight) != 0) {}

  Status run(const plugin::LaunchArgs& args) const override {
    with_key_type(type_, [&](auto key) { search<decltype(key)>(args); });
    return plugin::kOk;
  }

 private:
  template <typename Key>
  void search(const plugin::LaunchArgs& args) const {
    using Bits = typename Key::Bits;
    int64_t* const out = operand_pointer<int64_t>(args, 0);
    const Bits* const needles = operand_pointer<const Bits>(args, 1);
    const Bits* const haystack = operand_pointer<const Bits>(args, 2);
    const int64_t out_stride = args.operand(0).strides[0];
    const int64_t needle_stride = args.operand(1).strides[0];
    threads().loop(args.shape[0], kGrainSearches, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Bits key = Key::key(needles[i * needle_stride]);
        int64_t first = 0;
        for (int64_t count = args.axis_size; count > 0;) {
          const int64_t half = count / 2;
          const Bits middle = Key::key(haystack[first + half]);
          const bool before = right_ ? middle <= key : middle < key;
          first = before ? first + half + 1 : first;
          count = before ? count - half - 1 : half;
        }
        out[i * out_stride] = first;
      }
    });
  }

  const DType type_;
  const bool right_;
};

Status invalid(const char* what) { return make_status(StatusCode::InvalidArgument, 0, "sort: %s", what); }

}  // namespace

Status supports_sort(const CpuDevice&, const plugin::KernelDesc& desc) {
  if (desc.op > static_cast<uint8_t>(SortOp::Search)) {
    return make_status(StatusCode::Unimplemented, 0, "sort: operation %u is unknown",
                       static_cast<unsigned>(desc.op));
  }
  if (desc.op == static_cast<uint8_t>(SortOp::Search)) {
    if (desc.types[0] != DType::Int64) return invalid("a search gives int64");
    if (plugin::size_of(desc.types[1]) == 0 || desc.types[1] != desc.types[2]) {
      return invalid("what is searched for and in are not of one known type");
    }
    return plugin::kOk;
  }
  if (plugin::size_of(desc.types[0]) == 0) return invalid("the type is unknown");
  if ((desc.flags & (plugin::kSortValues | plugin::kSortIndices)) == 0)
    return invalid("neither values nor indices are asked");
  return plugin::kOk;
}

Status create_sort(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  if (desc.op == static_cast<uint8_t>(SortOp::Search)) {
    *kernel = new SearchKernel(device, desc);
  } else {
    *kernel = new SortKernel(device, desc);
  }
  return plugin::kOk;
}

}  // namespace backplane::cpu
