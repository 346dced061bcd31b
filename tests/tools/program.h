// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_TESTS_TOOLS_PROGRAM_H_
#define BACKPLANE_TESTS_TOOLS_PROGRAM_H_

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

struct Output {
  int code = -1;
  std::string text;  // of standard output

  std::vector<std::string> lines() const {
    std::vector<std::string> result;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) result.push_back(line);
    return result;
  }
  std::string last_line() const { return lines().empty() ? "" : lines().back(); }
};

// Runs a shell command line. Standard error goes where the test's goes.
inline Output run(const std::string& command) {
  Output output;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  char buffer[4096];
  for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    output.text.append(buffer, count);
  const int status = ::pclose(pipe);
  output.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

// A folder of the test's own.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "backplane-tools-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

#endif  // BACKPLANE_TESTS_TOOLS_PROGRAM_H_
