// SPDX-License-Identifier: Apache-2.0
//
// What the host hands to the kernels: each kernel has one of these structs as its only parameter. Read by
// g++, nvcc and NVRTC alike, so it includes nothing. Strides are in elements, addresses in bytes.
#ifndef BACKPLANE_PLUGINS_CUDA_KERNELS_PARAMS_H_
#define BACKPLANE_PLUGINS_CUDA_KERNELS_PARAMS_H_

namespace backplane::cuda {

using i64 = long long;
using u64 = unsigned long long;
using u32 = unsigned int;

constexpr u32 kDims = 8;
constexpr u32 kBlockThreads = 256;
constexpr u64 kMostBlocks = 1u << 20;  // more work than this many blocks is walked by a loop in the kernel

// A grid of points, outermost dimension first. `narrow`: every linear index fits in 32 bits.
struct Space {
  i64 count;
  i64 shape[kDims];
  u32 rank;
  u32 narrow;
};

struct View {
  u64 address;
  i64 strides[kDims];
};

// How an elementwise kernel reads an operand.
enum InputMode : u32 {
  kModeScalar = 0,      // `bits` is the value, as memory holds it
  kModeOne = 1,         // the one element at the address, for every point
  kModeContiguous = 2,  // element i for point i
  kModeStrided = 3,
};

struct Input {
  View view;
  u64 bits;
  u32 mode;
  u32 type;
};

// One operation on operands of one type. `vector`: contiguous operands are aligned to 16 bytes.
struct ElementwiseParams {
  Space space;
  View out;
  Input in[3];
  u32 op;
  u32 arity;
  u32 out_type;
  u32 out_contiguous;
  u32 vector;
};

constexpr u32 kMostInputs = 12;
constexpr u32 kMostOutputs = 4;
constexpr u32 kMostScalars = 12;
constexpr u32 kMostInstructions = 32;

struct Step {
  unsigned short op;
  unsigned char result;
  unsigned char args[3];
  unsigned char reserved[2];
};

// A whole program, one element at a time. Scalars are slot values (see machine.cuh).
struct ProgramParams {
  Space space;
  u32 input_count;
  u32 output_count;
  u32 step_count;
  u32 reserved;
  unsigned char outputs[kMostOutputs];
  unsigned char input_types[kMostInputs];
  unsigned char output_types[kMostOutputs];
  unsigned char scalar_types[kMostScalars];
  u64 scalars[kMostScalars];
  View out[kMostOutputs];
  View in[kMostInputs];
  Step steps[kMostInstructions];
};

struct CopyParams {
  Space space;
  View out;
  View in;
};

// The last two dimensions are exchanged through shared memory: `in` is contiguous along the last but one.
struct TransposeParams {
  Space batch;
  View out;
  View in;
  i64 rows;
  i64 columns;
  i64 out_row, in_column;  // strides; those along the other dimension are 1
};

struct FillParams {
  u64 address;
  i64 count;
  u64 bits;
};

// `lanes` threads of a block, a power of two, share one output; with `splits` > 1 the reduced elements of an
// output are divided among that many items, whose partial results go to `scratch` and are combined by a
// second kernel.
struct ReduceParams {
  Space outer;
  Space inner;
  View in_outer;
  View in_inner;
  View out;
  u64 scratch;
  i64 splits;
  i64 chunk;  // elements an item
  u32 lanes;
  u32 in_type;
  u32 compute_type;
  u32 out_type;
  u32 vector;
  u32 reserved;
};

constexpr u32 kScanItems = 8;  // elements a thread
constexpr u32 kScanChunk = kBlockThreads * kScanItems;

struct ScanParams {
  Space rows;
  View in;
  View out;
  i64 length;
  i64 in_stride;
  i64 out_stride;
  i64 chunks;
  u64 scratch;
  u32 in_type;
  u32 compute_type;
  u32 out_type;
  u32 reverse;
  u32 exclusive;
  u32 reserved;
};

struct MatmulParams {
  Space batch;
  View out, a, b;  // along the batch
  i64 m, n, k;
  i64 out_m, out_n, a_m, a_k, b_k, b_n;
  u32 a_type, b_type, compute_type, out_type;
};

struct IndexParams {
  Space space;
  View out;
  View index;
  View data;  // gather: the source; scatter: the values
  i64 axis_size;
  i64 axis_stride;
  u64 error;
  u64 winners;  // scatter: one word an output element, from the lowest on
  i64 lowest;   // the output's lowest element, relative to its origin
  u32 wide;     // the indices are Int64, else Int32
  u32 reserved;
};

constexpr u32 kNonzeroChunk = kBlockThreads * 16;

struct NonzeroParams {
  u64 positions;
  u64 total;
  u64 in;
  u64 scratch;  // a count a chunk
  i64 count;
  i64 chunks;
};

constexpr u32 kSortChunk = 1024;

struct SortParams {
  Space rows;
  View in;
  View values;
  View indices;
  i64 length;
  i64 in_stride;
  i64 values_stride;
  i64 indices_stride;
  i64 run;   // merge: length of the sorted runs
  u64 keys;  // keys and positions, and where merging writes them
  u64 keys_out;
  u64 positions;
  u64 positions_out;
  u32 type;
  u32 descending;
  u32 write_values;
  u32 write_indices;
};

struct SearchParams {
  u64 out;
  i64 out_stride;
  u64 needles;
  i64 needle_stride;
  u64 haystack;
  i64 count;
  i64 length;
  u32 type;
  u32 right;
};

struct RandomParams {
  u64 out;
  i64 count;
  u64 seed;
  u64 block_offset;
  u64 first;   // low, mean or the lowest integer: the bits of a double or an integer
  u64 second;  // high, deviation or the number of integers
  u32 type;
  u32 reserved;
};

struct RowwiseParams {
  Space rows;
  View in;
  View out;
  i64 length;
  i64 in_stride;
  i64 out_stride;
  u64 weight;
  i64 weight_stride;
  u64 bias;
  i64 bias_stride;
  double epsilon;
  u32 lanes;
  u32 type;
};

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_KERNELS_PARAMS_H_
