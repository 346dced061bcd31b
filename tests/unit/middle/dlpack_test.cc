// SPDX-License-Identifier: Apache-2.0
//
// DLPack for devices of every type that it names. Those of plugins that do not exist yet are played by "far"
// devices under their names; bytes and codes are checked against what DLPack's header says.
#include <dlpack/dlpack.h>
#include <gtest/gtest.h>

#include <cstring>

#include "backplane/backplane.h"
#include "backplane/dlpack.h"

namespace backplane {
namespace {

struct Row {
  const char* device;
  DLDeviceType type;
  int id;
};
constexpr Row kRows[] = {
    {"vulkan:1", kDLVulkan, 1}, {"metal:1", kDLMetal, 1}, {"rocm:1", kDLROCM, 1},
    {"vpi:1", kDLVPI, 1},       {"ext:1", kDLExtDev, 1},
};

struct Deleter {
  static void count(DLManagedTensor* managed) { ++*static_cast<int*>(managed->manager_ctx); }
};

TEST(DLPackDevices, AreExportedWithTheirCode) {
  for (const Row& row : kRows) {
    const Tensor x = arange(6, int32, "cpu:0").copy_to(row.device);
    DLManagedTensor* exported = to_dlpack(x.slice(0, {2}));
    EXPECT_EQ(exported->dl_tensor.device.device_type, row.type) << row.device;
    EXPECT_EQ(exported->dl_tensor.device.device_id, row.id) << row.device;
    EXPECT_EQ(exported->dl_tensor.shape[0], 4);
    const Tensor back = from_dlpack(exported);
    EXPECT_EQ(back.device(), Device(row.device));
    EXPECT_EQ(back.copy_to("cpu:0").to_vector<int32_t>(), (std::vector<int32_t>{2, 3, 4, 5})) << row.device;
  }
}

// Field report R5.
TEST(DLPackDevices, R5MemoryOfEveryTypeIsWrappedWithOffsetAndWithoutStrides) {
  float values[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int64_t shape[1] = {4};
  std::vector<Row> rows(std::begin(kRows), std::end(kRows));
  rows.insert(rows.end(), {{"cpu:0", kDLCPU, 0}, {"cpu:0", kDLCUDAHost, 0}, {"cpu:0", kDLROCMHost, 3}});
  for (const Row& row : rows) {
    int deleted = 0;
    DLManagedTensor managed{};
    managed.dl_tensor = {values, {row.type, row.id}, 1, {kDLFloat, 32, 1}, shape, nullptr, 16};
    managed.manager_ctx = &deleted;
    managed.deleter = Deleter::count;
    {
      const Tensor x = from_dlpack(&managed);
      EXPECT_EQ(x.device(), Device(row.device));
      EXPECT_EQ(x.copy_to("cpu:1").to_vector<float>(), (std::vector<float>{4, 5, 6, 7})) << row.device;
      EXPECT_EQ(deleted, 0);
    }
    EXPECT_EQ(deleted, 1) << row.device;
  }
}

TEST(DLPackDevices, ThatAreNotHereAreNotFoundAndTheTensorIsDeleted) {
  float value = 0;
  int64_t shape[1] = {1};
  const std::pair<int32_t, int> absent[] = {{kDLVulkan, 2}, {kDLCUDAManaged, 9}, {77, 0}};
  for (const auto& [type, id] : absent) {
    int deleted = 0;
    DLManagedTensor managed{};
    managed.dl_tensor = {&value, {kDLCPU, id}, 1, {kDLFloat, 32, 1}, shape, nullptr, 0};
    std::memcpy(&managed.dl_tensor.device.device_type, &type, sizeof type);  // 77 is in no enumeration
    managed.manager_ctx = &deleted;
    managed.deleter = Deleter::count;
    try {
      from_dlpack(&managed);
      ADD_FAILURE() << "type " << type;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::NotFound) << error.what();
    }
    EXPECT_EQ(deleted, 1);
  }
}

// Every alignment, read-only or not; the deleter runs once, when nothing uses the memory any more.
TEST(WrappedHostMemory, IsReadFromAnyAlignmentAndReleasedOnce) {
  alignas(16) char bytes[64];
  for (const DType type : {int8, int16, int32, int64, float16, float32, float64})
    for (const bool read_only : {false, true})
      for (size_t offset = 0; offset < 16; ++offset) {
        const Tensor origin = arange(4, "cpu:0").astype(type);
        origin.copy_to_host(bytes + offset, origin.nbytes());
        int released = 0;
        {
          const Tensor x = wrap_host(
              bytes + offset, {4}, type, [&] { ++released; }, read_only);
          const bool aligned = offset % size_of(type) == 0;
          EXPECT_EQ(released, aligned ? 0 : 1) << to_string(type) << " at " << offset;
          EXPECT_EQ(x.copy_to("cpu:1").to_vector<double>(), (std::vector<double>{0, 1, 2, 3}))
              << to_string(type) << " at " << offset;
          if (aligned && read_only) {
            EXPECT_THROW(x.fill(1), Error);
            EXPECT_THROW(to_dlpack(x), Error);
          }
        }
        EXPECT_EQ(released, 1);
      }
}

TEST(WrappedHostMemory, IsKeptUntilACopyThatIsUnderWayHasReadIt) {
  std::vector<int32_t> values(1 << 20, 5);
  for (const Device& device : devices()) {
    std::fill(values.begin(), values.end(), 5);
    Tensor copy;
    {
      const Tensor x =
          wrap_host(values.data(), {1 << 20}, int32, [&] { std::fill(values.begin(), values.end(), 6); });
      copy = x.copy_to(device);
    }
    EXPECT_EQ(values[0], 6) << device.name();
    const Tensor back = copy.copy_to("cpu:0");
    EXPECT_EQ(min(back).item<int>(), 5) << device.name();
    EXPECT_EQ(max(back).item<int>(), 5) << device.name();
  }
}

}  // namespace
}  // namespace backplane
