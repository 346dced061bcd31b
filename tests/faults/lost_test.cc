// SPDX-License-Identifier: Apache-2.0
//
// Devices that are lost, and devices that take too long.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "sweep.h"

namespace faults {
namespace {

using namespace backplane;
using namespace std::chrono_literals;
using testing::HasSubstr;

// The error that `body` throws; a failed test where it throws none.
Error error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return Error(ErrorCode::Ok, "");
}

TEST(LostDevice, SaysSoFromThenOnAndTheOthersGoOnWorking) {
  load({"cpu", true});
  const Device lost("faulty:0"), other("faulty:1"), host("cpu:0");
  const Tensor x = ones({10}, float32, lost), y = ones({10}, float32, other), z = ones({10}, float32, host);
  x.copy_to(host);
  plan().arm({0, 1, ErrorCode::DeviceLost, "", true});
  const Error first = error_of([&] { (x + x).copy_to(host).to_vector<float>(); });
  EXPECT_EQ(first.code(), ErrorCode::DeviceLost);
  EXPECT_THAT(first.what(), HasSubstr("faulty:0"));
  EXPECT_EQ(first.vendor_code(), 77);
  plan().disarm();  // what the driver answers now is of no importance
  const std::function<void()> uses[] = {[&] { ones({10}, float32, lost); }, [&] { x + x; },
                                        [&] { x.to_vector<float>(); },      [&] { x.copy_to(host); },
                                        [&] { z.copy_to(lost); },           [&] { x.copy_to(other); },
                                        [&] { lost.synchronize(); },        [&] { lost.memory_stats(); }};
  for (const auto& use : uses) {
    const Error error = error_of(use);
    EXPECT_EQ(error.code(), ErrorCode::DeviceLost);
    EXPECT_THAT(error.what(), HasSubstr("faulty:0 is lost: injected failure of "));
  }
  EXPECT_EQ((y + y).copy_to(host).to_vector<float>(), std::vector<float>(10, 2));
  EXPECT_EQ((z.copy_to(other) + y).to_vector<float>(), std::vector<float>(10, 2));
  EXPECT_EQ((z + z).to_vector<float>(), std::vector<float>(10, 2));
}

TEST(LostDevice, DoesNotKeepTheRuntimeFromShuttingDown) {
  load({"cpu", true});
  const Tensor x = ones({1000}, float32, "faulty:0");
  plan().arm({0, 1, ErrorCode::DeviceLost, "", true});
  EXPECT_EQ(error_of([&] { x.to_vector<float>(); }).code(), ErrorCode::DeviceLost);
  check_that_nothing_lives();
}

TEST(LateDevice, IsUnavailableWhenTheTimeIsOverAndDoneLater) {
  load({"cpu", true});
  const Device device("faulty:0");
  const Tensor x = ones({10}, float32, device);
  device.synchronize();
  plan().hold(0);
  const Tensor sum = x + x;
  const Stream stream = Stream::default_of(device);
  const Event event = stream.record();
  EXPECT_EQ(error_of([&] { device.synchronize(5ms); }).code(), ErrorCode::Unavailable);
  EXPECT_EQ(error_of([&] { stream.synchronize(5ms); }).code(), ErrorCode::Unavailable);
  const Error late = error_of([&] { event.wait(5ms); });
  EXPECT_EQ(late.code(), ErrorCode::Unavailable);
  EXPECT_THAT(late.what(), HasSubstr("faulty:0"));
  EXPECT_FALSE(event.complete());
  EXPECT_FALSE(stream.idle());
  plan().release();
  event.wait();
  device.synchronize(std::chrono::hours(1));
  EXPECT_EQ(sum.to_vector<float>(), std::vector<float>(10, 2));
}

TEST(LateDevice, DoesNotHoldUpOthers) {
  load({"cpu", true});
  const Device late("faulty:0"), other("faulty:1");
  const Tensor x = ones({10}, float32, late), y = ones({10}, float32, other);
  plan().hold(0);
  const Tensor waited_for = x + x;
  EXPECT_EQ((y + y).to_vector<float>(), std::vector<float>(10, 2));
  other.synchronize();
  std::thread reader([&] { EXPECT_EQ(waited_for.to_vector<float>(), std::vector<float>(10, 2)); });
  EXPECT_EQ((y * 3).to_vector<float>(), std::vector<float>(10, 3));
  plan().release();
  reader.join();
}

TEST(FaultyPlugin, SaysWhatItIs) {
  load({"null", false});
  EXPECT_THAT(Device("faulty:0").properties().name, HasSubstr("test double"));
  EXPECT_EQ(Device("faulty:0").backend(), "faulty");
}

TEST(FaultyPlugin, FailsTheCallThatItIsToldToFail) {
  load({"null", false});
  const Device device("faulty:0");
  ones({10}, float32, device);
  plan().arm({0, 2, ErrorCode::Internal, "Kernel.launch", false});
  const Tensor x = ones({10}, float32, device);
  const Error error = error_of([&] { x + x; });
  EXPECT_EQ(error.code(), ErrorCode::Internal);
  EXPECT_THAT(error.what(), HasSubstr("add on faulty:0: injected failure of Kernel.launch"));
  EXPECT_EQ(plan().disarm(), "Kernel.launch");
  EXPECT_EQ((x + x).to_vector<float>(), std::vector<float>(10, 2));
}

}  // namespace
}  // namespace faults
