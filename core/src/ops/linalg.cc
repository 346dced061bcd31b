// SPDX-License-Identifier: Apache-2.0
#include "backplane/ops/linalg.h"

#include <fmt/format.h>

#include <algorithm>

#include "backplane/ops/elementwise.h"
#include "ops/reduce.h"
#include "tensor/iteration.h"

namespace backplane::internal {
namespace {

// A product with its operands as matrices: batch..., rows, columns.
struct Product {
  const char* label;
  Tensor a, b;  // (..., m, k) and (..., k, n), of one type
  Shape batch;  // broadcast
  int64_t m, n, k;
  bool drop_row, drop_column;  // an operand was a vector
};

[[noreturn]] void mismatch(const char* what, const TensorImpl& a, const TensorImpl& b) {
  throw Error(ErrorCode::InvalidArgument,
              fmt::format("{}: {} and {} do not multiply", what, describe(a), describe(b)));
}

Shape batch_of(const Shape& shape) {
  Shape batch = shape;
  batch.resize(shape.rank() - 2);
  return batch;
}

Product as_product(const char* what, const Tensor& a, const Tensor& b) {
  const TensorImpl& x = impl_of(a, what);
  const TensorImpl& y = impl_of(b, what);
  check_same_device(x, y, what);
  if (x.shape.empty() || y.shape.empty()) mismatch(what, x, y);
  const DType type = promote_types(x.dtype, y.dtype);
  Product p{what, a.astype(type, false), b.astype(type, false), {}, 1, 1,
            1,    x.shape.rank() == 1,   y.shape.rank() == 1};
  if (p.drop_row) p.a = p.a.expand_dims(0);
  if (p.drop_column) p.b = p.b.expand_dims(1);
  const Shape &s = p.a.shape(), &t = p.b.shape();
  if (s[s.rank() - 1] != t[t.rank() - 2]) mismatch(what, x, y);
  p.m = s[s.rank() - 2];
  p.k = s[s.rank() - 1];
  p.n = t[t.rank() - 1];
  p.batch = broadcast_shapes(batch_of(s), batch_of(t), what);
  return p;
}

Shape full_shape(const Product& p) {
  Shape shape = p.batch;
  shape.push_back(p.m);
  shape.push_back(p.n);
  return shape;
}

// InvalidArgument for types without products. Operands have one type.
void check_type(const Product& p, DType result) {
  if (p.a.dtype() == DType::Bool || result == DType::Bool)
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("{}: bool has no products; convert {} to a number's type, and the result with astype",
                    p.label, describe(*p.a.impl())));
}

// float32 for narrower floats; integers in the result's type, as they wrap.
DType product_type(DType operands, DType result) {
  if (is_floating(operands)) return operands == DType::Float64 ? operands : DType::Float32;
  return is_floating(result) ? DType::Int64 : result;
}

// Strides over batch..., m, n, k of a matrix operand; `row` and `column` say which of its last two dimensions
// walk m, n or k.
Strides matrix_strides(const Tensor& t, const Shape& batch, int m_from, int n_from, int k_from) {
  const TensorImpl& impl = *t.impl();
  const int rank = impl.shape.rank();
  Shape whole = batch;
  whole.push_back(impl.shape[rank - 2]);
  whole.push_back(impl.shape[rank - 1]);
  const Strides strides = broadcast_strides(impl, whole);
  Strides result = batch;
  const int lead = batch.rank();
  for (int i = 0; i < lead; ++i) result[i] = strides[i];
  for (int from : {m_from, n_from, k_from}) result.push_back(from < 0 ? 0 : impl.strides[rank - 2 + from]);
  return result;
}

// Batch dimensions are simplified; m, n and k stay as they are.
void plan(Launch& launch, const Product& p, std::span<const Strides> strides) {
  IterationSpace space;
  for (int i = 0; i < p.batch.rank(); ++i) space.add_dimension(p.batch[i], strides, i);
  simplify(space, static_cast<int>(strides.size()), 0, space.rank, Order::Any);
  const int64_t sizes[3] = {p.m, p.n, p.k};
  for (int i = 0; i < 3; ++i) space.add_dimension(sizes[i], strides, p.batch.rank() + i);
  fill_launch(launch, space);
}

// bias (undefined or broadcasting to the product's shape) is added to the rounded product, as an operator of
// its own would.
void multiply_into(const TensorImpl& result, const Product& p, const Tensor& bias) {
  if (result.size == 0) return;
  DeviceState& device = result.device();
  plugin::KernelDesc desc{};
  desc.struct_size = sizeof desc;
  desc.family = plugin::Family::Matmul;
  desc.layout = plugin::Layout::Strided;
  desc.types[0] = result.dtype;
  desc.types[1] = p.a.dtype();
  desc.types[2] = p.b.dtype();
  desc.compute_type = product_type(p.a.dtype(), result.dtype);
  const Tensor result_view = make_view(result, result.shape, result.strides, result.offset);
  std::vector<Strides> strides = {matrix_strides(result_view, p.batch, 0, 1, -1),
                                  matrix_strides(p.a, p.batch, 0, -1, 1),
                                  matrix_strides(p.b, p.batch, -1, 1, 0)};
  Launch launch(p.label);
  launch.add_operand(*result.storage, result.byte_offset());
  launch.add_operand(*p.a.impl()->storage, p.a.impl()->byte_offset());
  launch.add_operand(*p.b.impl()->storage, p.b.impl()->byte_offset());
  if (bias.defined()) {
    ProgramWriter epilogue(p.label);
    const Value product = epilogue.cast(epilogue.input(desc.compute_type), result.dtype);
    const Value addend = epilogue.input(result.dtype);
    epilogue.output(epilogue.apply(ScalarOp::add, result.dtype, product, addend));
    desc.epilogue = epilogue.program();
    const Tensor wide = bias.broadcast_to(result.shape);
    launch.add_operand(*wide.impl()->storage, wide.impl()->byte_offset());
    strides.push_back(matrix_strides(wide, p.batch, 0, 1, -1));
  }
  device.ensure_ready();
  plan(launch, p, strides);
  launch.run(device, device.kernels->get(desc, p.label), plugin::Family::Matmul);
}

Shape visible_shape(const Product& p) {
  Shape shape = full_shape(p);
  if (p.drop_column) shape.erase(shape.rank() - 1);
  if (p.drop_row) shape.erase(shape.rank() - (p.drop_column ? 1 : 2));
  return shape;
}

Tensor product(const Product& p, DType type, const Tensor& bias = {}) {
  check_type(p, type);
  Tensor result = make_tensor(p.a.impl()->device(), full_shape(p), type, p.label);
  multiply_into(*result.impl(), p, bias);
  return p.drop_row || p.drop_column ? result.reshape(visible_shape(p)) : result;
}

// Straight into the result where it has the product's form and is none of its operands; else through a
// temporary.
const Tensor& product_out(const Tensor& result, const Product& p, DType type, const Tensor& bias = {}) {
  const TensorImpl& r = impl_of(result, p.label);
  const bool straight = r.dtype == type && r.shape == full_shape(p) && !r.storage->read_only() &&
                        &r.device() == &p.a.impl()->device() && !self_overlaps(r) &&
                        !may_overlap(r, *p.a.impl()) && !may_overlap(r, *p.b.impl()) &&
                        !(bias.defined() && may_overlap(r, *bias.impl()));
  check_type(p, type);
  if (!straight) return store_result(result, product(p, type, bias), p.label);
  multiply_into(r, p, bias);
  return result;
}

struct LinearParts {
  Product product;
  Tensor bias;
};

LinearParts linear_parts(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const TensorImpl& w = impl_of(weight, "linear");
  if (w.shape.rank() != 2)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("linear: the weight is {}, not (out, in)", describe(w)));
  const TensorImpl& in = impl_of(x, "linear");
  check_same_device(in, w, "linear");
  // Here, and not as a product, which would show the weight transposed.
  if (in.shape.empty() || in.shape[in.shape.rank() - 1] != w.shape[1]) mismatch("linear", in, w);
  if (bias.defined()) {
    check_same_device(in, *bias.impl(), "linear");
    if (bias.rank() != 1 || bias.size() != w.shape[0])
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("linear: the bias is {}, the weight {}", describe(*bias.impl()), describe(w)));
  }
  LinearParts parts{as_product("linear", x, weight.transpose()), bias};
  if (bias.defined()) parts.bias = bias.astype(parts.product.a.dtype(), false);
  return parts;
}

// The listed dimensions of `t` last (or first), the others in order, merged into a matrix.
Tensor as_matrix(const Tensor& t, const Shape& axes, bool contracted_last, Shape* others) {
  const int rank = t.rank();
  Shape order;
  uint32_t contracted = 0;
  int64_t inner = 1, outer = 1;
  Shape listed;
  for (int64_t axis : axes) {
    const int i = normalize_axis(axis, *t.impl(), "tensordot");
    if ((contracted >> i & 1) != 0)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("tensordot: axis {} stands twice in {}", i, axes.str()));
    contracted |= 1u << i;
    listed.push_back(i);
    inner *= t.shape()[i];
  }
  for (int i = 0; i < rank; ++i) {
    if ((contracted >> i & 1) != 0) continue;
    order.push_back(i);
    others->push_back(t.shape()[i]);
    outer *= t.shape()[i];
  }
  for (int i = 0; i < listed.rank(); ++i)
    if (contracted_last)
      order.push_back(listed[i]);
    else
      order.insert(i, listed[i]);
  return t.permute(order).reshape(contracted_last ? Shape{outer, inner} : Shape{inner, outer});
}

Tensor contract(const Tensor& a, const Tensor& b, const Shape& a_axes, const Shape& b_axes) {
  const TensorImpl& x = impl_of(a, "tensordot");
  const TensorImpl& y = impl_of(b, "tensordot");
  check_same_device(x, y, "tensordot");
  bool fits = a_axes.rank() == b_axes.rank();
  for (int i = 0; fits && i < a_axes.rank(); ++i)
    fits = a.size(static_cast<int>(a_axes[i])) == b.size(static_cast<int>(b_axes[i]));
  if (!fits)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("tensordot: axes {} of {} do not match axes {} of {}", a_axes.str(), describe(x),
                            b_axes.str(), describe(y)));
  Shape shape;
  const Tensor left = as_matrix(a, a_axes, true, &shape);
  const Tensor right = as_matrix(b, b_axes, false, &shape);
  return matmul(left, right).reshape(shape);
}

}  // namespace
}  // namespace backplane::internal

namespace backplane::inline v0 {

using internal::impl_of;

Tensor matmul(const Tensor& a, const Tensor& b, std::optional<DType> type) {
  const auto p = internal::as_product("matmul", a, b);
  return internal::product(p, type.value_or(p.a.dtype()));
}

const Tensor& matmul_out(const Tensor& result, const Tensor& a, const Tensor& b, std::optional<DType> type) {
  const auto p = internal::as_product("matmul", a, b);
  return internal::product_out(result, p, type.value_or(p.a.dtype()));
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto parts = internal::linear_parts(x, weight, bias);
  return internal::product(parts.product, parts.product.a.dtype(), parts.bias);
}

const Tensor& linear_out(const Tensor& result, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto parts = internal::linear_parts(x, weight, bias);
  return internal::product_out(result, parts.product, parts.product.a.dtype(), parts.bias);
}

Tensor outer(const Tensor& a, const Tensor& b) {
  const internal::TensorImpl& x = impl_of(a, "outer");
  const internal::TensorImpl& y = impl_of(b, "outer");
  internal::check_same_device(x, y, "outer");
  if (x.shape.rank() != 1 || y.shape.rank() != 1)
    throw Error(ErrorCode::InvalidArgument, fmt::format("outer: {} and {} are not both vectors",
                                                        internal::describe(x), internal::describe(y)));
  return multiply(a.expand_dims(1), b);
}

const Tensor& outer_out(const Tensor& result, const Tensor& a, const Tensor& b) {
  return internal::store_result(result, outer(a, b), "outer");
}

Tensor tensordot(const Tensor& a, const Tensor& b, int axes) {
  const int rank = impl_of(a, "tensordot").shape.rank();
  if (axes < 0 || axes > rank || axes > impl_of(b, "tensordot").shape.rank())
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("tensordot: {} axes of {} and {}", axes, internal::describe(*a.impl()),
                            internal::describe(*b.impl())));
  Shape a_axes, b_axes;
  for (int i = 0; i < axes; ++i) {
    a_axes.push_back(rank - axes + i);
    b_axes.push_back(i);
  }
  return internal::contract(a, b, a_axes, b_axes);
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Shape& a_axes, const Shape& b_axes) {
  return internal::contract(a, b, a_axes, b_axes);
}

const Tensor& tensordot_out(const Tensor& result, const Tensor& a, const Tensor& b, const Shape& a_axes,
                            const Shape& b_axes) {
  return internal::store_result(result, internal::contract(a, b, a_axes, b_axes), "tensordot");
}

}  // namespace backplane::inline v0
