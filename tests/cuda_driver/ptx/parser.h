// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "ptx/syntax.h"

namespace cuda_double {

// Parses a whole PTX module. Throws PtxError, with the line, on anything it does not know.
std::unique_ptr<ModuleSyntax> parse_ptx(std::string text);

}  // namespace cuda_double
