// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_PLUGINS_CUDA_POLL_H_
#define BACKPLANE_PLUGINS_CUDA_POLL_H_

#include <algorithm>
#include <chrono>
#include <thread>

#include "error.h"

namespace backplane::cuda {

// Longer than this is for ever, and safe to add to a clock.
inline constexpr uint64_t kLongestTimeout = uint64_t{1} << 60;

inline Status timed_out(const char* what, uint64_t timeout_ns) noexcept {
  return make_status(StatusCode::Unavailable, 0, "%s was not complete after %.3f ms", what,
                     static_cast<double>(timeout_ns) * 1e-6);
}

// Asks `query(&complete)` until it says complete or fails, at most `timeout_ns`: the driver has no wait with
// a timeout.
template <typename Query>
Status poll(uint64_t timeout_ns, const char* what, Query query) noexcept {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::nanoseconds(std::min(timeout_ns, kLongestTimeout));
  std::chrono::microseconds pause{1};
  for (;;) {
    bool complete = false;
    BACKPLANE_TRY(query(&complete));
    if (complete) return kOk;
    if (Clock::now() >= deadline) return timed_out(what, timeout_ns);
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds{100});
  }
}

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_POLL_H_
