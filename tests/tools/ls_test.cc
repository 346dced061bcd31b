// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "program.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const fs::path kBin = BACKPLANE_BIN;
const fs::path kLib = BACKPLANE_LIB;
const fs::path kNullPlugin = BACKPLANE_NULL_PLUGIN;

Output ls(const std::string& arguments, const std::string& environment = "") {
  return run(environment + " " + (kBin / "backplane-ls").string() + " " + arguments);
}

// The null plugin alone, which says nothing about its device that it need not.
std::string only_null() { return "BACKPLANE_PLUGIN_PATH=" + kNullPlugin.parent_path().string(); }

json device_named(const json& all, const std::string& name) {
  for (const json& device : all.at("devices"))
    if (device.at("name") == name) return device;
  return {};
}

size_t characters(const std::string& line) {
  return static_cast<size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// The program and core's library, and no plugin beside them.
class Bare : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_.path() / "bin");
    fs::create_directories(folder_.path() / "lib");
    fs::copy(kBin / "backplane-ls", folder_.path() / "bin");
    for (const auto& entry : fs::directory_iterator(kLib))
      if (entry.path().filename().string().rfind("libbackplane.so", 0) == 0)
        fs::copy(entry.path(), folder_.path() / "lib" / entry.path().filename());
  }
  Output ls(const std::string& arguments, const std::string& environment = "") const {
    return run(environment + " " + (folder_.path() / "bin/backplane-ls").string() + " " + arguments);
  }
  TemporaryFolder folder_;
};

TEST(Ls, TheTableNamesEveryDeviceThatTheDataNames) {
  const Output data = ls("--json"), table = ls("");
  ASSERT_EQ(data.code, 0);
  EXPECT_EQ(table.code, 0);
  const json all = json::parse(data.text);
  ASSERT_FALSE(all.at("devices").empty());
  for (const json& device : all.at("devices")) {
    EXPECT_THAT(table.text, HasSubstr(device.at("name").get<std::string>()));
    EXPECT_THAT(table.text, HasSubstr(device.at("plugin").get<std::string>() + " " +
                                      device.at("plugin_version").get<std::string>()));
  }
}

TEST(Ls, TheCpuIsDescribed) {
  const json cpu = device_named(json::parse(ls("--json").text), "cpu:0");
  ASSERT_TRUE(cpu.is_object());
  EXPECT_EQ(cpu.at("kind"), "cpu");
  EXPECT_FALSE(cpu.at("hardware").get<std::string>().empty());
  EXPECT_GT(cpu.at("units").get<int>(), 0);
  EXPECT_GT(cpu.at("memory_total").get<uint64_t>(), uint64_t{1} << 20);
  EXPECT_LE(cpu.at("memory_used").get<uint64_t>(), cpu.at("memory_total").get<uint64_t>());
  EXPECT_GT(cpu.at("memory_process").get<uint64_t>(), 0u);
  const double load = cpu.at("utilization").get<double>();
  EXPECT_TRUE(load >= 0 && load <= 1) << load;
  EXPECT_THAT(cpu.at("types"), testing::Contains("float64"));
}

TEST(Ls, SeveralCpuDevicesAreListedInOrder) {
  const json all = json::parse(ls("--json", "BACKPLANE_CPU_DEVICES=2").text);
  EXPECT_TRUE(device_named(all, "cpu:0").is_object());
  EXPECT_TRUE(device_named(all, "cpu:1").is_object());
}

TEST(Ls, TablesFitTheTerminal) {
  for (const size_t width : {80, 100, 120}) {
    const Output table = ls("", "LC_ALL=C.UTF-8 COLUMNS=" + std::to_string(width));
    for (const std::string& line : table.lines()) EXPECT_LE(characters(line), width) << line;
  }
}

TEST(Ls, BoxesAreDrawnWhereTheLocaleHasThem) {
  EXPECT_THAT(ls("", "LC_ALL=C.UTF-8").text, HasSubstr("\xE2\x94\x8C"));
  const std::string plain = ls("", "LC_ALL=C").text;
  EXPECT_THAT(plain, HasSubstr("+---"));
  EXPECT_TRUE(
      std::all_of(plain.begin(), plain.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

// L4
TEST_F(Bare, WhatADriverDoesNotSayIsNotZero) {
  const json device = device_named(json::parse(ls("--json", only_null()).text), "null:0");
  ASSERT_TRUE(device.is_object());
  for (const char* field : {"utilization", "temperature_celsius", "power_watts", "fan", "memory_used",
                            "pci_address", "ecc_errors"})
    EXPECT_TRUE(device.at(field).is_null()) << field << " is " << device.at(field);
  const std::string table = ls("", only_null()).text;
  EXPECT_THAT(table, HasSubstr("null:0"));
  EXPECT_THAT(table, HasSubstr("n/a"));
  EXPECT_THAT(table, Not(HasSubstr("0 %")));
}

TEST_F(Bare, WithoutAPluginTheFoldersSearchedAreListed) {
  const Output table = ls(""), data = ls("--json"), plugins = ls("--plugins");
  for (const Output& output : {table, data, plugins}) EXPECT_EQ(output.code, 0);
  EXPECT_THAT(table.text, HasSubstr("No device"));
  EXPECT_THAT(table.text, HasSubstr((folder_.path() / "lib/backplane/plugins").string()));
  const json all = json::parse(data.text);
  EXPECT_TRUE(all.at("devices").empty());
  EXPECT_TRUE(all.at("plugins").is_array());
  EXPECT_FALSE(all.at("folders").empty());
}

TEST_F(Bare, WhatIsBrokenIsNamedWithItsCauseAndEndsWell) {
  const fs::path plugins = folder_.path() / "lib/backplane/plugins";
  fs::create_directories(plugins);
  std::ofstream(plugins / "text.so") << "not a library\n";
  std::ofstream(plugins / "empty.so");
  fs::create_directory(plugins / "folder.so");
  ASSERT_EQ(::mkfifo((plugins / "fifo.so").c_str(), 0600), 0);
  fs::create_symlink("nowhere", plugins / "link.so");
  const Output table = ls("", only_null()), data = ls("--json", only_null()),
               files = ls("--plugins", only_null());
  for (const Output& output : {table, data, files}) EXPECT_EQ(output.code, 0);
  EXPECT_THAT(table.text, HasSubstr("null:0"));
  std::map<std::string, json> rows;
  const json all = json::parse(data.text);
  for (const json& row : all.at("plugins"))
    rows[fs::path(row.at("path").get<std::string>()).filename()] = row;
  for (const char* name : {"text.so", "empty.so", "folder.so", "fifo.so", "link.so"}) {
    EXPECT_THAT(table.text, HasSubstr(name));
    EXPECT_THAT(files.text, HasSubstr(name));
    ASSERT_EQ(rows.count(name), 1u) << name;
    EXPECT_EQ(rows[name].at("outcome"), "failed") << name;
    EXPECT_FALSE(rows[name].at("cause").is_null()) << name;
  }
  EXPECT_EQ(rows["null.so"].at("outcome"), "loaded");
  EXPECT_TRUE(rows["null.so"].at("cause").is_null());
}

// Every ordered pair once, itself included, in the order of the devices.
void check_pairs(const json& all) {
  std::vector<std::string> names;
  for (const json& device : all.at("devices")) names.push_back(device.at("name"));
  const json& routes = all.at("routes");
  ASSERT_EQ(routes.size(), names.size() * names.size());
  for (size_t i = 0; i < routes.size(); ++i) {
    EXPECT_EQ(routes[i].at("source"), names[i / names.size()]);
    EXPECT_EQ(routes[i].at("destination"), names[i % names.size()]);
    EXPECT_THAT(routes[i].at("route").get<std::string>(),
                testing::AnyOf("same device", "peer", "mapped", "staged"));
    EXPECT_EQ(routes[i].at("route") == "same device", i / names.size() == i % names.size());
    EXPECT_FALSE(routes[i].at("reason").get<std::string>().empty());
  }
}

TEST(LsRoutes, HaveAnEntryForEveryOrderedPair) {
  const Output data = ls("--routes --json", "BACKPLANE_CPU_DEVICES=2");
  ASSERT_EQ(data.code, 0);
  const json all = json::parse(data.text);
  check_pairs(all);
  for (const json& route : all.at("routes")) {
    EXPECT_TRUE(route.at("small").is_null()) << "nothing was measured";
    EXPECT_TRUE(route.at("large").is_null());
  }
}

TEST(LsRoutes, AreDrawnAsAMatrixWithTheReasons) {
  const Output table = ls("--routes", "BACKPLANE_CPU_DEVICES=2 LC_ALL=C.UTF-8"),
               data = ls("--json", "BACKPLANE_CPU_DEVICES=2");
  EXPECT_EQ(table.code, 0);
  EXPECT_THAT(table.text, HasSubstr("from \\ to"));
  EXPECT_THAT(table.text, HasSubstr("Why:"));
  const json all = json::parse(data.text);
  for (const json& route : all.at("routes")) {
    EXPECT_THAT(table.text, HasSubstr(route.at("route").get<std::string>()));
    EXPECT_THAT(table.text, HasSubstr(route.at("source").get<std::string>()));
  }
}

TEST(LsRoutes, FitTheTerminalHoweverManyDevicesThereAre) {
  const Output table = ls("--routes", "BACKPLANE_CPU_DEVICES=12 LC_ALL=C.UTF-8 COLUMNS=80");
  EXPECT_EQ(table.code, 0);
  for (const std::string& line : table.lines()) EXPECT_LE(characters(line), 80u) << line;
  EXPECT_THAT(table.text, HasSubstr("cpu:11"));
}

TEST_F(Bare, BandwidthIsMeasuredOverEveryRoute) {
  const json all = json::parse(ls("--bandwidth --json", only_null()).text);
  check_pairs(all);
  for (const json& route : all.at("routes"))
    for (const char* size : {"small", "large"}) {
      const json& speed = route.at(size);
      EXPECT_GT(speed.at("seconds").get<double>(), 0);
      EXPECT_NEAR(speed.at("bytes_per_second").get<double>() * speed.at("seconds").get<double>(),
                  speed.at("bytes").get<double>(), 1);
    }
  EXPECT_LT(all.at("routes")[0].at("small").at("bytes"), all.at("routes")[0].at("large").at("bytes"));
  EXPECT_THAT(ls("--bandwidth", only_null()).text, testing::ContainsRegex("[0-9] [kMGT]B/s"));
}

// A terminal of 80 columns for standard error, and what was written on it.
TEST_F(Bare, ProgressIsShownOnATerminalOnlyAndRemoved) {
  EXPECT_EQ(ls("--bandwidth --json 2>&1 >/dev/null", only_null()).text, "") << "on a pipe";
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_TRUE(terminal >= 0 && ::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0);
  const std::string name = ::ptsname(terminal);
  const int kept_open = ::open(name.c_str(), O_RDWR | O_NOCTTY);
  EXPECT_EQ(ls("--bandwidth --json >/dev/null 2>" + name, only_null()).code, 0);
  char buffer[4096];
  const ssize_t count = ::read(terminal, buffer, sizeof buffer);
  ASSERT_GT(count, 0);
  const std::string shown(buffer, static_cast<size_t>(count));
  EXPECT_THAT(shown, HasSubstr("] 0/1 null:0 to null:0"));
  EXPECT_EQ(shown.substr(shown.size() - 4), "\r\x1b[K");
  ::close(kept_open);
  ::close(terminal);
}

TEST_F(Bare, WatchingShowsAgain) {
  const Output output = ls("--watch 0.1 --count 3", only_null());
  EXPECT_EQ(output.code, 0);
  size_t count = 0;
  for (size_t at = 0; (at = output.text.find("null:0", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(ls("--watch --count 1", only_null()).code, 0) << "the number of seconds may be missing";
}

}  // namespace
