// SPDX-License-Identifier: Apache-2.0
//
// First use, shutdown, fork and exit.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "support.h"

namespace loader_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Lifetime, ConcurrentFirstUsesLoadOnce) {
  Folder folder;
  for (const char* name : {"fake.so", "other.so", "third.so"}) folder.add(name);
  in_process([&] {
    static std::atomic<int> loads{0};
    RuntimeOptions options = only({folder.path()});
    options.log = [](LogLevel, std::string_view text) {
      if (text.find("loaded plugin fake") != std::string_view::npos) ++loads;
    };
    Runtime::configure(options);
    std::atomic<bool> start{false};
    constexpr int kThreads = 16;
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&start, i] {
        while (!start) std::this_thread::yield();
        if (i % 2 == 0)
          EXPECT_EQ(backplane::devices().size(), 3U);
        else
          EXPECT_EQ(Device("third:0").telemetry().memory_used, 4096U);
      });
    start = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(loads, 1);
  });
}

// Field report P10: nothing has to be called first.
TEST(Lifetime, AnyFirstCallInitialises) {
  Folder folder;
  folder.add("fake.so");
  const std::vector<std::function<void()>> first = {
      [] { EXPECT_EQ(Device("fake").name(), "fake:0"); },
      [] { EXPECT_EQ(backplane::device_count("fake"), 1); },
      [] { EXPECT_EQ(backplane::device_count("gpu"), 0); },
      [] { EXPECT_THAT(device_names(), Contains("fake:0")); },
      [] { EXPECT_THAT(Runtime::get().folders(), testing::Not(IsEmpty())); },
      [] { EXPECT_NO_THROW(backplane::default_device()); },
  };
  for (const auto& call : first)
    in_process([&] {
      ASSERT_EQ(::setenv("BACKPLANE_PLUGIN_PATH", folder.path().c_str(), 1), 0);
      call();
    });
}

TEST(Lifetime, AfterShutdownEveryUseIsUnavailableAndHandlesStayHarmless) {
  Folder folder;
  folder.add("fake.so");
  in_process([&] {
    static std::vector<std::string> lines;
    RuntimeOptions options = only({folder.path()});
    options.log = [](LogLevel, std::string_view text) { lines.emplace_back(text); };
    Runtime& runtime = load(options);
    const Device device("fake");
    device.telemetry();
    Runtime::shutdown();
    Runtime::shutdown();
    EXPECT_THAT(lines, Contains("fake: backend destroyed"));
    EXPECT_EQ(device.name(), "fake:0");
    EXPECT_EQ(runtime.report().size(), 1U);
    const std::vector<std::function<void()>> uses = {
        [] { Runtime::get(); },
        [] { backplane::devices(); },
        [] { Device("fake"); },
        [] { Device(); },
        [] { backplane::device_count("fake"); },
        [device] { device.telemetry(); },
        [device] { device.processes(); },
        [device] { device.native_context(); },
    };
    for (const auto& use : uses) EXPECT_EQ(error_of(use).code(), ErrorCode::Unavailable);
    EXPECT_EQ(error_of([] { Runtime::configure({}); }).code(), ErrorCode::InvalidArgument);
  });
}

TEST(Lifetime, ShutdownWithoutAnyUseDoesNothingAndIsFinal) {
  in_process([] {
    Runtime::shutdown();
    EXPECT_EQ(error_of([] { backplane::devices(); }).code(), ErrorCode::Unavailable);
  });
}

TEST(Lifetime, InTheChildOfAForkADeviceIsUnavailable) {
  Folder folder;
  folder.add("fake.so");
  in_process([&] {
    load(only({folder.path()}));
    const Device device("fake");
    device.telemetry();
    in_fork([device] {
      const Error error = error_of([device] { device.native_context(); });
      EXPECT_EQ(error.code(), ErrorCode::Unavailable);
      EXPECT_THAT(error.what(), HasSubstr("fork"));
      EXPECT_EQ(device.telemetry().has, 0U);
      EXPECT_THAT(device_names(), ElementsAre("fake:0"));
      Runtime::shutdown();
    });
    EXPECT_EQ(device.telemetry().memory_used, 4096U) << "the parent goes on";
  });
}

TEST(Lifetime, AForkWhileAnotherThreadLoadsLeavesTheChildUsable) {
  Folder folder;
  for (const char* name : {"fake.so", "other.so", "third.so"}) folder.add(name);
  for (int attempt = 0; attempt < 20; ++attempt)
    in_process([&] {
      Runtime::configure(only({folder.path()}));
      std::thread loading([] { backplane::devices(); });
      in_fork([] { EXPECT_EQ(backplane::devices().size(), 3U); });
      loading.join();
    });
}

}  // namespace
}  // namespace loader_test
