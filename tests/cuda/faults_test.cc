// SPDX-License-Identifier: Apache-2.0
//
// Out of memory, lost devices, several devices and threads, fork and exit.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "support.h"

namespace backplane::cuda_tests {
namespace {

constexpr int64_t kCount = 1000;

void add_and_check(Context& context, plugin::Kernel& add, float value) {
  auto a = upload(context, std::vector<float>(kCount, value));
  auto result = context.allocate(kCount * sizeof(float));
  Launch launch({kCount});
  launch.operand(*result, DType::Float32, {1})
      .operand(*a, DType::Float32, {1})
      .operand(*a, DType::Float32, {1});
  launch.run(context, add);
  EXPECT_EQ(floats(context, *result, kCount), std::vector<float>(kCount, 2 * value));
}

// Field report M1.
TEST(CudaMemory, WorkOnOneDeviceUsesNoMemoryOfAnother) {
  auto& loaded = load({{"CUDA_DOUBLE_DEVICES", "2"}});
  const uint64_t before = bytes_in_use(0);
  Context second(loaded.backend(), 1);
  auto add = make_add(second);
  add_and_check(second, *add, 3.0f);
  EXPECT_EQ(bytes_in_use(0), before);
}

// Field report M3.
TEST(CudaMemory, RunningOutIsAnErrorThatCanBeRecoveredFrom) {
  Context context(load({{"CUDA_DOUBLE_MEMORY", "512M"}}).backend(), 0);
  plugin::Buffer* none = nullptr;
  for (const uint64_t bytes : {uint64_t{1} << 50, uint64_t{600} << 20})
    EXPECT_EQ(context.device().allocate(bytes, &none).code, StatusCode::OutOfMemory);
  const auto fits = context.allocate(400 << 20);
  EXPECT_EQ(context.device().allocate(200 << 20, &none).code, StatusCode::OutOfMemory);
  auto add = make_add(context);
  add_and_check(context, *add, 1.0f);
}

TEST(CudaMemory, IsAllGivenBack) {
  auto& loaded = load();
  const uint64_t before = bytes_in_use(0);
  {
    Context context(loaded.backend(), 0);
    auto add = make_add(context);
    add_and_check(context, *add, 1.0f);
  }
  EXPECT_EQ(bytes_in_use(0), before);
}

// Field report M4: freed only when the launch that reads it is done, by whoever keeps count; the driver for
// tests sees every access to freed memory.
TEST(CudaMemory, ReadByALongKernelIsIntactUntilTheStreamIsDone) {
  Context context(load({{"CUDA_DOUBLE_DELAY_US", "5000"}, {"CUDA_DOUBLE_SEED", "3"}}).backend(), 0);
  auto add = make_add(context);
  auto a = upload(context, std::vector<float>(kCount, 4.0f));
  auto result = context.allocate(kCount * sizeof(float));
  auto other = context.create_stream(plugin::StreamKind::Asynchronous);
  auto event = context.create_event();
  Launch launch({kCount});
  launch.operand(*result, DType::Float32, {1})
      .operand(*a, DType::Float32, {1})
      .operand(*a, DType::Float32, {1});
  ASSERT_TRUE(launch.launch(context, *add, context.stream()).ok());
  ASSERT_TRUE(context.stream().record(event.get()).ok());
  ASSERT_TRUE(other->wait(event.get()).ok());
  const float garbage = -1;
  ASSERT_TRUE(other->fill(a.get(), 0, a->size(), &garbage, sizeof garbage).ok());
  ASSERT_TRUE(other->synchronize(UINT64_MAX).ok());
  EXPECT_EQ(floats(context, *result, kCount), std::vector<float>(kCount, 8.0f));
  EXPECT_EQ(report_count(), 0u);
}

// Field report M7.
TEST(CudaFaults, AStickyFaultLosesThatDeviceAndNoOther) {
  auto& loaded = load({{"CUDA_DOUBLE_DEVICES", "2"}, {"CUDA_DOUBLE_STICKY", "0:1:700"}});
  Context broken(loaded.backend(), 0), healthy(loaded.backend(), 1);
  auto add = make_add(broken);
  auto a = upload(broken, std::vector<float>(kCount, 1.0f));
  Launch launch({kCount});
  launch.operand(*a, DType::Float32, {1}).operand(*a, DType::Float32, {1}).operand(*a, DType::Float32, {1});
  ASSERT_TRUE(launch.launch(broken, *add, broken.stream()).ok());
  const auto first = broken.stream().synchronize(UINT64_MAX);
  EXPECT_EQ(first.code, StatusCode::DeviceLost);
  EXPECT_EQ(first.vendor_code, 700);
  plugin::Buffer* none = nullptr;
  const auto later = broken.device().allocate(16, &none);
  EXPECT_EQ(later.code, StatusCode::DeviceLost);
  EXPECT_NE(std::string(later.message).find("ILLEGAL_ADDRESS"), std::string::npos) << later.message;
  auto works = make_add(healthy);
  add_and_check(healthy, *works, 2.0f);
}

TEST(CudaFaults, NameTheCallAndTheDriversCode) {
  Context context(load().backend(), 0);
  fail_calls("cuMemAlloc_v2:1:2");
  plugin::Buffer* none = nullptr;
  const auto status = context.device().allocate(16, &none);
  EXPECT_EQ(status.code, StatusCode::OutOfMemory);
  EXPECT_EQ(status.vendor_code, 2);
  EXPECT_NE(std::string(status.message).find("cuMemAlloc"), std::string::npos) << status.message;
  EXPECT_NE(std::string(status.message).find("CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos)
      << status.message;
}

// Machine code that the card does not take is what the PTX is there for.
TEST(CudaModules, FallBackToPtx) {
  if (!CUDA_CODE_FOR_75) GTEST_SKIP() << "no machine code for compute capability 7.5 is built";
  Context context(load({{"CUDA_DOUBLE_CAPABILITY", "7.5"}}).backend(), 0);
  fail_calls("");
  auto add = make_add(context);
  EXPECT_EQ(call_count("cuModuleLoadData"), 2u);
  add_and_check(context, *add, 1.0f);
}

TEST(CudaModules, AreLoadedWhenTheyAreFirstNeededAndOnce) {
  auto& loaded = load({}, {{"code", "ptx"}});
  fail_calls("");
  Context context(loaded.backend(), 0);
  EXPECT_EQ(call_count("cuModuleLoadData"), 0u);
  const auto first = make_add(context);
  const auto second = make_add(context);
  EXPECT_EQ(call_count("cuModuleLoadData"), 1u);
}

TEST(CudaThreads, ShareOneDevice) {
  auto& loaded = load();
  Context opened(loaded.backend(), 0);
  auto add = make_add(opened);
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      Context context(loaded.backend(), 0);
      auto own = make_add(context);
      for (int round = 0; round < 10; ++round)
        add_and_check(context, *own, static_cast<float>(thread + round));
    });
  for (auto& thread : threads) thread.join();
  add_and_check(opened, *add, 1.0f);
  EXPECT_EQ(report_count(), 0u);
}

TEST(CudaThreads, UseTwoDevicesAtOnce) {
  auto& loaded = load({{"CUDA_DOUBLE_DEVICES", "2"}, {"CUDA_DOUBLE_DELAY_US", "500"}});
  std::vector<std::thread> threads;
  for (uint32_t device = 0; device < 2; ++device)
    threads.emplace_back([&, device] {
      Context context(loaded.backend(), device);
      auto add = make_add(context);
      for (int round = 0; round < 10; ++round) add_and_check(context, *add, static_cast<float>(round));
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(report_count(), 0u);
}

TEST(CudaFork, LeavesTheChildAnErrorAndTheParentItsDevice) {
  Context context(load().backend(), 0);
  auto add = make_add(context);
  const pid_t child = fork();
  if (child == 0) {
    plugin::Buffer* none = nullptr;
    const auto status = context.device().allocate(16, &none);
    const bool clear = status.code == StatusCode::Unavailable &&
                       std::string(status.message).find("fork") != std::string::npos;
    _exit(clear ? 0 : 1);
  }
  int result = -1;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0);
  add_and_check(context, *add, 1.0f);
}

// Field report P8: what a process holds when it ends is no reason to end badly.
TEST(CudaExit, WithLiveObjectsIsHarmless) {
  EXPECT_EXIT(
      {
        static Context* context = new Context(load().backend(), 0);
        static auto buffer =
            context->allocate(1 << 20);  // destroyed with the statics, after the driver's own
        static auto add = make_add(*context);
        static auto event = context->create_event();
        const auto nothing = [](void*, plugin::Status) noexcept {};
        auto gate = context->create_host_event();
        context->stream().wait(gate.get());
        context->stream().record(event.get());
        event->on_complete(nothing, nullptr);  // the watcher's thread is at work
        gate->signal();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace backplane::cuda_tests
