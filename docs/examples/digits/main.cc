// SPDX-License-Identifier: Apache-2.0
//
// backplane-digits: a trained network reads real handwritten digits on every device of this machine.
//   backplane-digits [DATA-FOLDER]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backplane/backplane.h"

namespace {

namespace bp = backplane;
namespace fs = std::filesystem;
using bp::Tensor;

constexpr int64_t kFirstHeldOut = 1437;  // rows from here on were not trained on
constexpr int64_t kRight = 355;          // of those 360, that the network reads rightly
constexpr double kLargestError = 1e-4;   // that float32 may make in a logit
constexpr std::chrono::milliseconds kMeasuredTime{300};

// Three linear layers with ReLU in between, as PyTorch's nn.Sequential names them.
class Network {
 public:
  explicit Network(const bp::SafetensorsFile& file) : weights_(file.tensors) {}

  Tensor operator()(const Tensor& images) const {
    return layer("4", bp::relu(layer("2", bp::relu(layer("0", images)))));
  }

 private:
  Tensor layer(const std::string& name, const Tensor& x) const {
    return bp::linear(x, weights_.at(name + ".weight"), weights_.at(name + ".bias"));
  }

  std::map<std::string, Tensor> weights_;
};

struct Score {
  int64_t right = 0;         // of the rows held out
  int64_t held_out = 0;      // how many these are
  double largest_error = 0;  // of any logit of any row, against float64
  double images_per_second = 0;

  bool good() const { return right == kRight && largest_error <= kLargestError; }
};

double measure(const Network& network, const Tensor& images) {
  using Clock = std::chrono::steady_clock;
  const bp::Device device = images.device();
  device.synchronize();
  const auto start = Clock::now();
  int64_t runs = 0;
  while (Clock::now() - start < kMeasuredTime) {
    // A few at a time: waiting after each would measure the waiting.
    for (int i = 0; i < 8; ++i, ++runs) network(images);
    device.synchronize();
  }
  const std::chrono::duration<double> taken = Clock::now() - start;
  return static_cast<double>(runs * images.size(0)) / taken.count();
}

Score score(const bp::Device& device, const fs::path& data) {
  const Network network(bp::load_safetensors(data / "digits_mlp.safetensors", device));
  const Tensor images = bp::load_npy(data / "digits_images.npy", device).astype(bp::float32) / 16;
  const Tensor labels = bp::load_npy(data / "digits_labels.npy", device);

  const Tensor logits = network(images);
  const bp::Slice held_out{kFirstHeldOut, {}};
  const Tensor right = bp::argmax(logits.slice(0, held_out), 1) == labels.slice(0, held_out);

  Score result;
  result.held_out = right.size();
  result.right = bp::sum(right).item<int64_t>();
  // Compared on the host, as not every device computes in float64.
  const std::vector<double> got = logits.to_vector<double>();
  const std::vector<double> want = bp::load_npy(data / "digits_logits.npy", device).to_vector<double>();
  for (size_t i = 0; i < want.size(); ++i)
    result.largest_error = std::max(result.largest_error, std::abs(got.at(i) - want[i]));
  result.images_per_second = measure(network, images);
  return result;
}

constexpr const char* kUsage =
    "Reads handwritten digits with a trained network on every device.\n"
    "Usage: backplane-digits [DATA-FOLDER]\n\n"
    "Without a folder the digits that came with the program are read. The exit code is 0 when every device "
    "that\n"
    "can do it reads them rightly.\n";

// Answers what is no folder: 0 for help, 1 for what is not understood.
std::optional<int> answer_options(int count, char** values) {
  const std::string first = count > 1 ? values[1] : "";
  const bool help = first == "-h" || first == "--help";
  if (!help && count <= 2 && first.rfind('-', 0) != 0) return {};
  fmt::print(help ? stdout : stderr, "{}", kUsage);
  return help ? 0 : 1;
}

fs::path data_folder(int count, char** values) {
  if (count > 1) return values[1];
  return fs::read_symlink("/proc/self/exe").parent_path() / BACKPLANE_DIGITS_DATA;
}

// Prints a line for one device and gives whether it may stand.
bool print_line(const bp::Device& device, const fs::path& data, int* computed) {
  try {
    const Score result = score(device, data);
    ++*computed;
    fmt::print("{:<10} {:>4} of {}   {:>10.1e}   {:>12.0f}   {}{}\n", device.name(), result.right,
               result.held_out, result.largest_error, result.images_per_second, device.properties().name,
               result.good() ? "" : "   WRONG");
    return result.good();
  } catch (const bp::Error& error) {
    fmt::print("{:<10} {}\n", device.name(), error.what());
    return error.code() == bp::ErrorCode::Unimplemented;
  }
}

}  // namespace

int main(int count, char** values) {
  if (const auto code = answer_options(count, values)) return *code;
  try {
    const fs::path data = data_folder(count, values);
    fmt::print("{:<10} {:>11}   {:>10}   {:>12}   {}\n", "Device", "Right", "Error", "Images/s", "Hardware");
    bool good = true;
    int computed = 0;
    for (const bp::Device& device : bp::devices()) good = print_line(device, data, &computed) && good;
    if (computed == 0) fmt::print("No device computed anything; backplane-ls says what is here.\n");
    return good && computed > 0 ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "backplane-digits: {}\n", error.what());
    return 1;
  }
}
