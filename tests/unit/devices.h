// SPDX-License-Identifier: Apache-2.0
//
// Tests written once and run on every device that is here.
#ifndef BACKPLANE_TESTS_UNIT_DEVICES_H_
#define BACKPLANE_TESTS_UNIT_DEVICES_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backplane/backplane.h"

namespace backplane::testing_support {

inline std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const Device& device : devices()) names.push_back(device.name());
  return names;
}

inline std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (c == ':') c = '_';
  return name;
}

// A test with a device: GetParam() is its name.
class OnEachDevice : public ::testing::TestWithParam<std::string> {
 protected:
  Device device() const { return Device(GetParam()); }
};

}  // namespace backplane::testing_support

#define BACKPLANE_ON_EACH_DEVICE(suite)                                                       \
  INSTANTIATE_TEST_SUITE_P(Devices, suite,                                                    \
                           ::testing::ValuesIn(::backplane::testing_support::device_names()), \
                           ::backplane::testing_support::test_name)

#endif  // BACKPLANE_TESTS_UNIT_DEVICES_H_
