// SPDX-License-Identifier: Apache-2.0
//
// Plugins that fail, each in its own way; BROKEN says in which.
#include <cstdlib>
#include <stdexcept>

#include "backplane/plugin/base.h"

namespace plugin = backplane::plugin;
using plugin::Status;

#define BROKEN_boom 1
#define BROKEN_null_create 2
#define BROKEN_throws 3
#define BROKEN_throws_int 4
#define BROKEN_never_fills 5
#define BROKEN_bad_name 6
#define BROKEN_small 7
#define BROKEN_no_symbol 8
#define BROKEN_function 9
#define BROKEN_next_major 10
#define BROKEN_named_gpu 11
#define BROKEN_silent 12
#define BROKEN_JOIN(a, b) a##b
#define BROKEN_VALUE(a) BROKEN_JOIN(BROKEN_, a)
#define BROKEN_IS BROKEN_VALUE(BROKEN)
#define BROKEN_TEXT_OF(a) #a
#define BROKEN_TEXT(a) BROKEN_TEXT_OF(a)

#if BROKEN_IS == BROKEN_no_symbol || BROKEN_IS == BROKEN_function || BROKEN_IS == BROKEN_next_major
// Whoever loads this without need does not live to tell.
__attribute__((constructor)) static void abort_when_loaded() { std::abort(); }
#endif

#if BROKEN_IS == BROKEN_no_symbol
extern "C" BACKPLANE_PLUGIN_EXPORT int not_the_symbol() { return 0; }
#elif BROKEN_IS == BROKEN_function
extern "C" BACKPLANE_PLUGIN_EXPORT int backplane_plugin() { return 0; }
#else

namespace {

#if BROKEN_IS == BROKEN_throws
Status create(const plugin::HostInfo*, plugin::Backend**) { throw std::runtime_error("thrown at the host"); }
#elif BROKEN_IS == BROKEN_throws_int
Status create(const plugin::HostInfo*, plugin::Backend**) { throw 42; }
#elif BROKEN_IS == BROKEN_boom
Status create(const plugin::HostInfo*, plugin::Backend**) {
  return plugin::make_status(plugin::StatusCode::Unavailable, 999, "boom");
}
#elif BROKEN_IS == BROKEN_silent
Status create(const plugin::HostInfo*, plugin::Backend**) {
  return {plugin::StatusCode::Unavailable, 0, nullptr};
}
#else
[[maybe_unused]] Status create(const plugin::HostInfo*, plugin::Backend**) { return plugin::kOk; }
#endif

using Create = Status (*)(const plugin::HostInfo*, plugin::Backend**) noexcept;

}  // namespace

extern "C" BACKPLANE_PLUGIN_EXPORT const plugin::Plugin backplane_plugin;
extern "C" const plugin::Plugin backplane_plugin = {
#if BROKEN_IS == BROKEN_small
    16,
#else
    sizeof(plugin::Plugin),
#endif
    plugin::kAbiMajor + (BROKEN_IS == BROKEN_next_major),
    plugin::kAbiMinor,
#if BROKEN_IS == BROKEN_bad_name
    "Bad Name",
#elif BROKEN_IS == BROKEN_named_gpu
    "gpu",
#else
    BROKEN_TEXT(BROKEN),
#endif
    "1.0",
    BACKPLANE_COMPILER,
    0,
    0,
#if BROKEN_IS == BROKEN_null_create
    nullptr,
#else
    reinterpret_cast<Create>(create),
#endif
};
#endif
