// SPDX-License-Identifier: Apache-2.0
// What the environment asks of the test double. README.md describes every variable.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cuda_double {

struct DeviceConfig {
  std::string name;
  uint32_t pci_domain = 0, pci_bus = 1, pci_device = 0;
  uint8_t uuid[16] = {};
  uint64_t memory = 4ull << 30;  // bytes
  int major = 8, minor = 0;      // compute capability
  int number = 0;                // position before CUDA_VISIBLE_DEVICES
};

struct FaultRule {
  std::string function;
  uint64_t call = 1;  // 1: the first; 0: every call
  int code = 0;
  bool sticky = false;
};

struct StickyRule {
  int device = 0;
  uint64_t launch = 1;  // the launch that kills the device
  int code = 719;
};

struct Config {
  std::vector<DeviceConfig> devices;  // those visible
  int driver_version = 13000;
  std::vector<std::pair<int, int>> peers;       // ordered pairs that can access each other
  std::vector<std::pair<int, int>> peer_zeros;  // pairs whose peer copies write zeros: from, to
  std::vector<FaultRule> faults;
  std::vector<StickyRule> sticky;
  uint64_t seed = 0;
  uint32_t delay_us = 0;  // most, before each piece of a stream's work
  bool check_uninitialized = false;
  bool check_races = false;
  uint64_t instruction_limit = 0;
  std::string report_file;
  int init_error = 0;
};

// Malformed variables end the process with a message: a test must not run on other devices than it asked for.
Config read_config();
// The devices without regard to CUDA_VISIBLE_DEVICES, as configured.
std::vector<DeviceConfig> read_all_devices();
std::string uuid_text(const DeviceConfig& device);  // GPU-xxxxxxxx-xxxx-…
std::vector<FaultRule> parse_faults(const std::string& text);
std::vector<std::pair<int, int>> parse_pairs(const std::string& text, int devices);

}  // namespace cuda_double
