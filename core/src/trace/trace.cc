// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "loader/log.h"
#include "trace/trace_file.h"

namespace backplane::internal {

constinit std::atomic<bool> trace_flag{false};

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kFirstStream = 1001;  // rows below are threads

struct Slice {
  TraceLane lane;
  const char* category;
  std::string name;
  TraceTime begin;
  std::string args;
};

// Never destroyed: threads may work while the process exits.
struct Trace {
  std::mutex mutex;
  TraceFile file;
  Clock::time_point start;
  std::set<std::pair<int, int>> named;            // rows
  std::map<const void*, int> streams;             // their rows
  std::map<int, int> stream_count;                // by process
  std::map<std::pair<int, int>, TraceTime> ends;  // of the last work of each stream's row
  std::set<Slice*> queued;
};

Trace& trace() {
  static auto* instance = new Trace;
  return *instance;
}

// The format's microseconds.
std::string microseconds(TraceTime time) { return fmt::format("{}.{:03}", time / 1000, time % 1000); }

void give_up(int error) noexcept {
  trace_flag.store(false, std::memory_order_relaxed);
  try {
    log(plugin::LogLevel::Warning, fmt::format("the trace could not be written and ends here: {}",
                                               std::generic_category().message(error)));
  } catch (const std::exception&) {
    log(plugin::LogLevel::Warning, "the trace could not be written and ends here");
  }
}

// Where the mutex is held. Warnings are the caller's to give, outside of it.
int add_locked(std::string_view event) noexcept {
  try {
    return trace().file.add(event);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

// Runs `make` under the lock; it returns the errno of what it wrote.
template <typename Make>
void with_file(Make&& make) noexcept {
  int error = 0;
  try {
    const std::lock_guard lock(trace().mutex);
    if (!trace_on()) return;
    error = make();
  } catch (const std::exception&) {
    return;  // no memory for this event
  }
  if (error != 0) give_up(error);
}

int add_name(const char* what, TraceLane lane, const std::string& name) {
  return add_locked(
      fmt::format(R"({{"ph": "M", "pid": {}, "tid": {}, "name": "{}", "args": {{"name": {}}}}})",
                  lane.process, lane.thread, what, json_text(name)));
}

int add_slice(const Slice& slice, TraceTime begin, TraceTime end, std::string_view more) {
  return add_locked(fmt::format(
      R"({{"ph": "X", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "cat": "{}", "name": {}, "args": {{{}{}}}}})",
      slice.lane.process, slice.lane.thread, microseconds(begin), microseconds(end - begin), slice.category,
      json_text(slice.name), slice.args, more));
}

// A stream works in order: what was queued while earlier work ran began when that ended.
int add_stream_slice(const Slice& slice, TraceTime now, std::string_view more) {
  TraceTime& last = trace().ends[{slice.lane.process, slice.lane.thread}];
  const TraceTime begin = std::max(slice.begin, last);
  last = std::max(begin, now);
  return add_slice(slice, begin, last, more);
}

TraceLane named_lane(TraceLane lane, const std::string& name) {
  with_file([&] {
    const bool is_new = trace().named.insert({lane.process, lane.thread}).second;
    return is_new ? add_name("thread_name", lane, name) : 0;
  });
  return lane;
}

int thread_number() noexcept {
  static std::atomic<int> count{0};
  thread_local const int number = ++count;
  return number;
}

std::filesystem::path with_process_id(const std::filesystem::path& file) {
  const std::string id = std::to_string(::getpid());
  std::string path = file.native();
  for (size_t at = path.find("%p"); at != std::string::npos; at = path.find("%p", at + id.size()))
    path.replace(at, 2, id);
  return path;
}

thread_local const TraceNote* innermost = nullptr;

}  // namespace

void start_trace(const std::filesystem::path& file) {
  const std::filesystem::path path = with_process_id(file);
  int error = 0;
  {
    const std::lock_guard lock(trace().mutex);
    trace().start = Clock::now();
    error = trace().file.open(path);
  }
  if (error != 0)
    return log(plugin::LogLevel::Warning, fmt::format("no trace is written: {}: {}", path.native(),
                                                      std::generic_category().message(error)));
  std::atexit([] { finish_trace(); });
  trace_flag.store(true, std::memory_order_relaxed);
}

void finish_trace() noexcept {
  int error = 0;
  {
    const std::lock_guard lock(trace().mutex);
    if (!trace_flag.exchange(false, std::memory_order_relaxed)) return;
    const TraceTime now = trace_now();
    try {
      for (const Slice* slice : trace().queued)
        add_stream_slice(*slice, now,
                         slice->args.empty() ? R"("unfinished": true)" : R"(, "unfinished": true)");
    } catch (const std::exception&) {
      error = ENOMEM;
    }
    trace().queued.clear();
    if (const int closed = trace().file.close(); closed != 0) error = closed;
  }
  if (error != 0) give_up(error);
}

void trace_before_fork() noexcept { trace().mutex.lock(); }

void trace_after_fork() noexcept { trace().mutex.unlock(); }

void trace_after_fork_in_child() noexcept {
  trace_flag.store(false, std::memory_order_relaxed);
  trace().file.abandon();
  trace().mutex.unlock();
}

TraceTime trace_now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - trace().start).count();
}

void name_trace_process(int process, const std::string& name) {
  with_file([&] { return add_name("process_name", {process, 0}, name); });
}

TraceLane thread_lane(int process) {
  const int number = thread_number();
  return named_lane({process, number}, fmt::format("thread {}", number));
}

TraceLane stream_lane(int process, const void* stream) {
  int row = 0;
  with_file([&] {
    int& known = trace().streams[stream];
    if (known == 0) known = kFirstStream + trace().stream_count[process]++;
    row = known;
    return 0;
  });
  return named_lane({process, row}, fmt::format("stream {}", row - kFirstStream));
}

void trace_slice(TraceLane lane, const char* category, std::string_view name, TraceTime begin,
                 std::string_view args) noexcept {
  with_file([&] {
    return add_slice({lane, category, std::string(name), begin, std::string(args)}, begin, trace_now(), "");
  });
}

void trace_memory(int process, uint64_t in_use, uint64_t cached) noexcept {
  with_file([&] {
    return add_locked(fmt::format(
        R"({{"ph": "C", "pid": {}, "ts": {}, "name": "memory", "args": {{"in use": {}, "cached": {}}}}})",
        process, microseconds(trace_now()), in_use, cached));
  });
}

void* trace_queued(TraceLane lane, const char* category, std::string_view name, TraceTime begin,
                   std::string_view args) {
  auto slice = std::make_unique<Slice>(Slice{lane, category, std::string(name), begin, std::string(args)});
  const std::lock_guard lock(trace().mutex);
  if (trace_on()) trace().queued.insert(slice.get());
  return slice.release();
}

void trace_done(void* queued, plugin::Status status) noexcept {
  const std::unique_ptr<Slice> slice(static_cast<Slice*>(queued));
  with_file([&] {
    if (trace().queued.erase(slice.get()) == 0) return 0;
    return add_stream_slice(
        *slice, trace_now(),
        status.ok() ? "" : (slice->args.empty() ? R"("failed": true)" : R"(, "failed": true)"));
  });
}

std::string json_text(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void TraceNote::begin(const char* category, const void* subject, Write write) noexcept {
  begun_ = true;
  category_ = category;
  subject_ = subject;
  write_ = write;
  outer_ = std::exchange(innermost, this);
}

void TraceNote::end() noexcept { innermost = outer_; }

const char* TraceNote::category() noexcept { return innermost == nullptr ? "other" : innermost->category_; }

std::string TraceNote::args() {
  std::string args;
  if (innermost != nullptr) innermost->write_(innermost->subject_, args);
  return args;
}

void TracedCall::end() noexcept {
  try {
    trace_slice(thread_lane(process_), category_, name_, begin_, TraceNote::args());
  } catch (const std::exception&) {
    return;  // no memory for this event
  }
}

}  // namespace backplane::internal
