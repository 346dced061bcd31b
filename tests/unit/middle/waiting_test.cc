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

// A tensor of fives that a held-back stream still has to read when it is dropped, while another stream writes
// memory taken in its place.
class FreedWhileRead {
 public:
  explicit FreedWhileRead(const Device& device)
      : reader(device), writer(device), intruder(filled(-7, device)), source_(filled(5, device)) {}

  // Queues the read behind the gate; the tensor is gone afterwards.
  void read_and_drop() {
    const StreamGuard guard(reader);
    reader.wait(gate_.event());
    result_ = source_.clone();
    source_ = Tensor();
  }
  void open() { gate_.open(); }

  // What was read, and what was written, are as they should be.
  void check(const Tensor& written) const {
    const std::string name = intruder.device().name();
    EXPECT_EQ(values_of(result_), std::vector<int32_t>(kCount, 5)) << name;
    EXPECT_EQ(values_of(written), std::vector<int32_t>(kCount, -7)) << name;
  }

  const Stream reader, writer;
  const Tensor intruder;

 private:
  Tensor source_, result_;
  Gate gate_;
};

// Field report M4.
TEST(FreedMemory, M4IsNotHandedToAnotherStreamWhileItIsRead) {
  for (const Device& device : devices_with_streams()) {
    FreedWhileRead memory(device);
    memory.read_and_drop();
    Tensor taken;
    {
      const StreamGuard guard(memory.writer);
      taken = memory.intruder.clone();
    }
    memory.open();
    memory.check(taken);
  }
}

// The stream that reads it may have it again at once; whoever then uses it on another stream has to wait.
TEST(FreedMemory, GivenToItsOwnStreamAgainIsNotWrittenByAnotherTooEarly) {
  for (const Device& device : devices_with_streams()) {
    FreedWhileRead memory(device);
    memory.read_and_drop();
    Tensor taken;
    {
      const StreamGuard guard(memory.reader);
      taken = empty({kCount}, int32, device);
    }
    {
      const StreamGuard guard(memory.writer);
      taken.assign(memory.intruder);
    }
    std::this_thread::sleep_for(milliseconds(5));  // in which a write that does not wait would be done
    memory.open();
    memory.check(taken);
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

// A kernel that makes the current stream of its device fail, and with it the contents of `tensor`.
void make_fail(const Tensor& tensor) {
  KernelSource source;
  source.language = SourceLanguage::Native;
  source.entry = "fail";
  source.operands = 1;
  source.native = [](const plugin::LaunchArgs*, int64_t, int64_t) noexcept {};
  Kernel(tensor.device(), source)({tensor}, {}, {1});
}

// Even when somebody else has been told, and even when the stream's events were asked about in between.
TEST(AsynchronousFailures, SurfaceAtTheReadAndStayWithTheResult) {
  const Device device("far:0");
  const Tensor good = arange(16, int32, "cpu:0").copy_to(device), bad = good.clone();
  bad.ready().wait();
  make_fail(bad);
  while (!bad.ready().complete()) std::this_thread::yield();
  expect_failed("the first read", [&] { values_of(bad); });
  expect_failed("the stream", [&] { device.synchronize(); });
  EXPECT_NO_THROW(device.synchronize());
  expect_failed("the second read", [&] { values_of(bad); });
  EXPECT_EQ(values_of(good)[15], 15);
  bad.assign(good);
  EXPECT_EQ(values_of(bad)[15], 15);
}

// Where nobody asked about the work before the stream reported it.
TEST(AsynchronousFailures, StayWithTheResultThoughOnlyTheStreamWasAsked) {
  const Device device("far:0");
  const Tensor good = arange(16, int32, "cpu:0").copy_to(device), bad = good.clone();
  bad.ready().wait();
  make_fail(bad);
  expect_failed("the stream", [&] { device.synchronize(); });
  expect_failed("the read", [&] { values_of(bad); });
  bad.assign(good);
  EXPECT_EQ(values_of(bad)[15], 15);
}

// What may become of a failed tensor of far:0.
struct Derivation {
  const char* name;
  Tensor (*derive)(const Tensor& bad);
};
// NOLINTNEXTLINE(readability-identifier-naming): googletest's name
void PrintTo(const Derivation& derivation, std::ostream* out) { *out << derivation.name; }
Tensor on_stream_of(const Device& device, const std::function<Tensor()>& work) {
  const Stream stream(device);
  const StreamGuard guard(stream);
  return work();
}
const Derivation kDerivations[] = {
    {"SameStream", [](const Tensor& bad) { return bad.clone(); }},
    {"AnotherStream", [](const Tensor& bad) { return on_stream_of("far:0", [&] { return bad.clone(); }); }},
    {"AnotherStreamStrided",
     [](const Tensor& bad) { return on_stream_of("far:0", [&] { return bad.flip(0).contiguous(); }); }},
    {"AViewOnAThirdStream",
     [](const Tensor& bad) {
       const Tensor once = on_stream_of("far:0", [&] { return bad.clone(); });
       return on_stream_of("far:0", [&] { return once.slice(0, {1, 9}).clone(); });
     }},
    {"AnotherDeviceStaged", [](const Tensor& bad) { return bad.copy_to("far:1"); }},
    {"AnotherDeviceAndBack", [](const Tensor& bad) { return bad.copy_to("far:1").copy_to("far:0"); }},
    {"AnotherPlugin",
     [](const Tensor& bad) {
       return on_stream_of("cpu:0",
                           [&] { return on_stream_of("far:0", [&] { return bad.copy_to("cpu:0"); }) + 1; });
     }},
    {"AnotherPluginInPlace",
     [](const Tensor& bad) {
       return on_stream_of("cpu:0", [&] {
         const Tensor sum = zeros({16}, int32, "cpu:0");
         sum += on_stream_of("far:0", [&] { return bad.copy_to("cpu:0"); });
         sum += 1;
         return sum;
       });
     }},
    {"PartOfAnother",
     [](const Tensor& bad) {
       const Tensor whole = arange(32, int32, "cpu:0").copy_to("far:0");
       const Tensor part = whole.slice(0, {0, 16});
       return on_stream_of("far:0", [&] { return part.assign(bad), whole; });
     }},
};

class DerivedFailures : public testing::TestWithParam<Derivation> {
 protected:
  const Tensor good_ = arange(16, int32, "cpu:0").copy_to("far:0");

  void TearDown() override {
    // Streams are used again, and stay failed until they are asked.
    for (const char* name : {"far:0", "far:1"})
      while (reports_failure(name)) continue;
  }

 private:
  static bool reports_failure(const Device& device) {
    try {
      device.synchronize();
    } catch (const Error&) {
      return true;
    }
    return false;
  }
};

TEST_P(DerivedFailures, SurfaceAtTheReadWhenTheFailureIsStillToCome) {
  const Tensor bad = good_.clone();
  Gate gate;
  const Stream failing("far:0");
  {
    const StreamGuard guard(failing);
    failing.wait(gate.event());
    make_fail(bad);
  }
  const Tensor derived = GetParam().derive(bad);
  gate.open();
  expect_failed("the read", [&] { values_of(derived); });
  expect_failed("the second read", [&] { values_of(derived); });
}

TEST_P(DerivedFailures, SurfaceAtTheReadWhenItHasBeenReported) {
  const Tensor bad = good_.clone();
  const Stream failing("far:0");
  {
    const StreamGuard guard(failing);
    make_fail(bad);
  }
  expect_failed("the stream", [&] { failing.synchronize(); });
  const Tensor derived = GetParam().derive(bad);
  expect_failed("the read", [&] { values_of(derived); });
}

TEST_P(DerivedFailures, AreNotOfWhatIsGood) {
  const Tensor bad = good_.clone();
  const Stream failing("far:0");
  {
    const StreamGuard guard(failing);
    make_fail(bad);
  }
  const Tensor derived = GetParam().derive(good_);
  EXPECT_NO_THROW(values_of(derived));
}

TEST_P(DerivedFailures, AreOverOnceAllIsWrittenAnew) {
  const Tensor bad = good_.clone();
  const Stream failing("far:0");
  {
    const StreamGuard guard(failing);
    make_fail(bad);
  }
  expect_failed("the stream", [&] { failing.synchronize(); });
  const Tensor derived = GetParam().derive(bad);
  expect_failed("the read", [&] { values_of(derived); });
  const Tensor fresh = arange(derived.size(), int32, "cpu:0");
  derived.assign(fresh);
  EXPECT_EQ(values_of(derived), values_of(fresh));
  if (derived.device().backend() == "far") return;  // it has no kernel that fills
  derived.fill(3);
  EXPECT_EQ(values_of(derived), std::vector<int32_t>(static_cast<size_t>(derived.size()), 3));
}

INSTANTIATE_TEST_SUITE_P(Derivations, DerivedFailures, testing::ValuesIn(kDerivations),
                         [](const auto& info) { return std::string(info.param.name); });

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
