// SPDX-License-Identifier: Apache-2.0
//
// What tests of the loader share: folders of their own, and processes of their own, as a process loads once.
#ifndef BACKPLANE_TESTS_LOADER_SUPPORT_H_
#define BACKPLANE_TESTS_LOADER_SUPPORT_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "backplane/error.h"
#include "backplane/runtime.h"

namespace loader_test {

using backplane::Device;
using backplane::Error;
using backplane::ErrorCode;
using backplane::FileReport;
using backplane::LoadOutcome;
using backplane::LogLevel;
using backplane::Runtime;
using backplane::RuntimeOptions;

// A new folder, owned by this user and writable by nobody else, gone at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Copies one of the built plugins or libraries ("fake.so") here, by that name or another.
  std::filesystem::path add(const std::string& plugin, const std::string& name = "") const;
  std::filesystem::path write(const std::string& name, const std::string& bytes) const;

 private:
  std::filesystem::path path_;
};

// Bytes of one of the built plugins.
std::string bytes_of(const std::string& plugin);

// Runs `body` in a process of its own, in which the runtime is not initialised, and which then returns from
// main as any other. The test fails if an expectation of `body` does, and if the process ends otherwise.
void in_process(const std::function<void()>& body);

// The same in a child that ends at once after `body`: for forks of a process with threads, which the child's
// sanitizers would miss at its exit.
void in_fork(const std::function<void()>& body);

// Gives up root's rights, where this process has them.
void become_unprivileged();

// Only these folders, and no environment.
RuntimeOptions only(const std::vector<std::filesystem::path>& folders);

// Initialises the runtime with `options`.
Runtime& load(RuntimeOptions options);

// The row of the file of that name; an empty one, and a failed test, where there is none.
FileReport row(const std::string& file_name);

std::vector<std::string> device_names();

// The error that `body` throws; a failed test where it throws none.
Error error_of(const std::function<void()>& body);

}  // namespace loader_test

#endif  // BACKPLANE_TESTS_LOADER_SUPPORT_H_
