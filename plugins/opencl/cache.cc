// SPDX-License-Identifier: Apache-2.0
#include "opencl/cache.h"

#include <fcntl.h>
#include <pwd.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "opencl/sha256.h"

namespace backplane::opencl {

namespace {

constexpr char kMagic[8] = {'B', 'P', 'O', 'C', 'L', 'B', '0', '1'};

// Start of every entry. A file that is cut short, foreign or altered fails one of its checks.
struct Header {
  char magic[8];
  Digest key;      // of the key, so that a renamed entry is not taken for another
  Digest payload;  // of the bytes that follow
  uint64_t size;   // of those
};

class File {
 public:
  explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const noexcept { return descriptor_; }
  bool is_open() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

bool read_all(int file, void* out, size_t size) {
  auto* at = static_cast<char*>(out);
  while (size > 0) {
    const ssize_t got = read(file, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(int file, const void* from, size_t size) {
  const auto* at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t put = write(file, at, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    size -= static_cast<size_t>(put);
  }
  return true;
}

bool is_off(const char* setting) {
  if (setting == nullptr) return false;
  for (const char* word : {"0", "false", "off", "no"})
    if (strcasecmp(setting, word) == 0) return true;
  return false;
}

std::string home_folder() {
  if (const char* home = secure_getenv("HOME"); home != nullptr && *home == '/') return home;
  char buffer[4096];
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found) == 0 && found != nullptr &&
      found->pw_dir != nullptr && *found->pw_dir == '/')
    return found->pw_dir;
  return {};
}

// Relative values are ignored, as the XDG base directory specification says.
std::string usual_folder() {
  const char* cache = secure_getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/backplane/opencl";
  const std::string home = home_folder();
  return home.empty() ? home : home + "/.cache/backplane/opencl";
}

bool make_folders(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    if (mkdir(path.substr(0, at).c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
      return false;
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

// What is wrong with the folder, or nothing.
std::string folder_problem(const std::string& path) {
  if (!make_folders(path)) return path + " cannot be made: " + std::strerror(errno);
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return path + ": " + std::strerror(errno);
  if (!S_ISDIR(status.st_mode)) return path + " is not a folder";
  if (status.st_uid != geteuid()) return path + " belongs to another user";
  if ((status.st_mode & 077) != 0) return path + " is open to other users: chmod 700 it";
  return {};
}

}  // namespace

BinaryCache::BinaryCache(const char* setting, const char* folder) {
  if (is_off(setting)) return;
  std::string path = folder != nullptr ? folder : usual_folder();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::string problem;
  if (path.empty()) {
    problem = "there is no home folder to keep it in: set HOME, XDG_CACHE_HOME or BACKPLANE_OPENCL_CACHE_DIR";
  } else if (path.front() != '/') {
    problem = "its folder must be given by an absolute path, not \"" + path + "\"";
  } else {
    problem = folder_problem(path);
  }
  if (problem.empty())
    folder_ = path;
  else
    problems_.push_back(problem);
}

std::optional<std::string> BinaryCache::load(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const Digest digest = sha256(key);
  const File file(
      open((folder_ + "/" + hex(digest)).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  Header header{};
  if (!file.is_open() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != geteuid() || !read_all(file.get(), &header, sizeof header))
    return std::nullopt;
  const auto size = static_cast<uint64_t>(status.st_size);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.key != digest || size < sizeof header ||
      header.size != size - sizeof header)
    return std::nullopt;
  std::string binary(header.size, '\0');
  if (!read_all(file.get(), binary.data(), binary.size()) || sha256(binary) != header.payload)
    return std::nullopt;
  return binary;
}

void BinaryCache::store(const std::string& key, const std::string& binary) const {
  if (folder_.empty()) return;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key = sha256(key);
  header.payload = sha256(binary);
  header.size = binary.size();
  std::string temporary = folder_ + "/new-XXXXXX";
  const File file(mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.is_open()) return;
  const bool written =
      write_all(file.get(), &header, sizeof header) && write_all(file.get(), binary.data(), binary.size());
  if (!written || rename(temporary.c_str(), (folder_ + "/" + hex(header.key)).c_str()) != 0)
    unlink(temporary.c_str());
}

}  // namespace backplane::opencl
