// SPDX-License-Identifier: Apache-2.0
// Memory: allocation, copies at any offset and size, filling, mapping.
#include <algorithm>
#include <cstring>

#include "cases.h"
#include "context.h"

namespace backplane::conformance {
namespace {

std::vector<uint8_t> some_bytes(size_t count, uint64_t seed) {
  Numbers numbers(seed);
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(numbers.bits());
  return bytes;
}

void require_bytes(const std::vector<uint8_t>& actual, const std::vector<uint8_t>& expected,
                   const char* what) {
  if (actual.size() != expected.size())
    fail("%s: %zu bytes, expected %zu", what, actual.size(), expected.size());
  const auto [at, other] = std::mismatch(actual.begin(), actual.end(), expected.begin());
  if (at != actual.end()) {
    fail("%s: byte %td of %zu is %d, expected %d", what, at - actual.begin(), actual.size(), *at, *other);
  }
}

void replace(std::vector<uint8_t>& into, uint64_t offset, const std::vector<uint8_t>& with) {
  std::copy(with.begin(), with.end(), into.begin() + static_cast<std::ptrdiff_t>(offset));
}

void allocations_start_aligned(Context& context) {
  if (context.properties().min_alignment == 0) fail("min_alignment is 0");
  std::vector<Owned<plugin::Buffer>> buffers;
  for (const unsigned long long bytes : {1ull, 3ull, 64ull, 100ull, 4096ull, 100001ull, 9000001ull}) {
    buffers.push_back(context.allocate(bytes));
    plugin::Buffer& buffer = *buffers.back();
    if (buffer.size() < bytes)
      fail("a buffer of %llu bytes says it has %llu", bytes, static_cast<unsigned long long>(buffer.size()));
    if (buffer.address() % context.properties().min_alignment != 0) fail("%llu bytes are not aligned", bytes);
  }
}

void too_much_memory_is_refused(Context& context) {
  for (const uint64_t bytes : {uint64_t{1} << 50, uint64_t{1} << 62, ~uint64_t{0}}) {
    plugin::Buffer* buffer = nullptr;
    require_code(context.device().allocate(bytes, &buffer), plugin::StatusCode::OutOfMemory,
                 "allocate of 2^50 and more");
  }
  const std::vector<uint8_t> bytes = some_bytes(1000, 1);
  const auto buffer = context.allocate(1000);
  context.upload_bytes(*buffer, bytes);
  require_bytes(context.download_bytes(*buffer), bytes, "the operation after");
}

void uploads_and_downloads_at_any_offset(Context& context) {
  std::vector<uint8_t> expected = some_bytes(5000, 2);
  const auto buffer = context.allocate(expected.size());
  context.upload_bytes(*buffer, expected);
  for (const uint64_t offset : {0ull, 1ull, 3ull, 64ull, 127ull, 4000ull}) {
    for (const size_t count : {0u, 1u, 2u, 7u, 63u, 500u}) {
      const std::vector<uint8_t> part = some_bytes(count, offset * 1000 + count);
      require_ok(context.stream().upload(buffer.get(), offset, part.data(), count), "upload");
      replace(expected, offset, part);
      std::vector<uint8_t> back(count);
      require_ok(context.stream().download(back.data(), buffer.get(), offset, count), "download");
      context.synchronize();
      require_bytes(back, part, "a part that came back");
    }
  }
  require_bytes(context.download_bytes(*buffer), expected, "the whole buffer");
}

void copies_at_any_offset(Context& context) {
  const std::vector<uint8_t> source_bytes = some_bytes(5000, 3);
  std::vector<uint8_t> expected = some_bytes(5000, 4);
  const auto source = context.allocate(source_bytes.size());
  const auto target = context.allocate(expected.size());
  context.upload_bytes(*source, source_bytes);
  context.upload_bytes(*target, expected);
  for (const uint64_t from : {0ull, 1ull, 3ull, 64ull, 127ull}) {
    for (const uint64_t to : {0ull, 1ull, 2ull, 63ull, 128ull, 4001ull}) {
      for (const uint64_t count : {0ull, 1ull, 15ull, 64ull, 333ull}) {
        require_ok(context.stream().copy(target.get(), to, source.get(), from, count), "copy");
        std::copy_n(source_bytes.begin() + static_cast<std::ptrdiff_t>(from), count,
                    expected.begin() + static_cast<std::ptrdiff_t>(to));
      }
    }
  }
  context.synchronize();
  require_bytes(context.download_bytes(*target), expected, "copies at odd offsets");
}

void copies_within_one_buffer(Context& context) {
  std::vector<uint8_t> expected = some_bytes(3000, 5);
  const auto buffer = context.allocate(expected.size());
  context.upload_bytes(*buffer, expected);
  require_ok(context.stream().copy(buffer.get(), 1501, buffer.get(), 1, 1400), "copy");
  context.synchronize();
  std::copy_n(expected.begin() + 1, 1400, expected.begin() + 1501);
  require_bytes(context.download_bytes(*buffer), expected, "a copy within one buffer");
}

void large_copies_are_exact(Context& context) {
  const size_t count = (size_t{40} << 20) + 13;
  const std::vector<uint8_t> bytes = some_bytes(count, 6);
  const auto source = context.allocate(count);
  const auto target = context.allocate(count + 100);
  context.upload_bytes(*source, bytes);
  require_ok(context.stream().copy(target.get(), 7, source.get(), 0, count), "copy");
  std::vector<uint8_t> back(count);
  require_ok(context.stream().download(back.data(), target.get(), 7, count), "download");
  context.synchronize();
  require_bytes(back, bytes, "40 MiB and 13 bytes");
}

void fills_repeat_every_pattern(Context& context) {
  for (const uint32_t size : {1u, 2u, 4u, 8u}) {
    const std::vector<uint8_t> pattern = some_bytes(size, 70 + size);
    for (const uint64_t count : {0ull, 1ull, 2ull, 3ull, 17ull, 1000ull, 300007ull}) {
      for (const uint64_t skipped : {0ull, 1ull, 5ull}) {
        std::vector<uint8_t> expected = some_bytes((count + skipped + 3) * size, count);
        const auto buffer = context.allocate(expected.size());
        context.upload_bytes(*buffer, expected);
        require_ok(context.stream().fill(buffer.get(), skipped * size, count * size, pattern.data(), size),
                   "fill");
        context.synchronize();
        for (uint64_t i = 0; i < count; ++i) replace(expected, (skipped + i) * size, pattern);
        require_bytes(context.download_bytes(*buffer), expected, "a filled buffer");
      }
    }
  }
}

void mapping_shows_and_takes_bytes(Context& context) {
  std::vector<uint8_t> expected = some_bytes(4000, 8);
  const auto buffer = context.allocate(expected.size());
  context.upload_bytes(*buffer, expected);
  void* pointer = nullptr;
  const plugin::Status status = buffer->map(plugin::kMapRead | plugin::kMapWrite, 100, 1000, &pointer);
  if (status.code == plugin::StatusCode::Unimplemented) skip("%s", status.message);
  require_ok(status, "map");
  if (std::memcmp(pointer, expected.data() + 100, 1000) != 0)
    fail("mapped memory does not show the buffer's bytes");
  const std::vector<uint8_t> changed = some_bytes(1000, 9);
  std::memcpy(pointer, changed.data(), changed.size());
  require_ok(buffer->unmap(pointer), "unmap");
  replace(expected, 100, changed);
  require_bytes(context.download_bytes(*buffer), expected, "a buffer written through a mapping");
}

void wrapped_host_memory_is_used_in_place(Context& context) {
  std::vector<uint8_t> memory = some_bytes(8192, 10);
  const std::vector<uint8_t> before = memory;
  plugin::Buffer* made = nullptr;
  const plugin::Status status = context.device().wrap_host(memory.data(), memory.size(), &made);
  if (status.code == plugin::StatusCode::Unimplemented) skip("%s", status.message);
  require_ok(status, "wrap_host");
  {
    const Owned<plugin::Buffer> buffer(made);
    require_bytes(context.download_bytes(*buffer), before, "wrapped memory");
    const uint8_t value = 77;
    require_ok(context.stream().fill(buffer.get(), 10, 100, &value, 1), "fill");
    context.synchronize();
  }
  if (std::count(memory.begin() + 10, memory.begin() + 110, 77) != 100)
    fail("a fill of wrapped memory is not seen there");
  if (memory[9] != before[9] || memory[110] != before[110]) fail("a fill left its range");
}

void pinned_memory_has_a_host_pointer(Context& context) {
  plugin::Buffer* made = nullptr;
  const plugin::Status status = context.device().alloc_host(100000, &made);
  if (status.code == plugin::StatusCode::Unimplemented) skip("%s", status.message);
  require_ok(status, "alloc_host");
  const Owned<plugin::Buffer> pinned(made);
  if (pinned->host_pointer() == nullptr) fail("pinned memory has no host pointer");
  const std::vector<uint8_t> bytes = some_bytes(100000, 11);
  std::memcpy(pinned->host_pointer(), bytes.data(), bytes.size());
  const auto buffer = context.allocate(bytes.size());
  require_ok(context.stream().upload(buffer.get(), 0, pinned->host_pointer(), bytes.size()), "upload");
  context.synchronize();
  require_bytes(context.download_bytes(*buffer), bytes, "what came from pinned memory");
}

void host_memory_flag_means_a_host_pointer(Context& context) {
  const bool host = (context.properties().flags & plugin::kHostMemory) != 0;
  const auto buffer = context.allocate(100);
  if (host && buffer->host_pointer() == nullptr) fail("kHostMemory is set, and a buffer has no host pointer");
}

}  // namespace

void add_memory_cases(std::vector<Case>& cases) {
  cases.push_back({"memory/allocations start aligned", allocations_start_aligned});
  cases.push_back({"memory/2^50 bytes are refused and the next operation works", too_much_memory_is_refused});
  cases.push_back({"memory/uploads and downloads work at any offset", uploads_and_downloads_at_any_offset});
  cases.push_back({"memory/copies work at any offset", copies_at_any_offset});
  cases.push_back({"memory/a buffer is copied within itself", copies_within_one_buffer});
  cases.push_back({"memory/copies of 40 MiB are exact", large_copies_are_exact, 40 << 20});
  cases.push_back({"memory/fills repeat patterns of 1 to 8 bytes", fills_repeat_every_pattern});
  cases.push_back({"memory/mapping shows and takes bytes", mapping_shows_and_takes_bytes});
  cases.push_back({"memory/wrapped host memory is used in place", wrapped_host_memory_is_used_in_place});
  cases.push_back({"memory/pinned memory has a host pointer", pinned_memory_has_a_host_pointer});
  cases.push_back({"memory/the flag of host memory is true", host_memory_flag_means_a_host_pointer});
}

}  // namespace backplane::conformance
