// SPDX-License-Identifier: Apache-2.0
//
// Copies between the host's own memory and a device.
#include <cstring>

#include "copy/traced.h"
#include "copy/transfer.h"
#include "stream/finish.h"

namespace backplane::internal {

void read_bytes(void* dst, Storage& src, uint64_t src_offset, uint64_t bytes) {
  src.device().ensure_ready();
  const Block& block = src.block();
  const TracedCopy traced{src.device().name.c_str(), "host", bytes};
  const TraceNote note("copy", &traced, write_copy_args);
  if (block.host != nullptr && src.device().host_memory) {
    src.wait_for_host(false);
    src.throw_errors();
    const TracedCall call(src.device().trace_process, "copy", "copy to the host");
    if (bytes != 0) std::memcpy(dst, block.host + src_offset, bytes);
    return;
  }
  if (bytes != 0) {
    StreamState& stream = current_stream(src.device());
    src.order_read(stream);
    const uint64_t ticket = stream.submit("copy to the host", [&] {
      return stream.stream->download(dst, block.buffer, block.offset + src_offset, bytes);
    });
    finish(stream, ticket);
  }
  src.throw_errors();
}

void write_bytes(Storage& dst, uint64_t dst_offset, const void* src, uint64_t bytes) {
  if (bytes == 0) return;
  dst.device().ensure_ready();
  const Block& block = dst.block();
  const TracedCopy traced{"host", dst.device().name.c_str(), bytes};
  const TraceNote note("copy", &traced, write_copy_args);
  if (block.host != nullptr && dst.device().host_memory) {
    dst.wait_for_host(true);
    const TracedCall call(dst.device().trace_process, "copy", "copy from the host");
    std::memcpy(block.host + dst_offset, src, bytes);
    if (bytes == dst.bytes()) {
      dst.note_write(*dst.device().default_stream, 0);
      dst.overwrite_errors({});
    }
    return;
  }
  StreamState& stream = current_stream(dst.device());
  dst.order_write(stream);
  UseList origins;
  if (bytes != dst.bytes()) dst.add_origins(stream, &origins);
  const uint64_t ticket = stream.submit("copy from the host", [&] {
    return stream.stream->upload(block.buffer, block.offset + dst_offset, src, bytes);
  });
  dst.note_write(stream, ticket, origins);
  if (bytes == dst.bytes()) dst.overwrite_errors({});
  finish(stream, ticket);
}

}  // namespace backplane::internal
