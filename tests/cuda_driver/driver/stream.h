// SPDX-License-Identifier: Apache-2.0
// A stream: a thread that does one piece of work after the other. A piece may have to wait for others' pieces
// first.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "exec/grid.h"

namespace cuda_double {

struct Context;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  using Position = std::pair<std::shared_ptr<Stream>, uint64_t>;  // a stream, and how far it must have come

  static std::shared_ptr<Stream> start(Context* context, uint32_t flags, int priority, uint64_t seed,
                                       uint32_t delay_us);

  uint64_t enqueue(std::function<void()> work, std::vector<Position> after = {});
  uint64_t submitted() const;
  bool reached(uint64_t position) const;
  void wait(uint64_t position) const;
  void synchronize() const { wait(submitted()); }
  bool idle() const { return reached(submitted()); }
  // The thread ends once it has done what was enqueued before.
  void close();

  GridRunner runner;  // for the stream's own thread
  Context* const context;
  const uint32_t flags;
  const int priority;
  bool blocking() const { return (flags & 1) == 0; }  // takes part in the legacy stream's order

 private:
  struct Item {
    std::function<void()> work;
    std::vector<Position> after;
  };
  Stream(Context* c, uint32_t f, int p) : context(c), flags(f), priority(p) {}
  void run(uint64_t seed, uint32_t delay_us);

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<Item> items_;
  uint64_t submitted_ = 0, completed_ = 0;
  bool closing_ = false;
};

// Whether the caller is a stream's thread, where calls of the driver are forbidden.
bool on_stream_thread();

}  // namespace cuda_double
