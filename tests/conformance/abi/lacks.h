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
      {"null", "memory/mapping*", "its memory is the host's, as a flag says"},
      {"null", "memory/wrapped*", "it may be left out, and an example leaves it out"},
      {"null", "memory/pinned*", "it may be left out, and an example leaves it out"},
      {"null", "stream/work is done in order", "it has no asynchronous streams"},
      {"null", "stream/destroying one waits*", "it has no asynchronous streams"},
      {"null", "event/completes with*", "it has no asynchronous streams"},
      {"null", "event/orders two*", "it has no asynchronous streams"},
      {"null", "event/of the host holds*", "it has no asynchronous streams"},
      {"null", "event/recording again*", "it has no asynchronous streams"},
      {"null", "elementwise/iota counts", "an example with three types is long enough"},
      {"null", "elementwise/*int8*", "an example with three types is long enough"},
      {"null", "elementwise/*int16*", "an example with three types is long enough"},
      {"null", "elementwise/*int64*", "an example with three types is long enough"},
      {"null", "elementwise/*uint32*", "an example with three types is long enough"},
      {"null", "elementwise/*float16*", "an example with three types is long enough"},
      {"null", "elementwise/*float64*", "an example with three types is long enough"},
      {"null", "reduce/*", "an example with two families is long enough"},
      {"null", "scan/*", "an example with two families is long enough"},
      {"null", "matmul/*", "an example with two families is long enough"},
      {"null", "index/*", "an example with two families is long enough"},
      {"null", "sort/*", "an example with two families is long enough"},
      {"null", "random/*", "an example with two families is long enough"},
      {"null", "rowwise/*", "an example with two families is long enough"},
      {"null", "source/*", "an example with two families is long enough"},
  };
  std::vector<Lack> lacks;
  for (const Row& row : kRows) {
    if (plugin == row.plugin) lacks.push_back({row.pattern, row.reason});
  }
  return lacks;
}

}  // namespace backplane::conformance

#endif  // BACKPLANE_TESTS_CONFORMANCE_ABI_LACKS_H_
