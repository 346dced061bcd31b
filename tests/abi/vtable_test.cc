// SPDX-License-Identifier: Apache-2.0
//
// The order of every interface's methods, which is their place in its table of functions. Methods are only
// ever appended: a line may be added at the end of a list.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "backplane/plugin/interfaces.h"

namespace backplane::plugin {
namespace {

// Source: Itanium C++ ABI, 2.3, and the ARM C++ ABI, 3.3: a pointer to a virtual member function holds the
// offset of its slot, marked by 1 in that word or, on ARM, in the next.
template <typename Method>
uint64_t slot_of(Method method) {
  uint64_t words[2] = {};
  static_assert(sizeof method == sizeof words);
  std::memcpy(words, &method, sizeof words);
#if defined(__aarch64__)
  EXPECT_EQ(words[1] & 1, 1U) << "not virtual";
  return words[0] / 8;
#else
  EXPECT_EQ(words[0] & 1, 1U) << "not virtual";
  return (words[0] - 1) / 8;
#endif
}

template <typename... Methods>
void expect_order(Methods... methods) {
  uint64_t expected = 0;
  const auto check = [&expected](uint64_t slot) { EXPECT_EQ(slot, expected++); };
  (check(slot_of(methods)), ...);
}

TEST(Vtable, OfBuffer) {
  expect_order(&Buffer::destroy, &Buffer::size, &Buffer::address, &Buffer::host_pointer, &Buffer::map,
               &Buffer::unmap, &Buffer::native_handle);
}

TEST(Vtable, OfEvent) {
  expect_order(&Event::destroy, &Event::query, &Event::wait, &Event::on_complete, &Event::signal,
               &Event::native_handle);
}

TEST(Vtable, OfStream) {
  expect_order(&Stream::destroy, &Stream::copy, &Stream::upload, &Stream::download, &Stream::fill,
               &Stream::copy_from_peer, &Stream::copy_to_peer, &Stream::record, &Stream::wait, &Stream::flush,
               &Stream::query, &Stream::synchronize, &Stream::native_handle);
}

TEST(Vtable, OfKernel) { expect_order(&Kernel::destroy, &Kernel::workspace, &Kernel::launch); }

TEST(Vtable, OfDevice) {
  expect_order(&Device::destroy, &Device::properties, &Device::telemetry, &Device::supports,
               &Device::create_kernel, &Device::allocate, &Device::alloc_host, &Device::wrap_buffer,
               &Device::wrap_host, &Device::create_stream, &Device::wrap_stream, &Device::create_event,
               &Device::create_host_event, &Device::can_copy_from, &Device::native_handle,
               &Device::backend_name, &Device::processes);
}

TEST(Vtable, OfBackend) {
  expect_order(&Backend::destroy, &Backend::device_count, &Backend::describe, &Backend::open,
               &Backend::open_native, &Backend::note_count, &Backend::note);
}

// No slot but the methods': neither destructors nor anything of the base.
TEST(Vtable, HoldsNothingElse) {
  EXPECT_EQ(sizeof(Device), sizeof(void*));
  EXPECT_EQ(sizeof(Backend), sizeof(void*));
}

}  // namespace
}  // namespace backplane::plugin
