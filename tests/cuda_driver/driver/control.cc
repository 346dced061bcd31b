// SPDX-License-Identifier: Apache-2.0
#include "driver/control.h"

#include <algorithm>

#include "driver/call.h"

using namespace cuda_double;

CUDA_DOUBLE_API size_t cudaDoubleReportCount() { return reports().size(); }

CUDA_DOUBLE_API const char* cudaDoubleReport(size_t i) {
  thread_local std::string text;
  const auto all = reports();
  if (i >= all.size()) return nullptr;
  text = all[i];
  return text.c_str();
}

CUDA_DOUBLE_API void cudaDoubleClearReports() { clear_reports(); }

CUDA_DOUBLE_API uint64_t cudaDoubleBytesInUse(int device) {
  const auto& devices = driver().devices;
  return device >= 0 && device < static_cast<int>(devices.size())
             ? devices[static_cast<size_t>(device)]->in_use.load()
             : 0;
}

CUDA_DOUBLE_API void cudaDoubleFail(const char* rules) {
  auto parsed = parse_faults(rules == nullptr ? "" : rules);
  const std::lock_guard lock(driver().mutex);
  driver().config.faults = std::move(parsed);
  driver().calls.clear();
}

CUDA_DOUBLE_API void cudaDoublePeerZeros(const char* pairs) {
  auto parsed = parse_pairs(pairs == nullptr ? "" : pairs, static_cast<int>(driver().devices.size()));
  const std::lock_guard lock(driver().mutex);
  driver().config.peer_zeros = std::move(parsed);
}

CUDA_DOUBLE_API uint64_t cudaDoubleCallCount(const char* function) {
  const std::lock_guard lock(driver().mutex);
  const auto found = driver().calls.find(function);
  return found == driver().calls.end() ? 0 : found->second;
}

CUDA_DOUBLE_API void cudaDoubleCheck(int uninitialized, int races) {
  const std::lock_guard lock(driver().mutex);
  driver().config.check_uninitialized = uninitialized != 0;
  driver().config.check_races = races != 0;
}

CUDA_DOUBLE_API void cudaDoubleDelay(uint32_t microseconds, uint64_t seed) {
  const std::lock_guard lock(driver().mutex);
  driver().config.delay_us = microseconds;
  driver().config.seed = seed;
}

CUDA_DOUBLE_API uint64_t cudaDoubleBytesInUseByNumber(int number) {
  for (const auto& device : driver().devices) {
    if (device->config.number == number) return device->in_use;
  }
  return 0;
}
