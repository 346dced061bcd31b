// SPDX-License-Identifier: Apache-2.0
//
// What the operating system says about this machine's processor and memory. Each answer is optional where the
// kernel may not show it; nothing here fails. `root` is where /proc and /sys are looked for: empty, but in
// tests.
#ifndef BACKPLANE_CPU_HOST_H_
#define BACKPLANE_CPU_HOST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace backplane::cpu {

struct Processor {
  std::string model;
  std::string vendor;
  std::string features;               // the kernel's names of instruction set extensions, space-separated
  std::optional<uint32_t> clock_mhz;  // highest
};
Processor read_processor(const std::string& root = "");

// The cores that this thread's affinity mask allows, by number.
std::vector<int> allowed_cores();

// How many threads make sense: the allowed cores, or fewer where a cgroup's quota gives less time than that.
int usable_cores(const std::string& root = "");

// The one NUMA node that all of `cores` belong to.
std::optional<int> numa_node(const std::vector<int>& cores, const std::string& root = "");

// What the cgroups (version 1 or 2) that this process is in allow; the tightest of the process's own group
// and its ancestors.
struct CgroupLimits {
  std::optional<uint64_t> memory_limit;  // bytes
  std::optional<uint64_t> memory_room;   // bytes until the tightest limit, file caches counted as free
  std::optional<double> cores;           // of processor time
};
CgroupLimits read_cgroup_limits(const std::string& root = "");

struct MemoryState {
  uint64_t total = 0;      // bytes; the smaller of the machine's and the cgroup's
  uint64_t available = 0;  // bytes that could be used without swapping or being killed
  uint64_t process = 0;    // bytes resident in this process
};
std::optional<MemoryState> read_memory(const std::string& root = "");

// Processor time since boot over `cores`, in the kernel's ticks.
struct ProcessorTime {
  uint64_t busy = 0;
  uint64_t total = 0;
};
std::optional<ProcessorTime> read_processor_time(const std::vector<int>& cores, const std::string& root = "");

std::optional<double> read_temperature_celsius(const std::string& root = "");
std::optional<uint32_t> read_current_clock_mhz(const std::string& root = "");

// Energy counters of all processor packages (RAPL), where this user may read them.
struct Energy {
  double joules = 0;       // since an arbitrary moment
  double wraps_after = 0;  // joules after which the counter starts again; 0 if unknown
};
std::optional<Energy> read_energy(const std::string& root = "");
std::optional<double> read_power_limit_watts(const std::string& root = "");

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_HOST_H_
