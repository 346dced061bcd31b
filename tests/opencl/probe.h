// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_TESTS_OPENCL_PROBE_H_
#define BACKPLANE_TESTS_OPENCL_PROBE_H_

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace backplane::opencl_tests {

// What opencl_probe prints when run with `environment` ("A=1 B=2", put before the command) and `arguments`.
inline std::string probe(const std::string& environment, const std::string& arguments = "") {
  const std::string command =
      environment + " " OPENCL_PROBE " " OPENCL_PLUGIN " " + arguments + " 2>&1; echo \"exit $?\"";
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  char buffer[4096];
  while (const size_t got = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
  pclose(pipe);
  return text;
}

// Whether the machine as it stands has a device; tests of what a device does are skipped where it has none.
inline bool has_device() {
  static const bool has = probe("").find("device 0: ") != std::string::npos;
  return has;
}
#define SKIP_WITHOUT_DEVICE() \
  if (!backplane::opencl_tests::has_device()) GTEST_SKIP() << "no OpenCL device on this machine"

// A folder of the test's own, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "backplane-opencl-XXXXXX").string();
    path_ = mkdtemp(name.data()) == nullptr ? std::filesystem::path() : std::filesystem::path(name);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::string str() const { return path_.string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }

 private:
  std::filesystem::path path_;
};

}  // namespace backplane::opencl_tests

#endif  // BACKPLANE_TESTS_OPENCL_PROBE_H_
