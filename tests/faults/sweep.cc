// SPDX-License-Identifier: Apache-2.0
#include "sweep.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace faults {

using namespace backplane;
using testing::AnyOf;
using testing::HasSubstr;

namespace {

constexpr int kDevices = 900;
#ifdef FAULTS_EVERY_CALL
constexpr int kStep = 1;
#else
constexpr int kStep = 7;  // calls passed over, so that the usual run takes seconds
#endif

int next_device = 0;

int64_t alive_buffers(const Device& device) { return plan().alive(Object::Buffer, device.index()); }

// The error's code is the fault's, or says that the device is lost; the message says where.
void check_error(const Error& error, const Fault& fault, const std::string& device) {
  EXPECT_EQ(error.code(), fault.code) << error.what();
  EXPECT_THAT(error.what(), HasSubstr(device));
  EXPECT_THAT(error.what(),
              AnyOf(HasSubstr("injected failure of "), HasSubstr("is lost: "), HasSubstr("asked for")));
}

struct Outcome {
  std::vector<char> bytes;
  bool failed = false;
};

Outcome run_with(const Job& job, const Device& device, const Fault& fault) {
  Outcome outcome;
  try {
    outcome.bytes = job(device);
  } catch (const Error& error) {
    outcome.failed = true;
    check_error(error, fault, device.name());
  }
  return outcome;
}

// A device that works holds nothing that the job made. Where work is done in the calling thread, that thread
// keeps a few small blocks.
void check_nothing_kept(const Device& device) {
  EXPECT_EQ(device.memory_stats().in_use, 0u);
  device.empty_cache();
  if ((device.properties().flags & plugin::kSynchronousDefaultStream) != 0) return;
  EXPECT_EQ(device.memory_stats().cached, 0u);
  EXPECT_EQ(alive_buffers(device), 0);
}

}  // namespace

void load(const Setup& setup) {
  RuntimeOptions options;
  options.plugin_folders = {FAULTS_PLUGIN_FOLDER};
  options.ignore_environment = true;
  options.deny = {"opencl", "cuda"};
  options.plugin_options = {{"faulty.plugin", std::string(FAULTS_WRAPPED_FOLDER "/") + setup.wrapped + ".so"},
                            {"faulty.devices", std::to_string(kDevices)},
                            {"faulty.discrete", setup.discrete ? "1" : "0"}};
  Runtime::configure(options);
  ASSERT_EQ(device_count("faulty"), kDevices) << "the faulty plugin did not load";
}

void sweep(const Job& job, ErrorCode code, bool lasting) {
  const std::vector<char> want = job(Device("faulty:" + std::to_string(next_device++)));
  ASSERT_FALSE(want.empty());
  // Other calls for each code, where not every one is tried.
  for (uint64_t n = 1 + static_cast<uint64_t>(code) % kStep;; n += kStep) {
    ASSERT_LT(next_device, kDevices);
    const Device device("faulty:" + std::to_string(next_device++));
    const Fault fault{device.index(), n, code, "", lasting};
    plan().arm(fault);
    const Outcome outcome = run_with(job, device, fault);
    const std::string failed = plan().disarm();
    SCOPED_TRACE("call " + std::to_string(n) + " on " + device.name() + ", " + failed + ", failed with " +
                 to_string(code));
    if (!outcome.failed) {
      EXPECT_TRUE(outcome.bytes == want) << "wrong bytes";
    }
    if (testing::Test::HasFailure()) return;
    if (failed.empty()) return check_nothing_kept(device);
    if (code == ErrorCode::DeviceLost) continue;
    EXPECT_TRUE(job(device) == want) << "wrong bytes the next time";
    check_nothing_kept(device);
    if (testing::Test::HasFailure()) return;
  }
}

void check_that_nothing_lives() {
  Runtime::shutdown();
  for (const Object object : {Object::Device, Object::Buffer, Object::Stream, Object::Event, Object::Kernel})
    EXPECT_EQ(plan().alive(object, -1), 0) << "objects of kind " << static_cast<int>(object);
}

}  // namespace faults
