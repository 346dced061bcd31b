// SPDX-License-Identifier: Apache-2.0
//
// The suite's lower layer creates a backend of its own, and a process may create each only once: it runs in a
// child process for each plugin, which also turns a plugin that crashes into a failure with a name.
#ifndef BACKPLANE_TOOLS_CONFORM_ABI_LAYER_H_
#define BACKPLANE_TOOLS_CONFORM_ABI_LAYER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tally.h"

namespace backplane::tools {

struct AbiJob {
  std::string plugin;                // its file
  std::string name;                  // the plugin's
  std::vector<std::string> devices;  // indices
  std::string filter;                // part of the cases' names
};

// Runs the job in a child and adds its results.
void run_abi_layer(const AbiJob& job, Tally& tally);

// What the child does: runs the job and writes a line of JSON before and after each case.
int run_abi_child(const AbiJob& job);

}  // namespace backplane::tools

#endif  // BACKPLANE_TOOLS_CONFORM_ABI_LAYER_H_
