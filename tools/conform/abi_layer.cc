// SPDX-License-Identifier: Apache-2.0
#include "abi_layer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "abi.h"

extern char** environ;  // NOLINT: POSIX's name

namespace backplane::tools {
namespace {

using nlohmann::json;

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// BACKPLANE_CPU_DEVICES=2 is the plugin cpu's option "devices", as in the runtime.
std::map<std::string, std::string> options_in_environment(const std::string& plugin) {
  std::map<std::string, std::string> options;
  const std::string prefix = "BACKPLANE_" + upper(plugin) + "_";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (text.compare(0, prefix.size(), prefix) == 0 && equals != std::string::npos)
      options[lower(text.substr(prefix.size(), equals - prefix.size()))] = text.substr(equals + 1);
  }
  return options;
}

// A child of this program whose standard output is read here.
class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::vector<char*> values;
    for (const std::string& argument : arguments) values.push_back(const_cast<char*>(argument.c_str()));
    values.push_back(nullptr);
    if (::posix_spawn(&id_, "/proc/self/exe", &actions, nullptr, values.data(), environ) != 0) id_ = -1;
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    output_ = ::fdopen(ends[0], "r");
  }
  ~Child() {
    if (output_ != nullptr) std::fclose(output_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool read_line(std::string& line) {
    line.clear();
    if (output_ == nullptr || id_ < 0) return false;
    for (int c = std::fgetc(output_); c != EOF; c = std::fgetc(output_)) {
      if (c == '\n') return true;
      line += static_cast<char>(c);
    }
    return false;
  }

  // Waits; how the child ended, empty when all is well.
  std::string wait() {
    int status = 0;
    if (id_ < 0 || ::waitpid(id_, &status, 0) != id_) return "the child process could not be started";
    if (WIFSIGNALED(status)) return fmt::format("the process ended by signal {}", WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? "" : fmt::format("the process ended with code {}", WEXITSTATUS(status));
  }

 private:
  pid_t id_ = -1;
  std::FILE* output_ = nullptr;
};

void write_line(const json& line) {
  const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

void run_abi_layer(const AbiJob& job, Tally& tally) {
  std::vector<std::string> arguments = {"backplane-conform", "--abi-plugin", job.plugin, "--abi-name",
                                        job.name};
  if (!job.filter.empty()) arguments.insert(arguments.end(), {"--filter", job.filter});
  for (const std::string& device : job.devices) arguments.insert(arguments.end(), {"--abi-device", device});
  Child child(arguments);
  std::string device = job.name, running = "(loading the plugin)", line;
  while (child.read_line(line)) {
    // A plugin may print too.
    const json message = json::parse(line, nullptr, false);
    if (!message.is_object() || !message.contains("case")) continue;
    device = message.value("device", device);
    running = message.value("case", std::string());
    if (!message.contains("outcome")) continue;
    tally.add(device, "abi/" + running, static_cast<Outcome>(message.value("outcome", 1)),
              message.value("message", std::string()));
    running = "(unloading)";
  }
  const std::string end = child.wait();
  if (!end.empty()) tally.add(device, "abi/" + running, Outcome::Failed, end);
}

int run_abi_child(const AbiJob& job) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a suite that somebody stopped must not go on alone
  conformance::Options options;
  options.plugin_path = job.plugin;
  options.settings = options_in_environment(job.name);
  for (const std::string& device : job.devices)
    options.devices.push_back(static_cast<uint32_t>(std::stoul(device)));
  try {
    conformance::Suite suite(options);
    for (size_t which = 0; which < suite.devices().size(); ++which)
      for (const conformance::Case& each : conformance::all_cases()) {
        if (each.name.find(job.filter) == std::string::npos) continue;
        const std::string& device = suite.devices()[which];
        write_line({{"device", device}, {"case", each.name}});
        const conformance::Result result = suite.run(which, each);
        write_line({{"device", device},
                    {"case", each.name},
                    {"outcome", static_cast<int>(result.outcome)},
                    {"message", result.message}});
      }
  } catch (const std::exception& error) {
    write_line({{"case", "(loading the plugin)"},
                {"outcome", static_cast<int>(conformance::Outcome::Failed)},
                {"message", error.what()}});
  }
  return 0;
}

}  // namespace backplane::tools
