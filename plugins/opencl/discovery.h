// SPDX-License-Identifier: Apache-2.0
//
// Finds the usable devices of every platform. Whatever is broken costs only itself and leaves a note.
#ifndef BACKPLANE_PLUGINS_OPENCL_DISCOVERY_H_
#define BACKPLANE_PLUGINS_OPENCL_DISCOVERY_H_

#include <memory>
#include <string>
#include <vector>

#include "opencl/facts.h"

namespace backplane::opencl {

struct FoundDevice {
  DeviceHandle id;
  Facts facts;
  std::optional<std::string> extensions;
  plugin::DeviceProperties properties{};  // points into `extensions`
  size_t family = 0;                      // devices of equal family share one context
};

struct Found {
  std::vector<std::unique_ptr<FoundDevice>> devices;
  std::vector<plugin::Note> notes;
};

// `subdevices` > 1 splits each CPU device into that many.
Found find_devices(unsigned subdevices);

// Reads one device; null, with the reason, where this plugin cannot use it.
std::unique_ptr<FoundDevice> read_device(DeviceHandle id, std::string* reason);

// Looks at the manifests that the ICD loader reads and notes those that it passes over in silence. Call after
// the loader has loaded them.
void check_manifests(std::vector<plugin::Note>* notes);

plugin::Note make_note(const std::string& subject, const std::string& cause, const std::string& remedy);

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_DISCOVERY_H_
