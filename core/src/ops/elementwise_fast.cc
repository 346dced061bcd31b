// SPDX-License-Identifier: Apache-2.0
//
// The common call: contiguous operands of one type and shape. Its kernel is found by table, its iteration
// space is one dimension, and nothing is allocated but the result.
#include "ops/elementwise.h"

namespace backplane::internal {
namespace {

using Form = KernelCache::Form;

// Whether the operation runs on `type` as it is.
bool computes_in(const ElementwiseOp& op, DType type) noexcept {
  if (type == DType::Bool || op.rule == TypeRule::Logical) return false;
  if (op.rule == TypeRule::Floating || op.rule == TypeRule::FloatingOnly) return is_floating(type);
  return op.rule != TypeRule::Integer || !is_floating(type);
}

plugin::Kernel* make_kernel(DeviceState& device, const ElementwiseOp& op, DType type, Form form, int inputs) {
  ProgramWriter writer(op.name);
  const plugin::Scalar none{};
  const Value first = form == Form::kScalarFirst ? writer.scalar(type, none) : writer.input(type);
  Value second{};
  if (inputs == 2) second = form == Form::kScalarLast ? writer.scalar(type, none) : writer.input(type);
  writer.output(writer.apply(op.op, op.truth ? DType::Bool : type, first, second));
  plugin::KernelDesc desc{};
  desc.struct_size = sizeof desc;
  desc.family = plugin::Family::Elementwise;
  desc.layout = plugin::Layout::Contiguous;
  desc.program = writer.program();
  return device.kernels->get(desc, op.name);
}

plugin::Kernel* find_kernel(DeviceState& device, const ElementwiseOp& op, DType type, Form form, int inputs) {
  auto& slot = device.kernels->slot(op.op, type, plugin::Layout::Contiguous, form);
  plugin::Kernel* kernel = slot.load(std::memory_order_acquire);
  if (kernel == nullptr) [[unlikely]] {
    kernel = make_kernel(device, op, type, form, inputs);
    slot.store(kernel, std::memory_order_release);
  }
  return kernel;
}

// Without the call to compare memory, which costs more than a few dimensions do.
bool same_shape(const Shape& a, const Shape& b) noexcept {
  bool same = a.rank() == b.rank();
  for (int i = 0; same && i < a.rank(); ++i) same = a[i] == b[i];
  return same;
}

// A call of the common form: the tensors it reads, and the number if there is one.
struct Call {
  const TensorImpl* first = nullptr;
  const TensorImpl* second = nullptr;  // null when there is one input
  const Scalar* scalar = nullptr;
  Form form = Form::kTensors;
  int arguments = 2;
};

bool recognise(const ElementwiseOp& op, const Operand& a, const Operand& b, Scalar* scalar, Call* call) {
  const Tensor* first = a.tensor() != nullptr ? a.tensor() : b.tensor();
  if (first == nullptr || !first->defined()) return false;
  call->first = first->impl();
  const DType type = call->first->dtype;
  if (!call->first->contiguous || call->first->size == 0 || !computes_in(op, type)) return false;
  if (a.tensor() != nullptr && b.tensor() != nullptr) {
    if (!b.tensor()->defined()) return false;
    call->second = b.tensor()->impl();
    return call->second->dtype == type && call->second->contiguous &&
           same_shape(call->second->shape, call->first->shape) &&
           &call->second->device() == &call->first->device();
  }
  call->form = a.tensor() != nullptr ? Form::kScalarLast : Form::kScalarFirst;
  *scalar = a.tensor() != nullptr ? b.scalar() : a.scalar();
  call->scalar = scalar;
  return scalar->result_type(type) == type;
}

void set_dense(Launch& launch, const TensorImpl& tensor) {
  launch.add_operand(*tensor.storage, tensor.byte_offset()).strides[0] = 1;
}

void launch_dense(const ElementwiseOp& op, const Call& call, const TensorImpl& result) {
  DeviceState& device = result.device();
  device.ensure_ready();
  plugin::Kernel* kernel = find_kernel(device, op, call.first->dtype, call.form, call.arguments);
  Launch launch(op.name);
  set_dense(launch, result);
  set_dense(launch, *call.first);
  if (call.second != nullptr) set_dense(launch, *call.second);
  if (call.scalar != nullptr) launch.add_scalar(element_of(*call.scalar, call.first->dtype, op.name));
  launch.args.rank = 1;
  launch.args.shape[0] = result.size;
  launch.overwrites = result.covers_storage();
  launch.run(device, kernel, plugin::Family::Elementwise);
}

DType result_type(const ElementwiseOp& op, const Call& call) {
  return op.truth ? DType::Bool : call.first->dtype;
}

// An existing result must be dense too, and either the very elements of an operand or apart from it.
bool fits(const ElementwiseOp& op, const Call& call, const Tensor& result) {
  if (!result.defined()) return false;
  const TensorImpl& r = *result.impl();
  if (!r.contiguous || r.dtype != result_type(op, call) || !same_shape(r.shape, call.first->shape) ||
      r.storage->read_only() || &r.device() != &call.first->device())
    return false;
  const auto apart = [&](const TensorImpl* t) {
    return t == nullptr || t->storage != r.storage || same_elements(*t, r);
  };
  return apart(call.first) && apart(call.second);
}

Tensor run_new(const ElementwiseOp& op, const Call& call) {
  // An operand's shape is known to fit, and the result's elements are no larger than the operand's.
  const TensorImpl& like = *call.first;
  const DType type = result_type(op, call);
  Tensor result = make_tensor(like.device(), like.shape, like.size, type, op.name);
  launch_dense(op, call, *result.impl());
  return result;
}

bool recognise(const ElementwiseOp& op, const Tensor& x, Call* call) {
  if (!x.defined()) return false;
  call->first = x.impl();
  call->arguments = 1;
  return call->first->contiguous && call->first->size != 0 && computes_in(op, call->first->dtype);
}

}  // namespace

Tensor fast_unary(const ElementwiseOp& op, const Tensor& x) {
  Call call;
  return recognise(op, x, &call) ? run_new(op, call) : Tensor();
}

bool fast_unary_out(const ElementwiseOp& op, const Tensor& result, const Tensor& x) {
  Call call;
  if (!recognise(op, x, &call) || !fits(op, call, result)) return false;
  launch_dense(op, call, *result.impl());
  return true;
}

Tensor fast_binary(const ElementwiseOp& op, const Operand& a, const Operand& b) {
  Call call;
  Scalar scalar(0);
  return recognise(op, a, b, &scalar, &call) ? run_new(op, call) : Tensor();
}

bool fast_binary_out(const ElementwiseOp& op, const Tensor& result, const Operand& a, const Operand& b) {
  Call call;
  Scalar scalar(0);
  if (!recognise(op, a, b, &scalar, &call) || !fits(op, call, result)) return false;
  launch_dense(op, call, *result.impl());
  return true;
}

}  // namespace backplane::internal
