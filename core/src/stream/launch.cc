// SPDX-License-Identifier: Apache-2.0
#include "stream/launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

#include "backplane/error.h"

namespace backplane::internal {
namespace {

// A pool block for the duration of one launch.
class Scratch {
 public:
  Scratch(DeviceState& device, StreamState& stream, uint64_t bytes)
      : device_(device), stream_(stream), block_(device.pool->allocate(bytes, stream, &uses_)) {}
  ~Scratch() {
    if (ticket != 0) uses_ = {{&stream_, ticket}};
    device_.pool->free(block_, std::move(uses_));
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const Block& block() const noexcept { return block_; }
  uint64_t ticket = 0;

 private:
  DeviceState& device_;
  StreamState& stream_;
  UseList uses_;  // earlier ones, of the same stream
  Block block_;
};

// The iteration space, and the bytes of the storages that operands lie in, each storage counted once.
void write_trace_args(const void* subject, std::string& args) {
  const auto& launch = *static_cast<const Launch*>(subject);
  uint64_t bytes = 0;
  const auto* storages = launch.storages.data();
  for (uint32_t i = 0; i < launch.args.operand_count; ++i)
    if (std::find(storages, storages + i, storages[i]) == storages + i) bytes += storages[i]->bytes();
  args += fmt::format(
      R"("operator": {}, "shape": [{}], "operands": {}, "bytes": {})", json_text(launch.args.label),
      fmt::join(std::span(launch.args.shape, launch.args.rank), ", "), launch.args.operand_count, bytes);
}

}  // namespace

void Launch::run_with_care(DeviceState& device, StreamState& stream, plugin::Kernel* kernel,
                           plugin::Family family, const std::string* failure) {
  for (uint32_t i = 0; i < args.operand_count; ++i) {
    if (i < outputs)
      storages[i]->order_write(stream);
    else
      storages[i]->order_read(stream);
  }
  uint64_t bytes = 0;
  if (may_need_workspace(family)) device.check(kernel->workspace(&args, &bytes), args.label);
  if (bytes != 0) {
    Scratch scratch(device, stream, bytes);
    args.workspace = scratch.block().buffer;
    args.workspace_offset = scratch.block().offset;
    args.workspace_bytes = bytes;
    // Scratch is used in the stream's order, so noting the stream's count after the launch covers it.
    try {
      run_checked(device, stream, kernel, failure);
    } catch (...) {
      if (!stream.synchronous) scratch.ticket = stream.last_ticket();
      throw;
    }
    if (!stream.synchronous) scratch.ticket = stream.last_ticket();
  } else {
    run_checked(device, stream, kernel, failure);
  }
}

void Launch::run_checked(DeviceState& device, StreamState& stream, plugin::Kernel* kernel,
                         const std::string* failure) {
  if (failure == nullptr) {
    run_in_order(device, stream, kernel);
    return spread_poison(nullptr);
  }
  Storage* word = Storage::allocate(device, sizeof(int64_t));
  const auto error = std::make_shared<PendingError>(word, *failure);
  const int64_t zero = 0;
  const Block& block = word->block();
  word->note_write(stream, stream.submit(args.label, [&] {
    return stream.stream->fill(block.buffer, block.offset, 8, &zero, 8);
  }));
  args.error = block.buffer;
  args.error_offset = block.offset;
  run_in_order(device, stream, kernel);
  if (!stream.synchronous) word->note_write(stream, stream.last_ticket());
  const bool good =
      stream.synchronous && block.host != nullptr && *reinterpret_cast<const int64_t*>(block.host) == 0;
  if (!good) PendingError::watch(error);
  spread_poison(good ? nullptr : error);
}

void Launch::run_in_order(DeviceState&, StreamState& stream, plugin::Kernel* kernel) {
  const TraceNote note("kernel", this, write_trace_args);
  UseList origins;  // before a result that is an operand too forgets its own
  for (uint32_t i = outputs; i < args.operand_count; ++i) storages[i]->add_origins(stream, &origins);
  const uint64_t ticket = stream.submit(args.label, [&] { return kernel->launch(stream.stream, &args); });
  for (uint32_t i = 0; i < args.operand_count; ++i) {
    if (i < outputs)
      storages[i]->note_write(stream, ticket, origins);
    else
      storages[i]->note_read(stream, ticket);
  }
}

void Launch::spread_poison(const std::shared_ptr<PendingError>& error) {
  ErrorList errors;
  if (error != nullptr) errors.push_back(error);
  for (uint32_t i = outputs; i < args.operand_count; ++i) {
    if (!storages[i]->poisoned()) continue;
    const ErrorList more = storages[i]->errors();
    errors.insert(errors.end(), more.begin(), more.end());
  }
  for (uint32_t i = 0; i < outputs; ++i) {
    if (overwrites)
      storages[i]->overwrite_errors(errors);
    else if (!errors.empty())
      storages[i]->poison(errors);
  }
}

}  // namespace backplane::internal
