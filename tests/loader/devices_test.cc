// SPDX-License-Identifier: Apache-2.0
//
// Which devices there are, what they are called, and which of them are one.
#include <thread>

#include "support.h"

namespace loader_test {
namespace {

using backplane::Telemetry;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> names(const std::vector<Device>& devices) {
  std::vector<std::string> result;
  result.reserve(devices.size());
  for (const Device& device : devices) result.push_back(device.name());
  return result;
}

class Devices : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* plugin : {"fake.so", "other.so", "better.so"}) folder_.add(plugin);
  }

  RuntimeOptions options(const std::map<std::string, std::string>& plugin_options) const {
    RuntimeOptions result = only({folder_.path()});
    result.plugin_options = plugin_options;
    return result;
  }

  Folder folder_;
};

// Field report L3.
TEST_F(Devices, AreFoundByTheirOwnNames) {
  in_process([&] {
    load(options({{"fake.devices", "12"}, {"other.devices", "0"}}));
    EXPECT_EQ(backplane::devices().size(), 13U);
    for (const Device& device : backplane::devices()) {
      EXPECT_EQ(Device(device.name()), device);
      EXPECT_EQ(Device(device.name()).name(), device.name());
    }
    EXPECT_EQ(Device("fake").name(), "fake:0");
    EXPECT_EQ(Device("fake:11").index(), 11);
    EXPECT_EQ(backplane::device_count("fake"), 12);
    EXPECT_EQ(backplane::device_count("other"), 0);
    EXPECT_EQ(backplane::device_count("nonsense"), 0);
  });
}

// Field report L3.
TEST_F(Devices, AreNotFoundByMalformedSelectors) {
  in_process([&] {
    load(options({}));
    for (const char* selector :
         {"*:acc", "cuda:", "cuda:-1", "cuda:01x", "", ":", ":0", "Fake", "fake: 0", "fake:00", "fake:+1",
          "fake:0x1", "fake:0:0", " fake", "fake ", "0fake", "fake:1.0", "f\xc3\xa9", "fake\n"}) {
      const Error error = error_of([selector] { Device{selector}; });
      EXPECT_EQ(error.code(), ErrorCode::InvalidArgument) << selector;
      EXPECT_THAT(error.what(), HasSubstr("\"cuda:1\"")) << "shows the form expected";
    }
  });
}

// Field report P11.
TEST_F(Devices, ThatDoNotExistAreAnErrorThatListsThoseThatDo) {
  in_process([&] {
    load(options({}));
    for (const char* selector :
         {"cuda:0", "cuda", "fake:1", "fake:99999999999999999999999", "gpu", "gpu:0"}) {
      const Error error = error_of([selector] { Device{selector}; });
      EXPECT_EQ(error.code(), ErrorCode::NotFound) << selector;
      EXPECT_THAT(error.what(), HasSubstr("fake:0, other:0, better:0"));
    }
    EXPECT_EQ(error_of([] { backplane::gpu(3); }).code(), ErrorCode::NotFound);
    EXPECT_EQ(error_of([] { backplane::try_gpu(); }).code(), ErrorCode::NotFound) << "neither GPU nor CPU";
    EXPECT_EQ(error_of([] { backplane::all_gpus(); }).code(), ErrorCode::NotFound);
  });
}

// Field report P10.
TEST_F(Devices, WithoutAnyPluginTheErrorListsTheFoldersSearched) {
  Folder empty;
  in_process([&] {
    load(only({empty.path(), "/nowhere/at/all"}));
    EXPECT_THAT(backplane::devices(), IsEmpty());
    for (const auto& use :
         {std::function<void()>([] { Device(); }), std::function<void()>([] { backplane::cpu(); })}) {
      const Error error = error_of(use);
      EXPECT_EQ(error.code(), ErrorCode::NotFound);
      EXPECT_THAT(error.what(), HasSubstr(empty.path().native()));
      EXPECT_THAT(error.what(), HasSubstr("/nowhere/at/all"));
    }
  });
}

TEST_F(Devices, ComeInTheOrderOfTheirPluginsPriority) {
  in_process([&] {
    load(options({{"better.devices", "2"}}));
    EXPECT_THAT(device_names(), ElementsAre("fake:0", "other:0", "better:0", "better:1"));
    EXPECT_EQ(backplane::default_device().name(), "fake:0") << "the first, where there is no CPU";
  });
}

// Field report L1.
TEST_F(Devices, OfOnePciAddressAreOnePhysicalGpuReachedTwoWays) {
  in_process([&] {
    load(options({{"fake.kind", "gpu"},
                  {"fake.devices", "2"},
                  {"fake.pci", "0000:3b:00.0,0000:5e:00.0"},
                  {"better.kind", "gpu"},
                  {"better.pci", "0:5E:00.0"}}));
    EXPECT_EQ(backplane::device_count("gpu"), 2);
    EXPECT_EQ(Device("gpu:0").name(), "better:0") << "by the plugin of highest priority";
    EXPECT_EQ(Device("gpu:1").name(), "fake:0");
    EXPECT_THAT(names(backplane::all_gpus()), ElementsAre("better:0", "fake:0"));
    EXPECT_THAT(names(backplane::routes_to("fake:1")), ElementsAre("better:0", "fake:1"));
    EXPECT_THAT(names(backplane::routes_to("fake:0")), ElementsAre("fake:0"));
    EXPECT_EQ(backplane::try_gpu(1).name(), "fake:0");
  });
}

// Field report L1.
TEST_F(Devices, OfFourEqualNamesAndDifferentAddressesAreFour) {
  in_process([&] {
    load(options({{"fake.kind", "gpu"},
                  {"fake.devices", "4"},
                  {"fake.title", "Card,Card,Card,Card"},
                  {"fake.uuid", "7,7,7,7"},
                  {"fake.pci", "0000:01:00.0,0000:02:00.0,0000:03:00.0,0001:01:00.0"}}));
    EXPECT_EQ(backplane::device_count("gpu"), 4);
  });
}

// Field report L1.
TEST_F(Devices, OfUnknownAddressesAreNeverTakenForOne) {
  in_process([&] {
    load(options({{"fake.kind", "gpu"},
                  {"fake.devices", "2"},
                  {"fake.uuid", "0,0"},  // a driver that says it has one and has none
                  {"other.kind", "gpu"},
                  {"better.kind", "gpu"},
                  {"better.pci", "nonsense"}}));
    EXPECT_EQ(backplane::device_count("gpu"), 4);
  });
}

TEST_F(Devices, OfOneUuidAreOneWhereAnAddressIsMissing) {
  in_process([&] {
    load(options({{"fake.kind", "gpu"},
                  {"fake.uuid", "9"},
                  {"fake.pci", "0000:01:00.0"},
                  {"better.kind", "gpu"},
                  {"better.uuid", "9"},
                  {"other.kind", "gpu"},
                  {"other.uuid", "8"}}));
    EXPECT_EQ(backplane::device_count("gpu"), 2);
  });
}

TEST_F(Devices, ThatArePartsOfOneCardAreSeveral) {
  in_process([&] {
    load(options({{"fake.kind", "gpu"},
                  {"fake.devices", "2"},
                  {"fake.uuid", "1,2"},
                  {"fake.pci", "0000:01:00.0,0000:01:00.0"}}));
    EXPECT_EQ(backplane::device_count("gpu"), 2);
  });
}

// Field report P3.
TEST_F(Devices, AreListedThoughTheirQueriesFail) {
  in_process([&] {
    load(options({{"fake.fail", "telemetry"}, {"other.fail", "description"}, {"better.fail", "opening"}}));
    EXPECT_THAT(device_names(), ElementsAre("fake:0", "other:0", "better:0"));
    EXPECT_EQ(Device("fake").telemetry().has, 0U);
    EXPECT_EQ(Device("other").properties().has, 0U);
    ASSERT_EQ(Runtime::get().notes().size(), 1U);
    EXPECT_THAT(Runtime::get().notes()[0].cause, HasSubstr("description is broken"));
    EXPECT_EQ(Device("other").telemetry().memory_used, 4096U) << "the rest of it works";
    EXPECT_EQ(Device("better").telemetry().has, 0U);
    EXPECT_THAT(Device("better").processes(), IsEmpty());
  });
}

TEST_F(Devices, TellWhatTheyDoAndWhoUsesThem) {
  in_process([&] {
    load(options({{"fake.devices", "2"}}));
    const Telemetry telemetry = Device("fake:1").telemetry();
    EXPECT_EQ(telemetry.has, uint64_t{backplane::plugin::kHasMemoryUsed});
    EXPECT_EQ(telemetry.memory_used, 4097U);
    const auto processes = Device("fake:1").processes();
    ASSERT_EQ(processes.size(), 20U);
    EXPECT_EQ(processes[0].memory_used, std::nullopt);
    EXPECT_EQ(processes[19].memory_used, std::optional<uint64_t>(19 * 1024));
    EXPECT_EQ(processes[19].pid, 119U);
  });
}

TEST_F(Devices, SayWhatTypesTheySupport) {
  in_process([&] {
    load(options({}));
    EXPECT_TRUE(Device("fake").supports(backplane::float32));
    EXPECT_FALSE(Device("fake").supports(backplane::float64));
    EXPECT_FALSE(Device("fake").supports(static_cast<backplane::DType>(200)));
  });
}

// Field report M6.
TEST_F(Devices, TheDefaultIsTheProcesssUnlessAThreadHasItsOwn) {
  in_process([&] {
    load(options({}));
    backplane::set_default_device("other:0");
    std::thread([] {
      EXPECT_EQ(Device().name(), "other:0");
      backplane::set_thread_default_device(Device("better:0"));
      EXPECT_EQ(Device().name(), "better:0");
    }).join();
    EXPECT_EQ(Device().name(), "other:0") << "another thread's own default is its own";
    {
      const backplane::DeviceGuard outer("fake:0");
      {
        const backplane::DeviceGuard inner("better:0");
        EXPECT_EQ(backplane::default_device().name(), "better:0");
      }
      EXPECT_EQ(backplane::default_device().name(), "fake:0");
    }
    EXPECT_EQ(backplane::default_device().name(), "other:0");
    backplane::set_thread_default_device(std::nullopt);
    EXPECT_EQ(backplane::default_device().name(), "other:0");
  });
}

}  // namespace
}  // namespace loader_test
