// SPDX-License-Identifier: Apache-2.0
//
// Everything that backplane-ls shows, taken at one moment. What is not known is empty, never zero.
#ifndef BACKPLANE_TOOLS_LS_SNAPSHOT_H_
#define BACKPLANE_TOOLS_LS_SNAPSHOT_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backplane/backplane.h"
#include "routes.h"

namespace backplane::tools {

struct DeviceEntry {
  std::string name;
  std::string plugin;
  std::string plugin_version;
  int index = 0;
  DeviceKind kind = DeviceKind::Cpu;
  std::string hardware;
  std::vector<std::string> types;  // that kernels compute with
  bool denormals = false;
  std::vector<std::string> same_hardware;  // other devices that reach it

  std::optional<std::string> vendor, driver_version, api_version, architecture, pci_address, uuid,
      source_language;
  std::optional<uint64_t> units, clock_mhz, memory_total, largest_allocation;
  std::optional<int64_t> numa_node;

  std::optional<uint64_t> memory_used, memory_free, memory_process, current_clock_mhz, memory_clock_mhz,
      ecc_errors;
  std::optional<int64_t> performance_state;
  std::optional<double> utilization, fan;  // 0..1
  std::optional<double> temperature_celsius, power_watts, power_limit_watts;

  std::vector<DeviceProcess> processes;
  std::string problem;  // why nothing could be asked, if so
};

struct Snapshot {
  std::string version;
  std::vector<std::filesystem::path> folders;
  std::vector<DeviceEntry> devices;
  std::vector<FileReport> files;
  std::vector<PluginNote> notes;
  std::vector<RouteEntry> routes;  // where asked for
};

// Asks every device. A device that cannot be asked is listed with the reason. Blocks for a fifth of a second,
// as a load is measured between two queries.
Snapshot take_snapshot();

}  // namespace backplane::tools

#endif  // BACKPLANE_TOOLS_LS_SNAPSHOT_H_
