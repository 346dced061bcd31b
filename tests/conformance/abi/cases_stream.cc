// SPDX-License-Identifier: Apache-2.0
// Streams and events: order, waiting, timeouts, callbacks, host events.
#include <atomic>
#include <chrono>
#include <thread>

#include "cases.h"
#include "context.h"

namespace backplane::conformance {
namespace {

constexpr uint64_t kMillisecond = 1000 * 1000;
constexpr uint64_t kMinute = uint64_t{60} * 1000 * kMillisecond;

// Counts calls of Event::on_complete.
struct Calls {
  std::atomic<int> count{0};
  std::atomic<int> failures{0};
  static void add(void* context, plugin::Status status) noexcept {
    auto* const calls = static_cast<Calls*>(context);
    if (!status.ok()) ++calls->failures;
    ++calls->count;
  }
  // Callbacks may come from another thread, a moment after the wait has ended.
  void require(int expected) const {
    for (int i = 0; i < 10000 && count < expected; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (count != expected || failures != 0)
      fail("%d calls with %d failures, expected %d", count.load(), failures.load(), expected);
  }
};

void work_is_done_in_order(Context& context) {
  const auto stream = context.create_stream(plugin::StreamKind::Asynchronous);
  const auto first = context.allocate(1 << 20);
  const auto second = context.allocate(1 << 20);
  uint8_t result[3] = {};
  for (uint8_t i = 1; i < 50; ++i) {
    require_ok(stream->fill(first.get(), 0, 1 << 20, &i, 1), "fill");
    require_ok(stream->copy(second.get(), 0, first.get(), 0, 1 << 20), "copy");
  }
  require_ok(stream->download(result, second.get(), (1 << 20) - 3, 3), "download");
  context.synchronize(*stream);
  for (const uint8_t byte : result) {
    if (byte != 49) fail("the last of 49 fills wrote %d", byte);
  }
  bool idle = false;
  require_ok(stream->query(&idle), "query");
  if (!idle) fail("a synchronized stream is not idle");
}

void events_complete_with_the_work_before_them(Context& context) {
  const auto stream = context.create_stream(plugin::StreamKind::Asynchronous);
  const auto event = context.create_event();
  bool complete = false;
  require_ok(event->query(&complete), "query");
  if (!complete) fail("an event never recorded is not complete");
  require_ok(event->wait(0), "wait on an event never recorded");
  const auto buffer = context.allocate(1 << 22);
  const uint32_t pattern = 0x01020304;
  require_ok(stream->fill(buffer.get(), 0, 1 << 22, &pattern, 4), "fill");
  require_ok(stream->record(event.get()), "record");
  Calls calls;
  require_ok(event->on_complete(&Calls::add, &calls), "on_complete");
  require_ok(event->wait(kMinute), "wait");
  require_ok(event->query(&complete), "query");
  if (!complete) fail("an event waited for is not complete");
  calls.require(1);
  require_ok(event->on_complete(&Calls::add, &calls), "on_complete of a complete event");
  calls.require(2);
  context.synchronize(*stream);
}

void streams_wait_for_events_of_other_streams(Context& context) {
  const auto first = context.create_stream(plugin::StreamKind::Asynchronous);
  const auto second = context.create_stream(plugin::StreamKind::Asynchronous);
  const auto event = context.create_event();
  const auto buffer = context.allocate(8 << 20);
  std::vector<uint8_t> result(8 << 20);
  for (uint8_t i = 1; i < 20; ++i) {
    require_ok(first->fill(buffer.get(), 0, result.size(), &i, 1), "fill");
    require_ok(first->record(event.get()), "record");
    require_ok(second->wait(event.get()), "wait");
    require_ok(second->download(result.data(), buffer.get(), 0, result.size()), "download");
    require_ok(second->record(event.get()), "record");
    require_ok(first->wait(event.get()), "wait");
    context.synchronize(*second);
    if (result.front() != i || result.back() != i)
      fail("read %d and %d, expected %d", result.front(), result.back(), i);
  }
  context.synchronize(*first);
}

void host_events_hold_streams_back(Context& context) {
  const auto event = context.create_host_event();
  const auto stream = context.create_stream(plugin::StreamKind::Asynchronous);
  bool complete = true;
  require_ok(event->query(&complete), "query");
  if (complete) fail("a host event is complete before it is signalled");
  require_code(event->wait(5 * kMillisecond), plugin::StatusCode::Unavailable, "a wait of 5 ms");

  const auto buffer = context.allocate(16);
  const std::vector<uint8_t> zeros(16);
  context.upload_bytes(*buffer, zeros);
  const auto behind = context.create_event();
  const uint8_t value = 9;
  require_ok(stream->wait(event.get()), "wait");
  require_ok(stream->fill(buffer.get(), 0, 16, &value, 1), "fill");
  require_ok(stream->record(behind.get()), "record");
  require_code(stream->synchronize(5 * kMillisecond), plugin::StatusCode::Unavailable,
               "synchronize for 5 ms");
  require_ok(behind->query(&complete), "query");
  if (complete) fail("work behind a host event is done before the signal");

  Calls calls;
  require_ok(event->on_complete(&Calls::add, &calls), "on_complete");
  if (calls.count != 0) fail("a callback came before the signal");
  require_ok(event->signal(), "signal");
  require_ok(event->wait(kMinute), "wait");
  require_ok(behind->wait(kMinute), "wait for the work behind");
  context.synchronize(*stream);
  calls.require(1);
  if (context.download_bytes(*buffer)[15] != 9) fail("the work behind a host event was not done");
}

void only_host_events_can_be_signalled(Context& context) {
  const auto event = context.create_event();
  require_code(event->signal(), plugin::StatusCode::InvalidArgument, "signal of a stream's event");
}

void recording_again_moves_the_event(Context& context) {
  const auto gate = context.create_host_event();
  const auto stream = context.create_stream(plugin::StreamKind::Asynchronous);
  const auto event = context.create_event();
  require_ok(stream->record(event.get()), "record");
  require_ok(event->wait(kMinute), "wait");
  require_ok(stream->wait(gate.get()), "wait");
  require_ok(stream->record(event.get()), "record again");
  bool complete = true;
  require_ok(event->query(&complete), "query");
  require_ok(gate->signal(), "signal");
  if (complete) fail("an event recorded again is complete before its new place is reached");
  require_ok(event->wait(kMinute), "wait");
  context.synchronize(*stream);
}

// The watcher of a place must not wait for a later one: work behind the later place may wait for what the
// watcher is to signal.
void recording_again_puts_no_callback_off(Context& context) {
  const auto stream = context.create_stream(plugin::StreamKind::Asynchronous);
  const auto event = context.create_event();
  const auto buffer = context.allocate(1 << 16);
  for (int i = 0; i < 100; ++i) {
    const auto gate = context.create_host_event();
    const uint8_t value = 1;
    Calls calls;
    require_ok(stream->fill(buffer.get(), 0, 1 << 16, &value, 1), "fill");
    require_ok(stream->record(event.get()), "record");
    require_ok(event->on_complete(&Calls::add, &calls), "on_complete");
    require_ok(event->wait(kMinute), "wait");
    require_ok(stream->wait(gate.get()), "wait");
    require_ok(stream->record(event.get()), "record again");
    calls.require(1);
    require_ok(gate->signal(), "signal");
    context.synchronize(*stream);
  }
}

void synchronous_streams_are_done_on_return(Context& context) {
  if ((context.properties().flags & plugin::kSynchronousDefaultStream) == 0) return;
  std::vector<uint8_t> result(100000);
  const auto buffer = context.allocate(result.size());
  const uint8_t value = 3;
  require_ok(context.stream().fill(buffer.get(), 0, result.size(), &value, 1), "fill");
  require_ok(context.stream().download(result.data(), buffer.get(), 0, result.size()), "download");
  for (const uint8_t byte : result) {
    if (byte != 3) fail("a synchronous stream returned before its work was done");
  }
}

void destroying_a_stream_waits_for_its_work(Context& context) {
  const auto buffer = context.allocate(4 << 20);
  std::vector<uint8_t> result(4 << 20);
  {
    const auto stream = context.create_stream(plugin::StreamKind::Asynchronous);
    const uint8_t value = 5;
    require_ok(stream->fill(buffer.get(), 0, result.size(), &value, 1), "fill");
    require_ok(stream->download(result.data(), buffer.get(), 0, result.size()), "download");
  }
  if (result.front() != 5 || result.back() != 5) fail("destroy returned before the stream's work was done");
}

}  // namespace

void add_stream_cases(std::vector<Case>& cases) {
  cases.push_back({"stream/work is done in order", work_is_done_in_order});
  cases.push_back(
      {"stream/a synchronous default stream is done on return", synchronous_streams_are_done_on_return});
  cases.push_back({"stream/destroying one waits for its work", destroying_a_stream_waits_for_its_work});
  cases.push_back({"event/completes with the work before it", events_complete_with_the_work_before_them});
  cases.push_back({"event/orders two streams", streams_wait_for_events_of_other_streams});
  cases.push_back({"event/of the host holds streams back", host_events_hold_streams_back});
  cases.push_back({"event/only the host's can be signalled", only_host_events_can_be_signalled});
  cases.push_back({"event/recording again moves it", recording_again_moves_the_event});
  cases.push_back({"event/recording again puts no callback off", recording_again_puts_no_callback_off});
}

}  // namespace backplane::conformance
