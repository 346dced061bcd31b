// SPDX-License-Identifier: Apache-2.0
//
// Turns what the program loader says into a cause and a remedy that a person can act on.
#ifndef BACKPLANE_SRC_LOADER_REMEDIES_H_
#define BACKPLANE_SRC_LOADER_REMEDIES_H_

#include <string>
#include <string_view>

#include "loader/problem.h"

namespace backplane::internal {

// A library that a plugin needs is nowhere to be found.
Problem missing_library(std::string_view library);

// `text` is what dlopen said of `path`, or of a library that it needs.
Problem load_failure(std::string_view text, std::string_view path);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_LOADER_REMEDIES_H_
