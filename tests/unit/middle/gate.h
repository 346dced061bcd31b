// SPDX-License-Identifier: Apache-2.0
//
// Holding work back until a test says so, without a clock.
#ifndef BACKPLANE_TESTS_UNIT_MIDDLE_GATE_H_
#define BACKPLANE_TESTS_UNIT_MIDDLE_GATE_H_

#include <atomic>
#include <chrono>
#include <thread>

#include "backplane/backplane.h"

namespace backplane::testing_support {

// A kernel on a stream of far:1 that runs until open() is called; streams of any device can wait for event().
// One at a time.
class Gate {
 public:
  Gate() : stream_("far:1") {
    is_open() = false;
    KernelSource source;
    source.language = SourceLanguage::Native;
    source.entry = "gate";
    source.operands = 1;
    source.native = [](const plugin::LaunchArgs*, int64_t, int64_t) noexcept {
      while (!is_open()) std::this_thread::sleep_for(std::chrono::microseconds(100));
    };
    const StreamGuard guard(stream_);
    Kernel("far:1", source)({empty({1}, uint8, "far:1")}, {}, {1});
  }
  ~Gate() {
    open();
    stream_.synchronize();
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  Event event() const { return stream_.record(); }
  const Stream& stream() const { return stream_; }
  void open() { is_open() = true; }

 private:
  static std::atomic<bool>& is_open() {
    static std::atomic<bool> open{false};
    return open;
  }

  Stream stream_;
};

}  // namespace backplane::testing_support

#endif  // BACKPLANE_TESTS_UNIT_MIDDLE_GATE_H_
