// SPDX-License-Identifier: Apache-2.0
//
// The smallest plugin that works: one device, "null:0", that computes in the calling thread, one element
// after the other. It has all that a plugin must have and next to nothing that it may leave out: start yours
// from it. Read it from the end, where the plugin is exported, upwards.
#include "backplane/plugin/plugin.h"

#include <cstring>
#include <memory>
#include <utility>

#include "backplane/kernels/scalar.h"
#include "backplane/plugin/base.h"

namespace {

namespace plugin = backplane::plugin;
using plugin::Buffer;
using plugin::DType;
using plugin::Instruction;
using plugin::kOk;
using plugin::LaunchArgs;
using plugin::Program;
using plugin::ScalarOp;
using plugin::Status;

constexpr const char* kName = "null";

// Bool, Int32 and Float32, as DeviceProperties::types says it.
constexpr uint64_t kTypes = 1u << 0 | 1u << 3 | 1u << 11;

// Where operand `index` has its element at the point `at` of the iteration space.
char* element(const LaunchArgs& args, uint32_t index, const int64_t* at, int64_t bytes) noexcept {
  const plugin::Operand& operand = args.operand(index);
  int64_t elements = 0;
  for (uint32_t i = 0; i < args.rank; ++i) elements += at[i] * operand.strides[i];
  return static_cast<char*>(operand.buffer->host_pointer()) + operand.offset + elements * bytes;
}

// Calls visit(point, linear index) for every point of the iteration space, in row-major order.
template <typename Visit>
void for_each_point(const LaunchArgs& args, const Visit& visit) {
  int64_t at[plugin::kMaxRank] = {};
  for (int64_t linear = 0;; ++linear) {
    visit(at, linear);
    uint32_t i = args.rank;
    while (i > 0 && ++at[i - 1] == args.shape[i - 1]) at[--i] = 0;
    if (i == 0) return;
  }
}

// A value of any type.
struct Value {
  unsigned char bytes[8];
};

template <typename T>
T get(const Value& value) noexcept {
  T result;
  std::memcpy(&result, value.bytes, sizeof result);
  return result;
}

template <typename T>
Value put(T result) noexcept {
  Value value{};
  std::memcpy(value.bytes, &result, sizeof result);
  return value;
}

// Gives a formula of any signature one signature.
template <auto kFormula>
struct Call;

template <typename R, typename... Args, R (*kFormula)(Args...)>
struct Call<kFormula> {
  static Value call(const Value* args) noexcept { return call(args, std::index_sequence_for<Args...>()); }
  template <size_t... kIndex>
  static Value call(const Value* args, std::index_sequence<kIndex...>) noexcept {
    return put(kFormula(get<Args>(args[kIndex])...));
  }
};

struct Row {
  ScalarOp op;
  uint32_t arity;
  DType type;  // of the arguments, but for the first of `where`
  DType result;
  Value (*function)(const Value* args) noexcept;
};

// From a type to itself: the table below names cast like any other operation.
BP_FN bp_bool bp_cast_bool(bp_bool a) { return a; }
BP_FN bp_i32 bp_cast_i32(bp_i32 a) { return a; }
BP_FN bp_f32 bp_cast_f32(bp_f32 a) { return a; }

// One row for each operation and each type of its domain.
#define RESULT_Same(type) DType::type
#define RESULT_Free(type) DType::type
#define RESULT_Truth(type) DType::Bool
#define ROW(name, arity, result, type, suffix) \
  {ScalarOp::name, arity, DType::type, RESULT_##result(type), Call<bp_##name##_##suffix>::call},
#define ROWS_Logical(...) ROW(__VA_ARGS__, Bool, bool)
#define ROWS_Floating(...) ROW(__VA_ARGS__, Float32, f32)
#define ROWS_Integer(...) ROW(__VA_ARGS__, Bool, bool) ROW(__VA_ARGS__, Int32, i32)
#define ROWS_Number(...) ROW(__VA_ARGS__, Int32, i32) ROW(__VA_ARGS__, Float32, f32)
#define ROWS_Any(...) ROWS_Number(__VA_ARGS__) ROW(__VA_ARGS__, Bool, bool)
#define BACKPLANE_SCALAR_OP(number, name, arity, domain, result) ROWS_##domain(name, arity, result)

constexpr Row kRows[] = {
#include "backplane/plugin/scalar_ops.def"
    {ScalarOp::cast, 1, DType::Bool, DType::Int32, Call<bp_cast_bool_i32>::call},
    {ScalarOp::cast, 1, DType::Bool, DType::Float32, Call<bp_cast_bool_f32>::call},
    {ScalarOp::cast, 1, DType::Int32, DType::Bool, Call<bp_cast_i32_bool>::call},
    {ScalarOp::cast, 1, DType::Int32, DType::Float32, Call<bp_cast_i32_f32>::call},
    {ScalarOp::cast, 1, DType::Float32, DType::Bool, Call<bp_cast_f32_bool>::call},
    {ScalarOp::cast, 1, DType::Float32, DType::Int32, Call<bp_cast_f32_i32>::call},
};

bool is_known(DType type) noexcept {
  return plugin::size_of(type) != 0 && (kTypes >> static_cast<uint32_t>(type) & 1) != 0;
}

Status malformed(const Instruction& instruction) noexcept {
  return plugin::make_status(plugin::StatusCode::InvalidArgument, 0,
                             "malformed arguments of scalar operation %u",
                             static_cast<unsigned>(instruction.op));
}

DType type_of_slot(const Program& program, uint8_t slot) noexcept {
  if (slot >= plugin::kResultSlot) return program.instructions[slot - plugin::kResultSlot].result;
  if (slot >= plugin::kScalarSlot) return program.scalar_types[slot - plugin::kScalarSlot];
  return program.input_types[slot];
}

bool is_slot(const Program& program, uint8_t slot, uint32_t results) noexcept {
  if (slot >= plugin::kResultSlot) return slot < plugin::kResultSlot + results;
  if (slot >= plugin::kScalarSlot) return slot < plugin::kScalarSlot + program.scalar_count;
  return slot < program.input_count;
}

// Finds what computes instruction `index`, or says why nothing does.
Status find(const Program& program, uint32_t index, const Row** found) noexcept {
  const Instruction& instruction = program.instructions[index];
  bool known = false, types_known = is_known(instruction.result);
  for (const Row& row : kRows) {
    if (row.op != instruction.op) continue;
    bool fits = row.result == instruction.result;
    for (uint32_t k = 0; k < row.arity; ++k) {
      if (!is_slot(program, instruction.args[k], index)) return malformed(instruction);
      const DType type = type_of_slot(program, instruction.args[k]);
      types_known = types_known && is_known(type);
      fits = fits && type == (row.op == ScalarOp::where && k == 0 ? DType::Bool : row.type);
    }
    known = true;
    *found = &row;
    if (fits) return kOk;
  }
  return known && types_known ? malformed(instruction)
                              : plugin::unimplemented("this operation on these types");
}

class ElementwiseKernel final : public plugin::KernelBase {
 public:
  explicit ElementwiseKernel(const Program& program) noexcept : program_(program) {
    for (uint32_t i = 0; i < program.instruction_count; ++i) find(program, i, &rows_[i]);
  }
  void destroy() noexcept override { delete this; }

  Status launch(plugin::Stream*, const LaunchArgs* args) noexcept override {
    Value slots[256];
    for (uint32_t i = 0; i < program_.scalar_count; ++i) {
      const plugin::Scalar scalar = args->scalars[i];
      const bool real = program_.scalar_types[i] == DType::Float32;
      // Integers and truths are the low bytes of 64 bits.
      slots[plugin::kScalarSlot + i] = real ? put(static_cast<bp_f32>(scalar.f)) : put(scalar.u);
    }
    for_each_point(*args, [&](const int64_t* at, int64_t linear) { run(*args, at, linear, slots); });
    return kOk;
  }

 private:
  ~ElementwiseKernel() = default;
  void run(const LaunchArgs& args, const int64_t* at, int64_t linear, Value* slots) const noexcept {
    for (uint32_t i = 0; i < program_.input_count; ++i) {
      const uint32_t bytes = plugin::size_of(program_.input_types[i]);
      std::memcpy(&slots[i], element(args, program_.output_count + i, at, bytes), bytes);
    }
    for (uint32_t i = 0; i < program_.instruction_count; ++i) {
      Value values[3] = {put(linear)};  // the argument of iota, which has no other
      for (uint32_t k = 0; k < rows_[i]->arity; ++k) values[k] = slots[program_.instructions[i].args[k]];
      slots[plugin::kResultSlot + i] = rows_[i]->function(values);
    }
    for (uint32_t i = 0; i < program_.output_count; ++i) {
      const uint8_t slot = program_.outputs[i];
      const uint32_t bytes = plugin::size_of(type_of_slot(program_, slot));
      std::memcpy(element(args, i, at, bytes), &slots[slot], bytes);
    }
  }

  const Program program_;
  const Row* rows_[plugin::kMaxInstructions] = {};
};

Status supports_kernel(const plugin::KernelDesc& desc) noexcept {
  if (desc.family == plugin::Family::Copy) return kOk;
  if (desc.family != plugin::Family::Elementwise) return plugin::unimplemented("this family of kernels");
  const Row* row;
  Status status = kOk;
  for (uint32_t i = 0; i < desc.program.instruction_count && status.ok(); ++i)
    status = find(desc.program, i, &row);
  return status;
}

// For what is supported. Throws std::bad_alloc.
plugin::Kernel* make_kernel(const plugin::KernelDesc& desc) {
  if (desc.family == plugin::Family::Elementwise) return new ElementwiseKernel(desc.program);
  Program copy{};  // no instruction: the output is the input
  copy.input_count = copy.output_count = 1;
  copy.input_types[0] = desc.types[0];
  return new ElementwiseKernel(copy);
}

plugin::DeviceProperties device_properties() noexcept {
  plugin::DeviceProperties properties{};
  properties.struct_size = sizeof properties;
  properties.kind = plugin::DeviceKind::Accelerator;
  properties.flags = plugin::kSynchronousDefaultStream | plugin::kHostMemory | plugin::kBufferOffsets |
                     plugin::kForkSafe | plugin::kDenormals | plugin::kCorrectlyRoundedDivide;
  properties.types = kTypes;
  properties.min_alignment = alignof(std::max_align_t);
  plugin::copy_text(properties.name, "Example device in the calling thread");
  return properties;
}

// Makes one of the objects below; the plugin's own exceptions stay here.
template <typename Object, typename Interface, typename... Args>
Status make(Interface** out, const Args&... args) noexcept {
  return plugin::guard([&] {
    *out = new Object(args...);  // NOLINT(bugprone-unhandled-exception-at-new): guard's to handle
    return kOk;
  });
}

// Host memory.
class NullBuffer final : public plugin::BufferBase {
 public:
  explicit NullBuffer(uint64_t size) : memory_(new (std::nothrow) char[size]), size_(size) {
    if (memory_ == nullptr) throw std::bad_alloc();
  }
  void destroy() noexcept override { delete this; }
  uint64_t size() const noexcept override { return size_; }
  void* host_pointer() const noexcept override { return memory_.get(); }

 private:
  ~NullBuffer() = default;
  const std::unique_ptr<char[]> memory_;
  const uint64_t size_;
};

// All work is done when the call that asked for it returns, so that every event is complete.
class NullEvent final : public plugin::EventBase {
 public:
  void destroy() noexcept override { delete this; }
  Status query(bool* complete) noexcept override {
    *complete = true;
    return kOk;
  }
  Status wait(uint64_t) noexcept override { return kOk; }
  Status on_complete(void (*function)(void*, Status) noexcept, void* context) noexcept override {
    function(context, kOk);
    return kOk;
  }

 private:
  ~NullEvent() = default;
};

class NullStream final : public plugin::StreamBase {
 public:
  void destroy() noexcept override { delete this; }
  Status copy(Buffer* dst, uint64_t dst_offset, Buffer* src, uint64_t src_offset,
              uint64_t bytes) noexcept override {
    return move(at(dst, dst_offset), at(src, src_offset), bytes);
  }
  Status upload(Buffer* dst, uint64_t dst_offset, const void* src, uint64_t bytes) noexcept override {
    return move(at(dst, dst_offset), src, bytes);
  }
  Status download(void* dst, Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept override {
    return move(dst, at(src, src_offset), bytes);
  }
  Status fill(Buffer* dst, uint64_t offset, uint64_t bytes, const void* pattern,
              uint32_t size) noexcept override {
    for (uint64_t done = 0; done < bytes; done += size) std::memcpy(at(dst, offset + done), pattern, size);
    return kOk;
  }
  Status record(plugin::Event*) noexcept override { return kOk; }
  Status wait(plugin::Event*) noexcept override { return kOk; }
  Status query(bool* idle) noexcept override {
    *idle = true;
    return kOk;
  }
  Status synchronize(uint64_t) noexcept override { return kOk; }

 private:
  ~NullStream() = default;
  static char* at(Buffer* buffer, uint64_t offset) noexcept {
    return static_cast<char*>(buffer->host_pointer()) + offset;
  }

  // memmove must not see null pointers, not even for zero bytes.
  static Status move(void* dst, const void* src, uint64_t bytes) noexcept {
    if (bytes > 0) std::memmove(dst, src, bytes);
    return kOk;
  }
};

class NullDevice final : public plugin::DeviceBase {
 public:
  void destroy() noexcept override { delete this; }
  const char* backend_name() const noexcept override { return kName; }

  Status properties(plugin::DeviceProperties* properties) noexcept override {
    plugin::fill_struct(properties, device_properties());
    return kOk;
  }

  Status supports(const plugin::KernelDesc* desc) noexcept override { return supports_kernel(*desc); }

  Status create_kernel(const plugin::KernelDesc* desc, plugin::Kernel** kernel) noexcept override {
    const Status status = supports(desc);
    if (!status.ok()) return status;
    return plugin::guard([=] {
      *kernel = make_kernel(*desc);
      return kOk;
    });
  }

  Status allocate(uint64_t bytes, Buffer** buffer) noexcept override {
    return make<NullBuffer>(buffer, bytes);
  }

  Status create_stream(const plugin::StreamOptions* options, plugin::Stream** stream) noexcept override {
    if (options->kind != plugin::StreamKind::Default) return plugin::unimplemented("an asynchronous stream");
    return make<NullStream>(stream);
  }

  Status create_event(plugin::Event** event) noexcept override { return make<NullEvent>(event); }

 private:
  ~NullDevice() = default;
};

constexpr Status kNoSuchDevice{plugin::StatusCode::NotFound, 0, "there is only null:0"};

class NullBackend final : public plugin::BackendBase {
 public:
  void destroy() noexcept override { delete this; }

  uint32_t device_count() noexcept override { return 1; }

  Status describe(uint32_t index, plugin::DeviceProperties* properties) noexcept override {
    if (index != 0) return kNoSuchDevice;
    plugin::fill_struct(properties, device_properties());
    return kOk;
  }

  Status open(uint32_t index, plugin::Device** device) noexcept override {
    if (index != 0) return kNoSuchDevice;
    return make<NullDevice>(device);
  }

 private:
  ~NullBackend() = default;
};

Status create(const plugin::HostInfo*, plugin::Backend** backend) noexcept {
  return make<NullBackend>(backend);
}

}  // namespace

extern "C" BACKPLANE_PLUGIN_EXPORT const plugin::Plugin backplane_plugin = {
    sizeof(plugin::Plugin),
    plugin::kAbiMajor,
    plugin::kAbiMinor,
    kName,
    "1.0",
    BACKPLANE_COMPILER,
    1,  // priority
    0,
    create,
};
