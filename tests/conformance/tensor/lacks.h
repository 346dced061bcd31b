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
  static const std::vector<Lack> lacks = {
      {"cpu", "scan is not offered", "the CPU plugin's scans come after its elementwise kernels"},
      {"cpu", "index is not offered", "the CPU plugin's indexing comes after its elementwise kernels"},
      {"cpu", "sort is not offered", "the CPU plugin's sorting comes after its elementwise kernels"},
      {"cpu", "rowwise is not offered", "the CPU plugin's row operators come after its elementwise kernels"},
  };
  return lacks;
}

}  // namespace backplane::conformance::tensors

#endif  // BACKPLANE_TESTS_CONFORMANCE_TENSOR_LACKS_H_
