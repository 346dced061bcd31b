// SPDX-License-Identifier: Apache-2.0
//
// Kernels come in families. A KernelDesc says what code is wanted; LaunchArgs say what to run it on. Core has
// already done promotion, broadcasting, output shapes, and the merging and ordering of dimensions.
//
// Every launch has an iteration space: `rank` dimensions of `shape`, outermost first. Each operand is an
// address and one stride per dimension, in elements, which may be 0 (broadcast) or negative; inputs may
// overlap themselves and each other. An output never overlaps itself; it may be the very same elements, in
// the same order, as an input of an elementwise launch, and otherwise shares no byte with an input. Addresses
// are multiples of the element size. No dimension is 0 unless the family says so: core does not launch empty
// work.
//
// Rounding: every instruction's result is rounded to its declared type before it is used, and multiplications
// are never contracted with additions, so that a fused program gives the bits of its parts. float16 and
// bfloat16 arithmetic is done in float32 and rounded.
#ifndef BACKPLANE_PLUGIN_KERNELS_H_
#define BACKPLANE_PLUGIN_KERNELS_H_

#include "backplane/plugin/types.h"

namespace backplane::plugin {

class Buffer;

inline constexpr uint32_t kMaxRank = 8;
inline constexpr uint32_t kMaxInputs = 12;
inline constexpr uint32_t kMaxOutputs = 4;
inline constexpr uint32_t kMaxScalars = 12;
inline constexpr uint32_t kMaxInstructions = 32;

// Scalar operations: numbers, arity and type rules stand in scalar_ops.def. An unknown number is
// Unimplemented.
enum class ScalarOp : uint16_t {
#define BACKPLANE_SCALAR_OP(number, name, arity, domain, result) name = number,
#include "backplane/plugin/scalar_ops.def"
#undef BACKPLANE_SCALAR_OP
};

// Where an instruction finds an argument: input i is i, scalar i is kScalarSlot + i, the result of
// instruction i is kResultSlot + i (an earlier instruction).
inline constexpr uint8_t kScalarSlot = 0x40;
inline constexpr uint8_t kResultSlot = 0x80;

struct Instruction {
  ScalarOp op;
  DType result;     // the type its result is rounded to
  uint8_t args[3];  // slots; unused ones are 0
  uint8_t reserved[2];
};

// A list of scalar operations applied to every point of the iteration space. Unused entries are zero bytes.
struct Program {
  uint8_t input_count;
  uint8_t scalar_count;
  uint8_t instruction_count;
  uint8_t output_count;
  uint8_t outputs[kMaxOutputs];  // slots whose values are stored
  DType input_types[kMaxInputs];
  DType scalar_types[kMaxScalars];
  Instruction instructions[kMaxInstructions];
};

enum class Family : uint8_t {
  Elementwise = 0,
  Reduce = 1,
  Scan = 2,
  Matmul = 3,
  Copy = 4,
  Index = 5,
  Sort = 6,
  Random = 7,
  Rowwise = 8,
  Source = 9,
};

enum class Layout : uint8_t {
  Contiguous = 0,  // rank 1; every stride is 1 or 0
  Strided = 1,     // anything
};

// KernelDesc::op, by family.
enum class ReduceOp : uint8_t { Sum = 0, Prod = 1, Max = 2, Min = 3, ArgMax = 4, ArgMin = 5 };
enum class ScanOp : uint8_t { Sum = 0, Prod = 1, Max = 2, Min = 3 };
enum class IndexOp : uint8_t { Gather = 0, Scatter = 1, Nonzero = 2 };
enum class SortOp : uint8_t { Sort = 0, Search = 1 };
enum class RandomOp : uint8_t { Bits = 0, Uniform = 1, Normal = 2, Integers = 3 };
enum class RowwiseOp : uint8_t { Softmax = 0, LogSoftmax = 1, LayerNorm = 2, RmsNorm = 3 };
enum class SourceLanguage : uint8_t { OpenCLC = 0, CudaCpp = 1, Ptx = 2, Native = 3 };

// KernelDesc::flags, by family.
enum KernelFlags : uint8_t {
  kScanReverse = 1,     // scan: from the last element to the first
  kScanExclusive = 2,   // scan: element i excludes input i
  kSortDescending = 1,  // sort: largest first, still stable, NaN still last
  kSortValues = 2,      // sort: the sorted values are an output
  kSortIndices = 4,     // sort: their former positions (Int64) are an output, after the values
  kSearchRight = 1,     // search: the last position that keeps the order, rather than the first
  kRowwiseWeight = 1,   // layer_norm, rms_norm: a weight operand
  kRowwiseBias = 2,     // layer_norm: a bias operand, after the weight
  kMatmulTf32 = 1,      // matmul: float32 products may round their factors to 10 mantissa bits
};

// Only what changes code. Bytes that a family does not use are zero, so that equal descriptors have equal
// bytes.
//
// elementwise  `program`. Operands: its outputs, then its inputs. The op `iota` (the linear row-major index)
// appears only in rank 1. reduce       `op` is a ReduceOp. `program` (the prologue, one output) makes each
// element from the inputs; elements are
//              combined in `compute_type`, the last `reduced_rank` dimensions of the iteration space being
//              reduced; `epilogue` (one output) makes the result from its input 0, the combined value, and
//              its further inputs. Operands: the output, the prologue's inputs, the epilogue's inputs but the
//              first; the output and the epilogue's have stride 0 in reduced dimensions. Scalars: the
//              prologue's, then the epilogue's. Max and Min propagate NaN; of zeros Max gives +0, Min -0.
//              ArgMax and ArgMin combine prologue values, compute_type being theirs, into the row-major
//              position (Int64) among the reduced dimensions: the first NaN, else the first of equals. Sum
//              and Prod of nothing cannot occur here.
// scan         `op` is a ScanOp along the last dimension, `types` = {result, input}, combined in
// compute_type. Operands: output, input. matmul       `types` = {result, a, b}; products are summed in
// compute_type, then `epilogue` (input 0: the sum, in compute_type; one output, the
//              result's type) is applied; with epilogue.instruction_count == 0 the sum is just rounded to the
//              result's type. The iteration space is batch..., m, n, k; the output has stride 0 in k, a in n,
//              b in m. k may be 0: sums are then 0. Operands: output, a, b, the epilogue's inputs but the
//              first (stride 0 in k).
// copy         `types[0]`, whose size alone matters: bytes are copied as they are. Operands: output, input.
// index        Gather: `types` = {element, index}; operands: output, index, source. At each point p of the
// iteration space
//              output[p] = source[p + axis_stride * index[p]]. Scatter: operands: output, index, values;
//              output[p + axis_stride * index[p]] = values[p]; of several writes to one place the last in
//              row-major order of p wins. Indices (Int32 or Int64) in [-axis_size, axis_size) count from the
//              end when negative; any other touches nothing and sets the error word to 1 + its row-major
//              point. Nonzero: `types` = {Int64, Bool}; rank 1, contiguous; operands: positions (Int64, room
//              for all), count (one Int64), input. Writes the positions of true elements in order, and how
//              many.
// sort         Sort: `types[0]`; along the last dimension; operands: values and/or indices as the flags say,
// then input. Stable;
//              NaN of either sign last. Search: `types` = {Int64, T, T}; operands: output, needles, haystack;
//              rank 1 over the needles; the haystack is contiguous, sorted, axis_size long (0 is fine). NaN
//              sorts last.
// random       `types[0]`: UInt32 and UInt64 for Bits, floating for Uniform and Normal, integer for Integers.
// One contiguous output,
//              rank 1. Scalars: Uniform low, high; Normal mean, deviation; Integers low (i or u as the type),
//              number of values (u; 0 means 2^64). The streams of numbers are defined in
//              backplane/kernels/random.h.
// rowwise      `op` is a RowwiseOp, `types[0]` the element type, computed in compute_type; along the last
// dimension. Operands: output, input,
//              weight, bias as flagged (stride 0 but along the last dimension). Scalar 0: epsilon.
// source       the user's own code: `source`. Operands and scalars go to it in order, in the language's
// natural way, documented
//              per backend. `shape` (rank 1 to 3, outermost first) is the global size, `group` the
//              work-group's.
struct KernelDesc {
  uint32_t struct_size;
  Family family;
  uint8_t op;
  Layout layout;
  uint8_t flags;
  DType compute_type;
  DType types[3];
  uint8_t operand_count;  // source only
  uint8_t scalar_count;   // source only
  uint8_t reserved[2];
  Program program;
  Program epilogue;
  const struct SourceDesc* source;  // null but for Family::Source
};

struct SourceDesc {
  uint32_t struct_size;
  SourceLanguage language;
  uint8_t reserved[3];
  const char* text;     // NUL-terminated
  const char* entry;    // the kernel's name in it
  const char* options;  // for the compiler; may be null
  // SourceLanguage::Native: called for slices [begin, end) of the outermost dimension, from several threads
  // at once.
  void (*native)(const struct LaunchArgs* args, int64_t begin, int64_t end) noexcept;
  DType scalar_types[kMaxScalars];
};

struct Operand {
  Buffer* buffer;
  uint64_t offset;            // bytes from the buffer's start to the element at the iteration space's origin
  uint64_t address;           // buffer->address() + offset, or 0 where the device has no addresses
  int64_t strides[kMaxRank];  // in elements
};

struct LaunchArgs {
  uint32_t struct_size;
  uint32_t operand_count;
  uint32_t operand_stride;  // bytes from one Operand to the next
  uint32_t scalar_count;
  const Operand* operands;  // outputs first
  const Scalar* scalars;
  uint32_t rank;
  uint32_t reduced_rank;  // reduce
  int64_t shape[kMaxRank];
  int64_t axis_size;      // index, search
  int64_t axis_stride;    // index; in elements
  uint64_t seed;          // random
  uint64_t block_offset;  // random: the first block of four words
  Buffer* workspace;      // null when none was asked for
  uint64_t workspace_offset;
  uint64_t workspace_bytes;
  Buffer* error;  // index: one Int64, 0 so far; null for other families
  uint64_t error_offset;
  uint32_t group[3];  // source: work-group size, 0 lets the plugin choose
  uint32_t reserved;
  const char* label;  // the operator's name, for traces and messages; never null

  const Operand& operand(uint32_t index) const noexcept {
    return *reinterpret_cast<const Operand*>(reinterpret_cast<const char*>(operands) +
                                             static_cast<size_t>(index) * operand_stride);
  }
};

}  // namespace backplane::plugin

#endif  // BACKPLANE_PLUGIN_KERNELS_H_
