// SPDX-License-Identifier: Apache-2.0
//
// What rules check with.
#ifndef BACKPLANE_TESTS_CONFORMANCE_TENSOR_CHECK_H_
#define BACKPLANE_TESTS_CONFORMANCE_TENSOR_CHECK_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/backplane.h"

namespace backplane::conformance::tensors {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Skip : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr DType kAllTypes[] = {boolean, int8,   int16,   int32,    int64,   uint8,  uint16,
                                      uint32,  uint64, float16, bfloat16, float32, float64};

// Those of kAllTypes that the device computes with.
std::vector<DType> types_of(const Device& device);

void require(bool condition, std::string_view message);

// Skips the rule where the device does not compute with `type`.
void require_type(const Device& device, DType type);

// The elements' bytes, row-major.
std::vector<std::byte> bytes_of(const Tensor& tensor);

// Same type, shape and bits; a NaN equals any NaN. `what` names the operation in the message.
void expect_same(std::string_view what, const Tensor& got, const Tensor& want);

// The tensor's type, shape and elements (bit for bit; a NaN equals any NaN).
template <typename T>
void expect_values(std::string_view what, const Tensor& got, const std::vector<T>& want, const Shape& shape) {
  expect_same(what, got, tensor(want, shape, got.device()));
}
template <typename T>
void expect_values(std::string_view what, const Tensor& got, const std::vector<T>& want) {
  expect_values(what, got, want, {static_cast<int64_t>(want.size())});
}
template <typename T>
void expect_scalar(std::string_view what, const Tensor& got, T want) {
  expect_same(what, got, tensor(want, got.device()));
}

// The call throws an Error of this code whose message has every one of the words.
void expect_error(std::string_view what, ErrorCode code, const std::function<void()>& call,
                  std::initializer_list<std::string_view> words = {});

// Small pseudo-random numbers for inputs, the same everywhere: splitmix64.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  uint64_t bits();
  double between(double low, double high);
  // Values that every type holds exactly: whole numbers 0 to 15 (bool: 0 and 1), on the device.
  Tensor small_whole(const Shape& shape, DType type, const Device& device);

 private:
  uint64_t state_;
};

// The same elements in a tensor that is not contiguous and does not start at its memory's beginning: every
// dimension is stepped through backwards within a larger allocation.
Tensor scattered(const Tensor& tensor);

// Shapes that find mistakes: no dimension, no element, one, odd sizes, more than a vector, more dimensions
// than kernels take.
std::vector<Shape> awkward_shapes();

}  // namespace backplane::conformance::tensors

#endif  // BACKPLANE_TESTS_CONFORMANCE_TENSOR_CHECK_H_
