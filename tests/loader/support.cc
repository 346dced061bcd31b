// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <grp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>

namespace loader_test {

namespace fs = std::filesystem;

Folder::Folder() {
  std::string name = (fs::temp_directory_path() / "backplane-XXXXXX").native();
  if (::mkdtemp(name.data()) == nullptr || ::chmod(name.c_str(), 0755) != 0) std::abort();
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path Folder::add(const std::string& plugin, const std::string& name) const {
  const fs::path to = path_ / (name.empty() ? plugin : name);
  fs::copy_file(fs::path(LOADER_PLUGINS) / plugin, to, fs::copy_options::overwrite_existing);
  fs::permissions(to, fs::perms(0755));
  return to;
}

fs::path Folder::write(const std::string& name, const std::string& bytes) const {
  const fs::path to = path_ / name;
  std::ofstream(to, std::ios::binary) << bytes;
  fs::permissions(to, fs::perms(0755));
  return to;
}

std::string bytes_of(const std::string& plugin) {
  std::ifstream file(fs::path(LOADER_PLUGINS) / plugin, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

namespace {

void in_child(const std::function<void()>& body, void (*end)(int)) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body();
    std::fflush(nullptr);
    end(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace

void in_process(const std::function<void()>& body) { in_child(body, std::exit); }

void in_fork(const std::function<void()>& body) { in_child(body, ::_exit); }

void become_unprivileged() {
  constexpr uid_t kNobody = 65534;
  if (::geteuid() != 0) return;
  ASSERT_EQ(::setgroups(0, nullptr), 0);
  ASSERT_EQ(::setgid(kNobody), 0);
  ASSERT_EQ(::setuid(kNobody), 0);
}

RuntimeOptions only(const std::vector<fs::path>& folders) {
  RuntimeOptions options;
  options.plugin_folders = folders;
  options.default_folder = false;
  options.ignore_environment = true;
  return options;
}

Runtime& load(RuntimeOptions options) {
  Runtime::configure(std::move(options));
  return Runtime::get();
}

FileReport row(const std::string& file_name) {
  for (const FileReport& report : Runtime::get().report())
    if (report.path.filename() == file_name) return report;
  ADD_FAILURE() << "the report has no row for " << file_name;
  return {};
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const Device& device : backplane::devices()) names.push_back(device.name());
  return names;
}

Error error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return Error(ErrorCode::Ok, "");
}

}  // namespace loader_test
