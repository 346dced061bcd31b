// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>

extern char** environ;

namespace backplane::bench {

PeerProcess::PeerProcess(const std::string& python, const std::string& script) {
  std::signal(SIGPIPE, SIG_IGN);  // a peer that ended shows as an answer that does not come
  int down[2], up[2];
  if (::pipe2(down, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  if (::pipe2(up, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, down[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, up[1], STDOUT_FILENO);
  std::array<std::string, 2> words{python, script};
  std::array<char*, 3> arguments{words[0].data(), words[1].data(), nullptr};
  if (::posix_spawnp(&child_, python.c_str(), &actions, nullptr, arguments.data(), environ) != 0) child_ = -1;
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(down[0]);
  ::close(up[1]);
  to_ = ::fdopen(down[1], "w");
  from_ = ::fdopen(up[0], "r");
}

PeerProcess::~PeerProcess() {
  std::fclose(to_);
  std::fclose(from_);
  if (child_ > 0) ::waitpid(child_, nullptr, 0);
}

std::string PeerProcess::ask(const std::string& line) {
  std::fputs((line + "\n").c_str(), to_);
  std::fflush(to_);
  std::array<char, 256> answer{};
  if (std::fgets(answer.data(), answer.size(), from_) == nullptr) return "";
  const std::string text = answer.data();
  return text.substr(0, text.find('\n'));
}

std::string PeerProcess::hello() { return ask("hello"); }

double PeerProcess::time(const std::string& work, int64_t calls) {
  const std::string answer = ask(work + " " + std::to_string(calls));
  if (answer.empty()) throw std::runtime_error("the peer ended at " + work);
  return std::stod(answer);
}

}  // namespace backplane::bench
