// SPDX-License-Identifier: Apache-2.0
//
// RuntimeOptions and the environment, and which of them wins.
#include <stdlib.h>

#include <mutex>

#include "support.h"

namespace loader_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void set(const char* name, const std::string& value) { ASSERT_EQ(::setenv(name, value.c_str(), 1), 0); }

// Only these folders, but with the environment.
RuntimeOptions with_environment(const std::vector<std::filesystem::path>& folders) {
  RuntimeOptions options = only(folders);
  options.ignore_environment = false;
  return options;
}

TEST(Options, BeatTheEnvironment) {
  Folder folder;
  folder.add("fake.so");
  folder.add("other.so");
  in_process([&] {
    set("BACKPLANE_FAKE_DEVICES", "2");
    set("BACKPLANE_OTHER_DEVICES", "3");
    RuntimeOptions options = with_environment({folder.path()});
    options.plugin_options["other.devices"] = "1";
    load(options);
    EXPECT_THAT(device_names(), ElementsAre("fake:0", "fake:1", "other:0"));
  });
}

TEST(Options, MayIgnoreTheEnvironment) {
  Folder folder;
  folder.add("fake.so");
  in_process([&] {
    set("BACKPLANE_FAKE_DEVICES", "2");
    set("BACKPLANE_PLUGIN_PATH", folder.path().native());
    RuntimeOptions options;
    options.ignore_environment = true;
    options.default_folder = false;
    EXPECT_THAT(load(options).folders(), IsEmpty());
    EXPECT_THAT(device_names(), IsEmpty());
  });
}

// Field report C2 for a plugin's option: empty is unset.
TEST(Options, AnEmptyVariableIsUnset) {
  Folder folder;
  folder.add("fake.so");
  in_process([&] {
    set("BACKPLANE_FAKE_DEVICES", "");
    load(with_environment({folder.path()}));
    EXPECT_THAT(device_names(), ElementsAre("fake:0"));
  });
}

TEST(Options, FoldersComeBeforeThoseOfTheEnvironmentAndEachOnce) {
  Folder first, second;
  first.add("fake.so");
  second.add("fake.so");
  in_process([&] {
    set("BACKPLANE_PLUGIN_PATH",
        second.path().native() + ":" + first.path().native() + "/." + "::relative/folder");
    load(with_environment({first.path()}));
    EXPECT_THAT(Runtime::get().folders(), ElementsAre(first.path(), second.path()));
    EXPECT_EQ(row("folder").outcome, LoadOutcome::Refused);
    EXPECT_THAT(row("folder").cause, HasSubstr("relative"));
    EXPECT_THAT(row("").cause, HasSubstr("empty"));
    EXPECT_THAT(device_names(), ElementsAre("fake:0"));
  });
}

TEST(Options, RelativeFoldersAreRefused) {
  in_process([] {
    EXPECT_THAT(load(only({"plugins", "."})).folders(), IsEmpty());
    EXPECT_THAT(row("plugins").cause, HasSubstr("RuntimeOptions"));
    EXPECT_THAT(row(".").cause, HasSubstr("relative"));
  });
}

TEST(Options, AllowAndDenyPluginsByName) {
  Folder folder;
  for (const char* name : {"fake.so", "other.so", "third.so"}) folder.add(name);
  in_process([&] {
    RuntimeOptions options = only({folder.path()});
    options.allow = {"fake", "other"};
    options.deny = {"other"};
    load(options);
    EXPECT_THAT(device_names(), ElementsAre("fake:0"));
    EXPECT_EQ(row("other.so").outcome, LoadOutcome::Refused);
    EXPECT_THAT(row("other.so").cause, HasSubstr("deny"));
    EXPECT_EQ(row("third.so").outcome, LoadOutcome::Refused);
    EXPECT_EQ(row("third.so").name, "third");
  });
}

TEST(Options, AreSetBeforeTheFirstUseOrNotAtAll) {
  Folder folder;
  in_process([&] {
    load(only({folder.path()}));
    EXPECT_EQ(error_of([] { Runtime::configure({}); }).code(), ErrorCode::InvalidArgument);
  });
}

TEST(Options, GivePluginsTheThreadCountAndTheLogCallbackTheirMessages) {
  Folder folder;
  folder.add("fake.so");
  in_process([&] {
    static std::vector<std::pair<LogLevel, std::string>> lines;
    RuntimeOptions options = only({folder.path()});
    options.thread_count = 7;
    options.plugin_options["fake.threads"] = "log";
    options.log = [](LogLevel level, std::string_view text) { lines.emplace_back(level, text); };
    load(options);
    EXPECT_THAT(lines, Contains(std::pair(LogLevel::Warning, std::string("fake: threads: 7"))));
    EXPECT_THAT(lines, Contains(testing::Field(&std::pair<LogLevel, std::string>::second,
                                               HasSubstr("loaded plugin"))));
  });
}

TEST(Options, ALogCallbackThatThrowsOrUsesTheRuntimeDoesNoHarm) {
  Folder folder;
  folder.add("fake.so");
  in_process([&] {
    static std::vector<ErrorCode> codes;
    RuntimeOptions options = only({folder.path()});
    options.log = [](LogLevel, std::string_view) {
      codes.push_back(error_of([] { backplane::devices(); }).code());
      throw std::runtime_error("from the callback");
    };
    load(options);
    EXPECT_THAT(codes, Contains(ErrorCode::Unavailable));
    EXPECT_THAT(device_names(), ElementsAre("fake:0"));
  });
}

TEST(Options, WithoutACallbackWarningsGoToStderrAndNothingElseDoes) {
  Folder folder;
  folder.add("fake.so");
  folder.write("text.so", "text");
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  in_process([&] {
    RuntimeOptions options = only({folder.path()});
    options.plugin_options["fake.threads"] = "log";
    load(options);
    Runtime::shutdown();
  });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "backplane: warning: fake: threads: 0\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace loader_test
