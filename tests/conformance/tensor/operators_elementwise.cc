// SPDX-License-Identifier: Apache-2.0
#include "tensor/check.h"
#include "tensor/operators.h"

namespace backplane::conformance::tensors {
namespace {

struct UnaryRow {
  const char* name;
  Tensor (*run)(const Tensor&);
  const Tensor& (*run_out)(const Tensor&, const Tensor&);
};
struct BinaryRow {
  const char* name;
  Tensor (*run)(const Operand&, const Operand&);
  const Tensor& (*run_out)(const Tensor&, const Operand&, const Operand&);
};

#define ROW(name) \
  { #name, name, name##_out }
const UnaryRow kUnary[] = {
    ROW(positive), ROW(abs),        ROW(negative),    ROW(sign),           ROW(square),
    ROW(floor),    ROW(ceil),       ROW(trunc),       ROW(round),          ROW(relu),
    ROW(signbit),  ROW(isnan),      ROW(isinf),       ROW(isfinite),       ROW(sqrt),
    ROW(rsqrt),    ROW(reciprocal), ROW(exp),         ROW(expm1),          ROW(exp2),
    ROW(log),      ROW(log1p),      ROW(log2),        ROW(log10),          ROW(sin),
    ROW(cos),      ROW(tan),        ROW(asin),        ROW(acos),           ROW(atan),
    ROW(sinh),     ROW(cosh),       ROW(tanh),        ROW(asinh),          ROW(acosh),
    ROW(atanh),    ROW(erf),        ROW(erfc),        ROW(lgamma),         ROW(sigmoid),
    ROW(silu),     ROW(softplus),   ROW(logical_not), ROW(bitwise_invert),
};
const BinaryRow kBinary[] = {
    ROW(add),
    ROW(subtract),
    ROW(multiply),
    ROW(divide),
    ROW(floor_divide),
    ROW(remainder),
    ROW(pow),
    ROW(maximum),
    ROW(minimum),
    ROW(atan2),
    ROW(hypot),
    ROW(copysign),
    ROW(logaddexp),
    ROW(nextafter),
    ROW(equal),
    ROW(not_equal),
    ROW(less),
    ROW(less_equal),
    ROW(greater),
    ROW(greater_equal),
    ROW(logical_and),
    ROW(logical_or),
    ROW(logical_xor),
    ROW(bitwise_and),
    ROW(bitwise_or),
    ROW(bitwise_xor),
    ROW(bitwise_left_shift),
    ROW(bitwise_right_shift),
};
#undef ROW

// The second operand, or a number under one of the names that it goes by.
Operand second(const Call& call) {
  if (call.in.size() > 1) return call.in[1];
  if (const auto scalar = call.attrs.scalar({"scalar", "other", "x2"})) return *scalar;
  return call[1];
}

std::optional<Operand> bound(const Call& call, Attributes::Names names, size_t input) {
  if (const auto scalar = call.attrs.scalar(names)) return Operand(*scalar);
  if (input < call.in.size()) return Operand(call.in[input]);
  return {};
}

GeluForm gelu_form(const Call& call) {
  const std::string form = call.attrs.text({"approximate"}, "none");
  if (form != "none" && form != "tanh") throw Skip("gelu with approximate '" + form + "' is not known");
  return form == "tanh" ? GeluForm::Tanh : GeluForm::Exact;
}

double slope(const Call& call) { return call.attrs.number({"negative_slope"}, 0.01); }

std::vector<Tensor> one(Tensor tensor) { return {std::move(tensor)}; }

}  // namespace

void add_elementwise_operators(Operators& operators) {
  for (const UnaryRow& row : kUnary)
    operators[row.name] = {[run = row.run](const Call& call) { return one(run(call[0])); },
                           [run = row.run_out](const Call& call, const Tensor& to) { run(to, call[0]); }};
  for (const BinaryRow& row : kBinary)
    operators[row.name] = {
        [run = row.run](const Call& call) { return one(run(call[0], second(call))); },
        [run = row.run_out](const Call& call, const Tensor& to) { run(to, call[0], second(call)); }};
  operators["gelu"] = {[](const Call& call) { return one(gelu(call[0], gelu_form(call))); },
                       [](const Call& call, const Tensor& to) { gelu_out(to, call[0], gelu_form(call)); }};
  operators["leaky_relu"] = {
      [](const Call& call) { return one(leaky_relu(call[0], slope(call))); },
      [](const Call& call, const Tensor& to) { leaky_relu_out(to, call[0], slope(call)); }};
  operators["clip"] = {
      [](const Call& call) {
        return one(clip(call[0], bound(call, {"min", "low"}, 1), bound(call, {"max", "high"}, 2)));
      },
      [](const Call& call, const Tensor& to) {
        clip_out(to, call[0], bound(call, {"min", "low"}, 1), bound(call, {"max", "high"}, 2));
      }};
  operators["where"] = {[](const Call& call) { return one(where(call[0], call[1], call[2])); },
                        [](const Call& call, const Tensor& to) { where_out(to, call[0], call[1], call[2]); }};
  operators["fma"] = {[](const Call& call) { return one(fma(call[0], call[1], call[2])); },
                      [](const Call& call, const Tensor& to) { fma_out(to, call[0], call[1], call[2]); }};
}

}  // namespace backplane::conformance::tensors
