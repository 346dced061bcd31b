// SPDX-License-Identifier: Apache-2.0
//
// Operators that only move elements: views by their array API names, joining, rolling, repeating, padding,
// triangles.
#include <fmt/format.h>

#include <algorithm>

#include "backplane/ops/elementwise.h"
#include "backplane/ops/manipulation.h"
#include "ops/reduce.h"

namespace backplane::internal {
namespace {

DType joint_type(const std::vector<Tensor>& tensors, const char* what) {
  if (tensors.empty()) throw Error(ErrorCode::InvalidArgument, fmt::format("{}: no tensors", what));
  DType type = impl_of(tensors[0], what).dtype;
  for (const Tensor& t : tensors) {
    type = promote_types(type, impl_of(t, what).dtype);
    check_same_device(*tensors[0].impl(), *t.impl(), what);
  }
  return type;
}

// Fills consecutive parts of the result along an axis.
void join(const Tensor& result, const std::vector<Tensor>& parts, int axis) {
  int64_t position = 0;
  for (const Tensor& part : parts) {
    const int64_t end = position + part.size(axis);
    result.slice(axis, {position, end}).assign(part);
    position = end;
  }
}

Shape concat_shape(const std::vector<Tensor>& tensors, int axis, const char* what) {
  Shape shape = tensors[0].shape();
  for (size_t i = 1; i < tensors.size(); ++i) {
    Shape other = tensors[i].shape();
    bool fits = other.rank() == shape.rank();
    for (int d = 0; fits && d < shape.rank(); ++d) fits = d == axis || other[d] == shape[d];
    if (!fits)
      throw Error(ErrorCode::InvalidArgument, fmt::format("{}: {} and {} differ in more than axis {}", what,
                                                          internal::describe(*tensors[0].impl()),
                                                          internal::describe(*tensors[i].impl()), axis));
    shape[axis] += other[axis];
  }
  return shape;
}

std::vector<Tensor> expanded(const std::vector<Tensor>& tensors, int axis) {
  std::vector<Tensor> result;
  for (const Tensor& t : tensors) {
    if (!(t.shape() == tensors[0].shape()))
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("stack: {} and {} differ in shape", internal::describe(*tensors[0].impl()),
                              internal::describe(*t.impl())));
    result.push_back(t.expand_dims(axis));
  }
  return result;
}

// One axis, by a shift of any size or sign.
void roll_into(const Tensor& result, const Tensor& x, int axis, int64_t shift) {
  const int64_t n = x.size(axis);
  if (n == 0) return;
  const int64_t by = (shift % n + n) % n;
  result.slice(axis, {by, n}).assign(x.slice(axis, {0, n - by}));
  if (by > 0) result.slice(axis, {0, by}).assign(x.slice(axis, {n - by, n}));
}

Shape padded_shape(const Tensor& x, const Shape& before, const Shape& after) {
  Shape shape = impl_of(x, "pad").shape;
  bool fits = before.rank() == shape.rank() && after.rank() == shape.rank();
  for (int i = 0; fits && i < shape.rank(); ++i) {
    fits = before[i] >= 0 && after[i] >= 0 && !__builtin_add_overflow(shape[i], before[i], &shape[i]) &&
           !__builtin_add_overflow(shape[i], after[i], &shape[i]);
  }
  if (!fits)
    throw Error(ErrorCode::InvalidArgument, fmt::format("pad: {} before and {} after for {}", before.str(),
                                                        after.str(), internal::describe(*x.impl())));
  return shape;
}

// Elements where column - row compares with k, else zero: one launch over the row and column numbers,
// broadcast.
Tensor triangle(const char* what, const Tensor& x, int k, bool lower) {
  const TensorImpl& t = impl_of(x, what);
  const int rank = t.shape.rank();
  if (rank < 2)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: {} has fewer than 2 dimensions", what, describe(t)));
  const Tensor rows = arange(t.shape[rank - 2], DType::Int64, x.device()).expand_dims(1);
  const Tensor columns = arange(t.shape[rank - 1], DType::Int64, x.device());
  TensorProgram program(what);
  const Value value = program.input(t);
  const Value row = program.input(*rows.impl());
  const Value column = program.input(*columns.impl());
  const Value distance = program.apply(ScalarOp::subtract, DType::Int64, column, row);
  const Value bound = program.number(DType::Int64, k);
  const Value inside =
      program.apply(lower ? ScalarOp::less_equal : ScalarOp::greater_equal, DType::Bool, distance, bound);
  const Value zero = program.scalar(t.dtype, plugin::Scalar{});
  return program.run(program.apply(ScalarOp::where, t.dtype, inside, value, zero));
}

}  // namespace
}  // namespace backplane::internal

namespace backplane::inline v0 {

using internal::impl_of;
using internal::normalize_axis;
using internal::store_result;

Tensor permute_dims(const Tensor& x, const Shape& axes) { return x.permute(axes); }
Tensor reshape(const Tensor& x, const Shape& shape) { return x.reshape(shape); }
Tensor broadcast_to(const Tensor& x, const Shape& shape) { return x.broadcast_to(shape); }
Tensor expand_dims(const Tensor& x, int axis) { return x.expand_dims(axis); }
Tensor squeeze(const Tensor& x, std::optional<int> axis) { return x.squeeze(axis); }
Tensor flip(const Tensor& x, std::optional<int> axis) { return x.flip(axis); }

std::vector<Tensor> broadcast_arrays(const std::vector<Tensor>& tensors) {
  Shape shape;
  for (const Tensor& t : tensors)
    shape = internal::broadcast_shapes(shape, impl_of(t, "broadcast_arrays").shape, "broadcast_arrays");
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (const Tensor& t : tensors) result.push_back(t.broadcast_to(shape));
  return result;
}

Tensor moveaxis(const Tensor& x, int from, int to) {
  const int rank = impl_of(x, "moveaxis").shape.rank();
  from = normalize_axis(from, *x.impl(), "moveaxis");
  to = normalize_axis(to, *x.impl(), "moveaxis");
  Shape axes;
  for (int i = 0; i < rank; ++i)
    if (i != from) axes.push_back(i);
  axes.insert(to, from);
  return x.permute(axes);
}

std::vector<Tensor> split(const Tensor& x, const Shape& sizes, int axis) {
  const Shape& shape = impl_of(x, "split").shape;
  axis = normalize_axis(axis, *x.impl(), "split");
  int64_t total = 0;
  bool fits = true;
  for (int64_t size : sizes) fits = fits && size >= 0 && !__builtin_add_overflow(total, size, &total);
  if (!fits || total != shape[axis])
    throw Error(ErrorCode::InvalidArgument, fmt::format("split: sizes {} for axis {} of {}", sizes.str(),
                                                        axis, internal::describe(*x.impl())));
  std::vector<Tensor> parts;
  int64_t position = 0;
  for (int64_t size : sizes) {
    parts.push_back(x.slice(axis, {position, position + size}));
    position += size;
  }
  return parts;
}

std::vector<Tensor> split(const Tensor& x, int parts, int axis) {
  const Shape& shape = impl_of(x, "split").shape;
  axis = normalize_axis(axis, *x.impl(), "split");
  if (parts <= 0 || shape[axis] % parts != 0)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("split: {} parts of axis {} of {}", parts, axis, internal::describe(*x.impl())));
  std::vector<Tensor> result;
  const int64_t size = shape[axis] / parts;
  result.reserve(static_cast<size_t>(parts));
  for (int i = 0; i < parts; ++i) result.push_back(x.slice(axis, {i * size, (i + 1) * size}));
  return result;
}

std::vector<Tensor> unstack(const Tensor& x, int axis) {
  const Shape& shape = impl_of(x, "unstack").shape;
  axis = normalize_axis(axis, *x.impl(), "unstack");
  std::vector<Tensor> result;
  for (int64_t i = 0; i < shape[axis]; ++i) result.push_back(x.select(axis, i));
  return result;
}

Tensor concat(const std::vector<Tensor>& tensors, int axis) {
  const DType type = internal::joint_type(tensors, "concat");
  axis = normalize_axis(axis, impl_of(tensors[0], "concat"), "concat");
  const Tensor result = empty(internal::concat_shape(tensors, axis, "concat"), type, tensors[0].device());
  internal::join(result, tensors, axis);
  return result;
}
const Tensor& concat_out(const Tensor& result, const std::vector<Tensor>& tensors, int axis) {
  return store_result(result, concat(tensors, axis), "concat");
}

Tensor stack(const std::vector<Tensor>& tensors, int axis) {
  internal::joint_type(tensors, "stack");
  axis = normalize_axis(axis, tensors[0].rank() + 1, "stack");
  return concat(internal::expanded(tensors, axis), axis);
}
const Tensor& stack_out(const Tensor& result, const std::vector<Tensor>& tensors, int axis) {
  return store_result(result, stack(tensors, axis), "stack");
}

Tensor roll(const Tensor& x, const Shape& shift, const Shape& axes) {
  const Shape& shape = impl_of(x, "roll").shape;
  if (axes.empty()) {
    if (shift.rank() != 1)
      throw Error(ErrorCode::InvalidArgument, fmt::format("roll: shift {} without axes", shift.str()));
    return roll(x.reshape({-1}), shift, {0}).reshape(shape);
  }
  if (shift.rank() != axes.rank() && shift.rank() != 1)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("roll: shift {} for axes {}", shift.str(), axes.str()));
  Tensor current = x;
  for (int i = 0; i < axes.rank(); ++i) {
    const Tensor next = empty(shape, x.dtype(), x.device());
    const int axis = normalize_axis(axes[i], *x.impl(), "roll");
    internal::roll_into(next, current, axis, shift[shift.rank() == 1 ? 0 : i]);
    current = next;
  }
  return current;
}

Tensor repeat(const Tensor& x, int64_t repeats, std::optional<int> axis) {
  if (repeats < 0) throw Error(ErrorCode::InvalidArgument, fmt::format("repeat: {} times", repeats));
  const internal::TensorImpl& t = impl_of(x, "repeat");
  if (!axis) return repeat(x.reshape({-1}), repeats, 0);
  const int at = normalize_axis(*axis, t, "repeat");
  Shape shape = x.shape();
  shape.insert(at + 1, repeats);
  internal::checked_size(shape, t.dtype, "repeat");
  const Tensor wide = x.expand_dims(at + 1).broadcast_to(shape);
  shape.erase(at + 1);
  if (__builtin_mul_overflow(shape[at], repeats, &shape[at]))
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("repeat: {} times {}", repeats, internal::describe(*x.impl())));
  return wide.clone().reshape(shape);
}

// Repetitions broadcast as in NumPy: the shorter of shape and repetitions gets leading ones.
Tensor tile(const Tensor& x, const Shape& repetitions) {
  impl_of(x, "tile");
  Tensor base = x;
  Shape times = repetitions;
  while (base.rank() < times.rank()) base = base.expand_dims(0);
  while (times.rank() < base.rank()) times.insert(0, 1);
  for (int i = 0; i < times.rank(); ++i) {
    if (times[i] < 0)
      throw Error(ErrorCode::InvalidArgument, fmt::format("tile: repetitions {}", repetitions.str()));
    if (times[i] == 1) continue;
    Shape wide = base.shape();
    wide.insert(i, times[i]);
    Shape merged = base.shape();
    if (__builtin_mul_overflow(merged[i], times[i], &merged[i]))
      throw Error(ErrorCode::InvalidArgument, fmt::format("tile: repetitions {} of {}", repetitions.str(),
                                                          internal::describe(*x.impl())));
    base = base.expand_dims(i).broadcast_to(wide).clone().reshape(merged);
  }
  return base.is(x) ? x.clone() : base;
}

Tensor pad(const Tensor& x, const Shape& before, const Shape& after, Scalar value) {
  impl_of(x, "pad");
  const Tensor result = full(internal::padded_shape(x, before, after), value, x.dtype(), x.device());
  Tensor inside = result;
  for (int i = 0; i < x.rank(); ++i) inside = inside.slice(i, {before[i], before[i] + x.size(i)});
  inside.assign(x);
  return result;
}

const Tensor& roll_out(const Tensor& result, const Tensor& x, const Shape& shift, const Shape& axes) {
  return store_result(result, roll(x, shift, axes), "roll");
}
const Tensor& repeat_out(const Tensor& result, const Tensor& x, int64_t repeats, std::optional<int> axis) {
  return store_result(result, repeat(x, repeats, axis), "repeat");
}
const Tensor& tile_out(const Tensor& result, const Tensor& x, const Shape& repetitions) {
  return store_result(result, tile(x, repetitions), "tile");
}
const Tensor& pad_out(const Tensor& result, const Tensor& x, const Shape& before, const Shape& after,
                      Scalar value) {
  return store_result(result, pad(x, before, after, value), "pad");
}

Tensor tril(const Tensor& x, int k) { return internal::triangle("tril", x, k, true); }
Tensor triu(const Tensor& x, int k) { return internal::triangle("triu", x, k, false); }
const Tensor& tril_out(const Tensor& result, const Tensor& x, int k) {
  return store_result(result, tril(x, k), "tril");
}
const Tensor& triu_out(const Tensor& result, const Tensor& x, int k) {
  return store_result(result, triu(x, k), "triu");
}

}  // namespace backplane::inline v0
