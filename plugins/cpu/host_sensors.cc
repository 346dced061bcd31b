// SPDX-License-Identifier: Apache-2.0
// Formats: Linux's Documentation/hwmon/sysfs-interface.rst, driver-api/thermal/sysfs-api.rst and
// power/powercap/powercap.rst.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "cpu/host.h"
#include "cpu/host_files.h"

namespace backplane::cpu {
namespace {

bool is_one_of(std::string name, std::initializer_list<const char*> names) {
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return std::any_of(names.begin(), names.end(), [&](const char* each) { return name == each; });
}

// Sensors answer in thousandths of a degree; what is no temperature of a running chip is a sensor that lies.
void keep_hottest(std::optional<double>& hottest, std::optional<int64_t> thousandths) {
  if (!thousandths || *thousandths <= -50000 || *thousandths >= 200000 || *thousandths == 0) return;
  const double celsius = static_cast<double>(*thousandths) / 1000;
  hottest = hottest ? std::max(*hottest, celsius) : celsius;
}

std::vector<std::string> rapl_packages(const std::string& root) {
  const std::string powercap = root + "/sys/class/powercap";
  std::vector<std::string> packages;
  for (const std::string& name : list_folder(powercap, "intel-rapl:")) {
    // "intel-rapl:0" is a package, "intel-rapl:0:1" a part of one.
    if (std::count(name.begin(), name.end(), ':') == 1) packages.push_back(powercap + "/" + name);
  }
  return packages;
}

}  // namespace

std::optional<double> read_temperature_celsius(const std::string& root) {
  std::optional<double> hottest;
  const std::string hwmon = root + "/sys/class/hwmon";
  for (const std::string& chip : list_folder(hwmon, "hwmon")) {
    const std::string folder = hwmon + "/" + chip;
    if (!is_one_of(read_text(folder + "/name").value_or(""),
                   {"coretemp", "k10temp", "zenpower", "cpu_thermal"})) {
      continue;
    }
    for (const std::string& file : list_folder(folder, "temp")) {
      if (file.size() > 6 && file.compare(file.size() - 6, 6, "_input") == 0) {
        keep_hottest(hottest, read_number(folder + "/" + file));
      }
    }
  }
  if (hottest) return hottest;
  const std::string thermal = root + "/sys/class/thermal";
  for (const std::string& zone : list_folder(thermal, "thermal_zone")) {
    const std::string folder = thermal + "/" + zone;
    if (is_one_of(read_text(folder + "/type").value_or(""),
                  {"x86_pkg_temp", "cpu-thermal", "cpu_thermal", "soc_thermal"})) {
      keep_hottest(hottest, read_number(folder + "/temp"));
    }
  }
  return hottest;
}

std::optional<uint32_t> read_current_clock_mhz(const std::string& root) {
  int64_t khz = 0;
  const std::string cpus = root + "/sys/devices/system/cpu";
  for (const std::string& cpu : list_folder(cpus, "cpu")) {
    khz = std::max(khz, read_number(cpus + "/" + cpu + "/cpufreq/scaling_cur_freq").value_or(0));
  }
  if (khz > 0) return static_cast<uint32_t>(khz / 1000);
  double mhz = 0;
  std::istringstream lines(read_text(root + "/proc/cpuinfo").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    double value = 0;
    if (std::sscanf(line.c_str(), "cpu MHz : %lf", &value) == 1) mhz = std::max(mhz, value);
  }
  if (mhz <= 0) return std::nullopt;
  return static_cast<uint32_t>(std::lround(mhz));
}

std::optional<Energy> read_energy(const std::string& root) {
  std::optional<Energy> sum;
  for (const std::string& package : rapl_packages(root)) {
    const auto microjoules = read_number(package + "/energy_uj");
    if (!microjoules) continue;
    if (!sum) sum = Energy{};
    sum->joules += static_cast<double>(*microjoules) * 1e-6;
    sum->wraps_after += static_cast<double>(read_number(package + "/max_energy_range_uj").value_or(0)) * 1e-6;
  }
  return sum;
}

std::optional<double> read_power_limit_watts(const std::string& root) {
  std::optional<double> sum;
  for (const std::string& package : rapl_packages(root)) {
    const auto microwatts = read_number(package + "/constraint_0_power_limit_uw");
    if (microwatts && *microwatts > 0) sum = sum.value_or(0) + static_cast<double>(*microwatts) * 1e-6;
  }
  return sum;
}

}  // namespace backplane::cpu
