// SPDX-License-Identifier: Apache-2.0
// Formats: Linux's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/{memory,cpusets}.rst.
#include <sstream>

#include "cpu/host.h"
#include "cpu/host_files.h"

namespace backplane::cpu {
namespace {

// Version 1 says "no limit" by a number near 2^63.
constexpr uint64_t kNoLimit = uint64_t{1} << 60;

template <typename T>
void keep_smallest(std::optional<T>& best, T value) {
  if (!best || value < *best) best = value;
}

// The value of a line "key number" in a flat file such as memory.stat.
uint64_t stat_value(const std::string& path, const std::string& key) {
  std::istringstream words(read_text(path).value_or(""));
  std::string name;
  uint64_t value = 0;
  while (words >> name >> value) {
    if (name == key) return value;
  }
  return 0;
}

// One group's memory: its limit, and the room left when file caches are given back.
void add_memory(CgroupLimits& limits, const std::string& folder, const char* limit_file,
                const char* usage_file, const char* cache_key) {
  const auto limit = read_number(folder + limit_file);
  const auto usage = read_number(folder + usage_file);
  if (!limit || *limit < 0 || static_cast<uint64_t>(*limit) >= kNoLimit) return;
  const uint64_t bytes = static_cast<uint64_t>(*limit);
  keep_smallest(limits.memory_limit, bytes);
  if (!usage) return;
  const uint64_t cache = stat_value(folder + "/memory.stat", cache_key);
  const uint64_t used = static_cast<uint64_t>(*usage) > cache ? static_cast<uint64_t>(*usage) - cache : 0;
  keep_smallest(limits.memory_room, bytes > used ? bytes - used : 0);
}

void add_quota(CgroupLimits& limits, double quota, double period) {
  if (quota > 0 && period > 0) keep_smallest(limits.cores, quota / period);
}

void add_version2(CgroupLimits& limits, const std::string& folder) {
  add_memory(limits, folder, "/memory.max", "/memory.current", "inactive_file");
  double quota = 0;
  double period = 0;
  if (std::sscanf(read_text(folder + "/cpu.max").value_or("").c_str(), "%lf %lf", &quota, &period) == 2) {
    add_quota(limits, quota, period);
  }
}

void add_version1_memory(CgroupLimits& limits, const std::string& folder) {
  add_memory(limits, folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file");
}

void add_version1_cpu(CgroupLimits& limits, const std::string& folder) {
  const auto quota = read_number(folder + "/cpu.cfs_quota_us");
  const auto period = read_number(folder + "/cpu.cfs_period_us");
  if (quota && period) add_quota(limits, static_cast<double>(*quota), static_cast<double>(*period));
}

// Calls `add` for the group at `path` below `mount` and for each of its ancestors. In a container the path
// may be the host's, of which only the mount's own top is visible; folders that are not there add nothing.
void visit_ancestors(CgroupLimits& limits, const std::string& mount, std::string path,
                     void (*add)(CgroupLimits&, const std::string&)) {
  while (!path.empty() && path != "/") {
    add(limits, mount + path);
    path.erase(path.find_last_of('/'));
  }
  add(limits, mount);
}

bool has_controller(const std::string& list, const std::string& name) {
  return ("," + list + ",").find("," + name + ",") != std::string::npos;
}

}  // namespace

CgroupLimits read_cgroup_limits(const std::string& root) {
  CgroupLimits limits;
  const std::string mount = root + "/sys/fs/cgroup";
  std::istringstream lines(read_text(root + "/proc/self/cgroup").value_or(""));
  // "0::/path" is version 2, "5:cpu,cpuacct:/path" version 1; both may be there.
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      visit_ancestors(limits, mount, path, add_version2);
      visit_ancestors(limits, mount + "/unified", path, add_version2);
    }
    if (has_controller(controllers, "memory")) {
      visit_ancestors(limits, mount + "/memory", path, add_version1_memory);
    }
    if (has_controller(controllers, "cpu")) {
      visit_ancestors(limits, mount + "/cpu", path, add_version1_cpu);
      visit_ancestors(limits, mount + "/" + controllers, path, add_version1_cpu);
    }
  }
  return limits;
}

}  // namespace backplane::cpu
