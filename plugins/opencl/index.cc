// SPDX-License-Identifier: Apache-2.0
//
// Gather, scatter and nonzero. A scatter runs in two passes, so that of several writes to one place the last
// in row-major order wins whatever runs first: every point leaves its number at its target if that is the
// greatest there, then those points write whose number stayed.
#include "opencl/device.h"
#include "opencl/families.h"
#include "opencl/generate.h"

namespace backplane::opencl {

using plugin::DType;
using plugin::IndexOp;
using plugin::KernelDesc;

namespace {

// Points are numbered from 1 in 32 bits within one pass; more take several passes, in order.
constexpr int64_t kPassPoints = int64_t{1} << 31;

// Whoever is first to find the error word 0 sets it; its halves are written one after the other because
// 64-bit atomics are optional.
constexpr char kReport[] = R"(
static inline void report(volatile __global uint* error, long point) {
  const ulong word = (ulong)point + 1;
  const uint low = (uint)word == 0 ? 0xffffffffu : (uint)word;
  if (atomic_cmpxchg(error, 0u, low) == 0u) error[1] = (uint)(word >> 32);
}
)";

const char* unsigned_of_size(uint32_t size) noexcept {
  constexpr const char* kTypes[] = {"", "uchar", "ushort", "", "uint", "", "", "", "ulong"};
  return kTypes[size];
}

struct IndexText {
  const KernelDesc& desc;
  const SpaceText& space;
  uint32_t rank;
  size_t group;

  // A work-item goes through its points row by row; `body` sees `i`, the innermost index, and `point`.
  std::string points(const char* name, const std::string& parameters, const std::string& body) const {
    const std::string n = space.extent(rank - 1);
    return kernel_head(name, group) + space.parameters() +
           ", const long from, const long to, const long chunk, const long axis_size, const long "
           "axis_stride" +
           parameters +
           ") {\n  const long first = from + get_global_id(0) * chunk, last = min(first + chunk, to);\n"
           "  for (long q = first; q < last;) {\n"
           "    const long row = q / " +
           n + ";\n    const long c = q - row * " + n +
           ";\n"
           "    const long end = c + min(" +
           n + " - c, last - q);\n" + space.take_apart(0, rank - 1, "row", "long") +
           space.pointers(0, rank - 1) +
           "    for (long i = c; i < end; ++i) {\n    const long point = q + (i - c);\n"
           "    long j = " +
           load_text(desc.types[1], space.element(1, "i")) + ";\n" + body +
           "    }\n    q += end - c;\n  }\n}\n";
  }

  std::string gather() const {
    return kReport + points("gather", ", volatile __global uint* error, const ulong error_at",
                            "    if (j < -axis_size || j >= axis_size) {\n      report(error + error_at, "
                            "point);\n    } else {\n"
                            "      j += j < 0 ? axis_size : 0;\n      " +
                                space.element(0, "i") + " = (&" + space.element(2, "i") +
                                ")[j * axis_stride];\n    }\n");
  }

  std::string target() const { return "(&" + space.element(0, "i") + " - b0) + j * axis_stride - lowest"; }

  std::string scatter() const { return kReport + mark() + write(); }

  std::string mark() const {
    return points(
        "mark",
        ", volatile __global uint* winners, const ulong winners_at, const long lowest, "
        "volatile __global uint* error, const ulong error_at",
        "    if (j < -axis_size || j >= axis_size) {\n      report(error + error_at, point);\n    } else {\n"
        "      j += j < 0 ? axis_size : 0;\n      atomic_max(winners + winners_at + (" +
            target() + "), (uint)(point - from + 1));\n    }\n");
  }

  std::string write() const {
    return points("write_winners",
                  ", __global const uint* winners, const ulong winners_at, const long lowest",
                  "    if (j >= -axis_size && j < axis_size) {\n      j += j < 0 ? axis_size : 0;\n"
                  "      if (winners[winners_at + (" +
                      target() + ")] == (uint)(point - from + 1))\n        (&" + space.element(0, "i") +
                      ")[j * axis_stride] = " + space.element(2, "i") + ";\n    }\n");
  }
};

class IndexKernel final : public ClKernel {
 public:
  using ClKernel::ClKernel;

 private:
  struct Span {
    int64_t lowest;  // elements from the output's buffer's start
    int64_t size;    // elements
  };

  // What a scatter could touch.
  Span span(const Space& space) const {
    int64_t low = 0;
    int64_t high = 0;
    const auto extend = [&](int64_t stride, int64_t extent) {
      (stride < 0 ? low : high) += stride * (extent - 1);
    };
    for (uint32_t d = 0; d < space.args->rank; ++d) extend(space.args->operand(0).strides[d], space.shape[d]);
    if (space.args->axis_size > 0) extend(space.args->axis_stride, space.args->axis_size);
    const uint64_t size = std::max<uint64_t>(1, plugin::size_of(desc_.types[0]));
    const auto origin = static_cast<int64_t>(space.args->operand(0).offset / size);
    return {origin + low, high - low + 1};
  }

  uint64_t scratch(const plugin::LaunchArgs& args) override {
    if (static_cast<IndexOp>(desc_.op) != IndexOp::Scatter) return 0;
    return static_cast<uint64_t>(span(read_space(args)).size) * sizeof(cl_uint);
  }

  template <typename Source, typename More>
  Status pass(ClStream* stream, const Space& space, const SpaceText& text, const char* entry, Source&& source,
              int64_t from, int64_t to, More&& more) {
    Variant* variant = nullptr;
    BACKPLANE_OPENCL_TRY(variants_.get(device_, text.key(), entry, source, &variant));
    const int64_t chunk = loose_chunk(to - from, 1);
    Invocation invocation(*variant);
    MemoryHandle spill;
    BACKPLANE_OPENCL_TRY(text.pass(device_, space, &invocation, &spill));
    invocation.value(from).value(to).value(chunk).value(space.args->axis_size).value(space.args->axis_stride);
    more(invocation);
    const size_t group = loose_group();
    return invocation.run(stream, {groups_for(to - from, chunk * group), 1, 1}, {group, 1, 1},
                          space.args->label);
  }

  Status run(ClStream* stream, const plugin::LaunchArgs& args) override {
    const Space space = read_space(args);
    const uint32_t size = plugin::size_of(desc_.types[0]);
    const bool is_scatter = static_cast<IndexOp>(desc_.op) == IndexOp::Scatter;
    const SpaceText text(facts(),
                         {{unsigned_of_size(size), true, size},
                          operand_text(desc_.types[1], false),
                          {unsigned_of_size(size), false, size}},
                         space.rank, space.inner);
    const IndexText generator{desc_, text, space.rank, loose_group()};
    if (args.error == nullptr)
      return plugin::make_status(StatusCode::InvalidArgument, 0, "%s: no error word", args.label);
    const int64_t points = space.points(0, space.rank);
    const cl_mem error = static_cast<ClBuffer*>(args.error)->memory();
    const uint64_t error_at = args.error_offset / sizeof(cl_uint);
    if (!is_scatter)
      return pass(
          stream, space, text, "gather", [&] { return generator.gather(); }, 0, points,
          [&](Invocation& invocation) { invocation.buffer(error).value(error_at); });
    const Span touched = span(space);
    const Scratch winners = scratch_at(args, 0);
    const uint64_t winners_at = winners.offset / sizeof(cl_uint);
    for (int64_t from = 0; from < points; from += kPassPoints) {
      const int64_t to = std::min(points, from + kPassPoints);
      const cl_uint zero = 0;
      BACKPLANE_OPENCL_TRY(
          stream->fill(args.workspace, winners.offset, touched.size * sizeof zero, &zero, sizeof zero));
      BACKPLANE_OPENCL_TRY(pass(
          stream, space, text, "mark", [&] { return generator.scatter(); }, from, to,
          [&](Invocation& invocation) {
            invocation.buffer(winners.memory).value(winners_at).value(touched.lowest);
            invocation.buffer(error).value(error_at);
          }));
      BACKPLANE_OPENCL_TRY(pass(
          stream, space, text, "write_winners", [&] { return generator.scatter(); }, from, to,
          [&](Invocation& invocation) {
            invocation.buffer(winners.memory).value(winners_at).value(touched.lowest);
          }));
    }
    return kOk;
  }
};

constexpr char kNonzero[] = R"(
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void count_true(__global const uchar* in, const ulong in_at, __global long* counts, const ulong counts_at,
                         const long n, const long chunk) {
  const long first = get_global_id(0) * chunk, last = min(first + chunk, n);
  long count = 0;
  for (long i = first; i < last; ++i) count += in[in_at + i] != 0;
  counts[counts_at + get_global_id(0)] = count;
}
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void sum_counts(__global long* counts, const ulong counts_at, const long chunks, __global long* total,
                         const ulong total_at) {
  long sum = 0;
  for (long c = 0; c < chunks; ++c) {
    const long count = counts[counts_at + c];
    counts[counts_at + c] = sum;
    sum += count;
  }
  total[total_at] = sum;
}
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void write_positions(__global const uchar* in, const ulong in_at, __global const long* counts,
                              const ulong counts_at, __global long* out, const ulong out_at, const long n,
                              const long chunk) {
  const long first = get_global_id(0) * chunk, last = min(first + chunk, n);
  long at = counts[counts_at + get_global_id(0)];
  for (long i = first; i < last; ++i)
    if (in[in_at + i] != 0) out[out_at + at++] = i;
}
)";

class NonzeroKernel final : public ClKernel {
 public:
  using ClKernel::ClKernel;

 private:
  int64_t chunk(int64_t n) const {
    return on_cpu() ? cpu_chunk(n, facts().units) : std::max<int64_t>(256, n / 16384);
  }
  static int64_t length(const plugin::LaunchArgs& args) { return args.rank == 0 ? 1 : args.shape[0]; }

  uint64_t scratch(const plugin::LaunchArgs& args) override {
    return groups_for(length(args), chunk(length(args))) * sizeof(int64_t);
  }

  Status run(ClStream* stream, const plugin::LaunchArgs& args) override {
    const auto get = [&](const char* entry, Variant** variant) {
      return variants_.get(
          device_, "", entry, [] { return std::string(kNonzero); }, variant);
    };
    Variant* count = nullptr;
    Variant* sum = nullptr;
    Variant* write = nullptr;
    BACKPLANE_OPENCL_TRY(get("count_true", &count));
    BACKPLANE_OPENCL_TRY(get("sum_counts", &sum));
    BACKPLANE_OPENCL_TRY(get("write_positions", &write));
    const int64_t n = length(args);
    const int64_t each = chunk(n);
    const auto chunks = static_cast<int64_t>(groups_for(n, each));
    const Scratch counts = scratch_at(args, 0);
    const uint64_t counts_at = counts.offset / sizeof(int64_t);
    const auto at = [&](uint32_t k, uint64_t size) { return uint64_t{args.operand(k).offset / size}; };
    const Size3 all = {static_cast<size_t>(chunks), 1, 1};
    {
      Invocation invocation(*count);
      invocation.buffer(memory_of(args.operand(2))).value(at(2, 1)).buffer(counts.memory).value(counts_at);
      BACKPLANE_OPENCL_TRY(invocation.value(n).value(each).run(stream, all, {1, 1, 1}, args.label));
    }
    {
      Invocation invocation(*sum);
      invocation.buffer(counts.memory).value(counts_at).value(chunks);
      invocation.buffer(memory_of(args.operand(1))).value(at(1, 8));
      BACKPLANE_OPENCL_TRY(invocation.run(stream, {1, 1, 1}, {1, 1, 1}, args.label));
    }
    Invocation invocation(*write);
    invocation.buffer(memory_of(args.operand(2))).value(at(2, 1)).buffer(counts.memory).value(counts_at);
    invocation.buffer(memory_of(args.operand(0))).value(at(0, 8)).value(n).value(each);
    return invocation.run(stream, all, {1, 1, 1}, args.label);
  }
};

}  // namespace

Status check_index(const Facts&, const KernelDesc& desc) {
  const auto op = static_cast<IndexOp>(desc.op);
  if (op > IndexOp::Nonzero)
    return plugin::make_status(StatusCode::Unimplemented, 0, "index operation %u is not known to this plugin",
                               desc.op);
  const bool good = op == IndexOp::Nonzero
                        ? desc.types[0] == DType::Int64 && desc.types[1] == DType::Bool
                        : plugin::size_of(desc.types[0]) != 0 &&
                              (desc.types[1] == DType::Int32 || desc.types[1] == DType::Int64);
  if (good) return kOk;
  return plugin::make_status(StatusCode::Unimplemented, 0, "index operation %u of these types", desc.op);
}

Status make_index(ClDevice* device, const KernelDesc& desc, plugin::Kernel** kernel) {
  return static_cast<IndexOp>(desc.op) == IndexOp::Nonzero ? make_kernel<NonzeroKernel>(device, desc, kernel)
                                                           : make_kernel<IndexKernel>(device, desc, kernel);
}

}  // namespace backplane::opencl
