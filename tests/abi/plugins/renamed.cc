// SPDX-License-Identifier: Apache-2.0
// The smallest plugin under another name, so that several builds of it load into one process.
#include "null/plugin.cc"  // NOLINT(bugprone-suspicious-include): as it is, under other headers
