// SPDX-License-Identifier: Apache-2.0
//
// The files of rules; each adds its own. Names of rules say what must hold; a field report's number follows
// where there is one (N1: NaN in max, ...).
#ifndef BACKPLANE_TESTS_CONFORMANCE_TENSOR_RULES_H_
#define BACKPLANE_TESTS_CONFORMANCE_TENSOR_RULES_H_

#include <vector>

#include "tensor/suite.h"

namespace backplane::conformance::tensors {

void add_arithmetic_rules(std::vector<Rule>& rules);
void add_copy_rules(std::vector<Rule>& rules);
void add_creation_rules(std::vector<Rule>& rules);
void add_error_rules(std::vector<Rule>& rules);
void add_file_rules(std::vector<Rule>& rules);
void add_order_rules(std::vector<Rule>& rules);
void add_printing_rules(std::vector<Rule>& rules);
void add_random_rules(std::vector<Rule>& rules);
void add_reduction_rules(std::vector<Rule>& rules);
void add_rounding_rules(std::vector<Rule>& rules);
void add_type_rules(std::vector<Rule>& rules);
void add_view_rules(std::vector<Rule>& rules);

}  // namespace backplane::conformance::tensors

#endif  // BACKPLANE_TESTS_CONFORMANCE_TENSOR_RULES_H_
