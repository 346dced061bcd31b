// SPDX-License-Identifier: Apache-2.0
#include "tensor/check.h"
#include "tensor/operators.h"

namespace backplane::conformance::tensors {
namespace {

using Tensors = std::vector<Tensor>;

int axis(const Call& call, int otherwise) { return call.attrs.axis({"axis", "dim"}, otherwise); }
std::optional<int> optional_axis(const Call& call) { return call.attrs.axis({"axis", "dim"}); }

Tensor flip_all(const Call& call) {
  const Shape axes = call.attrs.list({"axis", "axes"});
  if (axes.empty()) return flip(call[0]);
  Tensor result = call[0];
  for (const int64_t each : axes) result = flip(result, static_cast<int>(each));
  return result;
}

// From the last axis back, so that the earlier ones keep their places.
Tensor squeeze_all(const Call& call) {
  Shape axes = call.attrs.list({"axis", "axes"});
  if (axes.empty()) return squeeze(call[0]);
  for (int64_t& each : axes)
    if (each < 0) each += call[0].rank();
  std::sort(axes.begin(), axes.end());
  Tensor result = call[0];
  for (int i = axes.rank(); i-- > 0;) result = squeeze(result, static_cast<int>(axes[i]));
  return result;
}

Tensor expand_all(const Call& call) {
  Tensor result = call[0];
  for (const int64_t each : call.attrs.list({"axis", "axes"}))
    result = expand_dims(result, static_cast<int>(each));
  return result;
}

Tensor slice_all(const Call& call) {
  const Tensor& x = call[0];
  const Shape axes = call.attrs.list({"axes", "axis"});
  const Shape start = call.attrs.list({"start", "starts"}), stop = call.attrs.list({"stop", "stops", "end"});
  const Shape step = call.attrs.list({"step", "steps"});
  Tensor result = x;
  for (int i = 0; i < std::max({start.rank(), stop.rank(), step.rank()}); ++i) {
    Slice range;
    if (i < start.rank()) range.start = start[i];
    if (i < stop.rank()) range.stop = stop[i];
    if (i < step.rank()) range.step = step[i];
    result = result.slice(axes.empty() ? i : static_cast<int>(axes[i]), range);
  }
  return result;
}

Tensor move_axis(const Call& call) {
  const auto from = call.attrs.axis({"source", "from"}), to = call.attrs.axis({"destination", "to"});
  if (!from || !to) throw Skip("moveaxis of several axes is not known");
  return moveaxis(call[0], *from, *to);
}

Tensors split_all(const Call& call) {
  const int along = axis(call, 0);
  if (const auto parts = call.attrs.integer({"parts", "sections", "num"}, 0); parts != 0)
    return split(call[0], static_cast<int>(parts), along);
  return split(call[0], call.attrs.list({"sizes"}), along);
}

// With null for an axis the array API joins flattened tensors.
Tensors parts_to_join(const Call& call) {
  if (!call.attrs.is_null({"axis"})) return call.in;
  Tensors parts;
  for (const Tensor& tensor : call.in) parts.push_back(tensor.flatten());
  return parts;
}

struct Padding {
  Shape before, after;
  Scalar value;
};

// One pair a dimension, or one for all.
Padding padding(const Call& call) {
  const std::vector<Shape> pairs = call.attrs.lists({"pads", "pad_width", "padding"});
  Padding result{{}, {}, call.attrs.scalar({"value", "constant_values"}).value_or(Scalar(0))};
  for (int i = 0; i < call[0].rank(); ++i) {
    const Shape& pair = pairs.at(pairs.size() == 1 ? 0 : static_cast<size_t>(i));
    result.before.push_back(pair[0]);
    result.after.push_back(pair[pair.rank() - 1]);
  }
  return result;
}

int64_t repeats(const Call& call) { return call.attrs.integer({"repeats"}, 1); }
Shape repetitions(const Call& call) { return call.attrs.list({"repetitions", "reps"}); }
Shape shift(const Call& call) { return call.attrs.list({"shift", "shifts"}); }
Shape roll_axes(const Call& call) { return call.attrs.list({"axis", "axes"}); }
int diagonal_offset(const Call& call) { return static_cast<int>(call.attrs.integer({"k", "offset"}, 0)); }

Operand written(const Call& call) {
  if (call.in.size() > 2) return call.in[2];
  if (const auto scalar = call.attrs.scalar({"value", "values"})) return *scalar;
  return call[2];
}

using View = Tensor (*)(const Call&);
const std::pair<const char*, View> kViews[] = {
    {"permute_dims",
     [](const Call& c) {
       return permute_dims(c[0], c.attrs.list({"axes", "axis"}));
     }},
    {"matrix_transpose", [](const Call& c) { return c[0].transpose(); }},
    {"transpose", [](const Call& c) { return c[0].transpose(); }},
    {"reshape", [](const Call& c) { return reshape(c[0], c.attrs.list({"shape"})); }},
    {"broadcast_to", [](const Call& c) { return broadcast_to(c[0], c.attrs.list({"shape"})); }},
    {"expand_dims", expand_all},
    {"squeeze", squeeze_all},
    {"flip", flip_all},
    {"moveaxis", move_axis},
    {"slice", slice_all},
    {"diagonal", [](const Call& c) { return c[0].diagonal(diagonal_offset(c)); }},
    {"flatten", [](const Call& c) { return c[0].flatten(); }},
    {"index", [](const Call& c) { return index(c[0], c[1]); }},
    {"astype", [](const Call& c) { return c[0].astype(c.attrs.type({"dtype"}, c[0].dtype())); }},
};

const std::pair<const char*, Tensors (*)(const Call&)> kSeveral[] = {
    {"broadcast_arrays", [](const Call& c) { return broadcast_arrays(c.in); }},
    {"split", split_all},
    {"unstack", [](const Call& c) { return unstack(c[0], axis(c, 0)); }},
    {"nonzero", [](const Call& c) { return nonzero(c[0]); }},
};

struct WritingRow {
  const char* name;
  Tensor (*run)(const Call&);
  void (*run_out)(const Call&, const Tensor&);
};
const WritingRow kWriting[] = {
    {"concat", [](const Call& c) { return concat(parts_to_join(c), axis(c, 0)); },
     [](const Call& c, const Tensor& to) { concat_out(to, parts_to_join(c), axis(c, 0)); }},
    {"stack", [](const Call& c) { return stack(c.in, axis(c, 0)); },
     [](const Call& c, const Tensor& to) { stack_out(to, c.in, axis(c, 0)); }},
    {"roll", [](const Call& c) { return roll(c[0], shift(c), roll_axes(c)); },
     [](const Call& c, const Tensor& to) { roll_out(to, c[0], shift(c), roll_axes(c)); }},
    {"repeat", [](const Call& c) { return repeat(c[0], repeats(c), optional_axis(c)); },
     [](const Call& c, const Tensor& to) { repeat_out(to, c[0], repeats(c), optional_axis(c)); }},
    {"tile", [](const Call& c) { return tile(c[0], repetitions(c)); },
     [](const Call& c, const Tensor& to) { tile_out(to, c[0], repetitions(c)); }},
    {"pad",
     [](const Call& c) {
       const Padding p = padding(c);
       return pad(c[0], p.before, p.after, p.value);
     },
     [](const Call& c, const Tensor& to) {
       const Padding p = padding(c);
       pad_out(to, c[0], p.before, p.after, p.value);
     }},
    {"tril", [](const Call& c) { return tril(c[0], diagonal_offset(c)); },
     [](const Call& c, const Tensor& to) { tril_out(to, c[0], diagonal_offset(c)); }},
    {"triu", [](const Call& c) { return triu(c[0], diagonal_offset(c)); },
     [](const Call& c, const Tensor& to) { triu_out(to, c[0], diagonal_offset(c)); }},
    {"take", [](const Call& c) { return take(c[0], c[1], axis(c, 0)); },
     [](const Call& c, const Tensor& to) { take_out(to, c[0], c[1], axis(c, 0)); }},
    {"take_along_axis", [](const Call& c) { return take_along_axis(c[0], c[1], axis(c, -1)); },
     [](const Call& c, const Tensor& to) { take_along_axis_out(to, c[0], c[1], axis(c, -1)); }},
    {"scatter", [](const Call& c) { return scatter(c[0], c[1], written(c), axis(c, -1)); },
     [](const Call& c, const Tensor& to) { scatter_out(to, c[0], c[1], written(c), axis(c, -1)); }},
};

}  // namespace

void add_manipulation_operators(Operators& operators) {
  for (const auto& [name, run] : kViews)
    operators[name] = {[run = run](const Call& call) { return Tensors{run(call)}; }, nullptr};
  for (const auto& [name, run] : kSeveral) operators[name] = {run, nullptr};
  for (const WritingRow& row : kWriting)
    operators[row.name] = {[run = row.run](const Call& call) { return Tensors{run(call)}; }, row.run_out};
}

}  // namespace backplane::conformance::tensors
