// SPDX-License-Identifier: Apache-2.0
#include "tensor/operators.h"

namespace backplane::conformance::tensors {
namespace {

struct TypedRow {
  const char* name;
  Tensor (*run)(const Tensor&, const Axes&, bool, std::optional<DType>);
  const Tensor& (*run_out)(const Tensor&, const Tensor&, const Axes&, bool);
};
struct PlainRow {
  const char* name;
  Tensor (*run)(const Tensor&, const Axes&, bool);
  const Tensor& (*run_out)(const Tensor&, const Tensor&, const Axes&, bool);
};
struct SpreadRow {
  const char* name;
  Tensor (*run)(const Tensor&, const Axes&, bool, double);
  const Tensor& (*run_out)(const Tensor&, const Tensor&, const Axes&, bool, double);
};
struct PositionRow {
  const char* name;
  Tensor (*run)(const Tensor&, std::optional<int>, bool);
  const Tensor& (*run_out)(const Tensor&, const Tensor&, std::optional<int>, bool);
};
struct ScanRow {
  const char* name;
  Tensor (*run)(const Tensor&, std::optional<int>, std::optional<DType>);
  const Tensor& (*run_out)(const Tensor&, const Tensor&, std::optional<int>);
};

#define ROW(name) \
  { #name, name, name##_out }
const TypedRow kTyped[] = {ROW(sum), ROW(prod)};
const PlainRow kPlain[] = {ROW(max), ROW(min), ROW(mean), ROW(norm), ROW(logsumexp), ROW(any), ROW(all)};
const SpreadRow kSpread[] = {ROW(var), {"std", backplane::std, std_out}};
const PositionRow kPosition[] = {ROW(argmax), ROW(argmin)};
const ScanRow kScan[] = {ROW(cumulative_sum), ROW(cumulative_prod)};
#undef ROW

Axes axes(const Call& call) { return call.attrs.axes({"axis", "axes", "dim"}); }
std::optional<int> axis(const Call& call) { return call.attrs.axis({"axis", "dim"}); }
bool keepdims(const Call& call) { return call.attrs.flag({"keepdims", "keepdim"}, false); }
double correction(const Call& call) { return call.attrs.number({"correction", "ddof"}, 0); }
std::optional<DType> type(const Call& call) { return call.attrs.type({"dtype"}); }

}  // namespace

void add_reduction_operators(Operators& operators) {
  for (const TypedRow& row : kTyped)
    operators[row.name] = {
        [f = row.run](const Call& c) { return std::vector<Tensor>{f(c[0], axes(c), keepdims(c), type(c))}; },
        [f = row.run_out](const Call& c, const Tensor& to) { f(to, c[0], axes(c), keepdims(c)); }};
  for (const PlainRow& row : kPlain)
    operators[row.name] = {
        [f = row.run](const Call& c) { return std::vector<Tensor>{f(c[0], axes(c), keepdims(c))}; },
        [f = row.run_out](const Call& c, const Tensor& to) { f(to, c[0], axes(c), keepdims(c)); }};
  for (const SpreadRow& row : kSpread)
    operators[row.name] = {[f = row.run](const Call& c) {
                             return std::vector<Tensor>{f(c[0], axes(c), keepdims(c), correction(c))};
                           },
                           [f = row.run_out](const Call& c, const Tensor& to) {
                             f(to, c[0], axes(c), keepdims(c), correction(c));
                           }};
  for (const PositionRow& row : kPosition)
    operators[row.name] = {
        [f = row.run](const Call& c) { return std::vector<Tensor>{f(c[0], axis(c), keepdims(c))}; },
        [f = row.run_out](const Call& c, const Tensor& to) { f(to, c[0], axis(c), keepdims(c)); }};
  for (const ScanRow& row : kScan)
    operators[row.name] = {
        [f = row.run](const Call& c) { return std::vector<Tensor>{f(c[0], axis(c), type(c))}; },
        [f = row.run_out](const Call& c, const Tensor& to) { f(to, c[0], axis(c)); }};
}

}  // namespace backplane::conformance::tensors
