// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backplane/backplane.h"

namespace {

namespace fs = std::filesystem;
using namespace backplane;
using testing::HasSubstr;

// A test with a folder of its own.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "backplane-io-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path at(const std::string& name) const { return folder_ / name; }

  fs::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(at(name), std::ios::binary) << bytes;
    return at(name);
  }

  static std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  // How many entries the folder has: a temporary file left behind is one too many.
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

template <typename Function>
void expect_error(ErrorCode code, const std::string& text, const Function& function) {
  try {
    function();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

std::string npy(const std::string& dictionary, const std::string& data) {
  const auto size = static_cast<uint16_t>(dictionary.size());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(size & 0xff) + static_cast<char>(size >> 8) +
         dictionary + data;
}

std::string safetensors(const std::string& header, const std::string& data) {
  std::string length;
  for (int i = 0; i < 8; ++i) length += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return length + header + data;
}

// RLIMIT_FSIZE makes every write past a size fail, as a full disk does.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(Files, AFileThatIsNotThereIsNotFound) {
  expect_error(ErrorCode::NotFound, "none.npy", [&] { load_npy(at("none.npy")); });
  expect_error(ErrorCode::NotFound, "none.st", [&] { load_safetensors(at("none.st")); });
  expect_error(ErrorCode::NotFound, "x.npy", [&] { save_npy(at("no/folder/x.npy"), zeros({1})); });
}

TEST_F(Files, WhatIsNoRegularFileIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  expect_error(ErrorCode::InvalidArgument, "not a regular file", [&] { load_npy(at("fifo")); });
  expect_error(ErrorCode::InvalidArgument, "not a regular file", [&] { load_safetensors(folder_); });
  expect_error(ErrorCode::InvalidArgument, "not a regular file", [&] { save_npy(at("fifo"), zeros({1})); });
  EXPECT_TRUE(fs::is_fifo(at("fifo")));
  expect_error(ErrorCode::InvalidArgument, "not a regular file", [] { save_npy("/dev/null", zeros({1})); });
}

TEST_F(Files, AFullDiskLeavesTheOldFileWhole) {
  const Tensor old = arange(10, float32);
  save_npy(at("x.npy"), old);
  save_safetensors(at("x.safetensors"), {{"x", old}});
  const std::string npy_before = read(at("x.npy")), safetensors_before = read(at("x.safetensors"));
  const Tensor large = zeros({1 << 20});
  {
    const FullDisk full(1 << 16);
    expect_error(ErrorCode::Unavailable, "x.npy", [&] { save_npy(at("x.npy"), large); });
    expect_error(ErrorCode::Unavailable, "x.safetensors", [&] {
      save_safetensors(at("x.safetensors"), {{"x", large}});
    });
  }
  EXPECT_EQ(read(at("x.npy")), npy_before);
  EXPECT_EQ(read(at("x.safetensors")), safetensors_before);
  EXPECT_EQ(entries(), 2u) << "a temporary file is left";
  save_npy(at("x.npy"), large);
  EXPECT_EQ(load_npy(at("x.npy")).size(), 1 << 20);
}

TEST_F(Files, SavingKeepsPermissionsAndFollowsLinks) {
  save_npy(at("x.npy"), zeros({1}));
  fs::permissions(at("x.npy"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("x.npy", at("link.npy"));
  save_npy(at("link.npy"), ones({2}));
  EXPECT_TRUE(fs::is_symlink(at("link.npy")));
  EXPECT_EQ(load_npy(at("x.npy")).to_vector<int>(), (std::vector<int>{1, 1}));
  EXPECT_EQ(fs::status(at("x.npy")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Files, SavingOverAMappedFileLeavesItsTensorsAlone) {
  save_safetensors(at("x.safetensors"), {{"x", arange(5, float32)}});
  const Tensor mapped = load_safetensors(at("x.safetensors"), "cpu", {true, {}}).tensors.at("x");
  save_safetensors(at("x.safetensors"), {{"x", mapped + 1}});
  EXPECT_EQ(mapped.to_vector<int>(), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(load_safetensors(at("x.safetensors")).tensors.at("x").to_vector<int>(),
            (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST_F(Files, MappedTensorsAreReadOnlyAndOutliveTheCall) {
  save_safetensors(at("x.safetensors"),
                   {{"x", arange(1000, float32)}, {"flag", tensor<bool>({true, false})}});
  const Tensor x = load_safetensors(at("x.safetensors"), "cpu", {true, {}}).tensors.at("x");
  expect_error(ErrorCode::InvalidArgument, "read", [&] { x.fill(1); });
  fs::remove(at("x.safetensors"));
  EXPECT_EQ(sum(x).item<double>(), 499500);
}

TEST_F(Files, AMisalignedMappedTensorIsRightAnyway) {
  // One byte of bool before the floats.
  const float values[] = {1.5f, -2.5f};
  const std::string data = std::string(1, '\1') + std::string(reinterpret_cast<const char*>(values), 8);
  const fs::path file = write(
      "x",
      safetensors(
          R"({"b":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},"f":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})",
          data));
  for (const bool memory_map : {false, true})
    EXPECT_EQ(load_safetensors(file, "cpu", {memory_map, {}}).tensors.at("f").to_vector<float>(),
              (std::vector<float>{1.5f, -2.5f}));
}

TEST_F(Files, BoolsOtherThanZeroAndOneAreTrue) {
  const std::string header = R"({"b":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]}})";
  const fs::path file = write("x", safetensors(header, std::string("\x00\x01\x02\xff", 4)));
  for (const bool memory_map : {false, true}) {
    const Tensor x = load_safetensors(file, "cpu", {memory_map, {}}).tensors.at("b");
    EXPECT_EQ(x.astype(int32).to_vector<int>(), (std::vector<int>{0, 1, 1, 1}));
  }
  const fs::path other = write(
      "x.npy", npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", std::string("\x02\x00", 2)));
  EXPECT_EQ(load_npy(other).astype(int32).to_vector<int>(), (std::vector<int>{1, 0}));
}

TEST_F(Files, OnlyNamedTensorsAreLoaded) {
  save_safetensors(at("x"), {{"a", zeros({1})}, {"b", ones({1})}}, {{"k", "v"}});
  const SafetensorsFile file = load_safetensors(at("x"), {}, {false, {"b"}});
  EXPECT_EQ(file.tensors.size(), 1u);
  EXPECT_EQ(file.tensors.count("b"), 1u);
  EXPECT_EQ(file.metadata.at("k"), "v");
  expect_error(ErrorCode::NotFound, "'c'", [&] { load_safetensors(at("x"), {}, {false, {"c"}}); });
}

TEST_F(Files, FilesWithoutTensorsAndTensorsWithoutElementsWork) {
  save_safetensors(at("none"), {});
  EXPECT_TRUE(load_safetensors(at("none"), "cpu", {true, {}}).tensors.empty());
  save_safetensors(at("empty"), {{"a", zeros({0})}, {"b", zeros({3, 0}, int8)}, {"c", ones({})}});
  EXPECT_EQ(load_safetensors(at("empty"), "cpu", {true, {}}).tensors.at("b").shape(), (Shape{3, 0}));
}

TEST_F(Files, WhatCannotBeSavedIsRefusedBeforeAnythingIsWritten) {
  expect_error(ErrorCode::Unimplemented, "bfloat16", [&] { save_npy(at("x"), zeros({1}, bfloat16)); });
  expect_error(ErrorCode::InvalidArgument, "", [&] { save_npy(at("x"), Tensor()); });
  expect_error(ErrorCode::InvalidArgument, "'a'", [&] { save_safetensors(at("x"), {{"a", Tensor()}}); });
  expect_error(ErrorCode::InvalidArgument, "__metadata__", [&] {
    save_safetensors(at("x"), {{"__metadata__", zeros({1})}});
  });
  expect_error(ErrorCode::InvalidArgument, "UTF-8", [&] {
    save_safetensors(at("x"), {{"\xff", zeros({1})}});
  });
  EXPECT_EQ(entries(), 0u);
}

TEST_F(Files, NpyFilesHaveNumpysHeader) {
  save_npy(at("x.npy"), arange(6, float32).reshape({2, 3}));
  const std::string bytes = read(at("x.npy"));
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_THAT(bytes, HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"));
  EXPECT_EQ(bytes.size(), 128u + 24u);
  EXPECT_EQ(bytes[127], '\n');
}

// What the format's own reader, an evaluator of Python literals, takes too.
TEST_F(Files, NpyHeadersMayBeWrittenInOtherWays) {
  const std::string data(24, '\0');
  for (const char* good : {"{'descr':'<f4','fortran_order':False,'shape':(2,3)}",
                           "{\"shape\": (2, 3,), \"fortran_order\": False, \"descr\": \"<f4\"}\n",
                           "  {'descr': '=f4', 'fortran_order': False, 'shape': (2L, 3L), }  \n"})
    EXPECT_EQ(load_npy(write("x", npy(good, data))).shape(), (Shape{2, 3})) << good;
}

TEST_F(Files, NpyHeadersThatSaySomethingElseAreRefused) {
  const std::string data(64, '\0');
  for (const char* bad :
       {"", "{", "{}", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} + 1",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [3]}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': 'float32', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f16', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
        "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,)}"})
    expect_error(ErrorCode::InvalidArgument, "load_npy", [&] { load_npy(write("x", npy(bad, data))); });
}

TEST_F(Files, SafetensorsHeadersThatSaySomethingElseAreRefused) {
  const std::string data(8, '\0');
  for (const char* bad :
       {"",
        " {}",
        "[]",
        "{",
        "{}x",
        R"({"a":1})",
        R"({"a":{}})",
        R"({"a":{"dtype":"F32","shape":[2]}})",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}})",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1}})",
        R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,1e1]}})",
        R"({"a":{"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[[2]],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})",
        R"({"a":{"dtype":["F32"],"shape":[2],"data_offsets":[0,8]}})",
        R"({"__metadata__":{"k":1},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
        R"({"__metadata__":{"k":"v","k":"w"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
        R"({"__metadata__":{},"__metadata__":{},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
        R"({"__metadata__":[],"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}})",
        "{\"a\xff\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}"})
    expect_error(ErrorCode::InvalidArgument, "load_safetensors",
                 [&] { load_safetensors(write("x", safetensors(bad, data))); });
}

TEST_F(Files, AHeaderOfHundredMegabytesIsRefusedWithoutReadingIt) {
  const fs::path file = write("x", std::string("\x00\xe1\xf5\x05\0\0\0\0{}", 10));  // 100 000 000
  fs::resize_file(file, 100'000'100);                                               // sparse
  expect_error(ErrorCode::InvalidArgument, "100000000", [&] { load_safetensors(file); });
}

TEST_F(Files, ManyTensorsAndLongNamesPass) {
  std::map<std::string, Tensor> tensors;
  for (int i = 0; i < 500; ++i) tensors[std::string(200, 'n') + std::to_string(i)] = full({3}, i, int32);
  save_safetensors(at("x"), tensors);
  const SafetensorsFile file = load_safetensors(at("x"));
  ASSERT_EQ(file.tensors.size(), 500u);
  EXPECT_EQ(file.tensors.at(std::string(200, 'n') + "499").to_vector<int>(),
            (std::vector<int>{499, 499, 499}));
}

}  // namespace
