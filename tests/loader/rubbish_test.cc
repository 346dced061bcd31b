// SPDX-License-Identifier: Apache-2.0
//
// A folder full of rubbish: nothing in it stops the good plugin, and everything has a row that says why not.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "support.h"

namespace loader_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

void make_socket(const fs::path& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.native().size(), sizeof address.sun_path);
  path.native().copy(address.sun_path, sizeof address.sun_path);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
}

std::string patched(size_t offset, char byte) {
  std::string bytes = bytes_of("fake.so");
  bytes[offset] = byte;
  return bytes;
}

struct Rubbish {
  const char* name;
  const char* cause;
  std::function<void(const Folder&)> make;
};

// Offsets in the ELF header: class 4, byte order 5, type 16, machine 18.
const std::vector<Rubbish>& rubbish() {
  static const std::vector<Rubbish> rows = {
      {"a_directory.so", "a folder, not a plugin",
       [](const Folder& f) { fs::create_directory(f.path() / "a_directory.so"); }},
      {"big_endian.so", "a big-endian object",
       [](const Folder& f) { f.write("big_endian.so", patched(5, 2)); }},
      {"dangling.so", "a link to /nowhere/at/all.so, which is not there",
       [](const Folder& f) { fs::create_symlink("/nowhere/at/all.so", f.path() / "dangling.so"); }},
      {"device_node.so", "a device node, not a plugin",
       [](const Folder& f) { fs::create_symlink("/dev/null", f.path() / "device_node.so"); }},
      {"empty.so", "an empty file", [](const Folder& f) { f.write("empty.so", ""); }},
      {"fifo.so", "a FIFO, not a plugin",
       [](const Folder& f) { ASSERT_EQ(::mkfifo((f.path() / "fifo.so").c_str(), 0644), 0); }},
      {"foreign.so", "built for riscv",
       [](const Folder& f) { f.write("foreign.so", patched(18, static_cast<char>(243))); }},
      {"headless.so", "truncated",
       [](const Folder& f) { f.write("headless.so", bytes_of("fake.so").substr(0, 40)); }},
      {"library.so", "no data named backplane_plugin",
       [](const Folder& f) { f.add("no_symbol.so", "library.so"); }},
      {"loop.so", "cannot be read",
       [](const Folder& f) { fs::create_symlink("loop.so", f.path() / "loop.so"); }},
      {"socket.so", "a socket, not a plugin", [](const Folder& f) { make_socket(f.path() / "socket.so"); }},
      {"text.so", "not an ELF shared object",
       [](const Folder& f) { f.write("text.so", "#!/bin/sh\necho hello\n"); }},
      {"thirty_two.so", "a 32-bit object", [](const Folder& f) { f.write("thirty_two.so", patched(4, 1)); }},
      // Inside its segments, whatever the size of what debuggers need after them.
      {"truncated.so", "truncated",
       [](const Folder& f) { f.write("truncated.so", bytes_of("fake.so").substr(0, 6000)); }},
      {"unlinked.so", "not a shared object", [](const Folder& f) { f.write("unlinked.so", patched(16, 1)); }},
      {"zeros.so", "not an ELF shared object",
       [](const Folder& f) { f.write("zeros.so", std::string(100000, '\0')); }},
  };
  return rows;
}

TEST(Rubbish, IsReportedRowByRowAndStopsNoGoodPlugin) {
  Folder folder;
  for (const Rubbish& item : rubbish()) item.make(folder);
  folder.add("fake.so");
  in_process([&] {
    load(only({folder.path()}));
    for (const Rubbish& item : rubbish()) {
      EXPECT_EQ(row(item.name).outcome, LoadOutcome::Failed) << item.name;
      EXPECT_THAT(row(item.name).cause, HasSubstr(item.cause)) << item.name;
    }
    EXPECT_EQ(Runtime::get().report().size(), rubbish().size() + 1);
    EXPECT_THAT(device_names(), ElementsAre("fake:0"));
  });
}

// dlopen of an object that is cut short can kill the process.
TEST(Rubbish, APluginCutAnywhereIsRefusedOrLoadsWhole) {
  const std::string whole = bytes_of("fake.so");
  Folder folder;
  constexpr int kCuts = 64;
  for (int i = 0; i < kCuts; ++i)
    folder.write("cut" + std::to_string(i) + ".so",
                 whole.substr(0, whole.size() * static_cast<size_t>(i) / kCuts));
  in_process([&] {
    load(only({folder.path()}));
    EXPECT_EQ(Runtime::get().report().size(), size_t{kCuts});
    EXPECT_EQ(row("cut1.so").outcome, LoadOutcome::Failed);
  });
}

TEST(Rubbish, UnreadableFilesAndFoldersAreReportedToAnUnprivilegedUser) {
  Folder folder, closed;
  folder.add("fake.so");
  fs::permissions(folder.add("fake.so", "secret.so"), fs::perms(0700));
  fs::permissions(closed.path(), fs::perms(0700));
  closed.add("other.so");
  in_process([&] {
    if (::geteuid() != 0) {  // then the owner must lose the right, which root never does
      fs::permissions(folder.path() / "secret.so", fs::perms(0));
      fs::permissions(closed.path(), fs::perms(0));
    }
    become_unprivileged();
    load(only({closed.path(), folder.path(), "/nowhere/at/all"}));
    EXPECT_THAT(row(closed.path().filename()).cause, HasSubstr("Permission denied"));
    EXPECT_THAT(row(closed.path().filename()).remedy, HasSubstr("chmod"));
    EXPECT_THAT(row("secret.so").cause, HasSubstr("Permission denied"));
    EXPECT_THAT(row("all").cause, HasSubstr("no such folder"));
    EXPECT_THAT(device_names(), ElementsAre("fake:0"));
  });
  fs::permissions(closed.path(), fs::perms(0755));
}

}  // namespace
}  // namespace loader_test
