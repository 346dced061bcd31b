// SPDX-License-Identifier: Apache-2.0
#include "io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace backplane::internal {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* call, int number) {
  const ErrorCode code = number == ENOENT || number == ENOTDIR ? ErrorCode::NotFound : ErrorCode::Unavailable;
  throw Error(code, std::string(call) + ": " + std::generic_category().message(number), number);
}

// What the target is now; false where nothing is there.
bool status_of(const fs::path& path, struct stat* status) {
  if (::stat(path.c_str(), status) == 0) return true;
  if (errno != ENOENT) fail("stat", errno);
  return false;
}

fs::path follow_link(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(path, error))) return path;
  fs::path target = fs::weakly_canonical(path, error);
  if (error) fail("readlink", error.value());
  return target;
}

fs::path temporary_beside(const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  const std::string suffix = "." + std::to_string(::getpid()) + "." + std::to_string(counter++) + ".tmp";
  return target.parent_path() / ("." + target.filename().string().substr(0, 200) + suffix);
}

}  // namespace

Descriptor::~Descriptor() { close(); }

int Descriptor::close() noexcept {
  if (value_ < 0) return 0;
  const int result = ::close(value_);
  value_ = -1;
  return result == 0 ? 0 : errno;
}

Mapping::~Mapping() { ::munmap(data_, size_); }

InputFile::InputFile(const fs::path& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  if (descriptor_.get() < 0) fail("open", errno);
  struct stat status;
  if (::fstat(descriptor_.get(), &status) != 0) fail("fstat", errno);
  if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::InvalidArgument, "not a regular file");
  size_ = static_cast<uint64_t>(status.st_size);
}

void InputFile::read(uint64_t offset, std::span<std::byte> destination) const {
  while (!destination.empty()) {
    const ssize_t count =
        ::pread(descriptor_.get(), destination.data(), destination.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read", errno);
    if (count == 0) throw Error(ErrorCode::InvalidArgument, "file ends at byte " + std::to_string(offset));
    offset += static_cast<uint64_t>(count);
    destination = destination.subspan(static_cast<size_t>(count));
  }
}

std::shared_ptr<Mapping> InputFile::map() const {
  const auto bytes = static_cast<size_t>(size_);
  void* data = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor_.get(), 0);
  if (data == MAP_FAILED) fail("mmap", errno);
  return std::make_shared<Mapping>(data, bytes);
}

OutputFile::OutputFile(const fs::path& target) : target_(follow_link(target)) {
  if (!target_.has_filename()) throw Error(ErrorCode::InvalidArgument, "names no file");
  struct stat old;
  const bool exists = status_of(target_, &old);
  // Renaming onto a device or a FIFO would replace it.
  if (exists && !S_ISREG(old.st_mode)) throw Error(ErrorCode::InvalidArgument, "not a regular file");
  fs::path temporary = temporary_beside(target_);
  descriptor_ = std::make_unique<Descriptor>(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (descriptor_->get() < 0) fail("open", errno);
  temporary_ = std::move(temporary);
  // Best effort: the file system may not keep permissions.
  if (exists) (void)!::fchmod(descriptor_->get(), old.st_mode & 07777);
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_->get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write", errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

void OutputFile::commit() {
  if (::fsync(descriptor_->get()) != 0 && errno != EINVAL) fail("fsync", errno);
  if (const int number = descriptor_->close(); number != 0) fail("close", number);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("rename", errno);
  temporary_.clear();
  // The new name survives a crash only once its folder is on the disk too. The file is whole either way.
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() >= 0) ::fsync(directory.get());
}

}  // namespace backplane::internal
