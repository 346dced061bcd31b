// SPDX-License-Identifier: Apache-2.0
//
// Memory that is freed while queued work uses it, and waiting for a plugin that answers too late.
#include <gtest/gtest.h>

#include "gate.h"

namespace backplane {
namespace {

using std::chrono::milliseconds;
using testing_support::Gate;

constexpr int64_t kCount = 1 << 18;

std::vector<int32_t> values_of(const Tensor& tensor) {
  std::vector<int32_t> values(static_cast<size_t>(tensor.size()));
  tensor.copy_to_host(values.data(), tensor.nbytes());
  return values;
}

Tensor filled(int32_t value, const Device& device) {
  return full({kCount}, value, int32, "cpu:0").copy_to(device);
}

std::vector<Device> devices_with_streams() {
  std::vector<Device> found;
  for (const Device& device : devices())
    if (device.backend() != "null") found.push_back(device);
  return found;
}

// Field report M4.
TEST(FreedMemory, M4IsNotHandedToAnotherStreamWhileItIsRead) {
  for (const Device& device : devices_with_streams()) {
    const Stream a(device), b(device);
    const Tensor intruder = filled(-7, device);
    Tensor source = filled(5, device), result, taken;
    {
      Gate gate;
      {
        const StreamGuard guard(a);
        a.wait(gate.event());
        result = source.clone();
      }
      source = Tensor();
      const StreamGuard guard(b);
      taken = intruder.clone();
      gate.open();
    }
    EXPECT_EQ(values_of(result), std::vector<int32_t>(kCount, 5)) << device.name();
    EXPECT_EQ(values_of(taken), std::vector<int32_t>(kCount, -7)) << device.name();
  }
}

// The stream that reads it may have it again at once; whoever then uses it on another stream has to wait.
TEST(FreedMemory, GivenToItsOwnStreamAgainIsNotWrittenByAnotherTooEarly) {
  for (const Device& device : devices_with_streams()) {
    const Stream a(device), b(device);
    const Tensor intruder = filled(-7, device);
    Tensor source = filled(5, device), result, taken;
    {
      Gate gate;
      {
        const StreamGuard guard(a);
        a.wait(gate.event());
        result = source.clone();
        source = Tensor();
        taken = empty({kCount}, int32, device);
      }
      const StreamGuard guard(b);
      taken.assign(intruder);
      std::this_thread::sleep_for(milliseconds(5));  // in which a write that does not wait would be done
      gate.open();
    }
    EXPECT_EQ(values_of(result), std::vector<int32_t>(kCount, 5)) << device.name();
    EXPECT_EQ(values_of(taken), std::vector<int32_t>(kCount, -7)) << device.name();
  }
}

// Small blocks go through the thread's own store on the CPU.
TEST(FreedMemory, OfAFewBytesIsNotWrittenTooEarlyEither) {
  for (const Device& device : devices_with_streams()) {
    const Stream a(device);
    const Tensor intruder = full({16}, -7, int32, "cpu:0").copy_to(device);
    std::vector<Tensor> results, taken;
    std::vector<Tensor> sources;
    sources.reserve(32);
    taken.reserve(32);
    for (int i = 0; i < 32; ++i) sources.push_back(full({16}, i, int32, "cpu:0").copy_to(device));
    {
      Gate gate;
      {
        const StreamGuard guard(a);
        a.wait(gate.event());
        for (const Tensor& source : sources) results.push_back(source.clone());
        sources.clear();
        for (int i = 0; i < 32; ++i) taken.push_back(empty({16}, int32, device));
      }
      const Stream b(device);
      const StreamGuard guard(b);
      for (const Tensor& tensor : taken) tensor.assign(intruder);
      gate.open();
    }
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(values_of(results[static_cast<size_t>(i)]), std::vector<int32_t>(16, i)) << device.name();
  }
}

template <typename Wait>
void expect_too_late(const char* what, const Wait& wait) {
  try {
    wait(milliseconds(5));
    ADD_FAILURE() << what << " did not notice";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.code(), ErrorCode::Unavailable) << text;
    for (const char* part : {"synchronize", "far:", "not done after"})
      EXPECT_NE(text.find(part), std::string::npos) << what << ": " << text;
  }
}

TEST(TimeLimits, AreAClearErrorAndNothingIsLost) {
  const Tensor origin = arange(kCount, int32, "cpu:0");
  const Tensor source = origin.copy_to("far:1");
  Tensor copy;
  Gate gate;
  const StreamGuard guard(gate.stream());
  copy = source.copy_to("far:0");
  const Event event = gate.event();
  expect_too_late("the stream", [&](auto limit) { gate.stream().synchronize(limit); });
  expect_too_late("the event", [&](auto limit) { event.wait(limit); });
  expect_too_late("the copy's event", [&](auto limit) { copy.ready().wait(limit); });
  expect_too_late("the device", [&](auto limit) { Device("far:1").synchronize(limit); });
  expect_too_late("the device that waits for it", [&](auto limit) { Device("far:0").synchronize(limit); });
  EXPECT_FALSE(event.complete());
  gate.open();
  Device("far:1").synchronize();
  Device("far:0").synchronize(std::chrono::minutes(1));
  EXPECT_TRUE(event.complete());
  EXPECT_EQ(values_of(copy), values_of(origin));
}

void expect_failed(const char* what, const std::function<void()>& read) {
  try {
    read();
    ADD_FAILURE() << what << " did not fail";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the kernel failed on purpose"), std::string::npos)
        << error.what();
    EXPECT_EQ(error.code(), ErrorCode::Internal);
  }
}

// Even when somebody else has been told, and even when the stream's events were asked about in between.
TEST(AsynchronousFailures, SurfaceAtTheReadAndStayWithTheResult) {
  const Device device("far:0");
  const Tensor good = arange(16, int32, "cpu:0").copy_to(device), bad = good.clone();
  bad.ready().wait();
  KernelSource source;
  source.language = SourceLanguage::Native;
  source.entry = "fail";
  source.operands = 1;
  source.native = [](const plugin::LaunchArgs*, int64_t, int64_t) noexcept {};
  Kernel(device, source)({bad}, {}, {1});
  while (!bad.ready().complete()) std::this_thread::yield();
  expect_failed("the first read", [&] { values_of(bad); });
  expect_failed("the stream", [&] { device.synchronize(); });
  EXPECT_NO_THROW(device.synchronize());
  expect_failed("the second read", [&] { values_of(bad); });
  EXPECT_EQ(values_of(good)[15], 15);
  bad.assign(good);
  EXPECT_EQ(values_of(bad)[15], 15);
}

// A callback may ask about its own event.
TEST(Events, MayBeAskedFromTheirOwnCallback) {
  Gate gate;
  const Event event = gate.event();
  std::atomic<int> complete{-1};
  event.on_complete([&] { complete = event.complete() ? 1 : 0; });
  EXPECT_EQ(complete, -1);
  gate.open();
  gate.stream().synchronize();
  for (int i = 0; i < 5000 && complete == -1; ++i) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(complete, 1);
}

}  // namespace
}  // namespace backplane
