// SPDX-License-Identifier: Apache-2.0
//
// What each backend of this project is known to lack when it is reached through tensors, and why. A rule or
// case that is skipped as unimplemented and does not stand here fails.
#ifndef BACKPLANE_TESTS_CONFORMANCE_TENSOR_LACKS_H_
#define BACKPLANE_TESTS_CONFORMANCE_TENSOR_LACKS_H_

#include <string_view>
#include <vector>

namespace backplane::conformance::tensors {

struct Lack {
  std::string_view plugin;
  std::string_view in_message;  // part of the error's message
  std::string_view reason;
};

inline const std::vector<Lack>& known_lacks() {
  static const std::vector<Lack> lacks = {};
  return lacks;
}

}  // namespace backplane::conformance::tensors

#endif  // BACKPLANE_TESTS_CONFORMANCE_TENSOR_LACKS_H_
