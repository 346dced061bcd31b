// SPDX-License-Identifier: Apache-2.0
#include "tensor/check.h"
#include "tensor/operators.h"

namespace backplane::conformance::tensors {
namespace {

using Tensors = std::vector<Tensor>;

int axis(const Call& call) { return call.attrs.axis({"axis", "dim"}, -1); }
bool descending(const Call& call) {
  call.attrs.flag({"stable"}, true);  // sorting always is
  return call.attrs.flag({"descending"}, false);
}
double epsilon(const Call& call, double otherwise) {
  return call.attrs.number({"eps", "epsilon"}, otherwise);
}
Shape shape(const Call& call) { return call.attrs.list({"shape", "size"}); }
DType type(const Call& call) { return call.attrs.type({"dtype"}, float32); }

struct TensordotAxes {
  Shape a, b;
};
TensordotAxes tensordot_axes(const Call& call) {
  const int rank = call[0].rank();
  TensordotAxes result;
  if (!call.attrs.is_list({"axes"})) {
    const int64_t count = call.attrs.integer({"axes"}, 2);
    for (int64_t i = 0; i < count; ++i) {
      result.a.push_back(rank - count + i);
      result.b.push_back(i);
    }
    return result;
  }
  const std::vector<Shape> lists = call.attrs.lists({"axes"});
  if (lists.size() != 2) throw Skip("tensordot with these axes is not known");
  return {lists[0], lists[1]};
}

Side side(const Call& call) {
  const std::string name = call.attrs.text({"side"}, "left");
  if (name != "left" && name != "right") throw Skip("searchsorted on side '" + name + "' is not known");
  return name == "left" ? Side::Left : Side::Right;
}

Tensors top(const Call& call) {
  auto [values, indices] =
      topk(call[0], call.attrs.integer({"k"}, 1), axis(call), call.attrs.flag({"largest"}, true));
  return {values, indices};
}

Tensors counted(const Call& call) {
  auto [values, counts] = unique_counts(call[0]);
  return {values, counts};
}

Tensor range(const Call& call) {
  const auto start = call.attrs.scalar({"start"}), stop = call.attrs.scalar({"stop", "end"});
  const Scalar step = call.attrs.scalar({"step"}).value_or(Scalar(1));
  const Scalar first = stop ? start.value_or(Scalar(0)) : Scalar(0);
  const Scalar last = stop ? *stop : start.value_or(Scalar(0));
  const bool floating = first.kind() == Scalar::Kind::Floating || last.kind() == Scalar::Kind::Floating ||
                        step.kind() == Scalar::Kind::Floating;
  return arange(first, last, step, call.attrs.type({"dtype"}, floating ? float32 : int64), call.device);
}

Tensor spaced(const Call& call) {
  return linspace(call.attrs.number({"start"}, 0), call.attrs.number({"stop"}, 1),
                  call.attrs.integer({"num", "count", "steps"}, 50), type(call), call.device,
                  call.attrs.flag({"endpoint"}, true));
}

Tensor identity(const Call& call) {
  const int64_t rows = call.attrs.integer({"rows", "n_rows", "n", "N"}, 0);
  return eye(rows, call.attrs.integer({"cols", "columns", "n_cols", "m", "M"}, rows),
             static_cast<int>(call.attrs.integer({"k"}, 0)), type(call), call.device);
}

Tensor filled(const Call& call) {
  const Scalar value = call.attrs.scalar({"value", "fill_value"}).value_or(Scalar(0));
  if (const auto given = call.attrs.type({"dtype"})) return full(shape(call), value, *given, call.device);
  return full(shape(call), value, call.device);
}

Seed seed(const Call& call) { return {call.attrs.seed({"seed"}), call.attrs.seed({"offset"})}; }
double low(const Call& call, double otherwise) {
  return call.attrs.number({"low", "minval", "a"}, otherwise);
}
double high(const Call& call, double otherwise) {
  return call.attrs.number({"high", "maxval", "b"}, otherwise);
}
double mean_of(const Call& call) { return call.attrs.number({"mean", "loc"}, 0); }
double deviation(const Call& call) { return call.attrs.number({"deviation", "std", "stddev", "scale"}, 1); }

struct Row {
  const char* name;
  Tensor (*run)(const Call&);
  void (*run_out)(const Call&, const Tensor&);
};
const Row kRows[] = {
    {"matmul", [](const Call& c) { return matmul(c[0], c[1], c.attrs.type({"dtype"})); },
     [](const Call& c, const Tensor& to) { matmul_out(to, c[0], c[1], c.attrs.type({"dtype"})); }},
    {"matmul_tt", [](const Call& c) { return matmul(c[0].transpose(), c[1].transpose()); },
     [](const Call& c, const Tensor& to) { matmul_out(to, c[0].transpose(), c[1].transpose()); }},
    {"linear", [](const Call& c) { return linear(c[0], c[1], c.optional(2)); },
     [](const Call& c, const Tensor& to) { linear_out(to, c[0], c[1], c.optional(2)); }},
    {"outer", [](const Call& c) { return outer(c[0], c[1]); },
     [](const Call& c, const Tensor& to) { outer_out(to, c[0], c[1]); }},
    {"tensordot",
     [](const Call& c) {
       const TensordotAxes axes = tensordot_axes(c);
       return tensordot(c[0], c[1], axes.a, axes.b);
     },
     [](const Call& c, const Tensor& to) {
       const TensordotAxes axes = tensordot_axes(c);
       tensordot_out(to, c[0], c[1], axes.a, axes.b);
     }},
    {"softmax", [](const Call& c) { return softmax(c[0], axis(c)); },
     [](const Call& c, const Tensor& to) { softmax_out(to, c[0], axis(c)); }},
    {"log_softmax", [](const Call& c) { return log_softmax(c[0], axis(c)); },
     [](const Call& c, const Tensor& to) { log_softmax_out(to, c[0], axis(c)); }},
    {"layer_norm",
     [](const Call& c) { return layer_norm(c[0], c.optional(1), c.optional(2), epsilon(c, 1e-5)); },
     [](const Call& c, const Tensor& to) {
       layer_norm_out(to, c[0], c.optional(1), c.optional(2), epsilon(c, 1e-5));
     }},
    {"rms_norm", [](const Call& c) { return rms_norm(c[0], c.optional(1), epsilon(c, 1e-6)); },
     [](const Call& c, const Tensor& to) { rms_norm_out(to, c[0], c.optional(1), epsilon(c, 1e-6)); }},
    {"sort", [](const Call& c) { return sort(c[0], axis(c), descending(c)); },
     [](const Call& c, const Tensor& to) { sort_out(to, c[0], axis(c), descending(c)); }},
    {"argsort", [](const Call& c) { return argsort(c[0], axis(c), descending(c)); },
     [](const Call& c, const Tensor& to) { argsort_out(to, c[0], axis(c), descending(c)); }},
    {"searchsorted", [](const Call& c) { return searchsorted(c[0], c[1], side(c)); },
     [](const Call& c, const Tensor& to) { searchsorted_out(to, c[0], c[1], side(c)); }},
    {"unique_values", [](const Call& c) { return unique_values(c[0]); }, nullptr},
    {"zeros", [](const Call& c) { return zeros(shape(c), type(c), c.device); }, nullptr},
    {"ones", [](const Call& c) { return ones(shape(c), type(c), c.device); }, nullptr},
    {"full", filled, nullptr},
    {"zeros_like", [](const Call& c) { return zeros_like(c[0]); }, nullptr},
    {"ones_like", [](const Call& c) { return ones_like(c[0]); }, nullptr},
    {"full_like",
     [](const Call& c) {
       return full_like(c[0], c.attrs.scalar({"value", "fill_value"}).value_or(Scalar(0)));
     },
     nullptr},
    {"arange", range, nullptr},
    {"linspace", spaced, nullptr},
    {"eye", identity, nullptr},
    {"uniform",
     [](const Call& c) { return uniform(shape(c), seed(c), low(c, 0), high(c, 1), type(c), c.device); },
     [](const Call& c, const Tensor& to) { uniform_out(to, seed(c), low(c, 0), high(c, 1)); }},
    {"normal",
     [](const Call& c) { return normal(shape(c), seed(c), mean_of(c), deviation(c), type(c), c.device); },
     [](const Call& c, const Tensor& to) { normal_out(to, seed(c), mean_of(c), deviation(c)); }},
    {"integers",
     [](const Call& c) {
       return integers(shape(c), seed(c), c.attrs.integer({"low"}, 0), c.attrs.integer({"high"}, 1),
                       c.attrs.type({"dtype"}, int64), c.device);
     },
     [](const Call& c, const Tensor& to) {
       integers_out(to, seed(c), c.attrs.integer({"low"}, 0), c.attrs.integer({"high"}, 1));
     }},
    {"bernoulli",
     [](const Call& c) {
       return bernoulli(shape(c), seed(c), c.attrs.number({"probability", "p"}, 0.5), c.device);
     },
     [](const Call& c, const Tensor& to) {
       bernoulli_out(to, seed(c), c.attrs.number({"probability", "p"}, 0.5));
     }},
    {"permutation",
     [](const Call& c) {
       return permutation(c.attrs.integer({"n", "size"}, 0), seed(c), c.device);
     },
     nullptr},
};

}  // namespace

void add_other_operators(Operators& operators) {
  for (const Row& row : kRows)
    operators[row.name] = {[run = row.run](const Call& call) { return Tensors{run(call)}; }, row.run_out};
  operators["topk"] = {top, nullptr};
  operators["unique_counts"] = {counted, nullptr};
}

const Tensor& Call::operator[](size_t i) const {
  if (i >= in.size()) throw Skip("input " + std::to_string(i) + " is missing");
  return in[i];
}

const Operators& operators() {
  static const Operators& table = *[] {
    auto* result = new Operators;
    add_elementwise_operators(*result);
    add_reduction_operators(*result);
    add_manipulation_operators(*result);
    add_other_operators(*result);
    return result;
  }();
  return table;
}

}  // namespace backplane::conformance::tensors
