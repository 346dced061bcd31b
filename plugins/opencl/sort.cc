// SPDX-License-Identifier: Apache-2.0
//
// Stable sorting along the last dimension, and binary search. Elements become unsigned keys in whose order
// they are sorted; keys and positions go through a merge sort between two halves of the workspace: blocks of
// kBlock by insertion, then runs of doubling length, every work-item making one segment of a merged run,
// which it finds by a search along the merge path (S. Odeh et al., "Merge Path", 2012). At last values are
// fetched by position.
#include "opencl/device.h"
#include "opencl/families.h"
#include "opencl/generate.h"

namespace backplane::opencl {

using plugin::DType;
using plugin::KernelDesc;
using plugin::SortOp;

namespace {

constexpr int64_t kBlock = 16;

// key_of(x): an unsigned number in the order of x; zeros are equal, NaN of either sign is last.
std::string key_text(DType type, bool descending) {
  const TypeRow& row = type_row(type);
  const bool wide = row.value_size == 8;
  const std::string key = wide ? "ulong" : "uint";
  const std::string top = wide ? "0x8000000000000000UL" : "0x80000000u";
  std::string text = "typedef " + key + " sort_key;\nstatic inline sort_key key_of(" + row.value + " x) {\n";
  if (is_floating(type)) {
    const std::string bits = std::string("(") + key + ")bp_bits_" + (wide ? "f64" : "f32") + "(x)";
    const std::string mask = wide ? "0x7ff0000000000000UL" : "0x7f800000u";
    text += "  " + key + " k = " + bits + ";\n  if ((k & ~" + top + ") > " + mask +
            ") return ~(sort_key)0;\n"
            "  if ((k & ~" +
            top + ") == 0) k = 0;\n  k = (k & " + top + ") != 0 ? ~k : k | " + top + ";\n";
  } else if (is_signed_integer(type)) {
    text += "  " + key + " k = (" + key + ")x ^ " + top + ";\n";
  } else {
    text += "  " + key + " k = x;\n";
  }
  return text + "  return " + (descending ? "~k" : "k") + ";\n}\n";
}

// The same parameters for all: keys and positions of both halves, numbered from where they lie, and the
// sizes.
constexpr char kSortParameters[] =
    "__global sort_key* from_keys, const ulong from_keys_at, __global position* from_positions, "
    "const ulong from_positions_at, __global sort_key* to_keys, const ulong to_keys_at, "
    "__global position* to_positions, const ulong to_positions_at, const long rows, const long n, const long "
    "width, "
    "const long segment";

constexpr char kSortPointers[] =
    "  from_keys += from_keys_at;\n  from_positions += from_positions_at;\n"
    "  to_keys += to_keys_at;\n  to_positions += to_positions_at;\n";

constexpr char kMerge[] = R"(
  const long segments = (n + segment - 1) / segment;
  const long item = get_global_id(0);
  if (item >= rows * segments) return;
  const long row = item / segments;
  const long first = (item - row * segments) * segment;
  const long last = min(first + segment, n);
  const long base = first / (2 * width) * (2 * width);
  __global const sort_key* a = from_keys + row * n + base;
  __global const position* ap = from_positions + row * n + base;
  const long na = min(width, n - base);
  const long nb = max(0L, min(width, n - base - width));
  __global const sort_key* b = a + na;
  __global const position* bp = ap + na;
  const long d = first - base;
  long low = max(0L, d - nb), high = min(d, na);
  while (low < high) {
    const long i = (low + high) / 2;
    if (a[i] <= b[d - 1 - i]) low = i + 1; else high = i;
  }
  long i = low, j = d - low;
  __global sort_key* out = to_keys + row * n + first;
  __global position* outp = to_positions + row * n + first;
  for (long k = 0; k < last - first; ++k) {
    const bool from_a = j >= nb || (i < na && a[i] <= b[j]);
    out[k] = from_a ? a[i] : b[j];
    outp[k] = from_a ? ap[i] : bp[j];
    i += from_a;
    j += !from_a;
  }
}
)";

class SortText {
 public:
  SortText(const KernelDesc& desc, const SpaceText& space, uint32_t rank, size_t group, bool wide)
      : desc_(desc), space_(space), rank_(rank), group_(group), wide_(wide) {}

  std::string program() const {
    return key_text(desc_.types[0], (desc_.flags & plugin::kSortDescending) != 0) +
           (wide_ ? "typedef ulong position;\n" : "typedef uint position;\n") + blocks() + merge() + finish();
  }

 private:
  // Reads the input and sorts blocks, into the "to" half.
  std::string blocks() const {
    const std::string block = std::to_string(kBlock);
    return head("blocks") + "  const long blocks = (n + " + block + " - 1) / " + block +
           ";\n"
           "  const long item = get_global_id(0);\n  if (item >= rows * blocks) return;\n"
           "  const long row = item / blocks;\n  const long first = (item - row * blocks) * " +
           block +
           ";\n"
           "  const int count = (int)min((long)" +
           block + ", n - first);\n" + space_.take_apart(0, rank_ - 1, "row", "long") +
           space_.pointers(0, rank_ - 1) + "  sort_key keys[" + block + "];\n  position positions[" + block +
           "];\n"
           "  for (int k = 0; k < count; ++k) {\n    const long i = first + k;\n    const sort_key x = "
           "key_of(" +
           load_text(desc_.types[0], space_.element(input(), "i")) +
           ");\n"
           "    int at = k;\n    for (; at > 0 && keys[at - 1] > x; --at) {\n"
           "      keys[at] = keys[at - 1];\n      positions[at] = positions[at - 1];\n    }\n"
           "    keys[at] = x;\n    positions[at] = (position)i;\n  }\n"
           "  for (int k = 0; k < count; ++k) {\n    to_keys[row * n + first + k] = keys[k];\n"
           "    to_positions[row * n + first + k] = positions[k];\n  }\n}\n";
  }

  std::string merge() const { return head("merge") + kMerge; }

  // `segment` elements a work-item, from the "from" half to the outputs.
  std::string finish() const {
    std::string store;
    const bool values = (desc_.flags & plugin::kSortValues) != 0;
    if (values)
      store += "    " + space_.element(0, "i") + " = " +
               space_.element(input(), "(long)from_positions[row * n + i]") + ";\n";
    if ((desc_.flags & plugin::kSortIndices) != 0)
      store += "    " + space_.element(values ? 1 : 0, "i") + " = (long)from_positions[row * n + i];\n";
    return head("finish") +
           "  const long segments = (n + segment - 1) / segment;\n"
           "  const long item = get_global_id(0);\n  if (item >= rows * segments) return;\n"
           "  const long row = item / segments;\n  const long first = (item - row * segments) * segment;\n" +
           space_.take_apart(0, rank_ - 1, "row", "long") + space_.pointers(0, rank_ - 1) +
           "  for (long i = first; i < min(first + segment, n); ++i) {\n" + store + "  }\n}\n";
  }

  uint32_t input() const {
    return ((desc_.flags & plugin::kSortValues) != 0) + ((desc_.flags & plugin::kSortIndices) != 0);
  }
  std::string head(const char* name) const {
    return kernel_head(name, group_) + space_.parameters() + ", " + kSortParameters + ") {\n" + kSortPointers;
  }

  const KernelDesc& desc_;
  const SpaceText& space_;
  uint32_t rank_;
  size_t group_;
  bool wide_;
};

class SortKernel final : public ClKernel {
 public:
  using ClKernel::ClKernel;

 private:
  uint32_t key_size() const { return type_row(desc_.types[0]).value_size == 8 ? 8 : 4; }
  static bool is_wide(const Space& space) { return space.shape[space.rank - 1] > UINT32_MAX; }

  // Bytes of one array of the workspace, each starting at a multiple of 8.
  static uint64_t array_bytes(uint64_t points, uint64_t size) { return (points * size + 7) / 8 * 8; }

  uint64_t scratch(const plugin::LaunchArgs& args) override {
    const Space space = read_space(args);
    const auto points = static_cast<uint64_t>(space.points(0, space.rank));
    return 2 * (array_bytes(points, key_size()) + array_bytes(points, is_wide(space) ? 8 : 4));
  }

  std::vector<OperandText> operands() const {
    const uint32_t size = plugin::size_of(desc_.types[0]);
    std::vector<OperandText> list;
    if ((desc_.flags & plugin::kSortValues) != 0) list.push_back(operand_text(desc_.types[0], true));
    if ((desc_.flags & plugin::kSortIndices) != 0) list.push_back({"long", true, 8});
    list.push_back({type_row(desc_.types[0]).memory, false, size});
    return list;
  }

  Status run(ClStream* stream, const plugin::LaunchArgs& args) override {
    const Space space = read_space(args);
    const SpaceText text(facts(), operands(), space.rank, space.inner);
    const SortText generator(desc_, text, space.rank, loose_group(), is_wide(space));
    const int64_t n = space.shape[space.rank - 1];
    const int64_t longest = on_cpu() ? 2048 : 16;
    bool from_second = true;  // the first step writes the first half
    const auto source = [&] { return generator.program(); };
    const auto step = [&](const char* entry, int64_t width, int64_t segment) -> Status {
      BACKPLANE_OPENCL_TRY(launch_step(stream, space, text, entry, source, from_second, width, segment));
      from_second = !from_second;
      return kOk;
    };
    BACKPLANE_OPENCL_TRY(step("blocks", kBlock, kBlock));
    for (int64_t width = kBlock; width < n; width *= 2)
      BACKPLANE_OPENCL_TRY(step("merge", width, std::min(2 * width, longest)));
    return step("finish", n, std::min(n, on_cpu() ? int64_t{4096} : int64_t{4}));
  }

  template <typename Source>
  Status launch_step(ClStream* stream, const Space& space, const SpaceText& text, const char* entry,
                     Source&& source, bool from_second, int64_t width, int64_t segment) {
    Variant* variant = nullptr;
    BACKPLANE_OPENCL_TRY(
        variants_.get(device_, text.key() + (is_wide(space) ? "w" : ""), entry, source, &variant));
    const int64_t n = space.shape[space.rank - 1];
    const int64_t rows = space.points(0, space.rank - 1);
    const uint64_t position_size = is_wide(space) ? 8 : 4;
    const uint64_t keys = array_bytes(static_cast<uint64_t>(n * rows), key_size());
    const uint64_t positions = array_bytes(static_cast<uint64_t>(n * rows), position_size);
    Invocation invocation(*variant);
    MemoryHandle spill;
    BACKPLANE_OPENCL_TRY(text.pass(device_, space, &invocation, &spill));
    for (const bool second : {from_second, !from_second}) {
      const uint64_t half = second ? keys + positions : 0;
      const Scratch key = scratch_at(*space.args, half);
      const Scratch position = scratch_at(*space.args, half + keys);
      invocation.buffer(key.memory).value(uint64_t{key.offset / key_size()});
      invocation.buffer(position.memory).value(uint64_t{position.offset / position_size});
    }
    invocation.value(rows).value(n).value(width).value(segment);
    const size_t items = static_cast<size_t>(rows) * groups_for(n, segment);
    return invocation.run(stream, {groups_for(items, loose_group()), 1, 1}, {loose_group(), 1, 1},
                          space.args->label);
  }
};

class SearchKernel final : public ClKernel {
 public:
  using ClKernel::ClKernel;

 private:
  std::string source() const {
    const bool right = (desc_.flags & plugin::kSearchRight) != 0;
    const std::string memory = type_row(desc_.types[1]).memory;
    return key_text(desc_.types[1], false) + kernel_head("search", loose_group()) +
           "__global long* out, const ulong out_at, const long out_step, __global const " + memory +
           "* needles, const ulong needles_at, const long needles_step, __global const " + memory +
           "* haystack, const ulong haystack_at, const long points, const long n, const long chunk) {\n"
           "  const long first = get_global_id(0) * chunk, last = min(first + chunk, points);\n"
           "  for (long p = first; p < last; ++p) {\n    const sort_key x = key_of(" +
           load_text(desc_.types[1], "needles[(long)needles_at + p * needles_step]") +
           ");\n    long low = 0, high = n;\n    while (low < high) {\n      const long i = (low + high) / "
           "2;\n"
           "      const sort_key k = key_of(" +
           load_text(desc_.types[1], "haystack[haystack_at + i]") + ");\n      if (" +
           (right ? "k <= x" : "k < x") +
           ") low = i + 1; else high = i;\n    }\n    out[(long)out_at + p * out_step] = low;\n  }\n}\n";
  }

  Status run(ClStream* stream, const plugin::LaunchArgs& args) override {
    Variant* variant = nullptr;
    BACKPLANE_OPENCL_TRY(variants_.get(
        device_, "", "search", [&] { return source(); }, &variant));
    const Space space = read_space(args);
    const int64_t points = space.shape[0];
    const int64_t chunk = loose_chunk(points, 1);
    const uint32_t size = plugin::size_of(desc_.types[1]);
    Invocation invocation(*variant);
    invocation.buffer(memory_of(args.operand(0)))
        .value(uint64_t{args.operand(0).offset / 8})
        .value(space.stride(0, 0));
    invocation.buffer(memory_of(args.operand(1)))
        .value(uint64_t{args.operand(1).offset / size})
        .value(space.stride(1, 0));
    invocation.buffer(memory_of(args.operand(2))).value(uint64_t{args.operand(2).offset / size});
    invocation.value(points).value(args.axis_size).value(chunk);
    return invocation.run(stream, {groups_for(points, chunk * loose_group()), 1, 1}, {loose_group(), 1, 1},
                          args.label);
  }
};

}  // namespace

Status check_sort(const Facts& facts, const KernelDesc& desc) {
  if (desc.op > static_cast<uint8_t>(SortOp::Search))
    return plugin::make_status(StatusCode::Unimplemented, 0, "sort operation %u is not known to this plugin",
                               desc.op);
  const bool is_search = static_cast<SortOp>(desc.op) == SortOp::Search;
  BACKPLANE_OPENCL_TRY(check_type(facts, desc.types[is_search ? 1 : 0]));
  if (is_search || (desc.flags & (plugin::kSortValues | plugin::kSortIndices)) != 0) return kOk;
  return plugin::make_status(StatusCode::InvalidArgument, 0, "a sort that gives neither values nor indices");
}

Status make_sort(ClDevice* device, const KernelDesc& desc, plugin::Kernel** kernel) {
  return static_cast<SortOp>(desc.op) == SortOp::Search ? make_kernel<SearchKernel>(device, desc, kernel)
                                                        : make_kernel<SortKernel>(device, desc, kernel);
}

}  // namespace backplane::opencl
