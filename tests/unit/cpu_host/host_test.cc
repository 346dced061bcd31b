// SPDX-License-Identifier: Apache-2.0
// What the CPU plugin reads from /proc and /sys, from made-up ones.
#include "cpu/host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace backplane::cpu {
namespace {

class HostTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "backplane-host-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::string root_;
};

TEST_F(HostTest, NothingReadableIsUnknownRatherThanZero) {
  EXPECT_FALSE(read_memory(root_));
  EXPECT_FALSE(read_processor_time({0}, root_));
  EXPECT_FALSE(read_temperature_celsius(root_));
  EXPECT_FALSE(read_current_clock_mhz(root_));
  EXPECT_FALSE(read_energy(root_));
  EXPECT_FALSE(read_power_limit_watts(root_));
  EXPECT_FALSE(numa_node({0}, root_));
  EXPECT_EQ(read_processor(root_).model, "CPU");
  const CgroupLimits limits = read_cgroup_limits(root_);
  EXPECT_FALSE(limits.cores);
  EXPECT_FALSE(limits.memory_limit);
}

TEST_F(HostTest, ProcessorIsTheFirstOne) {
  write("/proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7763\ncpu MHz\t\t: "
        "2445.427\nflags\t\t: fpu "
        "avx2\n\nprocessor\t: 1\nmodel name\t: another\n");
  const Processor processor = read_processor(root_);
  EXPECT_EQ(processor.model, "AMD EPYC 7763");
  EXPECT_EQ(processor.vendor, "AMD");
  EXPECT_EQ(processor.features, "fpu avx2");
  EXPECT_EQ(processor.clock_mhz, 2445u);
}

TEST_F(HostTest, MemoryIsTheMachinesWithoutACgroup) {
  write("/proc/meminfo", "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    600 kB\n");
  write("/proc/self/statm", "50 10 5 1 0 20 0\n");
  const auto memory = read_memory(root_);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->total, 1000u * 1024);
  EXPECT_EQ(memory->available, 600u * 1024);
  EXPECT_EQ(memory->process, 10u * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
}

TEST_F(HostTest, TheTightestCgroupOfVersion2Counts) {
  write("/proc/meminfo", "MemTotal:       9000 kB\nMemAvailable:    8000 kB\n");
  write("/proc/self/cgroup", "0::/outer/inner\n");
  write("/sys/fs/cgroup/outer/memory.max", "4096000\n");
  write("/sys/fs/cgroup/outer/memory.current", "3000000\n");
  write("/sys/fs/cgroup/outer/memory.stat", "anon 5\ninactive_file 1000000\n");
  write("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("/sys/fs/cgroup/outer/inner/cpu.max", "150000 100000\n");
  write("/sys/fs/cgroup/outer/cpu.max", "max 100000\n");
  const auto memory = read_memory(root_);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->total, 4096000u);
  // The limit less what is used, of which the file cache can be given back.
  EXPECT_EQ(memory->available, 4096000u - 2000000u);
  EXPECT_DOUBLE_EQ(read_cgroup_limits(root_).cores.value_or(0), 1.5);
  EXPECT_LE(usable_cores(root_), 2);
}

TEST_F(HostTest, CgroupsOfVersion1AreRead) {
  write("/proc/self/cgroup", "7:memory:/docker/abc\n5:cpu,cpuacct:/docker/abc\n");
  // In a container the host's path is not there; the mount's own top is the group.
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "5000000\n");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n");
  write("/sys/fs/cgroup/memory/memory.stat", "total_inactive_file 400000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  const CgroupLimits limits = read_cgroup_limits(root_);
  EXPECT_EQ(limits.memory_limit.value_or(0), 5000000u);
  EXPECT_EQ(limits.memory_room.value_or(0), 5000000u - 600000u);
  EXPECT_DOUBLE_EQ(limits.cores.value_or(0), 0.5);
  EXPECT_EQ(usable_cores(root_), 1);
}

TEST_F(HostTest, ANumberThatMeansNoLimitIsNone) {
  write("/proc/self/cgroup", "7:memory:/\n5:cpu:/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n");
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  const CgroupLimits limits = read_cgroup_limits(root_);
  EXPECT_FALSE(limits.memory_limit);
  EXPECT_FALSE(limits.cores);
}

TEST_F(HostTest, ProcessorTimeCountsOnlyTheCoresAsked) {
  write("/proc/stat",
        "cpu  9 9 9 9 9 9 9 9\ncpu0 10 1 5 80 4 0 0 0 0 0\ncpu1 100 0 0 100 0 0 0 0 0 0\nintr 1\n");
  const auto time = read_processor_time({0}, root_);
  ASSERT_TRUE(time);
  EXPECT_EQ(time->total, 100u);
  EXPECT_EQ(time->busy, 16u);
}

TEST_F(HostTest, TheHottestProcessorSensorCounts) {
  write("/sys/class/hwmon/hwmon0/name", "nvme\n");
  write("/sys/class/hwmon/hwmon0/temp1_input", "90000\n");
  write("/sys/class/hwmon/hwmon1/name", "k10temp\n");
  write("/sys/class/hwmon/hwmon1/temp1_input", "51250\n");
  write("/sys/class/hwmon/hwmon1/temp2_input", "48000\n");
  write("/sys/class/hwmon/hwmon1/temp3_input", "-274000\n");
  EXPECT_DOUBLE_EQ(read_temperature_celsius(root_).value_or(0), 51.25);
}

TEST_F(HostTest, EnergyIsThatOfAllPackagesButNotOfTheirParts) {
  write("/sys/class/powercap/intel-rapl:0/energy_uj", "3000000\n");
  write("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "10000000\n");
  write("/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "65000000\n");
  write("/sys/class/powercap/intel-rapl:0:0/energy_uj", "2000000\n");
  write("/sys/class/powercap/intel-rapl:1/energy_uj", "1000000\n");
  const auto energy = read_energy(root_);
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->joules, 4);
  EXPECT_DOUBLE_EQ(energy->wraps_after, 10);
  EXPECT_DOUBLE_EQ(read_power_limit_watts(root_).value_or(0), 65);
}

TEST_F(HostTest, ANumaNodeIsKnownOnlyWhereAllCoresAreOnIt) {
  write("/sys/devices/system/node/online", "0-1\n");
  write("/sys/devices/system/node/node0/cpulist", "0-3\n");
  write("/sys/devices/system/node/node1/cpulist", "4-7\n");
  EXPECT_EQ(numa_node({5, 6}, root_).value_or(-1), 1);
  EXPECT_FALSE(numa_node({3, 4}, root_));
}

}  // namespace
}  // namespace backplane::cpu
