// SPDX-License-Identifier: Apache-2.0
//
// A disk that is full while saving: a file system of 256 KiB of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "backplane/backplane.h"

namespace {

namespace fs = std::filesystem;
using namespace backplane;

constexpr int kNotAllowed = 77;

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool mount_small_disk(const fs::path& folder) {
  const int spaces = CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
  return ::unshare(spaces) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=256k") == 0;
}

void expect_no_space(const std::function<void()>& save, const std::string& name) {
  try {
    save();
    ADD_FAILURE() << name << " was saved on a full disk";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unavailable);
    EXPECT_EQ(error.vendor_code(), ENOSPC);
    EXPECT_THAT(error.what(), testing::HasSubstr(name));
  }
}

void save_until_full(const fs::path& folder) {
  const fs::path npy = folder / "x.npy", safetensors = folder / "x.safetensors";
  const Tensor small = arange(1000, float32), large = zeros({1 << 20});
  save_npy(npy, small);
  save_safetensors(safetensors, {{"x", small}});
  const std::string npy_before = bytes_of(npy), safetensors_before = bytes_of(safetensors);
  expect_no_space([&] { save_npy(npy, large); }, "x.npy");
  expect_no_space([&] { save_safetensors(safetensors, {{"x", large}}); }, "x.safetensors");
  EXPECT_EQ(bytes_of(npy), npy_before);
  EXPECT_EQ(bytes_of(safetensors), safetensors_before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2)
      << "a temporary file is left";
  save_npy(npy, small * 2);
  EXPECT_EQ(load_npy(npy).to_vector<float>(), (small * 2).to_vector<float>());
  EXPECT_EQ(load_safetensors(safetensors).tensors.at("x").to_vector<float>(), small.to_vector<float>());
}

TEST(FullDisk, LeavesTheOldFileWholeInEitherFormat) {
  std::string folder = (fs::temp_directory_path() / "backplane-disk-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  // In a process of its own, whose mounts are nobody else's.
  const pid_t child = ::fork();
  if (child == 0) {
    if (!mount_small_disk(folder)) ::_exit(kNotAllowed);
    save_until_full(folder);
    ::_exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  fs::remove_all(folder);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed)
    GTEST_SKIP() << "this process may not mount a file system";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
