// SPDX-License-Identifier: Apache-2.0
#include "tally.h"

#include <fmt/format.h>

#include <cstdio>

namespace backplane::tools {

void Tally::add(const std::string& device, const std::string& name, Outcome outcome,
                const std::string& message) {
  int* const counts[] = {&passed_, &failed_, &skipped_};
  constexpr const char* kWords[] = {"passed", "FAILED", "skipped"};
  const auto which = static_cast<size_t>(outcome);
  ++*counts[which];
  if (outcome == Outcome::Passed && !verbose_) return;
  fmt::print("{:7} {} {}{}{}\n", kWords[which], device, name, message.empty() ? "" : ": ", message);
  std::fflush(stdout);
}

std::string Tally::summary() const {
  return fmt::format("{} passed, {} failed, {} skipped", passed_, failed_, skipped_);
}

}  // namespace backplane::tools
