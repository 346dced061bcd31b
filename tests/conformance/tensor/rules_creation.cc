// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "tensor/check.h"
#include "tensor/rules.h"

namespace backplane::conformance::tensors {
namespace {

void tensors_start_as_told(const Device& device) {
  for (const DType type : types_of(device))
    for (const Shape& shape : awkward_shapes()) {
      const std::vector<int64_t> zero(static_cast<size_t>(shape.size())), one(zero.size(), 1);
      const Tensor x = zeros(shape, type, device);
      require(x.dtype() == type && x.shape() == shape && x.device() == device,
              "zeros is not what was asked for");
      require(x.is_contiguous() && x.offset() == 0, "zeros is not contiguous");
      require(x.to_vector<int64_t>() == zero, std::string("zeros of ") + to_string(type));
      require(ones(shape, type, device).to_vector<int64_t>() == one,
              std::string("ones of ") + to_string(type));
      expect_same("full", full(shape, 1, type, device), ones(shape, type, device));
      expect_same("ones_like", ones_like(x), ones(shape, type, device));
      expect_same("full_like", full_like(ones_like(x), 0), x);
      require(empty(shape, type, device).shape() == shape, "empty is not of its shape");
    }
}

void extreme_values_fill_exactly(const Device& device) {
  const int64_t low = std::numeric_limits<int64_t>::min();
  if (device.supports(int64)) {
    expect_values<int64_t>("int64", full({2}, low, int64, device), {low, low});
    expect_values<int64_t>("2^53 + 1", full({1}, (int64_t{1} << 53) + 1, int64, device),
                           {(int64_t{1} << 53) + 1});
  }
  if (device.supports(uint64))
    expect_values<uint64_t>("uint64", full({2}, UINT64_MAX, uint64, device), {UINT64_MAX, UINT64_MAX});
  if (device.supports(float64)) expect_values<double>("float64", full({2}, 0.1, float64, device), {0.1, 0.1});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_values<float>("NaN", full({2}, nan, float32, device), {nan, nan});
  expect_values<float>("-0", full({2}, -0.f, float32, device), {-0.f, -0.f});
  require(full({1}, true, device).dtype() == boolean && full({1}, 7, device).dtype() == int64 &&
              full({1}, 7.0, device).dtype() == float32,
          "full takes another type than its value's");
}

void ranges_count(const Device& device) {
  expect_values<int64_t>("arange of int", arange(5, device), {0, 1, 2, 3, 4});
  expect_values<int64_t>("arange from start to stop", arange(2, 6, 1, device), {2, 3, 4, 5});
  expect_values<float>("arange with a floating step", arange(0, 1, 0.25, device), {0, 0.25, 0.5, 0.75});
  expect_values<int32_t>("arange with a step", arange(2, 20, 3, int32, device), {2, 5, 8, 11, 14, 17});
  expect_values<int32_t>("arange backwards", arange(3, -3, -2, int32, device), {3, 1, -1});
  expect_values<int64_t>("arange of nothing", arange(5, 5, 1, int64, device), {});
  expect_values<float>("arange of float", arange(0.0, 1.0, 0.25, float32, device), {0.f, 0.25f, 0.5f, 0.75f});
  expect_error("arange with step 0", ErrorCode::InvalidArgument, [&] { arange(0, 5, 0, int64, device); },
               {"arange"});
  // Element i is start + i * step, not a running sum.
  const Tensor far = arange(0.0, 100000.0, 0.1, float32, device);
  require(far.size() == 1000000, "arange(0, 100000, 0.1) has " + std::to_string(far.size()) + " elements");
  require(far.select(0, 999999).item<float>() == static_cast<float>(999999 * 0.1), "its last element is off");
  expect_values<float>("linspace", linspace(-1, 1, 5, float32, device), {-1, -0.5, 0, 0.5, 1});
  expect_values<float>("linspace without its end", linspace(0, 1, 4, float32, device, false),
                       {0, 0.25, 0.5, 0.75});
  expect_values<float>("linspace of one", linspace(3, 9, 1, float32, device), {3});
  require(linspace(0, 1, 0, float32, device).size() == 0, "linspace of nothing");
  expect_values<float>("eye", eye(2, 3, 1, float32, device), {0, 1, 0, 0, 0, 1}, {2, 3});
  expect_values<float>("eye below", eye(2, {}, -1, float32, device), {0, 0, 1, 0}, {2, 2});
}

void the_device_is_the_one_asked_for(const Device& device) {
  const DeviceGuard guard(device);
  require(zeros({1}).device() == device, "a tensor without a device is not on the thread's default one");
  require(Device().name() == device.name(), "the thread's default device is another");
  require(Device(device.name()) == device, "opening a device by its name gives another (L3)");
  require(tensor({1.f}).device() == device, "tensor() is elsewhere");
  require(arange(3).device() == device, "arange() is elsewhere");
}

void host_access_converts(const Device& device) {
  const Tensor x = tensor({1.75f, -2.f, 300.f}, device);
  require(x.to_vector<double>() == std::vector<double>{1.75, -2, 300}, "to_vector<double>");
  require(x.to_vector<int>() == std::vector<int>{1, -2, 300}, "to_vector<int>");
  require(x.to_vector<bool>() == std::vector<bool>{true, true, true}, "to_vector<bool>");
  require(x.select(0, 0).item<float>() == 1.75f, "item");
  require(ones({1, 1}, device).item<int>() == 1, "item of one element in two dimensions");
  const float values[] = {5, 6, 7};
  x.flip().copy_from_host(values, sizeof values);
  expect_values<float>("written backwards", x, {7, 6, 5});
  expect_error("item of several", ErrorCode::InvalidArgument, [&] { x.item<float>(); });
  expect_error("too few bytes", ErrorCode::InvalidArgument, [&] { x.copy_from_host(values, 8); });
}

}  // namespace

void add_creation_rules(std::vector<Rule>& rules) {
  rules.insert(rules.end(),
               {
                   {"tensors start as told, in every type and shape", tensors_start_as_told},
                   {"extreme values fill exactly", extreme_values_fill_exactly},
                   {"ranges count from their start, not from the element before", ranges_count},
                   {"a new tensor is on the device asked for (L3)", the_device_is_the_one_asked_for},
                   {"host access converts and follows strides", host_access_converts},
               });
}

}  // namespace backplane::conformance::tensors
