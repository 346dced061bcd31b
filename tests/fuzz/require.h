// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_TESTS_FUZZ_REQUIRE_H_
#define BACKPLANE_TESTS_FUZZ_REQUIRE_H_

#include <cstdio>
#include <cstdlib>

// Stops the fuzzer, which then keeps the input, when a property does not hold.
inline void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", property);
  std::abort();
}

#endif  // BACKPLANE_TESTS_FUZZ_REQUIRE_H_
