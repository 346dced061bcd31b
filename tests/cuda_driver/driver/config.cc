// SPDX-License-Identifier: Apache-2.0
#include "driver/config.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>

namespace cuda_double {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

[[noreturn]] void malformed(const std::string& what, const std::string& value) {
  std::fprintf(stderr, "CUDA test double: malformed %s: '%s'\n", what.c_str(), value.c_str());
  std::exit(97);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (size_t start = 0;;) {
    const size_t end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string::npos) return parts;
    start = end + 1;
  }
}

uint64_t number(const char* name, uint64_t fallback) {
  const std::string text = variable(name);
  if (text.empty()) return fallback;
  char* end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 0);
  if (*end != '\0') malformed(name, text);
  return value;
}

bool flag(const char* name) {
  const std::string text = variable(name);
  return !text.empty() && text != "0" && text != "false";
}

uint64_t bytes(const std::string& text) {
  char* end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 10);
  switch (*end) {
    case '\0':
      return value;
    case 'K':
      return value << 10;
    case 'M':
      return value << 20;
    case 'G':
      return value << 30;
    default:
      malformed("CUDA_DOUBLE_MEMORY", text);
  }
}

// The i-th entry, or the last one: one value serves every device.
template <class Apply>
void for_each_device(const char* name, char separator, std::vector<DeviceConfig>& devices, bool repeat,
                     Apply apply) {
  const auto entries = split(variable(name), separator);
  for (size_t i = 0; i < devices.size() && !entries.empty(); ++i) {
    if (i >= entries.size() && !repeat) break;
    apply(devices[i], entries[std::min(i, entries.size() - 1)]);
  }
}

void parse_uuid(DeviceConfig& device, const std::string& text) {
  std::string digits;
  for (const char c : text.rfind("GPU-", 0) == 0 ? text.substr(4) : text) {
    if (c != '-') digits += c;
  }
  if (digits.size() != 32) malformed("CUDA_DOUBLE_UUID", text);
  for (size_t i = 0; i < 16; ++i)
    device.uuid[i] = static_cast<uint8_t>(std::strtoul(digits.substr(2 * i, 2).c_str(), nullptr, 16));
}

bool earlier_on_bus(const DeviceConfig& a, const DeviceConfig& b) {
  return std::tie(a.pci_domain, a.pci_bus, a.pci_device) < std::tie(b.pci_domain, b.pci_bus, b.pci_device);
}

// As the CUDA programming guide says: the first entry that names no device ends the list.
std::vector<DeviceConfig> visible(std::vector<DeviceConfig> devices) {
  if (variable("CUDA_DEVICE_ORDER") == "PCI_BUS_ID")
    std::stable_sort(devices.begin(), devices.end(), earlier_on_bus);
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list == nullptr) return devices;
  std::vector<DeviceConfig> chosen;
  for (const std::string& entry : split(list, ',')) {
    char* end = nullptr;
    const long index = std::strtol(entry.c_str(), &end, 10);
    if (!entry.empty() && *end == '\0') {
      if (index < 0 || index >= static_cast<long>(devices.size())) break;
      chosen.push_back(devices[static_cast<size_t>(index)]);
      continue;
    }
    const auto match = std::find_if(devices.begin(), devices.end(), [&](const DeviceConfig& device) {
      return entry.size() > 4 && uuid_text(device).rfind(entry, 0) == 0;
    });
    if (match == devices.end()) break;
    chosen.push_back(*match);
  }
  return chosen;
}

std::vector<StickyRule> parse_sticky(const std::string& text) {
  std::vector<StickyRule> rules;
  for (const std::string& entry : split(text, ',')) {
    StickyRule rule;
    unsigned long long launch = 0;
    if (std::sscanf(entry.c_str(), "%d:%llu:%d", &rule.device, &launch, &rule.code) < 2)
      malformed("CUDA_DOUBLE_STICKY", entry);
    rule.launch = launch;
    rules.push_back(rule);
  }
  return rules;
}

}  // namespace

std::string uuid_text(const DeviceConfig& device) {
  std::string text = "GPU-";
  char buffer[4];
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::snprintf(buffer, sizeof buffer, "%02x", device.uuid[i]);
    text += buffer;
  }
  return text;
}

std::vector<DeviceConfig> read_all_devices() {
  std::vector<DeviceConfig> devices(number("CUDA_DOUBLE_DEVICES", 1));
  for (size_t i = 0; i < devices.size(); ++i) {
    devices[i].name = "CUDA test double";
    devices[i].number = static_cast<int>(i);
    devices[i].pci_bus = static_cast<uint32_t>(i + 1);
    std::memcpy(devices[i].uuid, "test-double-uuid", 16);
    devices[i].uuid[15] = static_cast<uint8_t>(i);
  }
  for_each_device("CUDA_DOUBLE_NAMES", ';', devices, true, [](DeviceConfig& device, const std::string& text) {
    device.name = text + (text.find("test double") == std::string::npos ? " (test double)" : "");
  });
  for_each_device("CUDA_DOUBLE_MEMORY", ',', devices, true,
                  [](DeviceConfig& device, const std::string& text) { device.memory = bytes(text); });
  for_each_device("CUDA_DOUBLE_CAPABILITY", ',', devices, true,
                  [](DeviceConfig& device, const std::string& text) {
                    if (std::sscanf(text.c_str(), "%d.%d", &device.major, &device.minor) != 2)
                      malformed("CUDA_DOUBLE_CAPABILITY", text);
                  });
  for_each_device("CUDA_DOUBLE_PCI", ',', devices, false, [](DeviceConfig& device, const std::string& text) {
    if (std::sscanf(text.c_str(), "%x:%x:%x", &device.pci_domain, &device.pci_bus, &device.pci_device) != 3)
      malformed("CUDA_DOUBLE_PCI", text);
  });
  for_each_device("CUDA_DOUBLE_UUID", ',', devices, false, parse_uuid);
  return devices;
}

std::vector<FaultRule> parse_faults(const std::string& text) {
  std::vector<FaultRule> rules;
  for (const std::string& entry : split(text, ',')) {
    const auto fields = split(entry, ':');
    if (fields.size() < 3 || fields.size() > 4) malformed("CUDA_DOUBLE_FAIL", entry);
    FaultRule rule;
    rule.function = fields[0];
    rule.call = fields[1] == "*" ? 0 : std::strtoull(fields[1].c_str(), nullptr, 10);
    rule.code = std::atoi(fields[2].c_str());
    rule.sticky = fields.size() == 4 && fields[3] == "sticky";
    if (rule.code == 0 || (fields.size() == 4 && !rule.sticky)) malformed("CUDA_DOUBLE_FAIL", entry);
    rules.push_back(rule);
  }
  return rules;
}

std::vector<std::pair<int, int>> parse_pairs(const std::string& text, int devices) {
  std::vector<std::pair<int, int>> pairs;
  if (text == "all") {
    for (int i = 0; i < devices; ++i) {
      for (int j = 0; j < devices; ++j) {
        if (i != j) pairs.emplace_back(i, j);
      }
    }
    return pairs;
  }
  if (text == "none") return pairs;
  for (const std::string& entry : split(text, ',')) {
    int from = 0, to = 0;
    if (std::sscanf(entry.c_str(), "%d-%d", &from, &to) != 2) malformed("list of device pairs", entry);
    pairs.emplace_back(from, to);
  }
  return pairs;
}

Config read_config() {
  Config config;
  config.devices = visible(read_all_devices());
  const int count = static_cast<int>(config.devices.size());
  const std::string peers = variable("CUDA_DOUBLE_PEERS");
  config.peers = parse_pairs(peers.empty() ? "all" : peers, count);
  config.peer_zeros = parse_pairs(variable("CUDA_DOUBLE_PEER_ZEROS"), count);
  config.faults = parse_faults(variable("CUDA_DOUBLE_FAIL"));
  config.sticky = parse_sticky(variable("CUDA_DOUBLE_STICKY"));
  config.driver_version = static_cast<int>(number("CUDA_DOUBLE_DRIVER_VERSION", 13000));
  config.seed = number("CUDA_DOUBLE_SEED", 0);
  config.delay_us = static_cast<uint32_t>(number("CUDA_DOUBLE_DELAY_US", 0));
  config.check_uninitialized = flag("CUDA_DOUBLE_CHECK_UNINITIALIZED");
  config.check_races = flag("CUDA_DOUBLE_CHECK_RACES");
  config.instruction_limit = number("CUDA_DOUBLE_LIMIT", 1ull << 32);
  config.report_file = variable("CUDA_DOUBLE_REPORT");
  config.init_error = static_cast<int>(number("CUDA_DOUBLE_INIT_ERROR", 0));
  return config;
}

}  // namespace cuda_double
