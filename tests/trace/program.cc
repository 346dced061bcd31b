// SPDX-License-Identifier: Apache-2.0
//
// A known program to be traced.
//   trace_program DEVICE [ENDING [TRACE-FILE]]
// Adds two 64x64 tensors on DEVICE, copies the sum to the last CPU device, reads it, and prints the route of
// the copy. ENDING: return (from main), exit, shutdown, threads (four add ten times each), fork (a child adds
// too), full (no file may grow past 64 KiB; adds a thousand times).
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "backplane/backplane.h"

namespace {

using namespace backplane;

void add_often(const Tensor& x, int times) {
  for (int i = 0; i < times; ++i) x + x;
  x.device().synchronize();
}

int run(const Device& device, const std::string& ending) {
  const Device target("cpu:" + std::to_string(device_count("cpu") - 1));
  const Tensor x = full({64, 64}, 1.5, float32, device);
  const Tensor sum = x + x;
  const std::vector<double> values = sum.copy_to(target).to_vector<double>();
  std::printf("%s\n", to_string(Runtime::get().route(device, target).kind));
  if (values != std::vector<double>(64 * 64, 3.0)) return 2;
  if (ending == "threads") {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(add_often, x, 10);
    for (std::thread& thread : threads) thread.join();
  }
  if (ending == "full") add_often(x, 1000);
  if (ending == "fork") {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      add_often(x, 10);
      std::exit(0);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child || status != 0) return 3;
  }
  return 0;
}

}  // namespace

int main(int count, char** values) {
  const std::string ending = count > 2 ? values[2] : "return";
  RuntimeOptions options;
  if (count > 3) options.trace_file = values[3];
  Runtime::configure(options);
  if (ending == "full") {
    const rlimit limit{64 << 10, 64 << 10};
    std::signal(SIGXFSZ, SIG_IGN);
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 4;
  }
  const int result = run(Device(values[1]), ending);
  if (ending == "exit") std::exit(result);
  if (ending == "shutdown") Runtime::shutdown();
  return result;
}
