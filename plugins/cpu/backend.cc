// SPDX-License-Identifier: Apache-2.0
#include "cpu/backend.h"

#include <oneapi/tbb/version.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cpu/isa.h"

namespace backplane::cpu {

using plugin::make_status;
using plugin::Status;
using plugin::StatusCode;

const char kBackendName[] = "cpu";

namespace {

constexpr uint32_t kMaxDevices = 1024;

// An option's value that makes no sense, and what follows.
plugin::Note make_note(const char* subject, const char* value, const char* cause, const char* remedy) {
  plugin::Note note{};
  note.struct_size = sizeof note;
  plugin::copy_text(note.subject, subject);
  std::snprintf(note.cause, sizeof note.cause, "'%.200s'%s", value, cause);
  plugin::copy_text(note.remedy, remedy);
  return note;
}

Status no_such(const char* what, uint32_t index, size_t count) noexcept {
  return make_status(StatusCode::NotFound, 0, "there is no cpu %s %u; there are %zu", what, index, count);
}

}  // namespace

CpuBackend::CpuBackend(const plugin::HostInfo& host) {
  machine_.processor = read_processor();
  machine_.cores = allowed_cores();
  machine_.description = std::string("oneTBB ") + TBB_runtime_version();
  thread_count_ =
      host.thread_count > 0 ? static_cast<int>(std::min(host.thread_count, 4096u)) : usable_cores();
  if (host.option != nullptr) {
    read_devices_option(host.option(host.context, "devices"));
    read_isa_option(host.option(host.context, "isa"));
  }
  using oneapi::tbb::global_control;
  const auto wanted = static_cast<size_t>(thread_count_);
  if (wanted > global_control::active_value(global_control::max_allowed_parallelism)) {
    more_threads_.emplace(global_control::max_allowed_parallelism, wanted);
  }
}

void CpuBackend::read_devices_option(const char* value) {
  if (value == nullptr || *value == '\0') return;
  char* end = nullptr;
  const long count = std::strtol(value, &end, 10);
  if (*end == '\0' && count >= 1 && count <= static_cast<long>(kMaxDevices)) {
    device_count_ = static_cast<uint32_t>(count);
    return;
  }
  notes_.push_back(make_note("option devices", value, " is no number of devices; one is used",
                             "set BACKPLANE_CPU_DEVICES to a number from 1 to 1024"));
}

void CpuBackend::read_isa_option(const char* value) {
  if (value == nullptr || *value == '\0' || select_isa(value)) return;
  notes_.push_back(
      make_note("option isa", value, " is no instruction set of this processor; the best one is used",
                "set BACKPLANE_CPU_ISA to baseline, avx2 or avx512, at most what the processor has"));
}

int CpuBackend::threads_of(uint32_t index) const noexcept {
  const auto bound = [&](uint32_t i) {
    return static_cast<int>(static_cast<int64_t>(thread_count_) * i / device_count_);
  };
  return std::max(1, bound(index + 1) - bound(index));
}

Status CpuBackend::describe(uint32_t index, plugin::DeviceProperties* properties) noexcept {
  if (index >= device_count_) return no_such("device", index, device_count_);
  plugin::fill_struct(properties, describe_device(machine_, threads_of(index)));
  return plugin::kOk;
}

Status CpuBackend::open(uint32_t index, plugin::Device** device) noexcept {
  if (index >= device_count_) return no_such("device", index, device_count_);
  return plugin::guard([&] {
    *device = new CpuDevice(machine_, threads_of(index));
    return plugin::kOk;
  });
}

Status CpuBackend::note(uint32_t index, plugin::Note* note) noexcept {
  if (index >= notes_.size()) return no_such("note", index, notes_.size());
  plugin::fill_struct(note, notes_[index]);
  return plugin::kOk;
}

}  // namespace backplane::cpu
