// SPDX-License-Identifier: Apache-2.0
// The smallest plugin under another name, so that several builds of it load into one process.
#define backplane_plugin plugin_of_null
#include "null/plugin.cc"  // NOLINT(bugprone-suspicious-include): as it is, under other headers
#undef backplane_plugin

extern "C" BACKPLANE_PLUGIN_EXPORT const plugin::Plugin backplane_plugin = {
    sizeof(plugin::Plugin),
    plugin_of_null.abi_major,
    plugin_of_null.abi_minor,
    PLUGIN_NAME,
    "0.0.0",
    BACKPLANE_COMPILER,
    plugin_of_null.priority,
    0,
    create,
};
