// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_TESTS_CONFORMANCE_TENSOR_ATTRIBUTES_H_
#define BACKPLANE_TESTS_CONFORMANCE_TENSOR_ATTRIBUTES_H_

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backplane/backplane.h"

namespace backplane::conformance::tensors {

// The keyword arguments of one case, by the array API's names or another that is usual for them: each getter
// takes the names it may have. A missing one, or null, gives the default. A value of a kind that the operator
// does not take throws Skip, as does unused(), when the case has an argument that nobody asked for.
class Attributes {
 public:
  using Names = std::initializer_list<const char*>;

  explicit Attributes(nlohmann::json values) : values_(std::move(values)) {}

  bool has(Names names) const { return find(names) != nullptr; }
  // Given, and null.
  bool is_null(Names names) const;
  bool is_list(Names names) const;
  bool flag(Names names, bool otherwise) const;
  int64_t integer(Names names, int64_t otherwise) const;
  double number(Names names, double otherwise) const;
  std::string text(Names names, const std::string& otherwise) const;
  uint64_t seed(Names names) const;  // a number or a decimal string
  std::optional<Scalar> scalar(Names names) const;
  std::optional<DType> type(Names names) const;
  DType type(Names names, DType otherwise) const { return type(names).value_or(otherwise); }

  // A number or a list of one.
  std::optional<int> axis(Names names) const;
  int axis(Names names, int otherwise) const { return axis(names).value_or(otherwise); }

  // A number or a list; empty when missing.
  Shape list(Names names) const;
  Axes axes(Names names) const { return Axes(list(names)); }
  // A list of lists.
  std::vector<Shape> lists(Names names) const;

  void check_all_used() const;

 private:
  const nlohmann::json* find(Names names) const;

  nlohmann::json values_;
  mutable std::set<std::string> used_;
};

}  // namespace backplane::conformance::tensors

#endif  // BACKPLANE_TESTS_CONFORMANCE_TENSOR_ATTRIBUTES_H_
