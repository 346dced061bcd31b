// SPDX-License-Identifier: Apache-2.0
//
// Files as io/ uses them: read by exact ranges, mapped, or written so that the old file survives a failure.
// Errors name the file: NotFound where it or its folder is not there, InvalidArgument where it is no regular
// file or too short, Unavailable with the system's reason and errno for everything that the system refuses.
#ifndef BACKPLANE_SRC_IO_FILE_H_
#define BACKPLANE_SRC_IO_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "backplane/error.h"

namespace backplane::internal {

// An open file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) noexcept : value_(value) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return value_; }
  // Closes and gives close()'s errno, 0 when all is well.
  int close() noexcept;

 private:
  int value_;
};

// A whole file mapped for reading, until destroyed.
class Mapping {
 public:
  Mapping(void* data, size_t size) noexcept : data_(data), size_(size) {}
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  size_t size() const noexcept { return size_; }

 private:
  void* data_;
  size_t size_;
};

// A regular file, open for reading. Never waits for a writer, whatever the path turns out to be.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);

  uint64_t size() const noexcept { return size_; }  // bytes, when it was opened
  const std::filesystem::path& path() const noexcept { return path_; }

  void read(uint64_t offset, std::span<std::byte> destination) const;
  std::shared_ptr<Mapping> map() const;

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
  uint64_t size_ = 0;
};

// Writes a temporary file beside the target. commit() forces it to the disk and renames it onto the target;
// without commit() the target stays as it was and the temporary file goes. A symbolic link is followed.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& target);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::unique_ptr<Descriptor> descriptor_;
};

// Runs a function and puts "operator: file: " before the message of any Error that it throws.
template <typename Function>
auto with_file_named(const char* operation, const std::filesystem::path& path, Function&& function) {
  try {
    return function();
  } catch (const Error& error) {
    throw Error(error.code(), std::string(operation) + ": " + path.string() + ": " + error.what(),
                error.vendor_code());
  }
}

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_IO_FILE_H_
