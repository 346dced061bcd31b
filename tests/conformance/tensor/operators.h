// SPDX-License-Identifier: Apache-2.0
//
// Operators by name, for case files: the array API's names and those of tests/data/golden/README.md.
#ifndef BACKPLANE_TESTS_CONFORMANCE_TENSOR_OPERATORS_H_
#define BACKPLANE_TESTS_CONFORMANCE_TENSOR_OPERATORS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backplane/backplane.h"
#include "tensor/attributes.h"

namespace backplane::conformance::tensors {

// What a case gives an operator.
struct Call {
  const std::vector<Tensor>& in;
  const Attributes& attrs;
  const Device& device;

  // Skips the case where there is no such input.
  const Tensor& operator[](size_t i) const;
  // Undefined where there is no such input.
  Tensor optional(size_t i) const { return i < in.size() ? in[i] : Tensor(); }
};

struct Operator {
  // Gives new tensors.
  std::function<std::vector<Tensor>(const Call&)> run;
  // Writes into a tensor; null where the operator has no such form.
  std::function<void(const Call&, const Tensor& result)> run_out;
};

using Operators = std::map<std::string, Operator>;

void add_elementwise_operators(Operators& operators);
void add_reduction_operators(Operators& operators);
void add_manipulation_operators(Operators& operators);
void add_other_operators(Operators& operators);  // products, rows, sorting, creation, random numbers

// All of them, made once.
const Operators& operators();

}  // namespace backplane::conformance::tensors

#endif  // BACKPLANE_TESTS_CONFORMANCE_TENSOR_OPERATORS_H_
