// SPDX-License-Identifier: Apache-2.0
//
// The middle of the runtime: pool, streams and their order, copies between devices, exchange with the
// outside.
#include <dlpack/dlpack.h>

#include <atomic>
#include <thread>

#include "backplane/dlpack.h"
#include "devices.h"

namespace backplane {
namespace {

using testing_support::OnEachDevice;

constexpr uint64_t kMiB = 1 << 20;

class Memory : public OnEachDevice {};
class Streams : public OnEachDevice {};
class Fusion : public OnEachDevice {};

TEST_P(Memory, FreedBlocksAreUsedAgain) {
  device().empty_cache();
  { const Tensor first = zeros({1 << 20}, device()); }
  const MemoryStats before = device().memory_stats();
  { const Tensor second = zeros({1 << 20}, device()); }
  const MemoryStats after = device().memory_stats();
  EXPECT_EQ(after.hits, before.hits + (after.allocations - before.allocations));
  EXPECT_EQ(after.in_use, before.in_use);
}

TEST_P(Memory, StatisticsFollowWhatIsHeld) {
  device().synchronize();
  const MemoryStats before = device().memory_stats();
  {
    const Tensor held = zeros({3 << 20}, uint8, device());
    const MemoryStats during = device().memory_stats();
    EXPECT_GE(during.in_use, before.in_use + 3 * kMiB);
    EXPECT_LE(during.in_use, before.in_use + 4 * kMiB);
    EXPECT_GE(during.peak, during.in_use);
  }
  EXPECT_EQ(device().memory_stats().in_use, before.in_use);
}

TEST(MemoryOfThreads, BlocksMoveBetweenThreadsAndAllComeBack) {
  const Device device("cpu:0");
  const uint64_t before = device.memory_stats().in_use;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      std::vector<Tensor> kept;
      for (int i = 0; i < 300; ++i) {
        kept.push_back(full({1 + (i * 37 + t) % 2000}, t, int32, device));
        if (kept.size() > 20) kept.erase(kept.begin());
        wrong += kept.front().data<int32_t>()[0] != t;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(device.memory_stats().in_use, before);
}

TEST_P(Streams, WorkOnTwoStreamsKeepsProgramOrder) {
  const Stream a(device()), b(device());
  Tensor x = zeros({1 << 16}, device());
  for (int i = 0; i < 50; ++i) {
    const StreamGuard guard(i % 2 == 0 ? a : b);
    x += 1;
    x *= 1;
  }
  EXPECT_EQ(min(x).item<float>(), 50);
  EXPECT_EQ(max(x).item<float>(), 50);
}

TEST_P(Streams, EventsCompleteAndCallBack) {
  const Stream stream(device());
  const StreamGuard guard(stream);
  const Tensor x = ones({1 << 16}, device()) + 1.0;
  const Event event = stream.record();
  std::atomic<int> called{0};
  event.on_complete([&] { ++called; });
  event.wait();
  EXPECT_TRUE(event.complete());
  for (int i = 0; i < 1000 && called == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(called, 1);
  stream.synchronize();
  EXPECT_TRUE(stream.idle());
}

TEST_P(Streams, HandlesThatWereMovedFromAreAnErrorAndNotACrash) {
  Stream stream(device());
  const Stream other = std::move(stream);
  Event event = other.record();
  const Event same = std::move(event);
  // NOLINTBEGIN(bugprone-use-after-move,clang-analyzer-cplusplus.Move): what is tested
  EXPECT_THROW(stream.device(), Error);
  EXPECT_THROW(stream.record(), Error);
  EXPECT_THROW(stream.idle(), Error);
  EXPECT_THROW(stream.wait(same), Error);
  EXPECT_THROW(stream.synchronize(), Error);
  EXPECT_THROW(stream.native(), Error);
  EXPECT_THROW(const StreamGuard guard(stream), Error);
  EXPECT_THROW(other.wait(event), Error);
  EXPECT_THROW(event.complete(), Error);
  EXPECT_THROW(event.wait(), Error);
  EXPECT_THROW(event.on_complete([] {}), Error);
  // NOLINTEND(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
  EXPECT_THROW(same.on_complete({}), Error);
  EXPECT_NO_THROW(same.wait());
}

TEST_P(Streams, AreUsedAgainByTheNextOfTheirPriority) {
  const auto state_of_new = [&](int priority) { return Stream(device(), priority).state().get(); };
  for (const int priority : {0, -1, 1}) EXPECT_EQ(state_of_new(priority), state_of_new(priority)) << priority;
  EXPECT_NE(state_of_new(-1), state_of_new(1));
}

TEST_P(Streams, OnAHostProgramsQueueAreOneForEachQueue) {
  const Stream own(device());
  void* native = nullptr;
  try {
    native = own.native();
    Stream::wrap(device(), native);
  } catch (const Error& error) {
    ASSERT_EQ(error.code(), ErrorCode::Unimplemented) << error.what();
    GTEST_SKIP() << device().name() << " wraps no streams: " << error.what();
  }
  const void* state = nullptr;
  Tensor x = zeros({1 << 16}, device());
  {
    const Stream first = Stream::wrap(device(), native);
    const Stream second = Stream::wrap(device(), native);
    EXPECT_EQ(first, second);
    EXPECT_FALSE(first == own);
    state = first.state().get();
    const StreamGuard guard(second);
    for (int i = 0; i < 10; ++i) x += 1;
  }
  // Nothing is asked of a queue that may be gone; what was computed there is still in order.
  x += 1;
  EXPECT_EQ(min(x).item<float>(), 11);
  device().synchronize();
  EXPECT_EQ(Stream::wrap(device(), native).state().get(), state);
}

TEST_P(Streams, OverwritingAllOfAFailedResultEndsItsFailure) {
  const Tensor x = arange(4, float32, device());
  const Tensor result = zeros({4}, device());
  const Tensor good = tensor({3, 2, 1, 0}, device()), bad = tensor({0, 1, 2, 7}, device());
  const auto fail = [&] {
    take_out(result, x, bad);
    EXPECT_THROW(result.to_vector<float>(), Error);
  };
  const std::vector<float> reversed{3, 2, 1, 0}, ones_and_ones(4, 1);
  fail();
  take_out(result, x, good);
  EXPECT_EQ(result.to_vector<float>(), reversed);
  fail();
  multiply_out(result, x, 2.0);
  EXPECT_EQ(result.to_vector<float>(), (std::vector<float>{0, 2, 4, 6}));
  fail();
  result.fill(1);
  EXPECT_EQ(result.to_vector<float>(), ones_and_ones);
  fail();
  result.copy_from_host(reversed.data(), 4 * sizeof(float));
  EXPECT_EQ(result.to_vector<float>(), reversed);
  // A part leaves the rest as it was, and its own failed contents are no new ones.
  fail();
  result.slice(0, {0, 2}).fill(1);
  EXPECT_THROW(result.to_vector<float>(), Error);
  add_out(result, result, 1.0);
  EXPECT_THROW(result.to_vector<float>(), Error);
  EXPECT_THROW(device().synchronize(), Error);
  device().synchronize();
}

TEST_P(Streams, AnIndexOutOfRangeSurfacesAtTheReadAndStaysWithTheResult) {
  const Tensor x = arange(4, float32, device());
  const Tensor bad = take(x, tensor({1, 7}, device()));
  const Tensor derived = bad + 1.0;
  for (int i = 0; i < 2; ++i) {
    try {
      derived.to_vector<float>();
      ADD_FAILURE() << "read " << i;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
      EXPECT_NE(std::string(error.what()).find("take"), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(sum(x).item<float>(), 6);
  EXPECT_THROW(device().synchronize(), Error);
  EXPECT_NO_THROW(device().synchronize());
}

TEST_P(Fusion, GivesTheBitsOfTheOperatorsOneByOne) {
  for (const int64_t n : {1, 17, 4096, 100003}) {
    const Tensor a = uniform({n}, 1, -2, 2, float32, device());
    const Tensor x = uniform({n}, 2, -2, 2, float32, device());
    const Tensor b = uniform({n}, 3, -2, 2, float32, device());
    const Tensor fused = fuse([](Expr p, Expr q, Expr r) { return relu(p * q + r) * 0.5 - exp(p); }, a, x, b);
    const Tensor steps = relu(a * x + b) * 0.5 - exp(a);
    EXPECT_EQ(fused.to_vector<float>(), steps.to_vector<float>());
  }
}

TEST_P(Fusion, BroadcastsAndPromotesLikeTheOperators) {
  const Tensor column = arange(3, int32, device()).expand_dims(1);
  const Tensor row = arange(4, float32, device());
  const Tensor fused = fuse([](Expr c, Expr r) { return where(c < r, c / 2, r + 0.5); }, column, row);
  const Tensor steps = where(less(column, row), divide(column, 2), row + 0.5);
  EXPECT_EQ(fused.dtype(), steps.dtype());
  EXPECT_EQ(fused.shape(), steps.shape());
  EXPECT_EQ(fused.to_vector<float>(), steps.to_vector<float>());
}

TEST_P(Fusion, WritesIntoItsOwnOperand) {
  const Tensor x = arange(10, float32, device());
  fuse_out(
      x, [](Expr v) { return v * v + 1; }, x);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 5, 10, 17, 26, 37, 50, 65, 82}));
}

TEST_P(Fusion, TooLongAnExpressionIsAnError) {
  const Tensor x = ones({4}, device());
  EXPECT_THROW(fuse(
                   [](Expr v) {
                     for (int i = 0; i < 40; ++i) v = sqrt(v);
                     return v;
                   },
                   x),
               Error);
}

TEST(Copies, ASourceMayBeChangedOrDroppedAtOnce) {
  for (const Device& to : devices()) {
    Tensor source = full({1 << 20}, 5, int32, "cpu:0");
    const Tensor copy = source.copy_to(to);
    source.fill(6);
    source = Tensor();
    const Tensor intruder = full({1 << 20}, 7, int32, "cpu:0");
    EXPECT_EQ(min(copy).item<int32_t>(), 5) << to.name();
    EXPECT_EQ(max(copy).item<int32_t>(), 5) << to.name();
  }
}

TEST(Copies, MovingKeepsATensorThatIsThere) {
  const Tensor x = ones({2, 3}, "cpu:0");
  EXPECT_TRUE(x.to("cpu:0").is(x));
  const Tensor copy = x.copy_to("cpu:0");
  EXPECT_FALSE(copy.is(x));
  EXPECT_FALSE(copy.shares_memory_with(x));
  EXPECT_FALSE(x.to("cpu:1").shares_memory_with(x));
}

TEST(Copies, OperandsOnTwoDevicesAreAnErrorThatNamesBoth) {
  const Tensor x = ones({2}, "cpu:0"), y = ones({2}, "cpu:1");
  try {
    add(x, y);
    FAIL() << "added";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    for (const char* part : {"add", "cpu:0", "cpu:1", "float32 (2,)"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(HostMemory, IsWrappedWithoutACopyAndReleasedOnce) {
  std::vector<float> values{1, 2, 3, 4};
  int released = 0;
  {
    const Tensor x = wrap_host(values.data(), {2, 2}, float32, [&] { ++released; });
    values[3] = 40;
    EXPECT_EQ(sum(x).item<float>(), 46);
    x.fill(2);
    EXPECT_EQ(values[0], 2);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(HostMemory, ReadOnlyMemoryIsNotWritten) {
  std::vector<float> values{1, 2};
  const Tensor x = wrap_host(values.data(), {2}, float32, {}, true);
  EXPECT_THROW(x.fill(3), Error);
  EXPECT_THROW(add_out(x, x, x), Error);
  EXPECT_EQ(values[0], 1);
}

TEST(HostMemory, UnalignedMemoryIsCopied) {
  alignas(8) char bytes[16] = {};
  const float value = 2.5f;
  std::memcpy(bytes + 1, &value, sizeof value);
  int released = 0;
  const Tensor x = wrap_host(bytes + 1, {1}, float32, [&] { ++released; });
  EXPECT_EQ(released, 1);
  EXPECT_EQ(x.item<float>(), 2.5f);
}

void count_deleter(DLManagedTensor* managed) { ++*static_cast<int*>(managed->manager_ctx); }

TEST(DLPack, NullStridesAndByteOffsetsAreUnderstood) {
  float values[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int64_t shape[1] = {4};
  int deleted = 0;
  DLManagedTensor managed{};
  managed.dl_tensor.data = values;
  managed.dl_tensor.device = {kDLCPU, 0};
  managed.dl_tensor.ndim = 1;
  managed.dl_tensor.dtype = {kDLFloat, 32, 1};
  managed.dl_tensor.shape = shape;
  managed.dl_tensor.byte_offset = 16;
  managed.manager_ctx = &deleted;
  managed.deleter = count_deleter;
  {
    const Tensor x = from_dlpack(&managed);
    EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{4, 5, 6, 7}));
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
}

TEST(DLPack, NegativeStridesAreUnderstood) {
  int32_t values[4] = {1, 2, 3, 4};
  int64_t shape[1] = {4}, strides[1] = {-1};
  int deleted = 0;
  DLManagedTensor managed{};
  managed.dl_tensor = {values + 3, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, shape, strides, 0};
  managed.manager_ctx = &deleted;
  managed.deleter = count_deleter;
  EXPECT_EQ(from_dlpack(&managed).to_vector<int32_t>(), (std::vector<int32_t>{4, 3, 2, 1}));
  EXPECT_EQ(deleted, 1);
}

TEST(DLPack, ARefusedTensorIsDeletedToo) {
  int64_t shape[1] = {1};
  float value = 0;
  int deleted = 0;
  DLManagedTensor managed{};
  managed.dl_tensor = {&value, {kDLCPU, 0}, 1, {kDLComplex, 64, 1}, shape, nullptr, 0};
  managed.manager_ctx = &deleted;
  managed.deleter = count_deleter;
  EXPECT_THROW(from_dlpack(&managed), Error);
  EXPECT_EQ(deleted, 1);
}

TEST(DLPack, ExportedTensorsComeBackAndKeepTheirMemory) {
  for (const Device& device : devices()) {
    if (device.backend() != "cpu" && device.backend() != "cuda" && device.backend() != "opencl") continue;
    Tensor x = arange(12, float32, device).reshape({3, 4}).transpose().slice(0, {.start = 1});
    const auto want = x.to_vector<float>();
    DLManagedTensor* exported = to_dlpack(x);
    x = Tensor();
    const Tensor back = from_dlpack(exported);
    EXPECT_EQ(back.to_vector<float>(), want) << device.name();
  }
}

TEST(DLPack, BoolNeedsANewerHeader) {
  const Tensor x = ones({2}, boolean, "cpu:0");
#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION >= 1
  EXPECT_NO_THROW(from_dlpack(to_dlpack(x)));
#else
  try {
    to_dlpack(x);
    FAIL() << "exported";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unimplemented);
  }
#endif
}

BACKPLANE_ON_EACH_DEVICE(Memory);
BACKPLANE_ON_EACH_DEVICE(Streams);
BACKPLANE_ON_EACH_DEVICE(Fusion);

}  // namespace
}  // namespace backplane
