// SPDX-License-Identifier: Apache-2.0
//
// Every call into a plugin fails once, with every code, while real jobs run.
#include <gmock/gmock.h>

#include "sweep.h"

namespace faults {
namespace {

using namespace backplane;

// A network of three layers reads handwritten digits: files, uploads, matmuls, elementwise programs,
// reductions.
std::vector<char> digits(const Device& device) {
  const std::string folder = FAULTS_DIGITS "/";
  const SafetensorsFile file = load_safetensors(folder + "digits_mlp.safetensors", device);
  const auto layer = [&](const std::string& name, const Tensor& x) {
    return linear(x, file.tensors.at(name + ".weight"), file.tensors.at(name + ".bias"));
  };
  const Tensor images = load_npy(folder + "digits_images.npy", device).slice(0, {0, 90}).astype(float32) / 16;
  const Tensor labels = load_npy(folder + "digits_labels.npy", device).slice(0, {0, 90});
  const Tensor logits = layer("4", relu(layer("2", relu(layer("0", images)))));
  const Tensor right = sum(argmax(logits, 1) == labels);
  std::vector<char> bytes;
  append(bytes, logits.to_vector<float>());
  append(bytes, right.to_vector<int64_t>());
  return bytes;
}

// The elements as they are: not every device converts them.
void append_bytes(std::vector<char>& bytes, const Tensor& tensor) {
  std::vector<char> elements(tensor.nbytes());
  tensor.copy_to_host(elements.data(), elements.size());
  append(bytes, elements);
}

// To and from the CPU and within the device: whole and strided, of several types, odd sizes and none.
std::vector<char> copy_matrix(const Device& device) {
  const Device host("cpu:0");
  std::vector<char> bytes;
  for (const DType type : {DType::Int32, DType::Float32, DType::Bool}) {
    const Tensor source = arange(0, 7 * 33, 1, float32, host).reshape({7, 33}).astype(type);
    const Tensor there = source.copy_to(device);
    append_bytes(bytes, there);
    append_bytes(bytes, there.transpose().copy_to(host));
    append_bytes(bytes, source.slice(1, {1, 32, 3}).copy_to(device).copy_to(host));
    append_bytes(bytes, there.slice(0, {1, 5}).clone());
    const Tensor target = zeros({33, 7}, type, device);
    target.slice(0, {2, 30, 2}).assign(source.transpose().slice(0, {2, 30, 2}));
    append_bytes(bytes, target.copy_to(host));
    append_bytes(bytes, zeros({0, 3}, type, device).copy_to(host));
  }
  return bytes;
}

// Blocks of every kind, given back in another order, and one request too many on the way.
std::vector<char> pool(const Device& device) {
  std::vector<char> bytes;
  std::vector<Tensor> kept;
  for (const int64_t count : {1, 100, 3000, 70000, 300000, 1})
    kept.push_back(full({count}, static_cast<double>(count), float32, device));
  kept.erase(kept.begin() + 1, kept.begin() + 4);
  device.set_memory_limit(64 << 20);
  try {
    empty({40 << 20}, float32, device);
    ADD_FAILURE() << "got more than the limit";
  } catch (const Error& error) {
    if (error.code() != ErrorCode::OutOfMemory) throw;
  }
  kept.push_back(full({70000}, 2, float32, device));
  kept.erase(kept.begin());
  for (const Tensor& tensor : kept)
    append(bytes, tensor.copy_to("cpu:0").slice(0, {0, 1}).to_vector<float>());
  device.empty_cache();
  return bytes;
}

struct Case {
  const char* name;
  std::vector<char> (*job)(const Device&);
  Setup setup;
};

constexpr ErrorCode kCodes[] = {ErrorCode::Internal, ErrorCode::OutOfMemory, ErrorCode::Unavailable,
                                ErrorCode::DeviceLost};

class Sweep : public testing::TestWithParam<std::tuple<Case, ErrorCode>> {};

TEST_P(Sweep, EveryCallMayFailOnce) {
  const auto& [how, code] = GetParam();
  load(how.setup);
  sweep(how.job, code);
  check_that_nothing_lives();
}

// Every call from the n-th on: the device is gone for good.
class LosingSweep : public testing::TestWithParam<Case> {};

TEST_P(LosingSweep, ADeviceMayBeLostAtEveryCall) {
  load(GetParam().setup);
  sweep(GetParam().job, ErrorCode::DeviceLost, true);
  check_that_nothing_lives();
}

// The null plugin computes elementwise only: it has no digits.
const Case kCases[] = {{"digits", digits, {"cpu", false}},
                       {"digits_discrete", digits, {"cpu", true}},
                       {"copies", copy_matrix, {"cpu", false}},
                       {"copies_discrete", copy_matrix, {"cpu", true}},
                       {"copies_null", copy_matrix, {"null", false}},
                       {"copies_null_discrete", copy_matrix, {"null", true}},
                       {"pool", pool, {"cpu", false}},
                       {"pool_discrete", pool, {"cpu", true}},
                       {"pool_null", pool, {"null", false}}};

INSTANTIATE_TEST_SUITE_P(Plugins, Sweep,
                         testing::Combine(testing::ValuesIn(kCases), testing::ValuesIn(kCodes)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  to_string(std::get<1>(info.param));
                         });
INSTANTIATE_TEST_SUITE_P(Plugins, LosingSweep, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace faults
