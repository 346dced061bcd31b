// SPDX-License-Identifier: Apache-2.0
//
// Moving contiguous bytes: between the host and a device, and between any two devices by the first route that
// works. One place decides; only Unimplemented tries the next route, and any other failure is the caller's.
#ifndef BACKPLANE_SRC_COPY_TRANSFER_H_
#define BACKPLANE_SRC_COPY_TRANSFER_H_

#include <cstdint>

#include "backplane/runtime.h"
#include "memory/storage.h"

namespace backplane::internal {

// Copies in order with all other work on both storages. The host may not have to wait; poison spreads. The
// ranges do not overlap.
void copy_bytes(Storage& dst, uint64_t dst_offset, Storage& src, uint64_t src_offset, uint64_t bytes);

// Blocks until the bytes are on the host, and throws the failures of the work that made them.
void read_bytes(void* dst, Storage& src, uint64_t src_offset, uint64_t bytes);

// The source may be reused as soon as this returns.
void write_bytes(Storage& dst, uint64_t dst_offset, const void* src, uint64_t bytes);

// Which way copy_bytes takes between two devices.
Route find_route(DeviceState& from, DeviceState& to);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_COPY_TRANSFER_H_
