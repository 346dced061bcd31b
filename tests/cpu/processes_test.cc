// SPDX-License-Identifier: Apache-2.0
//
// What needs a process with a runtime of its own: numbers of threads, instruction sets, fork, the first call.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "backplane/backplane.h"
#include "families.h"

namespace backplane::cpu_test {
namespace {

// Runs `body` in a child of this process, which has no runtime yet, and gives what it returns.
std::string in_process(const std::function<std::string()>& body) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    std::string text;
    try {
      text = body();
    } catch (const std::exception& error) {
      text = std::string("threw: ") + error.what();
    }
    for (size_t at = 0; at < text.size();) {
      const ssize_t written = write(ends[1], text.data() + at, text.size() - at);
      if (written <= 0) _exit(2);
      at += static_cast<size_t>(written);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t count; (count = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(count));
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return text;
}

void configure(unsigned threads, const std::map<std::string, std::string>& plugin_options = {}) {
  RuntimeOptions options;
  options.allow = {"cpu"};
  options.thread_count = threads;
  options.plugin_options = plugin_options;
  Runtime::configure(options);
}

std::string lines_of(const std::map<std::string, uint64_t>& hashes) {
  std::ostringstream text;
  for (const auto& [name, hash] : hashes) text << name << ' ' << hash << '\n';
  return text.str();
}

std::string hashes_with(unsigned threads) {
  return in_process([threads] {
    configure(threads);
    return lines_of(hash_families());
  });
}

TEST(CpuThreads, OneTwoAndSevenGiveTheSameBitsInEveryFamily) {
  const std::string one = hashes_with(1);
  EXPECT_THAT(one, testing::HasSubstr("matmul: one"));
  EXPECT_EQ(hashes_with(2), one);
  EXPECT_EQ(hashes_with(7), one);
}

// Under the sanitizers, whose own threads would be counted too, always 1.
int thread_count_of_process() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    count += entry.exists() ? 1 : 0;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  count = 1;
#endif
  return count;
}

TEST(CpuFork, TheChildComputesInTheCallingThread) {
  const std::string text = in_process([] {
    configure(2);
    const Tensor x = normal({1 << 20}, 1);
    const double expected = sum(exp(x)).item<double>();
    return in_process([&] {
      const double again = sum(exp(x)).item<double>();
      const Tensor product = matmul(ones({300, 300}), ones({300, 300}));
      if (again != expected || min(product).item<double>() != 300) return std::string("wrong results");
      return std::to_string(thread_count_of_process()) + " thread";
    });
  });
  EXPECT_EQ(text, "1 thread");
}

struct InstructionSet {
  const char* option;
  const char* shown;
  bool here;
};

std::vector<InstructionSet> instruction_sets() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return {{"baseline", "SSE2", true}, {"avx2", "AVX2+FMA", avx2}, {"avx512", "AVX-512", avx512}};
#else
  return {{"baseline", "NEON", true}};
#endif
}

class CpuInstructionSets : public testing::TestWithParam<InstructionSet> {};

TEST_P(CpuInstructionSets, AreWhatTheOptionNames) {
  if (!GetParam().here) GTEST_SKIP() << "this processor has no " << GetParam().shown;
  EXPECT_EQ(in_process([] {
              configure(0, {{"cpu.isa", GetParam().option}});
              return std::string(Device("cpu").properties().architecture);
            }),
            GetParam().shown);
}
INSTANTIATE_TEST_SUITE_P(All, CpuInstructionSets, testing::ValuesIn(instruction_sets()),
                         [](const auto& info) { return std::string(info.param.option); });

// One of 256 programs of eight operations each.
Tensor run_program(int number, const Tensor& x) {
  return fuse(
      [number](Expr value) {
        for (int bit = 0; bit < 8; ++bit) value = (number >> bit & 1) != 0 ? value + 1.0 : value * 1.0;
        return value;
      },
      x);
}

// Field report M5.
TEST(CpuFirstCall, SixteenThreadsBuildKernelsAllocateAndSortAtOnce) {
  EXPECT_EQ(in_process([] {
              std::atomic<bool> start{false};
              std::atomic<int> wrong{0};
              std::vector<std::thread> threads;
              threads.reserve(16);
              for (int t = 0; t < 16; ++t)
                threads.emplace_back([&, t] {
                  while (!start) std::this_thread::yield();
                  for (int i = 0; i < 200; ++i) {
                    const int number = (i + 13 * t) % 256;
                    const Tensor sorted = sort(run_program(number, flip(arange(100, float32))));
                    const auto* const found = sorted.data<float>();
                    const auto added = static_cast<float>(__builtin_popcount(static_cast<unsigned>(number)));
                    for (int k = 0; k < 100; ++k) wrong += found[k] != static_cast<float>(k) + added;
                  }
                });
              start = true;
              for (std::thread& thread : threads) thread.join();
              return std::to_string(wrong) + " wrong";
            }),
            "0 wrong");
}

}  // namespace
}  // namespace backplane::cpu_test
