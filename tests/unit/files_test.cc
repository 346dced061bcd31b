// SPDX-License-Identifier: Apache-2.0
// Every file of tests/data/files gives what its manifest says.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "backplane/backplane.h"

namespace {

namespace fs = std::filesystem;
using namespace backplane;
using nlohmann::json;

const fs::path kFolder = BACKPLANE_TEST_FILES;

json manifest() {
  std::ifstream file(kFolder / "manifest.json");
  return json::parse(file);
}

class DataFiles : public testing::Test {
 protected:
  // Runs a check for each row on each device.
  template <typename Check>
  void for_each_row(bool ok, const std::string& extension, const Check& check) {
    int count = 0;
    for (const json& row : manifest()) {
      const fs::path file = kFolder / row.at("file").get<std::string>();
      if (row.at("ok") != ok || file.extension() != extension) continue;
      ASSERT_TRUE(fs::exists(file)) << file;
      for (const Device& device : devices()) {
        SCOPED_TRACE(file.filename().string() + " on " + device.name());
        check(row, file, device);
      }
      ++count;
    }
    EXPECT_GT(count, 0);
  }
};

void expect_refused(const fs::path& file, const std::function<void()>& load) {
  try {
    load();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument) << error.what();
    EXPECT_NE(std::string(error.what()).find(file.filename().string()), std::string::npos) << error.what();
  }
}

TEST_F(DataFiles, GoodNpyFilesGiveTheirTypeShapeAndValues) {
  for_each_row(true, ".npy", [](const json& row, const fs::path& file, const Device& device) {
    const Tensor x = load_npy(file, device);
    EXPECT_STREQ(to_string(x.dtype()), row.at("dtype").get<std::string>().c_str());
    const auto shape = row.at("shape").get<std::vector<int64_t>>();
    EXPECT_EQ(x.shape(), Shape(shape));
    EXPECT_TRUE(x.is_contiguous());
    EXPECT_EQ(x.device(), device);
    const auto want = row.at("values").get<std::vector<double>>();
    std::vector<double> got = x.to_vector<double>();
    ASSERT_GE(got.size(), want.size());
    got.resize(want.size());
    EXPECT_EQ(got, want);
  });
}

TEST_F(DataFiles, BrokenNpyFilesAreRefused) {
  for_each_row(false, ".npy", [](const json&, const fs::path& file, const Device& device) {
    expect_refused(file, [&] { load_npy(file, device); });
  });
}

TEST_F(DataFiles, GoodSafetensorsGiveTheirTensors) {
  for_each_row(true, ".safetensors", [](const json& row, const fs::path& file, const Device& device) {
    for (const bool memory_map : {false, true}) {
      const SafetensorsFile loaded = load_safetensors(file, device, {memory_map, {}});
      EXPECT_EQ(loaded.tensors.size(), row.at("tensors").size());
      for (const auto& [name, values] : row.at("tensors").items()) {
        ASSERT_EQ(loaded.tensors.count(name), 1u) << name;
        EXPECT_EQ(loaded.tensors.at(name).to_vector<double>(), values.get<std::vector<double>>()) << name;
      }
    }
  });
}

TEST_F(DataFiles, BrokenSafetensorsAreRefused) {
  for_each_row(false, ".safetensors", [](const json&, const fs::path& file, const Device& device) {
    for (const bool memory_map : {false, true})
      expect_refused(file, [&] { load_safetensors(file, device, {memory_map, {}}); });
  });
}

}  // namespace
