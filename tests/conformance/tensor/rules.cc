// SPDX-License-Identifier: Apache-2.0
#include "tensor/rules.h"

namespace backplane::conformance::tensors {

std::vector<Rule> all_rules() {
  std::vector<Rule> rules;
  for (const auto add : {add_creation_rules, add_type_rules, add_arithmetic_rules, add_rounding_rules,
                         add_reduction_rules, add_order_rules, add_view_rules, add_copy_rules,
                         add_random_rules, add_printing_rules, add_file_rules, add_error_rules})
    add(rules);
  return rules;
}

}  // namespace backplane::conformance::tensors
