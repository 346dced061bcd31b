// SPDX-License-Identifier: Apache-2.0
//
// Files that others could have written are not loaded.
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

namespace loader_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uid_t kStranger = 12345;

TEST(Trust, RefusesAFileThatOthersMayWrite) {
  Folder folder;
  fs::permissions(folder.add("fake.so"), fs::perms(0775));
  fs::permissions(folder.add("other.so"), fs::perms(0757));
  in_process([&] {
    load(only({folder.path()}));
    for (const char* name : {"fake.so", "other.so"}) {
      EXPECT_EQ(row(name).outcome, LoadOutcome::Refused);
      EXPECT_THAT(row(name).cause, HasSubstr("may be written by others"));
      EXPECT_THAT(row(name).remedy, HasSubstr("chmod go-w"));
    }
  });
}

TEST(Trust, RefusesAFolderThatOthersMayWrite) {
  Folder folder;
  folder.add("fake.so");
  fs::permissions(folder.path(), fs::perms(01777));
  in_process([&] {
    load(only({folder.path()}));
    EXPECT_EQ(row(folder.path().filename()).outcome, LoadOutcome::Refused);
    EXPECT_THAT(device_names(), IsEmpty());
  });
}

TEST(Trust, RefusesFilesAndFoldersOfStrangers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  Folder mine, strange;
  ASSERT_EQ(::chown(mine.add("fake.so").c_str(), kStranger, kStranger), 0);
  strange.add("other.so");
  ASSERT_EQ(::chown(strange.path().c_str(), kStranger, kStranger), 0);
  in_process([&] {
    load(only({mine.path(), strange.path()}));
    EXPECT_THAT(row("fake.so").cause, HasSubstr("belongs to user 12345"));
    EXPECT_THAT(row(strange.path().filename()).cause, HasSubstr("belongs to user 12345"));
    EXPECT_EQ(row("fake.so").outcome, LoadOutcome::Refused);
  });
}

TEST(Trust, FollowsALinkOnlyIntoATrustedFolder) {
  Folder folder, open, good;
  fs::permissions(open.path(), fs::perms(0777));
  fs::create_symlink(open.add("fake.so"), folder.path() / "fake.so");
  fs::create_symlink(good.add("other.so"), folder.path() / "other.so");
  in_process([&] {
    load(only({folder.path()}));
    EXPECT_EQ(row("fake.so").outcome, LoadOutcome::Refused);
    EXPECT_THAT(row("fake.so").cause, HasSubstr(open.path().native()));
    EXPECT_THAT(device_names(), ElementsAre("other:0"));
  });
}

TEST(Trust, AUserMayLoadPluginsOfRootAndOfHisOwn) {
  Folder of_root, own;
  of_root.add("fake.so");
  own.add("other.so");
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown((own.path() / "other.so").c_str(), 65534, 65534), 0);
    ASSERT_EQ(::chown(own.path().c_str(), 65534, 65534), 0);
  }
  in_process([&] {
    become_unprivileged();
    load(only({of_root.path(), own.path()}));
    EXPECT_THAT(device_names(), ElementsAre("fake:0", "other:0"));
  });
}

}  // namespace
}  // namespace loader_test
