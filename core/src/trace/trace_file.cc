// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace backplane::internal {
namespace {

constexpr size_t kWritten = 256 << 10;  // bytes at a time
constexpr std::string_view kHead = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
constexpr std::string_view kTail = "\n]}\n";

int write_at(int descriptor, std::string_view bytes, int64_t offset) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(count));
    offset += count;
  }
  return 0;
}

int prepare(int descriptor) noexcept {
  struct stat status;
  if (::fstat(descriptor, &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EINVAL;
  if (::ftruncate(descriptor, 0) != 0) return errno;
  const int error = write_at(descriptor, kHead, 0);
  return error != 0 ? error : write_at(descriptor, kTail, static_cast<int64_t>(kHead.size()));
}

}  // namespace

int TraceFile::open(const std::filesystem::path& path) noexcept {
  // Not emptied before it is known to be a file; a FIFO must not make the program wait.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  if (descriptor < 0) return errno;
  if (const int error = prepare(descriptor); error != 0) {
    ::close(descriptor);
    return error;
  }
  descriptor_ = descriptor;
  end_ = static_cast<int64_t>(kHead.size());
  return 0;
}

int TraceFile::add(std::string_view event) {
  if (descriptor_ < 0) return 0;
  kept_.append(first_ ? "\n" : ",\n").append(event);
  first_ = false;
  return kept_.size() < kWritten ? 0 : flush();
}

int TraceFile::flush() noexcept {
  const auto size = static_cast<int64_t>(kept_.size());
  int error = write_at(descriptor_, kept_, end_);
  if (error == 0) error = write_at(descriptor_, kTail, end_ + size);
  kept_.clear();
  if (error == 0) {
    end_ += size;
    return 0;
  }
  // On a full disk the place of the old brackets is there still.
  if (write_at(descriptor_, kTail, end_) == 0)
    static_cast<void>(::ftruncate(descriptor_, end_ + static_cast<int64_t>(kTail.size())) == 0);
  abandon();
  return error;
}

int TraceFile::close() noexcept {
  if (descriptor_ < 0) return 0;
  if (const int error = flush(); error != 0) return error;
  const int result = ::close(descriptor_);
  descriptor_ = -1;
  return result == 0 ? 0 : errno;
}

void TraceFile::abandon() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  kept_.clear();
}

}  // namespace backplane::internal
