// SPDX-License-Identifier: Apache-2.0
//
// How bytes get from each device to each, and how fast.
#ifndef BACKPLANE_TOOLS_LS_ROUTES_H_
#define BACKPLANE_TOOLS_LS_ROUTES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backplane/backplane.h"

namespace backplane::tools {

// Copies of one size, each waited for: the median.
struct Speed {
  uint64_t bytes = 0;
  double seconds = 0;

  double bytes_per_second() const { return static_cast<double>(bytes) / seconds; }
};

// One ordered pair of devices.
struct RouteEntry {
  std::string source;
  std::string destination;
  std::optional<RouteKind> kind;  // empty where the devices cannot be asked
  std::string reason;             // for this way, or why there is none
  std::optional<Speed> small;     // both only when measured
  std::optional<Speed> large;
};

// Called before each of `total` measurements, and once after the last with done == total.
using Progress = std::function<void(size_t done, size_t total, const std::string& what)>;

// Every ordered pair, a device to itself included, in the order of devices(). Opens them, and runs the
// first-use checks of peer copies.
std::vector<RouteEntry> find_routes();

// Measures every route: some tenths of a second each.
void measure(std::vector<RouteEntry>& routes, const Progress& progress);

}  // namespace backplane::tools

#endif  // BACKPLANE_TOOLS_LS_ROUTES_H_
