// SPDX-License-Identifier: Apache-2.0
//
// The caching pool: what it keeps, cuts, joins, limits and counts.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "backplane/backplane.h"

namespace backplane {
namespace {

constexpr int64_t kMiB = 1 << 20;

bool takes_offsets(const Device& device) { return (device.properties().flags & plugin::kBufferOffsets) != 0; }

Tensor bytes(int64_t count, const Device& device) { return empty({count}, uint8, device); }

// A limit for the length of a test, counted from what is in use.
class Limit {
 public:
  Limit(const Device& device, uint64_t room) : device_(device), before_(device.memory_stats().limit) {
    device_.empty_cache();
    device_.set_memory_limit(device_.memory_stats().in_use + device_.memory_stats().cached + room);
  }
  ~Limit() { device_.set_memory_limit(before_ == UINT64_MAX ? 0 : before_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  Device device_;
  uint64_t before_;
};

std::string out_of_memory(int64_t count, const Device& device) {
  try {
    bytes(count, device);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::OutOfMemory) << error.what();
    return error.what();
  }
  ADD_FAILURE() << count << " bytes fit on " << device.name();
  return "";
}

void expect_usable(const Device& device) {
  const std::vector<int32_t> values{1, 2, 3};
  EXPECT_EQ(tensor(values, device).clone().copy_to("cpu:0").to_vector<int32_t>(), values) << device.name();
}

// Field report M1.
TEST(Pool, M1WorkOnOneDeviceTakesNoMemoryOfAnother) {
  for (const Device& device : devices())
    for (const Device& other : devices()) {
      if (device == other) continue;
      const MemoryStats before = other.memory_stats();
      const Tensor x = bytes(3 * kMiB, device);
      x.clone();
      EXPECT_EQ(other.memory_stats().in_use, before.in_use) << device.name() << " took of " << other.name();
      EXPECT_EQ(other.memory_stats().allocations, before.allocations);
    }
}

// Field report M2.
TEST(Pool, M2ALimitOf64MiBHoldsAndTheErrorSaysWhatIsWhere) {
  for (const Device& device : devices()) {
    const Limit limit(device, 64 * kMiB);
    for (int64_t mib = 1; mib <= 10; ++mib) bytes(mib * kMiB, device);
    EXPECT_NO_THROW(bytes(60 * kMiB, device)) << device.name();
    const uint64_t failures = device.memory_stats().failures;
    const std::string text = out_of_memory(65 * kMiB, device);
    for (const char* part :
         {"asked for 68157440 bytes", "free", "in use", "cached", "limit", device.name().c_str()})
      EXPECT_NE(text.find(part), std::string::npos) << part << ": " << text;
    EXPECT_EQ(device.memory_stats().failures, failures + 1);
    expect_usable(device);
  }
}

// Field report M3.
TEST(Pool, M3AnAbsurdRequestIsAnErrorAndTheNextOneWorks) {
  for (const Device& device : devices()) {
    out_of_memory(int64_t{1} << 50, device);
    expect_usable(device);
  }
}

TEST(Pool, MemoryHeldByOthersIsAnErrorUntilTheyLetGo) {
  for (const Device& device : devices()) {
    const Limit limit(device, 32 * kMiB);
    Tensor held = bytes(20 * kMiB, device);
    out_of_memory(20 * kMiB, device);
    expect_usable(device);
    held = Tensor();
    EXPECT_NO_THROW(bytes(20 * kMiB, device)) << device.name();
  }
}

// Field report M5.
TEST(Pool, M5ManyThreadsMakeKernelsAllocateAndSortAtOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&wrong, t] {
      constexpr DType kKinds[] = {int8, int16, int32, int64, float32, float64};
      for (int i = 0; i < 200; ++i) {
        const DType type = kKinds[(t + i) % 6];
        const Tensor sorted = sort(tensor({3, 1, 2, 7, t % 8}, "cpu:0").astype(type));
        std::vector<int> expected{1, 2, 3, 7, t % 8};
        std::sort(expected.begin(), expected.end());
        wrong += sorted.to_vector<int>() != expected;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Pool, PartsOfALargeBlockAreHandedOutAndJoinAgain) {
  for (const Device& device : devices()) {
    if (!takes_offsets(device)) continue;
    const Device host(device.name() == "cpu:0" ? "cpu:1" : "cpu:0");
    full({8}, 0, uint8, host).copy_to(device);  // the first-use check of the copy takes memory
    device.empty_cache();
    bytes(64 * kMiB, device);
    const MemoryStats before = device.memory_stats();
    {
      std::vector<Tensor> parts;
      parts.reserve(8);
      for (int i = 0; i < 8; ++i) parts.push_back(full({8 * kMiB}, i, uint8, host).copy_to(device));
      const MemoryStats during = device.memory_stats();
      EXPECT_EQ(during.in_use, before.in_use + 64 * kMiB) << device.name();
      EXPECT_EQ(during.cached, before.cached - 64 * kMiB) << device.name();
      for (int i = 0; i < 8; ++i) {
        const Tensor back = parts[static_cast<size_t>(i)].copy_to("cpu:1");
        EXPECT_EQ(min(back).item<int>(), i) << device.name();
        EXPECT_EQ(max(back).item<int>(), i) << device.name();
      }
      // In another order than they came.
      for (const size_t i : {3, 0, 7, 1, 5, 2, 6, 4}) parts[i] = Tensor();
    }
    const uint64_t hits = device.memory_stats().hits;
    bytes(64 * kMiB, device);
    EXPECT_EQ(device.memory_stats().hits, hits + 1) << device.name() << ": the parts did not join";
  }
}

TEST(Pool, WithoutOffsetsABlockIsNotCut) {
  for (const Device& device : devices()) {
    if (takes_offsets(device)) continue;
    device.empty_cache();
    bytes(64 * kMiB, device);
    const uint64_t cached = device.memory_stats().cached;
    const Tensor part = bytes(16 * kMiB, device);
    EXPECT_EQ(device.memory_stats().cached, cached) << device.name();
  }
}

// A request that fits only into parts of larger blocks gets one before the limit is an error.
TEST(Pool, UnderPressureAnyCachedBlockIsCut) {
  for (const Device& device : devices()) {
    if (!takes_offsets(device)) continue;
    const Limit limit(device, 64 * kMiB);
    { const Tensor whole = bytes(64 * kMiB, device); }
    const Tensor one = bytes(kMiB, device);  // far less than an eighth
    const Tensor two = bytes(kMiB, device), three = bytes(30 * kMiB, device);
    EXPECT_LE(device.memory_stats().in_use + device.memory_stats().cached, device.memory_stats().limit);
  }
}

TEST(Pool, StatisticsAddUpOverRandomRequests) {
  for (const Device& device : devices()) {
    const Limit limit(device, 48 * kMiB);
    const MemoryStats before = device.memory_stats();
    std::mt19937_64 random(7);
    std::vector<Tensor> held;
    uint64_t asked = 0, requests = 0, refused = 0;
    for (int i = 0; i < 3000; ++i) {
      if (!held.empty() && random() % 2 == 0) {
        const size_t at = random() % held.size();
        asked -= held[at].nbytes();
        held.erase(held.begin() + static_cast<ptrdiff_t>(at));
        continue;
      }
      const auto size = static_cast<int64_t>(1 + random() % (uint64_t{1} << (random() % 23)));
      ++requests;
      try {
        held.push_back(bytes(size, device));
        asked += static_cast<uint64_t>(size);
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::OutOfMemory) << error.what();
        ++refused;
      }
      const MemoryStats now = device.memory_stats();
      ASSERT_GE(now.in_use - before.in_use, asked) << device.name();
      ASSERT_LE(now.in_use + now.cached, now.limit) << device.name();
      ASSERT_GE(now.peak, now.in_use);
    }
    const MemoryStats after = device.memory_stats();
    EXPECT_EQ(after.failures, before.failures + refused) << device.name();
    EXPECT_EQ(after.allocations, before.allocations + requests - refused) << device.name();
    held.clear();
    EXPECT_EQ(device.memory_stats().in_use, before.in_use) << device.name();
  }
}

// On the CPU the addresses can be looked at.
TEST(Pool, BlocksInUseNeverOverlap) {
  const Device device("cpu:1");
  std::mt19937_64 random(11);
  std::map<const char*, Tensor> held;  // by end
  for (int i = 0; i < 4000; ++i) {
    if (held.size() > 60 || (!held.empty() && random() % 2 == 0)) {
      held.erase(std::next(held.begin(), static_cast<ptrdiff_t>(random() % held.size())));
      continue;
    }
    const auto size = static_cast<int64_t>(1 + random() % (uint64_t{1} << (random() % 24)));
    const Tensor made = bytes(size, device);
    const char* begin = static_cast<const char*>(static_cast<const void*>(made.data<uint8_t>()));
    const auto next = held.upper_bound(begin);  // the first that ends after it begins
    if (next != held.end()) {
      const auto* other = static_cast<const char*>(static_cast<const void*>(next->second.data<uint8_t>()));
      ASSERT_GE(other, begin + size);
    }
    held.emplace(begin + size, made);
  }
}

TEST(Pool, AnEmptiedCacheHoldsOnlyWhatIsInUse) {
  for (const Device& device : devices()) {
    device.empty_cache();
    const MemoryStats before = device.memory_stats();
    bytes(5 * kMiB, device);
    EXPECT_GE(device.memory_stats().cached, before.cached + 5 * kMiB) << device.name();
    device.empty_cache();
    EXPECT_EQ(device.memory_stats().cached, before.cached) << device.name();
  }
}

// The value of a field of the mapping that holds an address, in the kernel's list of this process's mappings.
std::string mapping_field(const void* address, const std::string& field) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) here = begin <= wanted && wanted < end;
    if (here && line.starts_with(field + ":")) return line.substr(field.size() + 1);
  }
  return "";
}

TEST(LargeCpuBlocks, LieOnHugePages) {
  std::ifstream setting("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  std::getline(setting, modes);
  if (modes.empty() || modes.find("[never]") != std::string::npos)
    GTEST_SKIP() << "the kernel gives no transparent huge pages: '" << modes << "'";
  const Tensor block = full({64 * kMiB}, 1, uint8, "cpu:0");
  const std::string flags = mapping_field(block.data<uint8_t>(), "VmFlags");
  const std::string huge = mapping_field(block.data<uint8_t>(), "AnonHugePages");
  EXPECT_TRUE(flags.find(" hg") != std::string::npos || std::strtoull(huge.c_str(), nullptr, 10) > 0)
      << "flags:" << flags << ", huge pages:" << huge;
}

TEST(LargeCpuBlocks, AreKeptAndDoNotFaultAgain) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow memory has faults of its own";
#endif
  const auto faults = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
  };
  const void* first = nullptr;
  {
    const Tensor block = full({64 * kMiB}, 1, uint8, "cpu:0");
    first = block.data<uint8_t>();
  }
  const Tensor again = bytes(64 * kMiB, "cpu:0");
  EXPECT_EQ(again.data<uint8_t>(), first);
  const auto before = faults();
  for (int64_t i = 0; i < 64 * kMiB; i += 4096) again.data<uint8_t>()[i] = 2;
  EXPECT_LT(faults() - before, 16) << "of 32 huge or 16384 small pages";
}

}  // namespace
}  // namespace backplane
