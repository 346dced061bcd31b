// SPDX-License-Identifier: Apache-2.0
//
// Leaving the process while commands are on their way. A driver that computes on the CPU compiles and runs
// them in threads of this very process, and crashes when static objects go from beneath them (PoCL: LLVM's).
// So its queues are finished first: when the main thread's own objects go, which is before any static one
// does, and, for an exit() from another thread, as soon as a handler can. A GPU's queues are left to its
// driver.
#ifndef BACKPLANE_PLUGINS_OPENCL_EXIT_H_
#define BACKPLANE_PLUGINS_OPENCL_EXIT_H_

#include "opencl/api.h"

namespace backplane::opencl {

// From now until forgotten; shares the queue. std::bad_alloc. Thread-safe.
void finish_at_exit(cl_command_queue queue);
void forget_at_exit(cl_command_queue queue) noexcept;

// To be called by every thread that queues commands.
void watch_this_thread() noexcept;
// To be called after whatever may have made the driver construct static objects: they must go later.
void renew_exit_handler() noexcept;

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_EXIT_H_
