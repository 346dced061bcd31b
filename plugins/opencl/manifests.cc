// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "opencl/discovery.h"

namespace backplane::opencl {

namespace {

namespace fs = std::filesystem;

constexpr char kReinstall[] = "reinstall the package that owns this file, or delete the file";

// Where the loader looks: ocl-icd's variable, Khronos's, or the system's folder.
fs::path vendors_folder() {
  for (const char* variable : {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES"})
    if (const char* value = secure_getenv(variable); value != nullptr && *value != '\0') return value;
  return "/etc/OpenCL/vendors";
}

// The loader has refused the library, or never got so far: the dynamic linker's own words say why.
std::string why_not_loaded(const std::string& library) {
  if (void* loaded = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
    dlclose(loaded);
    return {};
  }
  dlerror();
  if (void* loaded = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
    const bool is_icd = dlsym(loaded, "clGetExtensionFunctionAddress") != nullptr;
    dlclose(loaded);
    return is_icd ? "the library " + library + " loads but offers no OpenCL platform"
                  : "the library " + library + " is not an OpenCL driver";
  }
  const char* reason = dlerror();
  return "the library does not load: " + std::string(reason == nullptr ? library.c_str() : reason);
}

void check_manifest(const fs::path& path, std::vector<plugin::Note>* notes) {
  std::ifstream file(path);
  std::string line;
  if (!file) {
    notes->push_back(
        make_note(path.string(), "the manifest cannot be read", "make it readable for everybody"));
  } else if (!std::getline(file, line) || line.find_first_not_of(" \t\r") == std::string::npos) {
    notes->push_back(make_note(path.string(), "the manifest is empty: it must name a library", kReinstall));
  } else if (line.back() == '\r') {
    notes->push_back(make_note(
        path.string(),
        "its lines end in CR LF, so the loader looks for a library whose name ends in a carriage return",
        "save it with plain line ends (sed -i 's/\\r$//' FILE)"));
  } else if (const std::string reason = why_not_loaded(line); !reason.empty()) {
    notes->push_back(make_note(path.string(), reason, kReinstall));
  }
}

}  // namespace

void check_manifests(std::vector<plugin::Note>* notes) {
  const fs::path folder = vendors_folder();
  std::error_code error;
  if (fs::is_regular_file(folder, error) && folder.extension() == ".icd")
    return check_manifest(folder, notes);
  std::vector<fs::path> manifests;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".icd" && fs::is_regular_file(at->path(), error))
      manifests.push_back(at->path());
  std::sort(manifests.begin(), manifests.end());
  for (const fs::path& manifest : manifests) check_manifest(manifest, notes);
}

}  // namespace backplane::opencl
