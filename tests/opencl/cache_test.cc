// SPDX-License-Identifier: Apache-2.0
#include "opencl/cache.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "opencl/sha256.h"
#include "probe.h"

namespace backplane::opencl_tests {
namespace {

using opencl::BinaryCache;
using testing::HasSubstr;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The one entry in the folder.
std::filesystem::path entry_of(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) return entry.path();
  return {};
}

// Runs in a process of its own, which may change what cannot be changed back.
template <typename Body>
void in_child(Body&& body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Sha256, GivesThePublishedDigests) {
  // FIPS 180-4's examples, and the empty message.
  EXPECT_EQ(opencl::hex(opencl::sha256("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(opencl::hex(opencl::sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(opencl::hex(opencl::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(opencl::hex(opencl::sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(BinaryCache, GivesBackWhatWasStored) {
  const TemporaryFolder folder;
  const BinaryCache cache(nullptr, (folder.str() + "/a/b").c_str());
  EXPECT_THAT(cache.problems(), testing::IsEmpty());
  EXPECT_FALSE(cache.load("key").has_value());
  const std::string binary("\0\1\2binary", 9);
  cache.store("key", binary);
  EXPECT_EQ(cache.load("key"), binary);
  EXPECT_FALSE(cache.load("another key").has_value());
  struct stat status {};
  ASSERT_EQ(stat((folder.str() + "/a/b").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST(BinaryCache, TakesAnEntryCutShortAnywhereForNone) {
  const TemporaryFolder folder;
  const BinaryCache cache(nullptr, folder.str().c_str());
  cache.store("key", "binary");
  const std::filesystem::path entry = entry_of(folder.str());
  const std::string whole = read_file(entry);
  for (size_t length = 0; length < whole.size(); ++length) {
    std::filesystem::resize_file(entry, length);
    EXPECT_FALSE(cache.load("key").has_value()) << length;
    std::ofstream(entry, std::ios::binary) << whole;
  }
  EXPECT_EQ(cache.load("key"), "binary");
}

TEST(BinaryCache, TakesAnEntryWithAnyByteChangedForNone) {
  const TemporaryFolder folder;
  const BinaryCache cache(nullptr, folder.str().c_str());
  cache.store("key", "binary");
  const std::filesystem::path entry = entry_of(folder.str());
  const std::string whole = read_file(entry);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    std::ofstream(entry, std::ios::binary) << changed;
    EXPECT_FALSE(cache.load("key").has_value()) << i;
  }
}

TEST(BinaryCache, TakesAnotherKeysEntryUnderThisNameForNone) {
  const TemporaryFolder folder;
  const BinaryCache cache(nullptr, folder.str().c_str());
  cache.store("key", "binary");
  const std::filesystem::path entry = entry_of(folder.str());
  const std::string foreign = read_file(entry);
  std::filesystem::remove(entry);
  cache.store("other", "another binary");
  std::ofstream(entry_of(folder.str()), std::ios::binary) << foreign;
  EXPECT_FALSE(cache.load("other").has_value());
  cache.store("other", "another binary");
  EXPECT_EQ(cache.load("other"), "another binary");
}

TEST(BinaryCache, ReadsNoLinkAndNoPipe) {
  const TemporaryFolder folder;
  const BinaryCache cache(nullptr, folder.str().c_str());
  cache.store("key", "binary");
  const std::filesystem::path entry = entry_of(folder.str());
  std::filesystem::rename(entry, folder.path() / "real");
  std::filesystem::create_symlink("real", entry);
  EXPECT_FALSE(cache.load("key").has_value());
  std::filesystem::remove(entry);
  ASSERT_EQ(mkfifo(entry.c_str(), 0600), 0);
  EXPECT_FALSE(cache.load("key").has_value());
}

TEST(BinaryCache, RefusesAFolderThatOthersCanEnter) {
  const TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.str().c_str(), 0755), 0);
  const BinaryCache cache(nullptr, folder.str().c_str());
  EXPECT_THAT(cache.problems(), testing::ElementsAre(HasSubstr("open to other users")));
  cache.store("key", "binary");
  EXPECT_FALSE(cache.load("key").has_value());
}

TEST(BinaryCache, RefusesAFolderOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const TemporaryFolder folder;
  ASSERT_EQ(chown(folder.str().c_str(), 65534, 65534), 0);
  const BinaryCache cache(nullptr, folder.str().c_str());
  EXPECT_THAT(cache.problems(), testing::ElementsAre(HasSubstr("belongs to another user")));
}

TEST(BinaryCache, RefusesALinkAndAFileForAFolder) {
  const TemporaryFolder folder;
  folder.write("file", "");
  std::filesystem::create_directory(folder.path() / "real");
  std::filesystem::create_directory_symlink("real", folder.path() / "link");
  for (const char* name : {"/file", "/link"})
    EXPECT_THAT(BinaryCache(nullptr, (folder.str() + name).c_str()).problems(), testing::SizeIs(1)) << name;
}

TEST(BinaryCache, LivesOnAFullDisk) {
  const TemporaryFolder folder;
  in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit small{100, 100};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const BinaryCache cache(nullptr, folder.str().c_str());
    cache.store("key", std::string(1000, 'x'));
    EXPECT_FALSE(cache.load("key").has_value());
  });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "half an entry was left";
}

TEST(BinaryCache, LivesOnAReadOnlyFolder) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become a user who may not write";
  const TemporaryFolder folder;
  ASSERT_EQ(chown(folder.str().c_str(), 65534, 65534), 0);
  ASSERT_EQ(chmod(folder.str().c_str(), 0500), 0);
  in_child([&] {
    ASSERT_EQ(seteuid(65534), 0);
    const BinaryCache cache(nullptr, folder.str().c_str());
    cache.store("key", "binary");
    EXPECT_FALSE(cache.load("key").has_value());
    const BinaryCache below(nullptr, (folder.str() + "/cache").c_str());
    EXPECT_THAT(below.problems(), testing::ElementsAre(HasSubstr("cannot be made")));
  });
}

TEST(BinaryCache, FindsItsFolderWithoutHome) {
  in_child([] {
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    const BinaryCache cache("off", nullptr);
    EXPECT_TRUE(cache.folder().empty());
    EXPECT_THAT(cache.problems(), testing::IsEmpty());
  });
  const TemporaryFolder folder;
  in_child([&] {
    unsetenv("HOME");
    setenv("XDG_CACHE_HOME", folder.str().c_str(), 1);
    EXPECT_EQ(BinaryCache(nullptr, nullptr).folder(), folder.str() + "/backplane/opencl");
  });
}

TEST(BinaryCache, IsTurnedOffByEveryWordForNo) {
  const TemporaryFolder folder;
  for (const char* word : {"0", "false", "off", "no", "FALSE"})
    EXPECT_EQ(BinaryCache(word, folder.str().c_str()).folder(), "") << word;
  EXPECT_EQ(BinaryCache("1", folder.str().c_str()).folder(), folder.str());
}

TEST(BinaryCache, RefusesARelativeFolder) {
  EXPECT_THAT(BinaryCache(nullptr, "cache").problems(), testing::ElementsAre(HasSubstr("absolute")));
}

TEST(OpenClCache, EightProcessesStartingAtOnceAllComputeAndLeaveOneGoodEntry) {
  SKIP_WITHOUT_DEVICE();
  const TemporaryFolder folder;
  std::vector<std::string> texts(8);
  std::vector<std::thread> threads;
  for (std::string& text : texts)
    threads.emplace_back([&text, &folder] { text = probe("", "--compute cache_dir=" + folder.str()); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) EXPECT_THAT(text, HasSubstr("device 0 computes: ok"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_THAT(probe("", "--compute cache_dir=" + folder.str()), HasSubstr("device 0 computes: ok"));
}

TEST(OpenClCache, AnEntryThatIsNoProgramIsCompiledAnew) {
  SKIP_WITHOUT_DEVICE();
  const TemporaryFolder folder;
  ASSERT_THAT(probe("", "--compute cache_dir=" + folder.str()), HasSubstr("computes: ok"));
  const std::filesystem::path entry = entry_of(folder.str());
  const std::string good = read_file(entry);
  std::ofstream(entry, std::ios::binary) << good.substr(0, good.size() / 2);
  EXPECT_THAT(probe("", "--compute cache_dir=" + folder.str()), HasSubstr("computes: ok"));
  EXPECT_EQ(read_file(entry).size(), good.size()) << "the entry was not replaced";
}

TEST(OpenClCache, ComputesWithoutAHomeFolder) {
  SKIP_WITHOUT_DEVICE();
  const TemporaryFolder drivers_own;
  const std::string text =
      probe("env -u HOME -u XDG_CACHE_HOME POCL_CACHE_DIR=" + drivers_own.str(), "--compute");
  EXPECT_THAT(text, HasSubstr("computes: ok"));
}

TEST(OpenClCache, ComputesAndSaysWhyWhereNoFolderCanBeMade) {
  SKIP_WITHOUT_DEVICE();
  const TemporaryFolder drivers_own;
  const std::string text =
      probe("env -u XDG_CACHE_HOME HOME=/proc/none POCL_CACHE_DIR=" + drivers_own.str(), "--compute");
  EXPECT_THAT(text, HasSubstr("computes: ok"));
  EXPECT_THAT(text, HasSubstr("OpenCL kernel cache: /proc/none/.cache/backplane/opencl cannot be made"));
}

}  // namespace
}  // namespace backplane::opencl_tests
