// SPDX-License-Identifier: Apache-2.0
// Leaves main (or, with "thread", exits from another thread) while the device still compiles and computes.
#include <backplane/backplane.h>

#include <cstdlib>
#include <cstring>
#include <thread>

using namespace backplane;

int main(int argc, char** argv) {
  const Device device("opencl:0");
  const Tensor x = uniform({1 << 16}, 1, 0, 1, float32, device);
  static const Tensor kept = tanh(x) + sqrt(x);
  if (argc > 1 && std::strcmp(argv[1], "thread") == 0) std::thread([] { std::exit(0); }).join();
  return 0;
}
