// SPDX-License-Identifier: Apache-2.0
//
// What the faulty plugin is to do wrong, and what it has made. A shared library of its own, which the plugin
// and the test both link, so that a test can steer the plugin that its runtime has loaded. Thread-safe.
#ifndef BACKPLANE_TESTS_FAULTS_PLAN_H_
#define BACKPLANE_TESTS_FAULTS_PLAN_H_

#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backplane/plugin/base.h"

namespace faults {

enum class Object { Device, Buffer, Stream, Event, Kernel };
inline constexpr size_t kObjects = 5;

// A failure to come: the n-th call, counted from 1, of the methods named ("Stream.copy"; empty: of any) on
// the objects of one device fails without doing anything. With `lasting` all calls from then on do.
struct Fault {
  int device = 0;
  uint64_t n = 0;
  backplane::plugin::StatusCode code = backplane::plugin::StatusCode::Internal;
  std::string method;
  bool lasting = false;
};

class Plan {
 public:
  void arm(Fault fault);

  // Ends the fault. The name of the method that failed first; empty when there were fewer calls.
  std::string disarm();

  // While held, events and streams of the device do not become complete: questions are answered with no,
  // waits with Unavailable when their time is over.
  void hold(int device);
  void release();

  // Objects that were made and not destroyed, of one device (-1: of all).
  int64_t alive(Object object, int device) const;

  // For the plugin: asked at every call. Not ok: this call fails.
  backplane::plugin::Status call(int device, const char* method) noexcept;
  bool lost(int device) const noexcept;  // whether a lasting fault has begun

  // Waits while the device is held; false when that took longer than `timeout_ns`.
  bool pass(int device, uint64_t timeout_ns) noexcept;

  void count(Object object, int device, int64_t change) noexcept;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool armed_ = false;
  Fault fault_;
  uint64_t calls_ = 0;
  std::string failed_;
  int held_ = -1;
  std::vector<std::array<int64_t, kObjects>> alive_;
};

// The one plan of this process.
Plan& plan();

}  // namespace faults

#endif  // BACKPLANE_TESTS_FAULTS_PLAN_H_
