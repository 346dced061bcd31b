// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_TOOLS_LS_PROGRESS_H_
#define BACKPLANE_TOOLS_LS_PROGRESS_H_

#include <cstddef>
#include <string>

namespace backplane::tools {

// Draws a bar on standard error, over the one before, and removes it at the end. Nothing where standard error
// is no terminal.
void draw_progress(size_t done, size_t total, const std::string& what);

}  // namespace backplane::tools

#endif  // BACKPLANE_TOOLS_LS_PROGRESS_H_
