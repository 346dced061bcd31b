// SPDX-License-Identifier: Apache-2.0
// The part of NVML's interface that the double has, declared from its reference manual: nvml.h is not at
// hand.
#pragma once

namespace nvml_double {

enum Result {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kInsufficientSize = 7,
  kUnknown = 999,
};

struct Memory {
  unsigned long long total, free, used;
};

struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

struct Utilization {
  unsigned gpu, memory;  // percent
};

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

struct ProcessInfo {  // of the functions' _v3, and of _v2
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

}  // namespace nvml_double
