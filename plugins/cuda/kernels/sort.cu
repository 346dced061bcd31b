// SPDX-License-Identifier: Apache-2.0
//
// Stable sorting along rows, and searching. A value becomes an unsigned key of the same order: -0 and +0 are
// one key, NaN of either sign is the greatest, and descending order complements all but NaN's. Chunks are
// sorted in shared memory by key and position, then runs are merged, every element finding its place by a
// binary search in the other run; the outputs are read by position from the input, so that values keep their
// bits.
#include "heavy.cuh"
#include "walk.cuh"

namespace backplane::cuda {

constexpr u64 kNanKey = ~u64{0};

BPC_DEVICE u64 float_key(u64 bits, u64 sign) {
  return (bits & sign) != 0 ? ~bits & (2 * sign - 1) : bits | sign;
}

// Keys of floats are less than NaN's even when complemented: see key_of.
template <typename Type>
BPC_DEVICE u64 ordered(typename Type::Value value) {
  if constexpr (Type::kId == type_f64::kId) {
    if (value != value) return kNanKey;
    return float_key(static_cast<u64>(bp_bits_f64(value == 0 ? 0.0 : value)), u64{1} << 63);
  } else if constexpr (Type::kId >= type_f16::kId) {
    if (value != value) return kNanKey;
    return float_key(static_cast<u32>(bp_bits_f32(value == 0 ? 0.0f : value)), u64{1} << 31);
  } else if constexpr (Type::kId >= type_i8::kId && Type::kId <= type_i64::kId) {
    return static_cast<u64>(static_cast<i64>(value)) ^ (u64{1} << 63);
  } else {
    return value;
  }
}

BPC_DEVICE u64 key_of(u32 type, u64 address, i64 index, bool descending) {
  u64 key = 0;
  with_type(type, [&](auto tag) { key = ordered<decltype(tag)>(load_at<decltype(tag)>(address, index)); });
  // An integer may have NaN's key, but then no NaN is there; the greatest float's is less, and so is its
  // complement.
  const bool floating = type >= type_f16::kId;
  return descending && !(floating && key == kNanKey) ? (floating ? ~key - 1 : ~key) : key;
}

struct Entry {
  u64 key;
  i64 position;
};
BPC_DEVICE bool precedes(const Entry& a, const Entry& b) {
  return a.key < b.key || (a.key == b.key && a.position < b.position);
}

// What fills a chunk up stands behind everything.
BPC_DEVICE Entry read_entry(const SortParams& p, i64 origin, i64 position) {
  if (position >= p.length) return {kNanKey, position};
  return {key_of(p.type, p.in.address, origin + position * p.in_stride, p.descending), position};
}

BPC_DEVICE void sort_in_block(Entry (&entries)[kSortChunk]) {
  for (u32 size = 2; size <= kSortChunk; size *= 2)
    for (u32 step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      for (u32 i = threadIdx.x; i < kSortChunk / 2; i += blockDim.x) {
        const u32 low = i / step * step * 2 + i % step, high = low + step;
        const bool upward = (low & size) == 0;
        const Entry a = entries[low], b = entries[high];
        if (precedes(b, a) == upward) {
          entries[low] = b;
          entries[high] = a;
        }
      }
    }
  __syncthreads();
}

BPC_DEVICE void write_out(const SortParams& p, i64 row, i64 rank, i64 position) {
  if (p.write_indices)
    reinterpret_cast<i64*>(p.indices.address)[locate(p.rows, row, p.indices) + rank * p.indices_stride] =
        position;
  if (!p.write_values) return;
  const i64 from = locate(p.rows, row, p.in) + position * p.in_stride;
  const i64 to = locate(p.rows, row, p.values) + rank * p.values_stride;
  with_type(p.type, [&](auto tag) {
    using Memory = typename decltype(tag)::Memory;
    reinterpret_cast<Memory*>(p.values.address)[to] = reinterpret_cast<const Memory*>(p.in.address)[from];
  });
}

// The number of elements of a sorted run that stand before `key`: those less, and with `equal` those equal
// too.
BPC_DEVICE i64 count_before(const u64* run, i64 length, u64 key, bool equal) {
  i64 low = 0, high = length;
  while (low < high) {
    const i64 middle = low + (high - low) / 2;
    const bool before = run[middle] < key || (equal && run[middle] == key);
    if (before) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace backplane::cuda

using namespace backplane::cuda;

#define BPC_KERNEL extern "C" __global__ void __launch_bounds__(kBlockThreads)

// Sorts every chunk. A row of one chunk goes straight to the outputs, else keys and positions go to the
// scratch.
BPC_KERNEL sort_chunks(const __grid_constant__ SortParams p) {
  __shared__ Entry entries[kSortChunk];
  const i64 chunks = (p.length + kSortChunk - 1) / kSortChunk;
  for (i64 item = blockIdx.x; item < p.rows.count * chunks; item += gridDim.x) {
    const i64 row = item / chunks, first = item % chunks * kSortChunk;
    const i64 origin = locate(p.rows, row, p.in);
    for (u32 i = threadIdx.x; i < kSortChunk; i += blockDim.x) entries[i] = read_entry(p, origin, first + i);
    sort_in_block(entries);
    for (u32 i = threadIdx.x; i < kSortChunk; i += blockDim.x) {
      if (first + i >= p.length) continue;
      const Entry entry = entries[i];
      if (chunks == 1) {
        write_out(p, row, i, entry.position);
      } else {
        reinterpret_cast<u64*>(p.keys)[row * p.length + first + i] = entry.key;
        reinterpret_cast<i64*>(p.positions)[row * p.length + first + i] = entry.position;
      }
    }
    __syncthreads();
  }
}

// Merges pairs of runs. Of equal keys the earlier run's come first.
BPC_KERNEL sort_merge(const __grid_constant__ SortParams p) {
  for (i64 point = thread_index(); point < p.rows.count * p.length; point += thread_count()) {
    const i64 row = point / p.length, place = point % p.length;
    const i64 pair = place / (2 * p.run) * 2 * p.run;
    const i64 middle = pair + p.run < p.length ? pair + p.run : p.length;
    const i64 end = pair + 2 * p.run < p.length ? pair + 2 * p.run : p.length;
    const u64* keys = reinterpret_cast<const u64*>(p.keys) + row * p.length;
    const u64 key = keys[place];
    const i64 target = place < middle
                           ? place + count_before(keys + middle, end - middle, key, false)
                           : pair + (place - middle) + count_before(keys + pair, middle - pair, key, true);
    reinterpret_cast<u64*>(p.keys_out)[row * p.length + target] = key;
    reinterpret_cast<i64*>(p.positions_out)[row * p.length + target] =
        reinterpret_cast<const i64*>(p.positions)[point];
  }
}

BPC_KERNEL sort_write(const __grid_constant__ SortParams p) {
  for (i64 point = thread_index(); point < p.rows.count * p.length; point += thread_count())
    write_out(p, point / p.length, point % p.length, reinterpret_cast<const i64*>(p.positions)[point]);
}

BPC_KERNEL search(const __grid_constant__ SearchParams p) {
  for (i64 point = thread_index(); point < p.count; point += thread_count()) {
    const u64 key = key_of(p.type, p.needles, point * p.needle_stride, false);
    i64 low = 0, high = p.length;
    while (low < high) {
      const i64 middle = low + (high - low) / 2;
      const u64 there = key_of(p.type, p.haystack, middle, false);
      if (there < key || (p.right && there == key)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    reinterpret_cast<i64*>(p.out)[point * p.out_stride] = low;
  }
}
