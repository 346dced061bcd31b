// SPDX-License-Identifier: Apache-2.0
//
// Conveniences for plugin authors, all inline: making a Status, turning exceptions into one, and base classes
// that answer Unimplemented for everything a plugin may leave out. Nothing here crosses the boundary but the
// results.
#ifndef BACKPLANE_PLUGIN_BASE_H_
#define BACKPLANE_PLUGIN_BASE_H_

#include <cstdarg>
#include <cstdio>
#include <cstring>
#if defined(__cpp_exceptions)
#include <exception>
#include <new>
#endif

#include "backplane/plugin/plugin.h"

namespace backplane::plugin {

// A status whose message is formatted into this thread's buffer (cut at 1023 bytes), as the boundary's
// lifetime rule asks.
__attribute__((format(printf, 3, 4))) inline Status make_status(StatusCode code, int32_t vendor_code,
                                                                const char* format, ...) noexcept {
  static thread_local char message[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return {code, vendor_code, message};
}

inline Status unimplemented(const char* what) noexcept {
  return make_status(StatusCode::Unimplemented, 0, "%s is not offered by this device", what);
}

// Runs `body`, which returns a Status; what it throws becomes OutOfMemory (std::bad_alloc) or Internal.
template <typename Body>
Status guard(Body&& body) noexcept {
#if defined(__cpp_exceptions)
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return make_status(StatusCode::OutOfMemory, 0, "out of host memory");
  } catch (const std::exception& error) {
    return make_status(StatusCode::Internal, 0, "%s", error.what());
  } catch (...) {
    return make_status(StatusCode::Internal, 0, "an exception of unknown type");
  }
#else
  return body();
#endif
}

// Copies the first `struct_size` bytes of `value` over `*out`, keeping the caller's struct_size: how a plugin
// fills a struct whose caller may be older or newer than itself. Bytes past what this plugin knows are
// zeroed.
template <typename Struct>
void fill_struct(Struct* out, const Struct& value) noexcept {
  const uint32_t size = out->struct_size;
  const size_t known = size < sizeof(Struct) ? size : sizeof(Struct);
  std::memcpy(static_cast<void*>(out), &value, known);
  if (size > known) std::memset(reinterpret_cast<char*>(out) + known, 0, size - known);
  out->struct_size = size;
}

// Reads a struct from a caller that may be older: fields it does not have are zero.
template <typename Struct>
Struct read_struct(const Struct* in) noexcept {
  Struct value{};
  const size_t known = in->struct_size < sizeof(Struct) ? in->struct_size : sizeof(Struct);
  std::memcpy(static_cast<void*>(&value), in, known);
  return value;
}

template <size_t N>
void copy_text(char (&out)[N], const char* text) noexcept {
  std::snprintf(out, N, "%s", text == nullptr ? "" : text);
}

class BufferBase : public Buffer {
 public:
  uint64_t address() const noexcept override { return 0; }
  void* host_pointer() const noexcept override { return nullptr; }
  Status map(uint32_t, uint64_t, uint64_t, void**) noexcept override { return unimplemented("mapping"); }
  Status unmap(void*) noexcept override { return unimplemented("mapping"); }
  Status native_handle(void**) noexcept override { return unimplemented("a native handle"); }

 protected:
  ~BufferBase() = default;
};

class EventBase : public Event {
 public:
  Status signal() noexcept override {
    return make_status(StatusCode::InvalidArgument, 0, "only a host event can be signalled");
  }
  Status native_handle(void**) noexcept override { return unimplemented("a native handle"); }

 protected:
  ~EventBase() = default;
};

class StreamBase : public Stream {
 public:
  Status copy_from_peer(Buffer*, uint64_t, Device*, Buffer*, uint64_t, uint64_t) noexcept override {
    return unimplemented("a peer copy");
  }
  Status copy_to_peer(Device*, Buffer*, uint64_t, Buffer*, uint64_t, uint64_t) noexcept override {
    return unimplemented("a peer copy");
  }
  Status flush() noexcept override { return kOk; }
  Status native_handle(void**) noexcept override { return unimplemented("a native handle"); }

 protected:
  ~StreamBase() = default;
};

class KernelBase : public Kernel {
 public:
  Status workspace(const LaunchArgs*, uint64_t* bytes) noexcept override {
    *bytes = 0;
    return kOk;
  }

 protected:
  ~KernelBase() = default;
};

class DeviceBase : public Device {
 public:
  Status telemetry(Telemetry* telemetry) noexcept override {
    Telemetry nothing{};
    fill_struct(telemetry, nothing);
    return kOk;
  }
  Status alloc_host(uint64_t, Buffer**) noexcept override { return unimplemented("pinned host memory"); }
  Status wrap_buffer(void*, uint64_t, Buffer**) noexcept override {
    return unimplemented("wrapping a buffer");
  }
  Status wrap_host(void*, uint64_t, Buffer**) noexcept override {
    return unimplemented("wrapping host memory");
  }
  Status wrap_stream(void*, Stream**) noexcept override { return unimplemented("wrapping a stream"); }
  Status create_host_event(Event**) noexcept override { return unimplemented("a host event"); }
  Status can_copy_from(Device*) noexcept override { return unimplemented("a peer copy"); }
  Status native_handle(NativeHandle, void**) noexcept override { return unimplemented("a native handle"); }
  Status processes(ProcessInfo*, uint32_t, uint32_t, uint32_t* count) noexcept override {
    *count = 0;
    return unimplemented("a list of processes");
  }

 protected:
  ~DeviceBase() = default;
};

class BackendBase : public Backend {
 public:
  Status open_native(const NativeContext*, Device**) noexcept override {
    return unimplemented("opening a native context");
  }
  uint32_t note_count() noexcept override { return 0; }
  Status note(uint32_t, Note*) noexcept override {
    return make_status(StatusCode::NotFound, 0, "this backend has no notes");
  }

 protected:
  ~BackendBase() = default;
};

}  // namespace backplane::plugin

#endif  // BACKPLANE_PLUGIN_BASE_H_
