// SPDX-License-Identifier: Apache-2.0
//
// What each backend of this project is known to lack, and why. A case that skips itself and does not stand
// here fails.
#ifndef BACKPLANE_TESTS_CONFORMANCE_ABI_LACKS_H_
#define BACKPLANE_TESTS_CONFORMANCE_ABI_LACKS_H_

#include "abi.h"

namespace backplane::conformance {

// By the plugin's name; empty for one that is not of this project.
inline std::vector<Lack> known_lacks(const std::string& plugin) {
  struct Row {
    const char* plugin;
    const char* pattern;
    const char* reason;
  };
  static const std::vector<Row> kRows = {
      {"cuda", "memory/mapping*",
       "device memory has no address on the host; pinned memory is its own mapping"},
  };
  std::vector<Lack> lacks;
  for (const Row& row : kRows) {
    if (plugin == row.plugin) lacks.push_back({row.pattern, row.reason});
  }
  return lacks;
}

}  // namespace backplane::conformance

#endif  // BACKPLANE_TESTS_CONFORMANCE_ABI_LACKS_H_
