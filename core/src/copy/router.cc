// SPDX-License-Identifier: Apache-2.0
//
// Copies between devices: same device, peer, mapped, staged, in that order.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <vector>

#include "backplane/error.h"
#include "copy/staged.h"
#include "copy/traced.h"
#include "copy/transfer.h"
#include "device/registry.h"

namespace backplane::internal {
namespace {

constexpr uint64_t kPatternBytes = 4096;  // of the first-use check of a peer copy

// The two directions in which a plugin can offer a peer copy.
enum class Peer { None, FromDestination, FromSource };

// Queues a copy on one stream, in order with both storages.
template <typename Enqueue>
void submit_on(StreamState& stream, const Transfer& t, Enqueue&& enqueue) {
  t.src.order_read(stream);
  t.dst.order_write(stream);
  const UseList origins = t.origins(stream);
  const uint64_t ticket = stream.submit("copy", enqueue);
  t.src.note_read(stream, ticket);
  t.dst.note_write(stream, ticket, origins);
}

// Where the calling thread does the work in any case, on memory that it can see, a call into the plugin costs
// more than a small copy.
bool may_copy_here(const Transfer& t) {
  constexpr uint64_t kMostBytes = 32 << 10;
  DeviceState& device = t.dst.device();
  return t.bytes <= kMostBytes && &t.src.device() == &device && device.host_memory && !t.dst.needs_care() &&
         !t.src.needs_care() && current_stream(device).direct && t.dst.block().host != nullptr &&
         t.src.block().host != nullptr;
}

void copy_same_device(const Transfer& t) {
  StreamState& stream = current_stream(t.dst.device());
  submit_on(stream, t, [&] {
    return stream.stream->copy(t.dst.block().buffer, t.dst_at(), t.src.block().buffer, t.src_at(), t.bytes);
  });
}

// Ok or Unimplemented; anything else is thrown.
bool try_peer(const Transfer& t, Peer peer) {
  StreamState& stream = current_stream(peer == Peer::FromDestination ? t.dst.device() : t.src.device());
  plugin::StatusCode code = plugin::StatusCode::Ok;
  submit_on(stream, t, [&] {
    plugin::Buffer* dst = t.dst.block().buffer;
    plugin::Buffer* src = t.src.block().buffer;
    plugin::Status status =
        peer == Peer::FromDestination
            ? stream.stream->copy_from_peer(dst, t.dst_at(), t.src.device().device, src, t.src_at(), t.bytes)
            : stream.stream->copy_to_peer(t.dst.device().device, dst, t.dst_at(), src, t.src_at(), t.bytes);
    code = status.code;
    return code == plugin::StatusCode::Unimplemented ? plugin::kOk : status;
  });
  return code == plugin::StatusCode::Ok;
}

// Work on a device that does not queue behind the program's: a check must not wait for what the program's
// streams wait for.
class OnOwnStream {
 public:
  explicit OnOwnStream(DeviceState& device)
      : device_(device), previous_(set_current_stream(device, own_stream(device))) {}
  ~OnOwnStream() { set_current_stream(device_, std::move(previous_)); }
  OnOwnStream(const OnOwnStream&) = delete;
  OnOwnStream& operator=(const OnOwnStream&) = delete;

 private:
  static std::shared_ptr<StreamState> own_stream(DeviceState& device) {
    if (device.synchronous) return device.default_stream;
    try {
      return acquire_stream(device, 0);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Unimplemented) throw;
      return device.default_stream;
    }
  }

  DeviceState& device_;
  std::shared_ptr<StreamState> previous_;
};

// Copies a pattern there and looks whether it arrived: some systems answer yes to peer access and deliver
// zeros.
bool pattern_arrives(DeviceState& from, DeviceState& to, Peer peer) {
  const OnOwnStream on_source(from), on_target(to);
  std::vector<uint8_t> sent(kPatternBytes), got(kPatternBytes);
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<uint8_t>(i * 167 + 13);
  const auto release = [](Storage* s) { s->release(); };
  const std::unique_ptr<Storage, decltype(release)> src(Storage::allocate(from, kPatternBytes), release);
  const std::unique_ptr<Storage, decltype(release)> dst(Storage::allocate(to, kPatternBytes), release);
  write_bytes(*src, 0, sent.data(), sent.size());
  write_bytes(*dst, 0, got.data(), got.size());
  if (!try_peer({*dst, 0, *src, 0, kPatternBytes}, peer)) return false;
  read_bytes(got.data(), *dst, 0, got.size());
  if (got == sent) return true;
  log(LogLevel::Warning,
      fmt::format(
          "the peer copy from {} to {} delivers wrong data; copies between them go through host memory",
          from.name, to.name));
  return false;
}

Peer probe_peer(DeviceState& from, DeviceState& to, std::string* reason) {
  const plugin::Status offered = to.device->can_copy_from(from.device);
  if (!offered.ok()) *reason = offered.message == nullptr ? "no peer copy" : offered.message;
  if (offered.ok() && pattern_arrives(from, to, Peer::FromDestination)) return Peer::FromDestination;
  if (from.plugin != to.plugin && pattern_arrives(from, to, Peer::FromSource)) return Peer::FromSource;
  if (offered.ok()) *reason = "the peer copy failed its first-use check";
  return Peer::None;
}

struct PairState {
  std::mutex mutex;
  bool probed = false;
  Peer peer = Peer::None;
  std::string reason;
};

PairState& pair_state(DeviceState& from, DeviceState& to) {
  static std::mutex mutex;
  static auto* pairs = new std::map<std::pair<DeviceState*, DeviceState*>, PairState>;
  const std::lock_guard lock(mutex);
  return (*pairs)[{&from, &to}];
}

// The check runs the first time that a pair is used; a second thread waits for it.
PairState& probed_pair(DeviceState& from, DeviceState& to) {
  PairState& pair = pair_state(from, to);
  const std::lock_guard lock(pair.mutex);
  if (!pair.probed) {
    pair.peer = probe_peer(from, to, &pair.reason);
    pair.probed = true;
  }
  return pair;
}

bool host_side(const Storage& storage) {
  return storage.device().host_memory && storage.block().host != nullptr;
}

void copy_mapped(const Transfer& t) {
  const bool from_host = host_side(t.src);
  StreamState& stream = current_stream(from_host ? t.dst.device() : t.src.device());
  submit_on(stream, t, [&] {
    if (from_host)
      return stream.stream->upload(t.dst.block().buffer, t.dst_at(), t.src.block().host + t.src_offset,
                                   t.bytes);
    return stream.stream->download(t.dst.block().host + t.dst_offset, t.src.block().buffer, t.src_at(),
                                   t.bytes);
  });
}

void copy_by_route(const Transfer& t) {
  DeviceState& from = t.src.device();
  DeviceState& to = t.dst.device();
  TracedCopy traced{from.name.c_str(), to.name.c_str(), t.bytes, to_string(RouteKind::SameDevice)};
  const TraceNote note("copy", &traced, write_copy_args);
  if (&from == &to) return copy_same_device(t);
  traced.route = to_string(RouteKind::Peer);
  const Peer peer = probed_pair(from, to).peer;
  if (peer != Peer::None && try_peer(t, peer)) return;
  const bool mapped = host_side(t.src) || host_side(t.dst);
  traced.route = to_string(mapped ? RouteKind::Mapped : RouteKind::Staged);
  if (mapped) return copy_mapped(t);
  copy_staged(t);
}

}  // namespace

UseList Transfer::origins(const StreamState& stream) const {
  UseList origins;
  src.add_origins(stream, &origins);
  if (bytes != dst.bytes()) dst.add_origins(stream, &origins);
  return origins;
}

void copy_bytes(Storage& dst, uint64_t dst_offset, Storage& src, uint64_t src_offset, uint64_t bytes) {
  src.device().ensure_ready();
  const Transfer transfer{dst, dst_offset, src, src_offset, bytes};
  if (may_copy_here(transfer)) {
    if (bytes != 0) std::memcpy(dst.block().host + dst_offset, src.block().host + src_offset, bytes);
    return;
  }
  dst.device().ensure_ready();
  if (bytes == 0) return;
  copy_by_route(transfer);
  if (bytes == dst.bytes())
    dst.overwrite_errors(src.errors());
  else if (src.poisoned())
    dst.poison(src.errors());
}

Route find_route(DeviceState& from, DeviceState& to) {
  from.ensure_ready();
  to.ensure_ready();
  if (&from == &to) return {RouteKind::SameDevice, "one device"};
  PairState& pair = probed_pair(from, to);
  const std::string& by = pair.peer == Peer::FromSource ? from.plugin->name : to.plugin->name;
  if (pair.peer != Peer::None)
    return {RouteKind::Peer, fmt::format("offered by {}, and its first-use check passed", by)};
  if (from.host_memory || to.host_memory)
    return {RouteKind::Mapped, fmt::format("{} is host memory", from.host_memory ? from.name : to.name)};
  return {RouteKind::Staged, pair.reason};
}

}  // namespace backplane::internal

namespace backplane::inline v0 {

Route Runtime::route(const Device& from, const Device& to) const {
  return internal::find_route(*from.state(), *to.state());
}

}  // namespace backplane::inline v0
