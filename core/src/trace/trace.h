// SPDX-License-Identifier: Apache-2.0
//
// What the runtime does, as events that Perfetto and chrome://tracing show (the Trace Event Format's JSON
// object form). Asked for by RuntimeOptions::trace_file or BACKPLANE_TRACE.
//
// A device is a process of the trace. Its rows are its streams and, as "thread N", the host's threads that
// call it: a default stream that runs in the calling thread has no row of its own, and allocations and
// building kernels are the caller's time. Work on an asynchronous stream is shown from when it was queued, or
// from the end of the work before it if that is later, until the device says that it is done; what the stream
// spent waiting for another is part of that.
//
// Whether there is a trace is settled while the runtime initialises. Without one, small allocations and
// launches in the calling thread pay nothing: the flags that let them take the short way (Pool's magazines,
// StreamState::direct) are simply not set when there is a trace. Everything else pays one test of a flag.
//
// Thread-safe. The file is whole JSON after every write (trace_file.h), is completed by Runtime::shutdown or
// by exit(), and belongs to the process that began it: the child of a fork writes nothing. What cannot be
// written ends the trace with a warning, never the program.
#ifndef BACKPLANE_SRC_TRACE_TRACE_H_
#define BACKPLANE_SRC_TRACE_TRACE_H_

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "backplane/plugin/types.h"

namespace backplane::internal {

extern std::atomic<bool> trace_flag;

#if defined(BACKPLANE_WITHOUT_TRACE)  // only to measure what a trace costs that is off
constexpr bool trace_on() noexcept { return false; }
#else
inline bool trace_on() noexcept { return trace_flag.load(std::memory_order_relaxed); }
#endif

// Begins a trace; "%p" in the path stands for the process id. Warns where the file cannot be written.
void start_trace(const std::filesystem::path& file);

// Completes the file. Work that is not done is shown as running until now. Does nothing without a trace.
void finish_trace() noexcept;

// Called around a fork, so that a child never waits for a lock that nobody holds any more.
void trace_before_fork() noexcept;
void trace_after_fork() noexcept;
void trace_after_fork_in_child() noexcept;

using TraceTime = int64_t;  // nanoseconds since the trace began
TraceTime trace_now() noexcept;

// A row of the trace. Processes are numbered from 1.
struct TraceLane {
  int process = 0;
  int thread = 0;
};

void name_trace_process(int process, const std::string& name);
TraceLane thread_lane(int process);                      // the calling thread's
TraceLane stream_lane(int process, const void* stream);  // of a stream that is kept for ever

// `args` are the members of a JSON object. None of these throws: an event for which there is no memory is
// dropped.
void trace_slice(TraceLane lane, const char* category, std::string_view name, TraceTime begin,
                 std::string_view args) noexcept;  // until now
void trace_memory(int process, uint64_t in_use, uint64_t cached) noexcept;

// Work queued at `begin` whose end trace_done() reports, once, for the pointer given here.
void* trace_queued(TraceLane lane, const char* category, std::string_view name, TraceTime begin,
                   std::string_view args);
void trace_done(void* queued, plugin::Status status) noexcept;

// A text as JSON, quotes included; what is not UTF-8 is replaced.
std::string json_text(std::string_view text);

// Says more about the work that this thread queues while it lives. `write` appends members of a JSON object.
class TraceNote {
 public:
  using Write = void (*)(const void* subject, std::string& args);

  TraceNote(const char* category, const void* subject, Write write) noexcept {
    if (trace_on()) [[unlikely]]
      begin(category, subject, write);
  }
  ~TraceNote() {
    if (begun_) [[unlikely]]
      end();
  }
  TraceNote(const TraceNote&) = delete;
  TraceNote& operator=(const TraceNote&) = delete;

  // What the innermost note of this thread says.
  static const char* category() noexcept;
  static std::string args();

 private:
  void begin(const char* category, const void* subject, Write write) noexcept;
  void end() noexcept;

  bool begun_ = false;
  const char* category_;
  const void* subject_;
  Write write_;
  const TraceNote* outer_;
};

// A call that the calling thread makes, from here to the end of the scope.
class TracedCall {
 public:
  TracedCall(int process, const char* category, const char* name) noexcept
      : process_(process), category_(category), name_(name), begin_(trace_on() ? trace_now() : -1) {}
  ~TracedCall() {
    if (begin_ >= 0) [[unlikely]]
      end();
  }
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

 private:
  void end() noexcept;

  int process_;
  const char* category_;
  const char* name_;
  TraceTime begin_;
};

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_TRACE_TRACE_H_
