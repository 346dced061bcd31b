// SPDX-License-Identifier: Apache-2.0
//
// A host program as a stranger would start one: what is here, one sum, and one trip to every device and back.
#include <iostream>
#include <vector>

#include "backplane/backplane.h"

namespace {

void print(const std::vector<float>& values) {
  for (const float value : values) std::cout << ' ' << value;
  std::cout << '\n';
}

}  // namespace

int main() {
  for (const backplane::Device& device : backplane::devices()) {
    std::cout << "device " << device.name() << ' ' << device.properties().name << '\n';
  }

  const std::vector<float> values = {1, 2, 3};
  const backplane::Tensor a = backplane::tensor(values, "cpu:0");
  const backplane::Tensor b = backplane::tensor(std::vector<float>{10, 20, 30}, "cpu:0");
  std::cout << "sum on cpu:0:";
  print((a + b).to_vector<float>());

  for (const backplane::Device& device : backplane::devices()) {
    std::cout << "there and back on " << device.name() << ':';
    print(a.copy_to(device).copy_to("cpu:0").to_vector<float>());
  }
  backplane::Runtime::shutdown();
}
