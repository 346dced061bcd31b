// SPDX-License-Identifier: Apache-2.0
#include "cpu/host.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "cpu/host_files.h"

namespace backplane::cpu {
namespace {

std::string trim(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  const size_t end = text.find_last_not_of(" \t\n");
  return begin == std::string::npos ? std::string() : text.substr(begin, end - begin + 1);
}

// "key : value" lines up to the first empty one, which is where /proc/cpuinfo's first processor ends.
std::map<std::string, std::string> read_fields(const std::string& path) {
  std::map<std::string, std::string> fields;
  std::istringstream lines(read_text(path).value_or(""));
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    const size_t colon = line.find(':');
    if (colon != std::string::npos) fields[trim(line.substr(0, colon))] = trim(line.substr(colon + 1));
  }
  return fields;
}

std::string first_of(const std::map<std::string, std::string>& fields,
                     std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const auto found = fields.find(key); found != fields.end() && !found->second.empty())
      return found->second;
  }
  return {};
}

// Kernel's names for makers, to the names people use.
std::string maker(const std::string& vendor_id) {
  static constexpr struct {
    const char* id;
    const char* name;
  } kMakers[] = {{"GenuineIntel", "Intel"}, {"AuthenticAMD", "AMD"}, {"HygonGenuine", "Hygon"},
                 {"0x41", "Arm"},           {"0xc0", "Ampere"},      {"0x61", "Apple"},
                 {"0x4e", "NVIDIA"}};
  for (const auto& row : kMakers) {
    if (vendor_id == row.id) return row.name;
  }
  return vendor_id;
}

// "0-3,8" as numbers.
std::vector<int> parse_list(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream ranges(text);
  for (std::string range; std::getline(ranges, range, ',');) {
    int first = 0;
    int last = 0;
    const int count = std::sscanf(range.c_str(), "%d-%d", &first, &last);
    if (count < 1) continue;
    for (int i = first; i <= (count == 2 ? last : first); ++i) numbers.push_back(i);
  }
  return numbers;
}

// Bytes of a line "MemTotal:  12 kB" of /proc/meminfo.
std::optional<uint64_t> meminfo(const std::string& text, const char* key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(text.c_str() + at + std::char_traits<char>::length(key), nullptr, 10) * 1024;
}

}  // namespace

Processor read_processor(const std::string& root) {
  const auto fields = read_fields(root + "/proc/cpuinfo");
  Processor processor;
  processor.model = first_of(fields, {"model name", "Model", "Hardware", "cpu model"});
  if (processor.model.empty()) {
    processor.model = trim(read_text(root + "/sys/firmware/devicetree/base/model").value_or("CPU"));
  }
  processor.vendor = maker(first_of(fields, {"vendor_id", "CPU implementer"}));
  processor.features = first_of(fields, {"flags", "Features"});
  if (const auto khz = read_number(root + "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")) {
    processor.clock_mhz = static_cast<uint32_t>(*khz / 1000);
  } else if (const double mhz = std::atof(first_of(fields, {"cpu MHz"}).c_str()); mhz > 0) {
    processor.clock_mhz = static_cast<uint32_t>(std::lround(mhz));
  }
  return processor;
}

std::vector<int> allowed_cores() {
  // Machines may have more cores than a cpu_set_t holds; the kernel says so by EINVAL.
  for (int capacity = CPU_SETSIZE; capacity <= 1 << 20; capacity *= 2) {
    cpu_set_t* const set = CPU_ALLOC(capacity);
    if (set == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(capacity);
    std::vector<int> cores;
    if (sched_getaffinity(0, bytes, set) == 0) {
      for (int i = 0; i < capacity; ++i) {
        if (CPU_ISSET_S(i, bytes, set)) cores.push_back(i);
      }
    }
    CPU_FREE(set);
    if (!cores.empty()) return cores;
  }
  std::vector<int> all(static_cast<size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  return all;
}

int usable_cores(const std::string& root) {
  const int allowed = static_cast<int>(allowed_cores().size());
  const auto quota = read_cgroup_limits(root).cores;
  if (!quota) return allowed;
  return std::clamp(static_cast<int>(std::ceil(*quota - 1e-9)), 1, allowed);
}

std::optional<int> numa_node(const std::vector<int>& cores, const std::string& root) {
  const std::string nodes = root + "/sys/devices/system/node";
  for (const int node : parse_list(read_text(nodes + "/online").value_or(""))) {
    const auto members =
        parse_list(read_text(nodes + "/node" + std::to_string(node) + "/cpulist").value_or(""));
    const bool all = std::all_of(cores.begin(), cores.end(), [&](int core) {
      return std::find(members.begin(), members.end(), core) != members.end();
    });
    if (all && !cores.empty()) return node;
  }
  return std::nullopt;
}

std::optional<MemoryState> read_memory(const std::string& root) {
  const auto text = read_text(root + "/proc/meminfo");
  if (!text) return std::nullopt;
  const auto total = meminfo(*text, "MemTotal:");
  // Kernels before 3.14 do not say what is available.
  const auto available = meminfo(*text, "MemAvailable:").has_value() ? meminfo(*text, "MemAvailable:")
                                                                     : meminfo(*text, "MemFree:");
  if (!total || !available) return std::nullopt;
  MemoryState state{*total, *available, 0};
  const CgroupLimits limits = read_cgroup_limits(root);
  if (limits.memory_limit) state.total = std::min(state.total, *limits.memory_limit);
  if (limits.memory_room) state.available = std::min(state.available, *limits.memory_room);
  unsigned long long pages = 0;
  if (std::sscanf(read_text(root + "/proc/self/statm").value_or("").c_str(), "%*u %llu", &pages) == 1) {
    state.process = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  return state;
}

std::optional<ProcessorTime> read_processor_time(const std::vector<int>& cores, const std::string& root) {
  std::istringstream lines(read_text(root + "/proc/stat").value_or(""));
  ProcessorTime time;
  for (std::string line; std::getline(lines, line);) {
    int core = -1;
    // user nice system idle iowait irq softirq steal
    unsigned long long ticks[8] = {};
    const int count =
        std::sscanf(line.c_str(), "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &core, &ticks[0],
                    &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]);
    if (count < 5 || std::find(cores.begin(), cores.end(), core) == cores.end()) continue;
    for (int i = 0; i < 8; ++i) {
      time.total += ticks[i];
      if (i != 3 && i != 4) time.busy += ticks[i];
    }
  }
  if (time.total == 0) return std::nullopt;
  return time;
}

}  // namespace backplane::cpu
