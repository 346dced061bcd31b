// SPDX-License-Identifier: Apache-2.0
//
// A working plugin. FAKE_NAME, and where they are not the usual FAKE_MAJOR, FAKE_MINOR, FAKE_PRIORITY, say
// which.
#include "fake.h"

#ifndef FAKE_MAJOR
#define FAKE_MAJOR backplane::plugin::kAbiMajor
#endif
#ifndef FAKE_MINOR
#define FAKE_MINOR backplane::plugin::kAbiMinor
#endif
#ifndef FAKE_PRIORITY
#define FAKE_PRIORITY 5
#endif

#ifdef FAKE_NEEDS
// In a library of its own.
extern "C" int needed_answer();
static backplane::plugin::Status create(const backplane::plugin::HostInfo* host,
                                        backplane::plugin::Backend** backend) noexcept {
  if (needed_answer() != 42) return fake::broken("the needed library");
  return fake::create(host, backend);
}
#else
using fake::create;
#endif

extern "C" BACKPLANE_PLUGIN_EXPORT const backplane::plugin::Plugin backplane_plugin = {
    sizeof(backplane::plugin::Plugin),
    FAKE_MAJOR,
    FAKE_MINOR,
    FAKE_NAME,
    "1.2.3",
    BACKPLANE_COMPILER,
    FAKE_PRIORITY,
    0,
    create,
};
