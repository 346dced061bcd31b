// SPDX-License-Identifier: Apache-2.0
//
// Leaves a tensor on every device to the destructors of globals. With an argument, shuts the runtime down
// first.
#include <cstdio>
#include <thread>
#include <vector>

#include "backplane/backplane.h"

namespace {

// Destroyed after main; made before the runtime is, so that the runtime's own statics do not outlive them by
// luck.
std::vector<backplane::Tensor> tensors;
std::vector<backplane::Stream> streams;
thread_local std::vector<backplane::Tensor> thread_tensors;

void use(const backplane::Device& device, std::vector<backplane::Tensor>& kept) {
  try {
    const std::vector<float> ones(1000, 1.0f);
    kept.push_back(backplane::tensor(ones, {1000}, device));
    kept.push_back(kept.back() + kept.back());
    kept.push_back(kept.back().slice(0, {10, 20}));
  } catch (const backplane::Error& error) {
    if (error.code() != backplane::ErrorCode::Unimplemented) throw;  // a device without kernels
  }
}

}  // namespace

int main(int count, char**) {
  for (const backplane::Device& device : backplane::devices()) {
    use(device, tensors);
    streams.push_back(backplane::Stream::current(device));
    std::thread([&device] { use(device, thread_tensors); }).join();
  }
  use(backplane::devices().front(), thread_tensors);
  std::printf("%zu\n", backplane::devices().size());
  if (count > 1) backplane::Runtime::shutdown();
  return 0;
}
