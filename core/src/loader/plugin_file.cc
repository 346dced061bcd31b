// SPDX-License-Identifier: Apache-2.0
#include "loader/plugin_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace backplane::internal {
namespace {

namespace fs = std::filesystem;

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

std::string describe_error(int error) { return std::error_code(error, std::generic_category()).message(); }

const char* kind_of_file(mode_t mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a regular file";
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
    case S_IFBLK:
      return "a device node";
    default:
      return "not a regular file";
  }
}

// Whoever can change the file, or exchange it, can run code in this process.
MaybeProblem check_trust(const struct stat& info, const fs::path& path) {
  const char* what = S_ISDIR(info.st_mode) ? "the folder" : "the file";
  if (info.st_uid != 0 && info.st_uid != ::geteuid())
    return Problem{LoadOutcome::Refused,
                   fmt::format("{} {} belongs to user {}, neither root nor the user of this process ({})",
                               what, path.native(), info.st_uid, ::geteuid()),
                   fmt::format("chown root {}", path.native())};
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Problem{LoadOutcome::Refused,
                   fmt::format("{} {} may be written by others than its owner (mode {:04o})", what,
                               path.native(), info.st_mode & 07777),
                   fmt::format("chmod go-w {}", path.native())};
  return std::nullopt;
}

Problem unreadable(int error, const fs::path& path) {
  if (error == EACCES || error == EPERM)
    return {LoadOutcome::Failed, "cannot be read: " + describe_error(error),
            fmt::format("chmod a+rX {}, and the folders above it", path.native())};
  return {LoadOutcome::Failed, "cannot be read: " + describe_error(error), {}};
}

Problem missing(int error, const fs::path& path) {
  struct stat link {};
  if (error != ENOENT || ::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode))
    return unreadable(error, path);
  std::error_code ignored;
  return {LoadOutcome::Failed,
          fmt::format("a link to {}, which is not there", fs::read_symlink(path, ignored).native()),
          "install what the link points to, or remove the link"};
}

Problem not_a_file(mode_t mode) {
  return {LoadOutcome::Failed, fmt::format("{}, not a plugin", kind_of_file(mode)), {}};
}

// A link may lead into a folder with other owners.
MaybeProblem check_real_folder(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return unreadable(error.value(), path);
  struct stat info {};
  if (::stat(real.parent_path().c_str(), &info) != 0) return unreadable(errno, real.parent_path());
  return check_trust(info, real.parent_path());
}

bool read_at(int fd, uint64_t offset, void* to, size_t bytes) {
  auto* out = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t count = ::pread(fd, out, bytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    out += count;
    offset += static_cast<uint64_t>(count);
    bytes -= static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

MaybeProblem check_folder(const fs::path& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) {
    if (errno == ENOENT) return Problem{LoadOutcome::Failed, "there is no such folder", {}};
    return unreadable(errno, folder);
  }
  if (!S_ISDIR(info.st_mode))
    return Problem{LoadOutcome::Failed, fmt::format("{}, not a folder", kind_of_file(info.st_mode)), {}};
  return check_trust(info, folder);
}

MaybeProblem check_library(const fs::path& path, ElfFile& file, const ElfQuery& query) {
  struct stat info {};
  // Asked before opening, as opening a device node may already do something.
  if (::stat(path.c_str(), &info) != 0) return missing(errno, path);
  if (!S_ISREG(info.st_mode)) return not_a_file(info.st_mode);
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (fd.get() < 0) return missing(errno, path);
  if (::fstat(fd.get(), &info) != 0) return unreadable(errno, path);
  if (!S_ISREG(info.st_mode)) return not_a_file(info.st_mode);
  if (MaybeProblem problem = check_trust(info, path)) return problem;
  if (MaybeProblem problem = check_real_folder(path)) return problem;

  const ReadAt read = [&fd](uint64_t offset, void* to, size_t bytes) {
    return read_at(fd.get(), offset, to, bytes);
  };
  ElfResult result = read_elf(read, static_cast<uint64_t>(info.st_size), query);
  if (!result.defect.empty()) return Problem{LoadOutcome::Failed, result.defect, {}};
  file = std::move(result.file);
  return std::nullopt;
}

MaybeProblem check_abi(uint16_t major, uint16_t minor) {
  if (major == plugin::kAbiMajor) return std::nullopt;
  return Problem{LoadOutcome::Refused,
                 fmt::format("it was built for plugin ABI {}.{}; this runtime has ABI {}.{}", major, minor,
                             plugin::kAbiMajor, plugin::kAbiMinor),
                 major < plugin::kAbiMajor
                     ? "rebuild the plugin with this runtime's headers"
                     : "use a newer runtime, or rebuild the plugin with this one's headers"};
}

MaybeProblem check_plugin(const fs::path& path, PluginPreview& preview) {
  struct Head {
    uint32_t struct_size;
    uint16_t abi_major;
    uint16_t abi_minor;
  };
  static_assert(offsetof(plugin::Plugin, abi_minor) == offsetof(Head, abi_minor));
  const ElfQuery query{kPluginSymbol, sizeof(Head), offsetof(plugin::Plugin, name)};
  if (MaybeProblem problem = check_library(path, preview.file, query)) return problem;
  if (!preview.file.exports_symbol)
    return Problem{
        LoadOutcome::Failed, fmt::format("not a plugin: it exports no data named {}", kPluginSymbol), {}};
  if (preview.file.symbol_size < sizeof(Head))
    return Problem{LoadOutcome::Failed, fmt::format("not a plugin: its {} is too small", kPluginSymbol), {}};
  // A constructor may fill in what the file does not have: then only loading tells.
  Head head{};
  if (preview.file.symbol_bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, preview.file.symbol_bytes.data(), sizeof head);
  if (head.struct_size == 0) return std::nullopt;
  if (MaybeProblem problem = check_abi(head.abi_major, head.abi_minor)) return problem;
  preview.name = preview.file.symbol_text.value_or("");
  return std::nullopt;
}

}  // namespace backplane::internal
