// SPDX-License-Identifier: Apache-2.0
//
// A file of trace events that is whole JSON after every write: the closing brackets are written behind the
// events each time, and overwritten by the next ones. So the trace of a program that dies is readable too, up
// to the last write. Not thread-safe.
#ifndef BACKPLANE_SRC_TRACE_TRACE_FILE_H_
#define BACKPLANE_SRC_TRACE_TRACE_FILE_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace backplane::internal {

class TraceFile {
 public:
  // Creates or empties the file. 0, or the errno of what failed; EINVAL for what is no regular file.
  int open(const std::filesystem::path& path) noexcept;

  // Keeps one event, and writes when many are kept. 0, or the errno of what failed; the file is then closed
  // with the events written so far.
  int add(std::string_view event);

  // Writes what is kept and closes. 0, or an errno.
  int close() noexcept;

  // Forgets what is kept and closes, for the child of a fork: the file is the parent's.
  void abandon() noexcept;

 private:
  int flush() noexcept;

  int descriptor_ = -1;
  int64_t end_ = 0;  // of the events in the file: where the closing brackets stand
  bool first_ = true;
  std::string kept_;
};

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_TRACE_TRACE_FILE_H_
