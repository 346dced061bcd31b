// SPDX-License-Identifier: Apache-2.0
//
// Layers against direct loops in float64, and what modules promise about parameters and devices.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include "devices.h"

namespace backplane {
namespace {

using nn::Pair;
using testing::HasSubstr;
using testing_support::OnEachDevice;

class Networks : public OnEachDevice {};

std::vector<double> values(const Tensor& t) { return t.to_vector<double>(); }

double relative(double got, double want) { return std::abs(got - want) / std::max(1.0, std::abs(want)); }

void expect_close(const Tensor& got, const std::vector<double>& want, double tolerance) {
  const std::vector<double> have = values(got);
  ASSERT_EQ(have.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_LE(relative(have[i], want[i]), tolerance) << "element " << i;
}

struct Geometry {
  int64_t n, c, h, w, out;
  Pair kernel;
  nn::Conv2dOptions conv;
};

// The definition, element by element (PyTorch's Conv2d).
std::vector<double> convolve(const Geometry& g, const std::vector<double>& x,
                             const std::vector<double>& weight, const std::vector<double>& bias) {
  const auto& o = g.conv;
  const int64_t rows = (g.h + 2 * o.padding[0] - o.dilation[0] * (g.kernel[0] - 1) - 1) / o.stride[0] + 1;
  const int64_t columns = (g.w + 2 * o.padding[1] - o.dilation[1] * (g.kernel[1] - 1) - 1) / o.stride[1] + 1;
  const int64_t in_group = g.c / o.groups, out_group = g.out / o.groups;
  std::vector<double> y;
  for (int64_t n = 0; n < g.n; ++n)
    for (int64_t f = 0; f < g.out; ++f)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t q = 0; q < columns; ++q) {
          double sum = bias[static_cast<size_t>(f)];
          for (int64_t c = 0; c < in_group; ++c)
            for (int64_t i = 0; i < g.kernel[0]; ++i)
              for (int64_t j = 0; j < g.kernel[1]; ++j) {
                const int64_t row = r * o.stride[0] - o.padding[0] + i * o.dilation[0];
                const int64_t column = q * o.stride[1] - o.padding[1] + j * o.dilation[1];
                if (row < 0 || row >= g.h || column < 0 || column >= g.w) continue;
                const int64_t channel = f / out_group * in_group + c;
                sum += x[static_cast<size_t>(((n * g.c + channel) * g.h + row) * g.w + column)] *
                       weight[static_cast<size_t>(((f * in_group + c) * g.kernel[0] + i) * g.kernel[1] + j)];
              }
          y.push_back(sum);
        }
  return y;
}

TEST_P(Networks, ConvolutionEqualsDirectLoops) {
  const Geometry cases[] = {
      {2, 3, 7, 9, 4, {3, 3}, {}},
      {1, 4, 8, 6, 6, {3, 2}, {{2, 1}, {1, 1}, {1, 1}, 2, true}},
      {2, 2, 9, 9, 3, {2, 3}, {{1, 2}, {2, 0}, {2, 3}, 1, true}},
      {1, 1, 1, 1, 1, {1, 1}, {}},
      {1, 6, 5, 5, 6, {3, 3}, {{1, 1}, {1, 1}, {1, 1}, 6, true}},
  };
  for (const Geometry& g : cases) {
    nn::Conv2d layer(g.c, g.out, g.kernel, g.conv, {.seed = 7, .device = device()});
    const Tensor x = uniform({g.n, g.c, g.h, g.w}, 11, -1, 1, float32, device());
    expect_close(layer(x), convolve(g, values(x), values(layer.weight), values(layer.bias)), 2e-6);
  }
}

TEST_P(Networks, ConvolutionReadsViewsWhereTheyLie) {
  nn::Conv2d layer(3, 2, {3, 3}, {}, {.seed = 1, .device = device()});
  const Tensor whole = uniform({2, 8, 9, 3}, 5, -1, 1, float32, device());
  const Tensor view = whole.permute({0, 3, 1, 2});
  const Geometry g{2, 3, 8, 9, 2, {3, 3}, {}};
  expect_close(layer(view), convolve(g, values(view), values(layer.weight), values(layer.bias)), 2e-6);
}

// Pooling by its definition; `mean` divides by the window's size.
std::vector<double> pool(const std::vector<double>& x, int64_t h, int64_t w, int64_t size, int64_t stride,
                         int64_t padding, bool mean) {
  std::vector<double> y;
  for (int64_t r = -padding; r + size <= h + padding; r += stride)
    for (int64_t q = -padding; q + size <= w + padding; q += stride) {
      double sum = 0, largest = -INFINITY;
      for (int64_t i = r; i < r + size; ++i)
        for (int64_t j = q; j < q + size; ++j) {
          if (i < 0 || i >= h || j < 0 || j >= w) continue;
          const double v = x[static_cast<size_t>(i * w + j)];
          sum += v;
          largest = std::max(largest, v);
        }
      y.push_back(mean ? sum / static_cast<double>(size * size) : largest);
    }
  return y;
}

TEST_P(Networks, PoolingEqualsDirectLoops) {
  const Tensor x = uniform({1, 1, 7, 8}, 3, -2, 2, float32, device());
  expect_close(nn::MaxPool2d({2, 2})(x), pool(values(x), 7, 8, 2, 2, 0, false), 0);
  expect_close(nn::MaxPool2d({3, 3}, {1, 1}, {1, 1})(x), pool(values(x), 7, 8, 3, 1, 1, false), 0);
  expect_close(nn::AvgPool2d({2, 2})(x), pool(values(x), 7, 8, 2, 2, 0, true), 1e-6);
  expect_close(nn::AvgPool2d({3, 3}, {2, 2}, {1, 1})(x), pool(values(x), 7, 8, 3, 2, 1, true), 1e-6);
}

TEST_P(Networks, AveragesWithoutPaddingCountOnlyTheInput) {
  const Tensor x = ones({1, 1, 4, 4}, device());
  const Tensor y = nn::AvgPool2d({3, 3}, {1, 1}, {1, 1}, false)(x);
  for (double v : values(y)) EXPECT_NEAR(v, 1, 1e-6);
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Layers, RefuseSizesAndPaddingThatMakeNoSense) {
  EXPECT_THAT(message_of([] { const nn::LayerNorm layer(-4); }), HasSubstr("LayerNorm: a size of -4"));
  EXPECT_THAT(message_of([] { const nn::Embedding layer(3, 0); }), HasSubstr("Embedding: a size of 0"));
  EXPECT_THAT(message_of([] { const nn::Linear layer(0, 2); }), HasSubstr("Linear: a size of 0"));
  EXPECT_THAT(message_of([] {
                const nn::MaxPool2d layer({2, 2}, {2, 2}, {2, 0});
              }),
              HasSubstr("MaxPool2d: padding 2 is more than half of the window, 2"));
  EXPECT_THAT(message_of([] {
                const nn::AvgPool2d layer({3, 3}, {2, 2}, {0, 2});
              }),
              HasSubstr("AvgPool2d: padding 2 is more than half of the window, 3"));
}

TEST_P(Networks, ASequentialComputesWhereItsParametersAre) {
  auto net = nn::Sequential(nn::Linear(3, 4), nn::ReLU(), nn::Linear(4, 1)).to(device());
  const Tensor y = net(ones({2, 3}, device()));
  EXPECT_EQ(y.device(), device());
  EXPECT_EQ(y.shape(), (Shape{2, 1}));
  EXPECT_EQ(net.at<nn::Linear>(0).weight.device(), device());
  EXPECT_EQ(net.parameter_count(), 3 * 4 + 4 + 4 + 1);
}

TEST_P(Networks, ParametersAreNamedAsInPyTorch) {
  nn::Sequential net(nn::Linear(2, 2), nn::Sequential(nn::LayerNorm(2), nn::Linear(2, 1, false)));
  std::vector<std::string> names;
  for (const auto& [name, tensor] : net.named_parameters()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"0.weight", "0.bias", "1.0.weight", "1.0.bias", "1.1.weight"}));
}

TEST_P(Networks, TheSameSeedGivesTheSameParametersOnEveryDevice) {
  const nn::Linear here(5, 3, true, {.seed = 9, .device = device()});
  const nn::Linear there(5, 3, true, {.seed = 9, .device = "cpu"});
  EXPECT_EQ(values(here.weight), values(there.weight));
  EXPECT_EQ(values(here.bias), values(there.bias));
  for (double v : values(here.weight)) EXPECT_LE(std::abs(v), 1 / std::sqrt(5.0));
}

TEST_P(Networks, SavedNetworksLoadAgain) {
  const auto file =
      std::filesystem::temp_directory_path() / ("backplane_nn_" + std::to_string(getpid()) + ".safetensors");
  auto net = nn::Sequential(nn::Linear(3, 2, true, {.seed = 4})).to(device());
  net.save(file);
  auto other = nn::Sequential(nn::Linear(3, 2, true, {.seed = 5})).to(device());
  ASSERT_NE(values(other.parameters()[0]), values(net.parameters()[0]));
  other.load(file);
  std::filesystem::remove(file);
  EXPECT_EQ(values(other.parameters()[0]), values(net.parameters()[0]));
  EXPECT_EQ(values(other.parameters()[1]), values(net.parameters()[1]));
  EXPECT_EQ(other.parameters()[0].device(), device());
}

// Weights trained with PyTorch, in its names and layouts; the number of right answers is its own.
TEST_P(Networks, AFileWithPyTorchsNamesLoadsAndAnswersAsThere) {
  const std::filesystem::path folder = BACKPLANE_TEST_DIGITS;
  nn::Sequential net(nn::Linear(64, 128), nn::ReLU(), nn::Linear(128, 64), nn::ReLU(), nn::Linear(64, 10));
  net.to(device()).load(folder / "digits_mlp.safetensors");
  const Tensor images = load_npy(folder / "digits_images.npy", device()).slice(0, {.start = 1437});
  const Tensor labels = load_npy(folder / "digits_labels.npy", device()).slice(0, {.start = 1437});
  const Tensor answers = argmax(net(images.astype(float32) / 16), 1);
  EXPECT_EQ(sum(answers == labels).item<int64_t>(), 355);
}

TEST_P(Networks, AStateThatDoesNotFitIsRefusedWholeWithEveryDifference) {
  auto net = nn::Sequential(nn::Linear(3, 2), nn::Linear(2, 2)).to(device());
  const auto before = values(net.parameters()[0]);
  nn::StateDict state = net.state_dict();
  state["0.weight"] = zeros({2, 4});
  state["0.bias"] = zeros({2}, float64, "cpu");
  state.erase("1.weight");
  state["extra"] = zeros({1});
  try {
    net.load_state_dict(state);
    FAIL() << "loaded";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    for (const char* part :
         {"0.weight: shape (2, 3) in the network, (2, 4) given",
          "0.bias: float32 in the network, float64 given", "missing: 1.weight", "not known: extra"})
      EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(values(net.parameters()[0]), before);
}

TEST_P(Networks, DropoutZeroesItsShareInTrainingAndNothingInEvaluation) {
  nn::Dropout layer(0.25, 3);
  const Tensor x = ones({10000}, device());
  EXPECT_TRUE(layer(x).is(x));
  layer.train();
  const auto first = values(layer(x)), second = values(layer(x));
  EXPECT_NE(first, second);
  int zeros = 0;
  for (double v : first) {
    EXPECT_TRUE(v == 0 || std::abs(v - 1 / 0.75) < 1e-6);
    zeros += v == 0;
  }
  EXPECT_NEAR(zeros, 2500, 5 * std::sqrt(10000 * 0.25 * 0.75));
}

TEST_P(Networks, EmbeddingTakesRows) {
  nn::Embedding layer(5, 3, {.seed = 2, .device = device()});
  const Tensor y = layer(tensor({4, 0, -1}, device()));
  EXPECT_EQ(values(y[0]), values(layer.weight[4]));
  EXPECT_EQ(values(y[1]), values(layer.weight[0]));
  EXPECT_EQ(values(y[2]), values(layer.weight[4]));
}

TEST_P(Networks, HalfPrecisionNetworksComputeInTheirType) {
  auto net = nn::Sequential(nn::Linear(8, 4, true, {.seed = 1}), nn::GELU()).to(device()).to(bfloat16);
  const Tensor y = net(ones({2, 8}, bfloat16, device()));
  EXPECT_EQ(y.dtype(), bfloat16);
}

TEST(NetworksOnTwoDevices, InputElsewhereIsAnErrorThatNamesBoth) {
  nn::Linear layer(2, 1, true, {.device = "cpu:1"});
  try {
    layer(ones({1, 2}, "cpu:0"));
    FAIL() << "computed";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cpu:0"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("cpu:1"), std::string::npos) << error.what();
  }
}

TEST(NetworksOnTwoDevices, ASplitBatchGivesTheOutputsOfOneDevice) {
  const nn::Sequential net(nn::Linear(6, 5, true, {.seed = 1}), nn::Tanh(),
                           nn::Linear(5, 2, true, {.seed = 2}));
  const auto replicas = nn::parallel::replicate(net, devices());
  for (int64_t rows : {1, 2, 7, 64}) {
    const Tensor batch = uniform({rows, 6}, 3, -1, 1, float32, "cpu:0");
    const Tensor want = net(batch);
    const Tensor got = replicas(batch);
    EXPECT_EQ(got.device(), batch.device());
    ASSERT_EQ(got.shape(), want.shape());
    expect_close(got, values(want), 1e-6);
  }
  EXPECT_FALSE(replicas[0].parameters()[0].shares_memory_with(net.parameters()[0]));
}

TEST_P(Networks, ReplicasFailForNoWorkButTheirOwn) {
  const Tensor bad = take(ones({3}, device()), tensor({5}, device()));
  EXPECT_THROW(bad.to_vector<float>(), Error);
  const auto replicas = nn::parallel::replicate(nn::Linear(2, 2), {device(), device()});
  EXPECT_EQ(replicas(ones({3, 2}, device())).shape(), (Shape{3, 2}));
  EXPECT_THROW(device().synchronize(), Error) << "the failure is still there for whoever synchronises";

  const auto embeddings = nn::parallel::replicate(nn::Embedding(4, 2), {device(), device()});
  EXPECT_THROW(embeddings(tensor({1, 9}, device())).to_vector<float>(), Error);
  EXPECT_THROW(device().synchronize(), Error);
}

TEST_P(Networks, AnUndefinedTensorInAStateIsNamed) {
  nn::Linear layer(3, 2);
  nn::StateDict state = layer.state_dict();
  state["bias"] = Tensor();
  try {
    layer.load_state_dict(state);
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("bias: an undefined tensor given"), std::string::npos)
        << error.what();
  }
}

TEST_P(Networks, AWindowWiderThanAllNumbersIsTooWide) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const nn::Conv2d layer(1, 1, {3, 3}, {.dilation = {kMost, kMost}}, {.device = device()});
  try {
    layer(ones({1, 1, 4, 4}, device()));
    FAIL() << "computed";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("Conv2d: a window of 3 elements"), 0u) << error.what();
  }
}

TEST_P(Networks, AWeightThatDoesNotFitIsShownAsItIs) {
  const nn::Linear layer(3, 2, true, {.device = device()});
  try {
    layer(ones({5, 4}, device()));
    FAIL() << "computed";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("float32 (2, 3)"), std::string::npos) << error.what();
  }
}

BACKPLANE_ON_EACH_DEVICE(Networks);

}  // namespace
}  // namespace backplane
