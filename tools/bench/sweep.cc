// SPDX-License-Identifier: Apache-2.0
#include "sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "ls/progress.h"
#include "works.h"

namespace backplane::bench {
namespace {

struct Progress {
  size_t total;
  size_t done = 0;
};

bool wanted(const Sweep& sweep, const Work& work, DType type) {
  const auto& families = sweep.families;
  return work.takes(type) &&
         (families.empty() || std::find(families.begin(), families.end(), work.family) != families.end());
}

// Three operands and as much again for what the work itself needs.
bool fits(const Device& device, DType type, int64_t size) {
  const DeviceProperties& properties = device.properties();
  if ((properties.has & plugin::kHasMemoryTotal) == 0) return true;
  return static_cast<uint64_t>(size) * std::max<uint64_t>(4, size_of(type)) * 6 < properties.memory_total;
}

// The first line of what was thrown: kernels that do not build bring their log.
std::string reason_of(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

void measure_one(const Device& device, const Work& work, DType type, int64_t size, const Sweep& sweep,
                 Results& results) {
  const Prepared prepared = work.prepare(device, type, size);
  const Timing time = measure(
      prepared.run, [&] { device.synchronize(); }, sweep.effort);
  results.rows.push_back({device.name(), work.family, work.name, to_string(type), size, prepared.bytes,
                          prepared.operations, time});
}

void measure_sizes(const Device& device, const Work& work, DType type, const Sweep& sweep, Progress& progress,
                   Results& results) {
  std::string reason;
  for (const int64_t size : sweep.sizes) {
    tools::draw_progress(
        progress.done++, progress.total,
        fmt::format("{} {} {} {}", device.name(), work.name, to_string(type), readable_size(size)));
    if (!reason.empty()) continue;  // the larger sizes fail likewise
    if (!fits(device, type, size)) {
      reason = fmt::format("from {} elements on: the device's memory is too small", readable_size(size));
      continue;
    }
    try {
      measure_one(device, work, type, size, sweep, results);
    } catch (const Error& error) {
      reason = reason_of(error);
    }
  }
  if (!reason.empty())
    results.skipped.push_back(fmt::format("{} {} {}: {}", device.name(), work.name, to_string(type), reason));
  device.empty_cache();
}

}  // namespace

void run(const Sweep& sweep, Results& results) {
  Progress progress{0};
  for (const DType type : sweep.types)
    progress.total +=
        sweep.devices.size() * sweep.sizes.size() *
        static_cast<size_t>(std::count_if(works().begin(), works().end(),
                                          [&](const Work& work) { return wanted(sweep, work, type); }));
  for (const Device& device : sweep.devices)
    for (const DType type : sweep.types)
      for (const Work& work : works())
        if (wanted(sweep, work, type)) measure_sizes(device, work, type, sweep, progress, results);
  tools::draw_progress(progress.total, progress.total, "");
}

}  // namespace backplane::bench
