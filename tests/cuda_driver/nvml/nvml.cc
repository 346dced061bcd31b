// SPDX-License-Identifier: Apache-2.0
// libnvidia-ml.so.1 as a test double. docs/testing-without-a-gpu.md tells what it answers and
// how to make a query fail.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "driver/config.h"
#include "nvml/types.h"

#define NVML_DOUBLE_API extern "C" __attribute__((visibility("default")))

using cuda_double::DeviceConfig;
using namespace nvml_double;

namespace {

struct Card {
  DeviceConfig config;
  int cuda_ordinal = 0;
};

std::atomic<int> initialized{0};

// In the order of their addresses, as NVML has them.
std::vector<Card>& cards() {
  static auto* all = [] {
    auto* list = new std::vector<Card>;
    for (const DeviceConfig& config : cuda_double::read_all_devices())
      list->push_back({config, config.number});
    std::stable_sort(list->begin(), list->end(), [](const Card& a, const Card& b) {
      return std::tie(a.config.pci_domain, a.config.pci_bus, a.config.pci_device) <
             std::tie(b.config.pci_domain, b.config.pci_bus, b.config.pci_device);
    });
    return list;
  }();
  return *all;
}

// NVML_DOUBLE_FAIL is a list `function:code,…`; the code answers every call of that function.
Result asked_failure(const char* function) {
  const char* rules = std::getenv("NVML_DOUBLE_FAIL");
  if (rules == nullptr) return kSuccess;
  const std::string text = std::string(",") + rules;
  const std::string key = std::string(",") + function + ":";
  const size_t found = text.find(key);
  return found == std::string::npos ? kSuccess
                                    : static_cast<Result>(std::atoi(text.c_str() + found + key.size()));
}

Result begin(const char* function) {
  if (const Result failure = asked_failure(function); failure != kSuccess) return failure;
  return initialized > 0 ? kSuccess : kUninitialized;
}

Card* card_of(void* device) {
  auto* card = static_cast<Card*>(device);
  const bool known = card >= cards().data() && card < cards().data() + cards().size();
  return known ? card : nullptr;
}

template <class Body>
int query(const char* function, void* device, Body body) {
  if (const Result state = begin(function); state != kSuccess) return state;
  Card* card = card_of(device);
  if (card == nullptr) return kInvalidArgument;
  return body(*card);
}

int put_text(char* buffer, unsigned length, const std::string& text) {
  if (text.size() + 1 > length) return kInsufficientSize;
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  return kSuccess;
}

// What libcuda.so.1 has handed out in this process; 0 where it is not loaded.
unsigned long long used_by_process(const Card& card) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  const auto count = reinterpret_cast<unsigned long (*)(int)>(dlsym(library, "cudaDoubleBytesInUseByNumber"));
  return count == nullptr ? 0 : count(card.cuda_ordinal);
}

Memory memory_of(const Card& card) {
  Memory memory{card.config.memory, 0, used_by_process(card)};
  memory.free = memory.total - memory.used;
  if (std::getenv("NVML_DOUBLE_FREE_ABOVE_TOTAL") != nullptr) memory.free = memory.total + (1ull << 20);
  return memory;
}

std::string bus_id(const DeviceConfig& config, const char* format) {
  char text[32];
  std::snprintf(text, sizeof text, format, config.pci_domain, config.pci_bus, config.pci_device);
  return text;
}

// This process where it holds memory, and those of NVML_DOUBLE_PROCESSES, `pid:bytes,…`, on every card.
std::vector<ProcessInfo> running_on(const Card& card) {
  std::vector<ProcessInfo> running;
  if (const unsigned long long used = used_by_process(card); used != 0)
    running.push_back({static_cast<unsigned>(getpid()), used, ~0u, ~0u});
  const char* others = std::getenv("NVML_DOUBLE_PROCESSES");
  while (others != nullptr && *others != '\0') {
    char* end = nullptr;
    const auto pid = static_cast<unsigned>(std::strtoul(others, &end, 10));
    running.push_back({pid, *end == ':' ? std::strtoull(end + 1, &end, 10) : 0, ~0u, ~0u});
    others = *end == ',' ? end + 1 : nullptr;
  }
  return running;
}

int processes(void* device, unsigned* count, ProcessInfo* list, const char* function) {
  return query(function, device, [&](Card& card) -> int {
    const std::vector<ProcessInfo> running = running_on(card);
    const unsigned room = *count;
    *count = static_cast<unsigned>(running.size());
    if (room < running.size() || (list == nullptr && !running.empty())) return kInsufficientSize;
    std::copy(running.begin(), running.end(), list);
    return kSuccess;
  });
}

}  // namespace

NVML_DOUBLE_API int nvmlInit_v2() {
  if (const Result failure = asked_failure("nvmlInit_v2"); failure != kSuccess) return failure;
  ++initialized;
  return kSuccess;
}
NVML_DOUBLE_API int nvmlInitWithFlags(unsigned) { return nvmlInit_v2(); }
NVML_DOUBLE_API int nvmlShutdown() {
  if (initialized <= 0) return kUninitialized;
  --initialized;
  return kSuccess;
}

NVML_DOUBLE_API const char* nvmlErrorString(int result) {
  switch (result) {
    case kSuccess:
      return "The operation was successful";
    case kUninitialized:
      return "Uninitialized";
    case kInvalidArgument:
      return "Invalid Argument";
    case kNotSupported:
      return "Not Supported";
    case 4:
      return "Insufficient Permissions";
    case kNotFound:
      return "Not Found";
    case kInsufficientSize:
      return "Insufficient Size";
    case 9:
      return "Driver Not Loaded";
    case 15:
      return "GPU is lost";
    default:
      return "Unknown Error";
  }
}

NVML_DOUBLE_API int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  if (const Result state = begin("nvmlSystemGetDriverVersion"); state != kSuccess) return state;
  return put_text(text, length, "580.00.double");
}
NVML_DOUBLE_API int nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  if (const Result state = begin("nvmlSystemGetNVMLVersion"); state != kSuccess) return state;
  return put_text(text, length, "13.580.00.double");
}
NVML_DOUBLE_API int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (const Result failure = asked_failure("nvmlSystemGetCudaDriverVersion_v2"); failure != kSuccess)
    return failure;
  *version = 13000;
  return kSuccess;
}
NVML_DOUBLE_API int nvmlSystemGetCudaDriverVersion(int* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}
NVML_DOUBLE_API int nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  if (const Result state = begin("nvmlSystemGetProcessName"); state != kSuccess) return state;
  char path[4096];
  const ssize_t size = readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), path, sizeof path);
  return size < 0 ? kNotFound : put_text(name, length, std::string(path, static_cast<size_t>(size)));
}

NVML_DOUBLE_API int nvmlDeviceGetCount_v2(unsigned* count) {
  if (const Result state = begin("nvmlDeviceGetCount_v2"); state != kSuccess) return state;
  *count = static_cast<unsigned>(cards().size());
  return kSuccess;
}

NVML_DOUBLE_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (const Result state = begin("nvmlDeviceGetHandleByIndex_v2"); state != kSuccess) return state;
  if (index >= cards().size()) return kInvalidArgument;
  *device = &cards()[index];
  return kSuccess;
}

NVML_DOUBLE_API int nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** device) {
  if (const Result state = begin("nvmlDeviceGetHandleByPciBusId_v2"); state != kSuccess) return state;
  unsigned domain = 0, bus = 0, slot = 0;
  if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) return kInvalidArgument;
  for (Card& card : cards()) {
    if (card.config.pci_domain != domain || card.config.pci_bus != bus || card.config.pci_device != slot)
      continue;
    *device = &card;
    return kSuccess;
  }
  return kNotFound;
}

NVML_DOUBLE_API int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  if (const Result state = begin("nvmlDeviceGetHandleByUUID"); state != kSuccess) return state;
  for (Card& card : cards()) {
    if (cuda_double::uuid_text(card.config) != uuid) continue;
    *device = &card;
    return kSuccess;
  }
  return kNotFound;
}

NVML_DOUBLE_API int nvmlDeviceGetIndex(void* device, unsigned* index) {
  return query(__func__, device,
               [&](Card& card) { return *index = static_cast<unsigned>(&card - cards().data()), kSuccess; });
}
NVML_DOUBLE_API int nvmlDeviceGetName(void* device, char* text, unsigned length) {
  return query(__func__, device, [&](Card& card) { return put_text(text, length, card.config.name); });
}
NVML_DOUBLE_API int nvmlDeviceGetUUID(void* device, char* text, unsigned length) {
  return query(__func__, device,
               [&](Card& card) { return put_text(text, length, cuda_double::uuid_text(card.config)); });
}
NVML_DOUBLE_API int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* pci) {
  return query(__func__, device, [&](Card& card) {
    *pci = {};
    pci->domain = card.config.pci_domain;
    pci->bus = card.config.pci_bus;
    pci->device = card.config.pci_device;
    put_text(pci->bus_id_legacy, sizeof pci->bus_id_legacy, bus_id(card.config, "%04X:%02X:%02X.0"));
    return put_text(pci->bus_id, sizeof pci->bus_id, bus_id(card.config, "%08X:%02X:%02X.0"));
  });
}
NVML_DOUBLE_API int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  return query(__func__, device, [&](Card& card) { return *memory = memory_of(card), kSuccess; });
}
NVML_DOUBLE_API int nvmlDeviceGetMemoryInfo_v2(void* device, MemoryV2* memory) {
  return query(__func__, device, [&](Card& card) {
    const Memory plain = memory_of(card);
    memory->total = plain.total;
    memory->reserved = 0;
    memory->free = plain.free;
    memory->used = plain.used;
    return kSuccess;
  });
}
NVML_DOUBLE_API int nvmlDeviceGetUtilizationRates(void* device, Utilization* utilization) {
  return query(__func__, device, [&](Card&) { return *utilization = {37, 12}, kSuccess; });
}

// Queries whose answer is one number, the same for every card.
#define NVML_DOUBLE_NUMBER(function, type, value)                                      \
  NVML_DOUBLE_API int function(void* device, type* result) {                           \
    return query(#function, device, [&](Card&) { return *result = value, kSuccess; }); \
  }
#define NVML_DOUBLE_NUMBER_OF(function, type, value)                                   \
  NVML_DOUBLE_API int function(void* device, unsigned, type* result) {                 \
    return query(#function, device, [&](Card&) { return *result = value, kSuccess; }); \
  }

NVML_DOUBLE_NUMBER_OF(nvmlDeviceGetTemperature, unsigned, 41)     // degrees Celsius
NVML_DOUBLE_NUMBER_OF(nvmlDeviceGetClockInfo, unsigned, 1410)     // MHz
NVML_DOUBLE_NUMBER_OF(nvmlDeviceGetMaxClockInfo, unsigned, 1980)  // MHz
NVML_DOUBLE_NUMBER(nvmlDeviceGetFanSpeed, unsigned, 30)           // percent
NVML_DOUBLE_NUMBER(nvmlDeviceGetPerformanceState, int, 2)         // P2
NVML_DOUBLE_NUMBER(nvmlDeviceGetPowerUsage, unsigned, 65000)      // milliwatts
NVML_DOUBLE_NUMBER(nvmlDeviceGetPowerManagementLimit, unsigned, 250000)
NVML_DOUBLE_NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned, 250000)
NVML_DOUBLE_NUMBER(nvmlDeviceGetPersistenceMode, int, 1)
NVML_DOUBLE_NUMBER(nvmlDeviceGetComputeMode, int, 0)
NVML_DOUBLE_NUMBER(nvmlDeviceGetDisplayActive, int, 0)
NVML_DOUBLE_NUMBER(nvmlDeviceGetMinorNumber, unsigned, 0)

NVML_DOUBLE_API int nvmlDeviceGetEccMode(void* device, int* current, int* pending) {
  return query(__func__, device, [&](Card&) { return *current = 1, *pending = 1, kSuccess; });
}
NVML_DOUBLE_API int nvmlDeviceGetMigMode(void* device, unsigned*, unsigned*) {
  return query(__func__, device, [](Card&) { return kNotSupported; });
}
NVML_DOUBLE_API int nvmlDeviceGetTotalEccErrors(void* device, int type, int, unsigned long long* count) {
  return query(__func__, device, [&](Card&) { return *count = type == 0 ? 3 : 0, kSuccess; });  // 3 corrected
}
NVML_DOUBLE_API int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  return query(__func__, device,
               [&](Card& card) { return *major = card.config.major, *minor = card.config.minor, kSuccess; });
}
NVML_DOUBLE_API int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count,
                                                            ProcessInfo* list) {
  return processes(device, count, list, __func__);
}
NVML_DOUBLE_API int nvmlDeviceGetComputeRunningProcesses_v2(void* device, unsigned* count,
                                                            ProcessInfo* list) {
  return processes(device, count, list, __func__);
}
NVML_DOUBLE_API int nvmlDeviceGetGraphicsRunningProcesses_v3(void* device, unsigned* count, ProcessInfo*) {
  return query(__func__, device, [&](Card&) { return *count = 0, kSuccess; });
}
