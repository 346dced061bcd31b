// SPDX-License-Identifier: Apache-2.0
//
// Copies between every two devices that are here, "far" ones, which share nothing, among them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "gate.h"

namespace backplane {
namespace {

using testing_support::Gate;

constexpr DType kTypes[] = {boolean, int8,   int16,   int32,    int64,   uint8,  uint16,
                            uint32,  uint64, float16, bfloat16, float32, float64};

std::vector<char> bytes_of(const Tensor& tensor) {
  std::vector<char> bytes(tensor.nbytes());
  tensor.copy_to_host(bytes.data(), bytes.size());
  return bytes;
}

std::string named(const Device& from, const Device& to) { return from.name() + " to " + to.name(); }

template <typename Function>
void for_each_pair(const Function& function) {
  for (const Device& from : devices())
    for (const Device& to : devices()) function(from, to);
}

// A stream of its own on the device; none where there is no such.
std::optional<Stream> stream_on(const Device& device) {
  try {
    return Stream(device);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unimplemented) throw;
    return std::nullopt;
  }
}

// Field reports C6 and C8, for every type. Expected values are the CPU's views.
TEST(CopyMatrix, EveryTypeArrivesContiguousOrNotFromAnyOffset) {
  for_each_pair([](const Device& from, const Device& to) {
    for (const DType type : kTypes) {
      const Tensor origin = arange(24, "cpu:0").astype(type).reshape({4, 6});
      const Tensor source = origin.copy_to(from);
      const auto expect = [&](const char* what, const Tensor& got, const Tensor& want) {
        EXPECT_EQ(got.device(), to);
        EXPECT_EQ(bytes_of(got), bytes_of(want))
            << what << ", " << named(from, to) << ", " << to_string(type);
      };
      expect("all", source.copy_to(to), origin);
      expect("transposed (C6)", source.transpose().copy_to(to), origin.transpose());
      expect("some, backwards", source.slice({{1, 4}, {{}, {}, -2}}).copy_to(to),
             origin.slice({{1, 4}, {{}, {}, -2}}));
      expect("expanded (C6)", source.slice(1, {0, 1}).broadcast_to({4, 3}).copy_to(to),
             origin.slice(1, {0, 1}).broadcast_to({4, 3}));
      const Tensor flat = source.flatten(), flat_origin = origin.flatten();
      for (const int64_t offset : {1, 3, 7})
        expect("from an offset (C8)", flat.slice(0, {offset, 23}).copy_to(to),
               flat_origin.slice(0, {offset, 23}));
      const Tensor target = origin.copy_to(to), wanted = origin.clone();
      target.slice(1, {1, 5}).assign(source.slice(1, {0, 4}));
      wanted.slice(1, {1, 5}).assign(origin.slice(1, {0, 4}));
      expect("into a part", target, wanted);
    }
  });
}

// Field report C8.
TEST(CopyMatrix, C8ViewsOfBytesFromOddOffsetsArriveExactly) {
  std::vector<uint8_t> values(4096);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i * 37 + i / 256);
  for_each_pair([&](const Device& from, const Device& to) {
    const Tensor source = tensor(values, from);
    for (const int64_t offset : {1, 3, 64, 127}) {
      const auto got = bytes_of(source.slice(0, {offset, 4096}).copy_to(to));
      EXPECT_TRUE(std::equal(got.begin(), got.end(), values.begin() + offset,
                             [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; }))
          << named(from, to) << " from " << offset;
      EXPECT_EQ(got.size(), static_cast<size_t>(4096 - offset));
    }
  });
}

// Field report C7.
TEST(CopyMatrix, C7NothingCopiesAsNothing) {
  for_each_pair([](const Device& from, const Device& to) {
    const Tensor nothing = empty({0}, float32, from);
    EXPECT_EQ(nothing.copy_to(to).size(), 0) << named(from, to);
    EXPECT_EQ(empty({4}, float32, from).slice(0, {2, 2}).copy_to(to).size(), 0);
    empty({0, 3}, float32, to).assign(empty({0, 3}, float32, from));
    EXPECT_TRUE(bytes_of(nothing).empty());
    EXPECT_EQ(sum(nothing.copy_to(to).copy_to("cpu:0")).item<float>(), 0);
  });
}

// Sizes about those of chunks, and many chunks.
TEST(CopyMatrix, EverySizeArrives) {
  const Tensor origin = arange((17 << 18) + 5, int32, "cpu:0").slice(0, {1});
  for_each_pair([&](const Device& from, const Device& to) {
    const Tensor source = origin.copy_to(from);
    for (const int64_t count : {1, 2, 1023, 1 << 16, (1 << 16) + 1, (1 << 20) - 1, (1 << 20) + 1, 17 << 18}) {
      const Tensor got = source.slice(0, {0, count}).copy_to(to).copy_to("cpu:0");
      const auto* values = got.data<int32_t>();
      int64_t wrong = 0;
      for (int64_t i = 0; i < count; ++i) wrong += values[i] != i + 1;
      EXPECT_EQ(wrong, 0) << count << " of int32, " << named(from, to);
    }
  });
}

// Field report C3.
TEST(CopyMatrix, C3ACopyOntoMemoryInUseComesAfterThatUse) {
  for_each_pair([](const Device& from, const Device& to) {
    const auto own = stream_on(to), other = stream_on(from);
    if (!own || !other || from == to) return;
    const Tensor first = full({1 << 18}, 3, int32, "cpu:0").copy_to(to);
    const Tensor second = full({1 << 18}, 4, int32, "cpu:0").copy_to(from);
    const Tensor target = full({1 << 18}, 1, int32, "cpu:0").copy_to(to);
    Tensor seen;
    {
      Gate gate;
      const StreamGuard to_guard(*own), from_guard(*other);
      own->wait(gate.event());
      target.assign(first);
      seen = target.clone();
      const StreamGuard elsewhere(Stream::default_of(to));
      if (to.backend() == "cpu") gate.open();  // that stream is this thread
      target.assign(second);
    }
    EXPECT_EQ(bytes_of(seen), bytes_of(first)) << named(from, to);
    EXPECT_EQ(bytes_of(target), bytes_of(second)) << named(from, to);
  });
}

// Field report C4. The host goes on while every stream is held back, so that no copy can have been done by
// then.
TEST(CopyMatrix, C4ACopyIsAsynchronousAndItsSourceMayGoAtOnce) {
  constexpr int64_t kCount = 9 << 20;  // bytes: several chunks, and more than are in flight
  if (std::getenv("BACKPLANE_FAR_HOST_EVENTS") != nullptr) GTEST_SKIP() << "there are no host events";
  const Tensor origin = arange(kCount / 4, int32, "cpu:0");
  for_each_pair([&](const Device& from, const Device& to) {
    const auto source_stream = stream_on(from), target_stream = stream_on(to);
    if (!source_stream || !target_stream) return;
    Tensor copy;
    {
      Tensor source = origin.copy_to(from);
      source.ready().wait();
      Gate gate;
      const StreamGuard source_guard(*source_stream), target_guard(*target_stream);
      source_stream->wait(gate.event());
      target_stream->wait(gate.event());
      copy = source.copy_to(to);
      EXPECT_FALSE(copy.ready().complete()) << named(from, to);
      source = Tensor();
      gate.open();
      copy.ready().wait();
      EXPECT_TRUE(copy.ready().complete());
    }
    EXPECT_EQ(bytes_of(copy), bytes_of(origin)) << named(from, to);
  });
}

// Field report C4 at its own size.
TEST(CopyMatrix, C4ALargeTensorIsWholeAfterTheWait) {
  if (std::getenv("BACKPLANE_TEST_LARGE") == nullptr)
    GTEST_SKIP() << "512 MiB a tensor: see BACKPLANE_LONG_TESTS";
  const Tensor origin = arange(int64_t{512} * 512 * 512, float32, "cpu:0");
  for (const Device& device : devices()) {
    Tensor host = origin.clone();
    Tensor there = host.copy_to(device);
    host = Tensor();
    const Tensor back = there.copy_to("cpu:1");
    there = Tensor();
    back.ready().wait();
    EXPECT_TRUE(std::equal(origin.data<float>(), origin.data<float>() + origin.size(), back.data<float>()))
        << device.name();
  }
}

// Field report C5.
TEST(CopyMatrix, C5MoreThanFourGibibytesArriveWhole) {
  if (std::getenv("BACKPLANE_TEST_LARGE") == nullptr) GTEST_SKIP() << "9 GiB: see BACKPLANE_LONG_TESTS";
  for (const char* to : {"cpu:1", "far:0"})
    for (const int64_t count : {(int64_t{1} << 32) - 4, int64_t{1} << 32, (int64_t{1} << 32) + 4}) {
      const Tensor source = ones({count}, uint8, "cpu:0");
      const Tensor copy = source.copy_to(to);
      for (const int64_t at : {int64_t{0}, count / 2, count - 1})
        EXPECT_EQ(copy.select(0, at).copy_to("cpu:0").item<int>(), 1) << count << " to " << to;
      for (const char* device : {"cpu:0", "cpu:1", "far:0"}) Device(device).empty_cache();
    }
}

TEST(Routes, SayWhichWayAndWhy) {
  struct Row {
    const char *from, *to;
    RouteKind kind;
    const char* why;
  };
  for (const Row& row : {
           Row{"cpu:0", "cpu:0", RouteKind::SameDevice, "one device"},
           Row{"cpu:0", "cpu:1", RouteKind::Peer, "first-use check passed"},
           Row{"cpu:0", "null:0", RouteKind::Peer, "cpu"},
           Row{"cpu:0", "far:0", RouteKind::Mapped, "cpu:0 is host memory"},
           Row{"far:0", "cpu:1", RouteKind::Mapped, "cpu:1 is host memory"},
           Row{"far:0", "far:1", RouteKind::Staged, "peer copy"},
           Row{"far:1", "far:0", RouteKind::Staged, "peer copy"},
       }) {
    const Route route = Runtime::get().route(row.from, row.to);
    EXPECT_EQ(route.kind, row.kind) << row.from << " to " << row.to << ": " << to_string(route.kind);
    EXPECT_NE(route.reason.find(row.why), std::string::npos)
        << row.from << " to " << row.to << ": " << route.reason;
  }
  for_each_pair([](const Device& from, const Device& to) {
    EXPECT_FALSE(Runtime::get().route(from, to).reason.empty()) << named(from, to);
  });
}

}  // namespace
}  // namespace backplane
