// SPDX-License-Identifier: Apache-2.0
#include "routes.h"

#include <algorithm>
#include <chrono>

namespace backplane::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kSmallBytes = 4 << 10;
constexpr uint64_t kLargeBytes = 64 << 20;
constexpr uint64_t kLeastLarge = 1 << 20;
constexpr std::chrono::milliseconds kTime{100};  // for one size
constexpr size_t kFewest = 5, kMost = 1000;      // copies of one size

double copy_once(const Tensor& source, const Device& destination) {
  const auto start = Clock::now();
  const Tensor copy = source.copy_to(destination);
  source.device().synchronize();
  destination.synchronize();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Speed measure_size(const Device& from, const Device& to, uint64_t bytes) {
  const Tensor source = empty({static_cast<int64_t>(bytes / sizeof(float))}, float32, from);
  source.copy_from_host(std::vector<float>(bytes / sizeof(float)).data(), bytes);  // touches every page
  copy_once(source, to);  // makes the pages and the route ready
  std::vector<double> seconds;
  const auto start = Clock::now();
  while (seconds.size() < kFewest || (seconds.size() < kMost && Clock::now() - start < kTime))
    seconds.push_back(copy_once(source, to));
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<ptrdiff_t>(seconds.size() / 2),
                   seconds.end());
  return {bytes, std::max(seconds[seconds.size() / 2], 1e-9)};
}

// As large as both devices have room for.
Speed measure_large(const Device& from, const Device& to) {
  for (uint64_t bytes = kLargeBytes;; bytes /= 2) {
    try {
      return measure_size(from, to, bytes);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::OutOfMemory || bytes <= kLeastLarge) throw;
    }
  }
}

RouteEntry find(const Device& from, const Device& to) {
  RouteEntry entry{from.name(), to.name(), {}, {}, {}, {}};
  try {
    const Route route = Runtime::get().route(from, to);
    entry.kind = route.kind;
    entry.reason = route.reason;
  } catch (const std::exception& error) {
    entry.reason = error.what();
  }
  return entry;
}

}  // namespace

std::vector<RouteEntry> find_routes() {
  std::vector<RouteEntry> routes;
  const std::vector<Device> all = devices();
  for (const Device& from : all)
    for (const Device& to : all) routes.push_back(find(from, to));
  return routes;
}

void measure(std::vector<RouteEntry>& routes, const Progress& progress) {
  size_t done = 0;
  for (RouteEntry& route : routes) {
    progress(done++, routes.size(), route.source + " to " + route.destination);
    if (!route.kind) continue;
    try {
      const Device from(route.source), to(route.destination);
      route.small = measure_size(from, to, kSmallBytes);
      route.large = measure_large(from, to);
      from.empty_cache();
      to.empty_cache();
    } catch (const std::exception& error) {
      route.reason += std::string("; not measured: ") + error.what();
    }
  }
  progress(routes.size(), routes.size(), "");
}

}  // namespace backplane::tools
