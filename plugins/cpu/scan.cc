// SPDX-License-Identifier: Apache-2.0
// The scan family. Long rows are cut into pieces of a fixed length: what a piece adds up to is found first,
// then each piece is scanned from what came before it. Floating values are combined in float64.
#include <limits>
#include <type_traits>

#include "backplane/kernels/reduce.h"
#include "cpu/families.h"
#include "cpu/iteration.h"
#include "cpu/kernel.h"
#include "cpu/vector_copy.h"
#include "cpu/vector_loops.h"

namespace backplane::cpu {
namespace {

using plugin::DType;
using plugin::make_status;
using plugin::Status;
using plugin::StatusCode;

constexpr int kOut = 0;
constexpr int kIn = 1;

// Values that lie in the cache while they are converted and scanned.
constexpr int64_t kTile = 512;
// Values of one piece of a long row.
constexpr int64_t kPiece = 16384;
constexpr int64_t kGrainValues = 16384;

// Room for an accumulator of any type.
union Accumulator {
  double floating;
  uint64_t integer;
};

// values[i] becomes what values[0..i] (exclusive: values[0..i-1]) and `*accumulator` combine to; the
// accumulator goes on.
using ScanFunction = void (*)(void* values, int64_t count, Accumulator* accumulator, bool exclusive);
// The same side by side: value i with accumulator i.
using StepFunction = void (*)(void* values, int64_t count, Accumulator* accumulators, bool exclusive);

struct ScanLoops {
  ScanFunction scan;
  StepFunction step;
  // Each of `count` accumulators becomes what those before it combine to.
  void (*add_up)(Accumulator* accumulators, int64_t count);
  Accumulator identity;
};

template <typename T>
using Combined = std::conditional_t<std::is_floating_point_v<T>, double, T>;

struct Sum {
  template <typename A>
  static A identity() {
    return A(0);
  }
  template <typename A>
  static A combine(A a, A b) {
    return static_cast<A>(a + b);
  }
};
struct Prod {
  template <typename A>
  static A identity() {
    return A(1);
  }
  template <typename A>
  static A combine(A a, A b) {
    if constexpr (std::is_same_v<A, uint16_t>) return static_cast<A>(1u * a * b);
    return static_cast<A>(a * b);
  }
};
template <bool kGreatest>
struct Extreme {
  template <typename A>
  static A identity() {
    if constexpr (std::is_floating_point_v<A>) {
      return kGreatest ? -std::numeric_limits<A>::infinity() : std::numeric_limits<A>::infinity();
    }
    return kGreatest ? std::numeric_limits<A>::lowest() : std::numeric_limits<A>::max();
  }
  template <typename A>
  static A combine(A a, A b) {
    if constexpr (std::is_floating_point_v<A>) {
      return kGreatest ? bp_maximum_f64(a, b) : bp_minimum_f64(a, b);
    }
    return (kGreatest ? a > b : a < b) ? a : b;
  }
};

template <typename A>
A get(const Accumulator& accumulator) {
  if constexpr (std::is_floating_point_v<A>) {
    return accumulator.floating;
  } else {
    return static_cast<A>(accumulator.integer);
  }
}
template <typename A>
void set(Accumulator& accumulator, A value) {
  if constexpr (std::is_floating_point_v<A>) {
    accumulator.floating = value;
  } else {
    accumulator.integer = static_cast<uint64_t>(value);
  }
}

template <typename T, typename Op>
void scan_values(void* memory, int64_t count, Accumulator* accumulator, bool exclusive) {
  using A = Combined<T>;
  auto* const values = static_cast<T*>(memory);
  A sum = get<A>(*accumulator);
  if (exclusive) {
    for (int64_t i = 0; i < count; ++i) {
      const A next = Op::template combine<A>(sum, static_cast<A>(values[i]));
      values[i] = static_cast<T>(sum);
      sum = next;
    }
  } else {
    for (int64_t i = 0; i < count; ++i) {
      sum = Op::template combine<A>(sum, static_cast<A>(values[i]));
      values[i] = static_cast<T>(sum);
    }
  }
  set<A>(*accumulator, sum);
}

template <typename T, typename Op>
void step_values(void* memory, int64_t count, Accumulator* accumulators, bool exclusive) {
  using A = Combined<T>;
  auto* const values = static_cast<T*>(memory);
  for (int64_t i = 0; i < count; ++i) {
    const A before = get<A>(accumulators[i]);
    const A after = Op::template combine<A>(before, static_cast<A>(values[i]));
    values[i] = static_cast<T>(exclusive ? before : after);
    set<A>(accumulators[i], after);
  }
}

template <typename A, typename Op>
void add_up(Accumulator* accumulators, int64_t count) {
  A sum = Op::template identity<A>();
  for (int64_t i = 0; i < count; ++i) {
    const A next = Op::template combine<A>(sum, get<A>(accumulators[i]));
    set<A>(accumulators[i], sum);
    sum = next;
  }
}

template <typename T, typename Op>
ScanLoops make_loops() {
  Accumulator identity{};
  set(identity, Op::template identity<Combined<T>>());
  return {scan_values<T, Op>, step_values<T, Op>, add_up<Combined<T>, Op>, identity};
}

// By the type combined in. Sums and products of integers wrap: they are made of unsigned ones.
template <typename Op, bool kSum>
ScanLoops loops_of(DType type) {
  switch (type) {
    case DType::Int8:
      return make_loops<std::conditional_t<kSum, uint8_t, int8_t>, Op>();
    case DType::Int16:
      return make_loops<std::conditional_t<kSum, uint16_t, int16_t>, Op>();
    case DType::Int32:
      return make_loops<std::conditional_t<kSum, uint32_t, int32_t>, Op>();
    case DType::Int64:
      return make_loops<std::conditional_t<kSum, uint64_t, int64_t>, Op>();
    case DType::Bool:
    case DType::UInt8:
      return make_loops<uint8_t, Op>();
    case DType::UInt16:
      return make_loops<uint16_t, Op>();
    case DType::UInt32:
      return make_loops<uint32_t, Op>();
    case DType::UInt64:
      return make_loops<uint64_t, Op>();
    case DType::Float64:
      return make_loops<double, Op>();
    default:
      return make_loops<float, Op>();
  }
}

ScanLoops find_loops(uint8_t op, DType type) {
  switch (static_cast<plugin::ScanOp>(op)) {
    case plugin::ScanOp::Sum:
      return loops_of<Sum, true>(type);
    case plugin::ScanOp::Prod:
      return loops_of<Prod, true>(type);
    case plugin::ScanOp::Max:
      return loops_of<Extreme<true>, false>(type);
    default:
      return loops_of<Extreme<false>, false>(type);
  }
}

int log2_size(DType type) {
  const uint32_t size = plugin::size_of(type);
  return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

bool is_half(DType type) { return type == DType::Float16 || type == DType::BFloat16; }

class ScanKernel final : public CpuKernel {
 public:
  ScanKernel(CpuDevice& device, const plugin::KernelDesc& desc)
      : CpuKernel(device),
        loops_(find_loops(desc.op, desc.compute_type)),
        reverse_((desc.flags & plugin::kScanReverse) != 0),
        exclusive_((desc.flags & plugin::kScanExclusive) != 0),
        result_type_(desc.types[0]),
        input_type_(desc.types[1]),
        // Values of the half types are float32 while they are computed with.
        compute_type_(is_half(desc.compute_type) ? DType::Float32 : desc.compute_type) {
    const ConvertTable& convert = active_convert_loops();
    const auto index = [](DType type) { return static_cast<size_t>(type); };
    load_ = convert.load[index(input_type_)];
    store_ = convert.store[index(result_type_)];
    const DType loaded = is_half(input_type_) ? DType::Float32 : input_type_;
    const DType stored = is_half(result_type_) ? DType::Float32 : result_type_;
    if (loaded != compute_type_) to_compute_ = convert.cast[index(loaded)][index(compute_type_)];
    if (stored != compute_type_) from_compute_ = convert.cast[index(compute_type_)][index(result_type_)];
  }

  Status workspace(const plugin::LaunchArgs* args, uint64_t* bytes) noexcept override {
    const Plan plan = make_plan(*args);
    *bytes = plan.pieces > 1 ? static_cast<uint64_t>(plan.rows * plan.pieces) * sizeof(Accumulator) : 0;
    return plugin::kOk;
  }
  Status run(const plugin::LaunchArgs& args) const override;

 private:
  struct Plan {
    Space<2> space;  // all dimensions but the row's
    int64_t length;
    int64_t strides[2];  // along a row
    char* base[2];
    int64_t rows;
    bool by_lanes;  // rows side by side, a step at a time
    int64_t pieces;
  };

  Plan make_plan(const plugin::LaunchArgs& args) const;
  void load_tile(const char* source, int64_t stride, int64_t count, void* tile) const;
  void store_tile(char* target, int64_t stride, int64_t count, void* tile) const;
  void scan_row(const Plan& plan, int64_t row, int64_t begin, int64_t end, Accumulator* accumulator,
                bool write) const;
  void scan_lanes(const Plan& plan, int64_t row, int64_t count) const;
  void run_lanes(const Plan& plan) const;
  void run_rows(const Plan& plan) const;
  void run_pieces(const Plan& plan, Accumulator* before) const;

  const ScanLoops loops_;
  const bool reverse_;
  const bool exclusive_;
  const DType result_type_;
  const DType input_type_;
  const DType compute_type_;
  MapFunction load_ = nullptr;
  MapFunction store_ = nullptr;
  MapFunction to_compute_ = nullptr;
  MapFunction from_compute_ = nullptr;
};

ScanKernel::Plan ScanKernel::make_plan(const plugin::LaunchArgs& args) const {
  Plan plan{
      launch_space<2>(args), 1, {}, {operand_pointer(args, kOut), operand_pointer(args, kIn)}, 1, false, 1};
  const uint32_t sizes[2] = {plugin::size_of(result_type_), plugin::size_of(input_type_)};
  const int last = plan.space.rank - 1;
  plan.length = plan.space.shape[last];
  for (int k = 0; k < 2; ++k) {
    plan.strides[k] = plan.space.strides[k][last];
    if (reverse_) {
      plan.base[k] += plan.strides[k] * (plan.length - 1) * sizes[k];
      plan.strides[k] = -plan.strides[k];
    }
  }
  --plan.space.rank;
  plan.space.order_by(kIn);
  plan.space.merge();
  plan.rows = plan.space.size();
  const int inner = plan.space.rank - 1;
  plan.by_lanes = inner >= 0 && plan.space.shape[inner] >= 8 && plan.space.strides[kIn][inner] == 1 &&
                  std::abs(plan.strides[kIn]) != 1;
  if (!plan.by_lanes && plan.rows < 64) plan.pieces = (plan.length + kPiece - 1) / kPiece;
  return plan;
}

void ScanKernel::load_tile(const char* source, int64_t stride, int64_t count, void* tile) const {
  alignas(64) char first[kTile * 8];
  alignas(64) char second[kTile * 8];
  // Through as many buffers as there are conversions; the last one ends in the tile.
  void* const gathered = load_ == nullptr && to_compute_ == nullptr ? tile : first;
  active_vector_copy().strided[log2_size(input_type_)](static_cast<char*>(gathered), 1, source, stride,
                                                       count);
  void* loaded = gathered;
  if (load_ != nullptr) {
    loaded = to_compute_ == nullptr ? tile : second;
    load_(loaded, gathered, count);
  }
  if (to_compute_ != nullptr) to_compute_(tile, loaded, count);
}

void ScanKernel::store_tile(char* target, int64_t stride, int64_t count, void* tile) const {
  alignas(64) char first[kTile * 8];
  alignas(64) char second[kTile * 8];
  void* values = tile;
  if (from_compute_ != nullptr) {
    from_compute_(first, values, count);
    values = first;
  }
  if (store_ != nullptr) {
    store_(second, values, count);
    values = second;
  }
  active_vector_copy().strided[log2_size(result_type_)](target, stride, static_cast<const char*>(values), 1,
                                                        count);
}

// Positions [begin, end) of a row; without `write` only what they add up to is wanted.
void ScanKernel::scan_row(const Plan& plan, int64_t row, int64_t begin, int64_t end, Accumulator* accumulator,
                          bool write) const {
  const Walker<2> walker(plan.space, plan.space.rank, row);
  const int64_t in_size = plugin::size_of(input_type_);
  const int64_t out_size = plugin::size_of(result_type_);
  alignas(64) char tile[kTile * 8];
  for (int64_t i = begin; i < end; i += kTile) {
    const int64_t count = std::min(kTile, end - i);
    load_tile(plan.base[kIn] + (walker.offset(kIn) + i * plan.strides[kIn]) * in_size, plan.strides[kIn],
              count, tile);
    loops_.scan(tile, count, accumulator, exclusive_);
    if (write) {
      store_tile(plan.base[kOut] + (walker.offset(kOut) + i * plan.strides[kOut]) * out_size,
                 plan.strides[kOut], count, tile);
    }
  }
}

// `count` rows, at most kTile, from `row` on along the innermost dimension.
void ScanKernel::scan_lanes(const Plan& plan, int64_t row, int64_t count) const {
  const Walker<2> walker(plan.space, plan.space.rank, row);
  const int inner = plan.space.rank - 1;
  const int64_t in_size = plugin::size_of(input_type_);
  const int64_t out_size = plugin::size_of(result_type_);
  alignas(64) char tile[kTile * 8];
  Accumulator accumulators[kTile];
  std::fill_n(accumulators, count, loops_.identity);
  for (int64_t i = 0; i < plan.length; ++i) {
    load_tile(plan.base[kIn] + (walker.offset(kIn) + i * plan.strides[kIn]) * in_size,
              plan.space.strides[kIn][inner], count, tile);
    loops_.step(tile, count, accumulators, exclusive_);
    store_tile(plan.base[kOut] + (walker.offset(kOut) + i * plan.strides[kOut]) * out_size,
               plan.space.strides[kOut][inner], count, tile);
  }
}

Status ScanKernel::run(const plugin::LaunchArgs& args) const {
  const Plan plan = make_plan(args);
  if (plan.by_lanes) {
    run_lanes(plan);
  } else if (plan.pieces == 1) {
    run_rows(plan);
  } else {
    const uint64_t needed = static_cast<uint64_t>(plan.rows * plan.pieces) * sizeof(Accumulator);
    if (args.workspace_bytes < needed) {
      return make_status(StatusCode::InvalidArgument, 0, "%s: the workspace has %llu bytes, %llu are needed",
                         args.label, static_cast<unsigned long long>(args.workspace_bytes),
                         static_cast<unsigned long long>(needed));
    }
    run_pieces(plan, reinterpret_cast<Accumulator*>(static_cast<char*>(args.workspace->host_pointer()) +
                                                    args.workspace_offset));
  }
  return plugin::kOk;
}

void ScanKernel::run_lanes(const Plan& plan) const {
  const int64_t extent = plan.space.shape[plan.space.rank - 1];
  const int64_t chunk = std::min<int64_t>(extent, 128);
  const int64_t chunks = (extent + chunk - 1) / chunk;
  const int64_t grain = std::max<int64_t>(1, kGrainValues / (chunk * plan.length));
  threads().loop(plan.rows / extent * chunks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t lane = i % chunks * chunk;
      scan_lanes(plan, i / chunks * extent + lane, std::min(chunk, extent - lane));
    }
  });
}

void ScanKernel::run_rows(const Plan& plan) const {
  threads().loop(plan.rows, std::max<int64_t>(1, kGrainValues / plan.length),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     Accumulator accumulator = loops_.identity;
                     scan_row(plan, i, 0, plan.length, &accumulator, true);
                   }
                 });
}

void ScanKernel::run_pieces(const Plan& plan, Accumulator* before) const {
  const auto each_piece = [&](bool write) {
    threads().loop(plan.rows * plan.pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % plan.pieces * kPiece;
        Accumulator accumulator = write ? before[i] : loops_.identity;
        scan_row(plan, i / plan.pieces, first, std::min(first + kPiece, plan.length), &accumulator, write);
        if (!write) before[i] = accumulator;
      }
    });
  };
  each_piece(false);
  for (int64_t row = 0; row < plan.rows; ++row) loops_.add_up(before + row * plan.pieces, plan.pieces);
  each_piece(true);
}

}  // namespace

Status supports_scan(const CpuDevice&, const plugin::KernelDesc& desc) {
  if (desc.op > static_cast<uint8_t>(plugin::ScanOp::Min)) {
    return make_status(StatusCode::Unimplemented, 0, "scan: operation %u is unknown",
                       static_cast<unsigned>(desc.op));
  }
  for (const DType type : {desc.compute_type, desc.types[0], desc.types[1]}) {
    if (plugin::size_of(type) == 0)
      return make_status(StatusCode::InvalidArgument, 0, "scan: a type is unknown");
  }
  if (desc.compute_type == DType::Bool && desc.op <= static_cast<uint8_t>(plugin::ScanOp::Prod)) {
    return make_status(StatusCode::Unimplemented, 0,
                       "scan: sums and products of bool are not offered; count in int64");
  }
  return plugin::kOk;
}

Status create_scan(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  *kernel = new ScanKernel(device, desc);
  return plugin::kOk;
}

}  // namespace backplane::cpu
