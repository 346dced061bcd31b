// SPDX-License-Identifier: Apache-2.0
#include "memory/storage.h"

#include <fmt/format.h>

#include <algorithm>

#include "backplane/error.h"
#include "memory/spare_objects.h"
#include "stream/finish.h"

namespace backplane::internal {
namespace {

// Failures that nobody has asked about yet. Never destroyed: storages may outlive static destructors.
struct Watched {
  std::mutex mutex;
  ErrorList errors;
};
Watched& watched() {
  static auto* instance = new Watched;
  return *instance;
}
constexpr size_t kMostWatched = 64;  // above this, settled ones are dropped

}  // namespace

Storage* Storage::allocate(DeviceState& device, uint64_t bytes) {
  device.ensure_ready();
  auto* storage = new Storage;
  try {
    storage->block_ = device.pool->allocate(bytes, current_stream(device), &storage->reads_);
  } catch (...) {
    delete storage;
    throw;
  }
  // The stream that it was allocated for comes after these uses anyway; any other has to wait for them.
  if (!storage->reads_.empty()) storage->flags_.store(kTracked, std::memory_order_release);
  storage->device_ = &device;
  storage->bytes_ = bytes;
  return storage;
}

Storage* Storage::wrap(DeviceState& device, plugin::Buffer* buffer, uint64_t bytes,
                       std::function<void()> release, bool read_only) {
  auto* storage = new Storage;
  storage->device_ = &device;
  storage->bytes_ = bytes;
  storage->block_ = {buffer,  0,      bytes, buffer->address(), static_cast<char*>(buffer->host_pointer()),
                     nullptr, nullptr};
  storage->release_ = std::move(release);
  storage->read_only_ = read_only;
  storage->pooled_ = false;
  return storage;
}

void* Storage::operator new(size_t size) { return SpareObjects<Storage>::take(size); }
void Storage::operator delete(void* memory, size_t) noexcept { SpareObjects<Storage>::give(memory); }

void Storage::destroy() noexcept {
  // After shutdown, or in the child of a fork, the memory is the driver's to clean up.
  const bool alive = device_->health.load(std::memory_order_acquire) == DeviceHealth::Ready;
  if (alive && pooled_) device_->pool->free(block_, needs_care() ? pending(true) : UseList());
  if (!pooled_) {
    if (alive) {
      finish_all(pending(true));
      block_.buffer->destroy();
    }
    if (release_) release_();
  }
  delete this;
}

UseList Storage::pending(bool with_reads) {
  if ((flags() & kTracked) == 0) return {};
  const std::lock_guard lock(mutex_);
  UseList uses;
  if (with_reads) uses = reads_;
  if (write_.stream != nullptr) uses.push_back(write_);
  return uses;
}

void Storage::order(StreamState& stream, bool write) {
  for (const Use& use : pending(write)) stream.wait_for(use);
}

void Storage::note(StreamState& stream, uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  const auto same =
      std::find_if(reads_.begin(), reads_.end(), [&](const Use& u) { return u.stream == &stream; });
  if (same != reads_.end())
    same->ticket = std::max(same->ticket, ticket);
  else
    reads_.push_back({&stream, ticket});
  flags_.fetch_or(kTracked, std::memory_order_release);
}

void Storage::note_written(StreamState& stream, uint64_t ticket, const UseList& origins) {
  const std::lock_guard lock(mutex_);
  // What a synchronous stream wrote is written, and came after all else.
  write_ = ticket == 0 ? Use() : Use{&stream, ticket};
  reads_.clear();
  origins_ = origins;
  auto flags = static_cast<uint8_t>(flags_.load(std::memory_order_relaxed) & kPoisoned);
  if (ticket != 0) flags |= kTracked;
  if (!origins.empty()) flags |= kDerived;
  flags_.store(flags, std::memory_order_release);
}

void Storage::collect_origins(const StreamState& stream, UseList* origins) const {
  Use write;
  UseList more;
  {
    const std::lock_guard lock(mutex_);
    write = write_;
    more = origins_;
  }
  for (const Use& use : more) add_origin(use, stream, origins);
  if (write.stream != nullptr) add_origin(write, stream, origins);
}

// One use for each stream that is still at work, the latest: a stream that failed fails all that comes after,
// until somebody is told. Of those that did fail all are kept.
void add_origin(const Use& use, const StreamState& stream, UseList* origins) {
  const bool done = use.stream->is_known_done(use.ticket);
  if (done ? !use.stream->failed(use.ticket) : use.stream == &stream) return;
  for (Use& known : *origins) {
    if (known.stream != use.stream) continue;
    if (known.ticket == use.ticket) return;
    if (done || known.stream->is_known_done(known.ticket)) continue;
    known.ticket = std::max(known.ticket, use.ticket);
    return;
  }
  origins->push_back(use);
}

Use Storage::last_write() const {
  if ((flags() & kTracked) == 0) return {};
  const std::lock_guard lock(mutex_);
  return write_;
}

bool Storage::idle() {
  for (const Use& use : pending(true))
    if (!use.stream->complete(use.ticket)) return false;
  return true;
}

void Storage::wait_for_host(bool write) {
  for (const Use& use : pending(write)) use.stream->synchronize(use.ticket);
}

ErrorList Storage::errors() const {
  const std::lock_guard lock(mutex_);
  return errors_;
}

void Storage::poison(const ErrorList& errors) {
  const std::lock_guard lock(mutex_);
  for (const auto& error : errors)
    if (!error->known_good() && std::find(errors_.begin(), errors_.end(), error) == errors_.end())
      errors_.push_back(error);
  if (!errors_.empty()) flags_.fetch_or(kPoisoned, std::memory_order_release);
}

void Storage::overwrite_errors(const ErrorList& errors) {
  if (poisoned()) {
    const std::lock_guard lock(mutex_);
    errors_.clear();
    flags_.fetch_and(static_cast<uint8_t>(~kPoisoned), std::memory_order_release);
  }
  if (!errors.empty()) poison(errors);
}

void Storage::throw_errors() {
  if (flags() == 0) return;
  UseList failing;
  {
    const std::lock_guard lock(mutex_);
    failing = origins_;
    if (write_.stream != nullptr) failing.push_back(write_);
  }
  // Done by now, as the last write came after them; asking tells whether they failed.
  for (const Use& use : failing) use.stream->synchronize(use.ticket);
  if (!poisoned()) return;
  for (const auto& error : errors()) error->check();
  const std::lock_guard lock(mutex_);
  errors_.clear();
  flags_.fetch_and(static_cast<uint8_t>(~kPoisoned), std::memory_order_release);
}

PendingError::~PendingError() { word_->release(); }

PendingError::State PendingError::read() {
  if (state_ != State::Unknown) return state_;
  word_->wait_for_host(false);
  int64_t value = 0;
  const Block& block = word_->block();
  if (block.host != nullptr) {
    value = *reinterpret_cast<const int64_t*>(block.host);
  } else {
    StreamState& stream = current_stream(word_->device());
    finish(stream, stream.submit("read an error word", [&] {
      return stream.stream->download(&value, block.buffer, block.offset, sizeof value);
    }));
  }
  state_ = value == 0 ? State::Good : State::Failed;
  position_ = value - 1;
  return state_;
}

void PendingError::check() {
  const std::lock_guard lock(mutex_);
  if (read() == State::Failed)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{} (at position {} of the indices)", message_, position_));
}

bool PendingError::known_good() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::Unknown && word_->idle()) read();
  return state_ == State::Good;
}

void PendingError::watch(const std::shared_ptr<PendingError>& error) {
  ErrorList errors{error};
  {
    const std::lock_guard lock(watched().mutex);
    errors.insert(errors.end(), watched().errors.begin(), watched().errors.end());
    if (errors.size() <= kMostWatched) {
      watched().errors.push_back(error);
      return;
    }
    watched().errors.clear();
  }
  std::erase_if(errors, [](const auto& e) { return e->known_good(); });
  const std::lock_guard lock(watched().mutex);
  watched().errors.insert(watched().errors.end(), errors.begin(), errors.end());
}

void PendingError::check_watched(DeviceState& device) {
  ErrorList mine;
  {
    const std::lock_guard lock(watched().mutex);
    auto& all = watched().errors;
    const auto others =
        std::partition(all.begin(), all.end(), [&](const auto& e) { return &e->word().device() != &device; });
    mine.assign(others, all.end());
    all.erase(others, all.end());
  }
  for (const auto& error : mine) error->check();
}

}  // namespace backplane::internal
