// SPDX-License-Identifier: Apache-2.0
//
// What the load report says of plugins that work, and of those that do not.
#include <stdlib.h>

#include "support.h"

namespace loader_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Report, NamesALoadedPluginItsVersionCompilerAndDevices) {
  Folder folder;
  folder.add("fake.so");
  in_process([&] {
    RuntimeOptions options = only({folder.path()});
    options.plugin_options["fake.devices"] = "3";
    load(options);
    const FileReport loaded = row("fake.so");
    EXPECT_EQ(loaded.outcome, LoadOutcome::Loaded);
    EXPECT_EQ(loaded.name, "fake");
    EXPECT_EQ(loaded.version, "1.2.3");
    EXPECT_EQ(loaded.compiler, BACKPLANE_COMPILER);
    EXPECT_EQ(loaded.device_count, 3);
    EXPECT_THAT(loaded.cause, IsEmpty());
    EXPECT_THAT(device_names(), ElementsAre("fake:0", "fake:1", "fake:2"));
  });
}

// Field report P1.
TEST(Report, NamesThePluginAndTheLibraryThatItMisses) {
  Folder folder;
  folder.add("fake.so");
  folder.add("needs_nope.so");
  in_process([&] {
    load(only({folder.path()}));
    const FileReport failed = row("needs_nope.so");
    EXPECT_EQ(failed.outcome, LoadOutcome::Failed);
    EXPECT_EQ(failed.name, "needs_nope");
    EXPECT_THAT(failed.cause, HasSubstr("libnope.so not found"));
    EXPECT_THAT(failed.remedy, HasSubstr("libnope.so"));
    EXPECT_THAT(device_names(), ElementsAre("fake:0"));
  });
}

// Field report P2.
TEST(Report, ShowsTheReasonWhenABackendCannotListItsDevices) {
  Folder folder;
  folder.add("fake.so");
  folder.add("other.so");
  in_process([&] {
    RuntimeOptions options = only({folder.path()});
    options.plugin_options["other.fail"] = "enumeration";
    load(options);
    EXPECT_THAT(row("other.so").cause, HasSubstr("enumeration is broken"));
    EXPECT_THAT(row("other.so").cause, HasSubstr("77"));
    EXPECT_THAT(device_names(), ElementsAre("fake:0"));
    EXPECT_THAT(error_of([] { Device("other:0"); }).what(), HasSubstr("enumeration is broken"));
  });
}

// Field report P4.
TEST(Report, RefusesAnotherAbiMajorNamingBothNumbersWithoutLoadingIt) {
  Folder folder;
  folder.add("next_major.so");  // its constructor aborts
  in_process([&] {
    load(only({folder.path()}));
    const FileReport refused = row("next_major.so");
    EXPECT_EQ(refused.outcome, LoadOutcome::Refused);
    EXPECT_THAT(refused.cause, HasSubstr("ABI " + std::to_string(backplane::plugin::kAbiMajor + 1) + "."));
    EXPECT_THAT(refused.cause, HasSubstr("ABI " + std::to_string(backplane::plugin::kAbiMajor) + "."));
  });
}

TEST(Report, LoadsAnOlderAndANewerMinor) {
  Folder folder;
  folder.add("older.so");
  folder.add("newer.so");
  in_process([&] {
    load(only({folder.path()}));
    EXPECT_THAT(device_names(), ElementsAre("newer:0", "older:0"));
    // Device::processes came with 0.1; the older plugin is not asked.
    EXPECT_EQ(Device("newer").processes().size(), 20U);
    EXPECT_THAT(Device("older").processes(), IsEmpty());
  });
}

// Field report P6.
TEST(Report, GivesTheReasonOfAFailedCreateEveryTime) {
  Folder folder;
  folder.add("boom.so", "boom.so");
  folder.add("boom.so", "boom2.so");
  in_process([&] {
    load(only({folder.path()}));
    for (const char* name : {"boom.so", "boom2.so"}) {
      EXPECT_THAT(row(name).cause, HasSubstr("boom"));
      EXPECT_THAT(row(name).cause, HasSubstr("999"));
    }
    for (int attempt = 0; attempt < 2; ++attempt) {
      const Error error = error_of([] { Device("boom:0"); });
      EXPECT_EQ(error.code(), ErrorCode::NotFound);
      EXPECT_THAT(error.what(), HasSubstr("boom.so: boom"));
    }
  });
}

struct Stage {
  const char* plugin;
  const char* cause;
};

class FailedStage : public testing::TestWithParam<Stage> {};

// Field report P7.
TEST_P(FailedStage, IsNamedAndStopsNoOtherPlugin) {
  Folder folder;
  folder.add("fake.so");
  folder.add(std::string(GetParam().plugin) + ".so", "before.so");
  in_process([&] {
    load(only({folder.path()}));
    EXPECT_EQ(row("before.so").outcome, LoadOutcome::Failed);
    EXPECT_THAT(row("before.so").cause, HasSubstr(GetParam().cause));
    EXPECT_THAT(device_names(), ElementsAre("fake:0"));
  });
}

INSTANTIATE_TEST_SUITE_P(Plugins, FailedStage,
                         testing::Values(Stage{"no_symbol", "no data named backplane_plugin"},
                                         Stage{"function", "no data named backplane_plugin"},
                                         Stage{"null_create", "create function is null"},
                                         Stage{"throws", "thrown at the host"},
                                         Stage{"throws_int", "exception of unknown type"},
                                         Stage{"never_fills", "made no backend"},
                                         Stage{"silent", "Unavailable"}, Stage{"bad_name", "'Bad Name'"},
                                         Stage{"named_gpu", "'gpu'"}, Stage{"small", "16 bytes"}),
                         [](const auto& info) { return std::string(info.param.plugin); });

// Field report P9.
TEST(Report, LoadsAPluginWhoseLibrariesLieBesideIt) {
  Folder folder;
  folder.add("needs_needed.so");
  folder.add("libneeded.so");
  folder.add("libdeeper.so");
  in_process([&] {
    load(only({folder.path()}));
    EXPECT_THAT(row("needs_needed.so").cause, IsEmpty());
    EXPECT_THAT(device_names(), ElementsAre("needs_needed:0"));
    EXPECT_THAT(row("libneeded.so").cause, HasSubstr("needs_needed.so needs"));
  });
}

// Neither a library's name nor the place that the program loader knows it by is then the one that is needed.
TEST(Report, LoadsAPluginWhoseLibraryHasNoSoname) {
  Folder folder;
  folder.add("needs_bare.so");
  folder.add("needs_nameless.so");
  folder.add("libnameless.so");
  in_process([&] {
    load(only({folder.path()}));
    EXPECT_THAT(row("needs_bare.so").cause, IsEmpty());
    EXPECT_THAT(row("needs_nameless.so").cause, IsEmpty());
    EXPECT_THAT(device_names(), ElementsAre("needs_bare:0", "needs_nameless:0"));
  });
}

TEST(Report, NeverLooksForALibraryInTheCurrentDirectory) {
  Folder folder, current;
  folder.add("needs_nameless.so");
  std::filesystem::create_directories(current.path() / "test-plugins" / "loader");
  current.add("libnameless.so", "test-plugins/loader/libnameless.so");
  in_process([&] {
    std::filesystem::current_path(current.path());
    load(only({folder.path()}));
    EXPECT_EQ(row("needs_nameless.so").outcome, LoadOutcome::Refused);
    EXPECT_THAT(row("needs_nameless.so").cause,
                HasSubstr("libnameless.so, which is no name but a relative path"));
  });
}

TEST(Report, NamesALibraryBesideThePluginThatIsDamaged) {
  Folder folder;
  folder.add("needs_needed.so");
  folder.add("libneeded.so");
  folder.write("libdeeper.so", bytes_of("libdeeper.so").substr(0, 5000));
  in_process([&] {
    load(only({folder.path()}));
    EXPECT_THAT(row("needs_needed.so").cause, HasSubstr("libdeeper.so: truncated"));
  });
}

TEST(Report, ShadowsALaterPluginOfTheSameNameButNotForAFailedOne) {
  Folder first, second;
  first.add("fake.so");
  first.write("other.so", "not a plugin");
  second.add("fake.so");
  second.add("other.so");
  in_process([&] {
    load(only({first.path(), second.path()}));
    const auto& report = Runtime::get().report();
    ASSERT_EQ(report.size(), 4U);
    EXPECT_EQ(report[0].outcome, LoadOutcome::Loaded);
    EXPECT_EQ(report[1].outcome, LoadOutcome::Failed);
    EXPECT_EQ(report[2].outcome, LoadOutcome::Shadowed);
    EXPECT_THAT(report[2].cause, HasSubstr((first.path() / "fake.so").native()));
    EXPECT_EQ(report[3].outcome, LoadOutcome::Loaded);
    EXPECT_THAT(device_names(), ElementsAre("fake:0", "other:0"));
  });
}

TEST(Report, ListsFilesInTheOrderOfTheirNames) {
  Folder folder;
  for (const char* name : {"c.so", "a.so", "b.so", "B.so", "ignored.txt", "ignored.so.1"})
    folder.write(name, "text");
  in_process([&] {
    std::vector<std::string> names;
    for (const FileReport& report : load(only({folder.path()})).report())
      names.push_back(report.path.filename());
    EXPECT_THAT(names, ElementsAre("B.so", "a.so", "b.so", "c.so"));
  });
}

TEST(Report, CarriesWhatALoadedPluginFoundBroken) {
  Folder folder;
  folder.add("fake.so");
  in_process([&] {
    RuntimeOptions options = only({folder.path()});
    options.plugin_options["fake.note"] = "its driver is too old";
    const auto& notes = load(options).notes();
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_EQ(notes[0].plugin, "fake");
    EXPECT_EQ(notes[0].subject, "platform 2");
    EXPECT_EQ(notes[0].cause, "its driver is too old");
    EXPECT_EQ(notes[0].remedy, "mend it");
  });
}

}  // namespace
}  // namespace loader_test
