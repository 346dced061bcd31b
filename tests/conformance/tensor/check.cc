// SPDX-License-Identifier: Apache-2.0
#include "tensor/check.h"

#include <cmath>
#include <cstring>

namespace backplane::conformance::tensors {
namespace {

// Whether the element's bits are those of a NaN.
bool is_nan(const std::byte* element, DType type) {
  if (type == DType::Float64) {
    double value;
    std::memcpy(&value, element, sizeof value);
    return std::isnan(value);
  }
  uint32_t bits = 0;
  std::memcpy(&bits, element, size_of(type));
  switch (type) {
    case DType::Float16:
      return (bits & 0x7fff) > 0x7c00;
    case DType::BFloat16:
      return (bits & 0x7fff) > 0x7f80;
    case DType::Float32:
      return (bits & 0x7fffffff) > 0x7f800000;
    default:
      return false;
  }
}

std::string hex(const std::byte* element, size_t size) {
  std::string text = "0x";
  for (size_t i = size; i-- > 0;) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[static_cast<unsigned>(element[i]) >> 4];
    text += kDigits[static_cast<unsigned>(element[i]) & 15];
  }
  return text;
}

std::string described(const Tensor& tensor) {
  return std::string(to_string(tensor.dtype())) + " " + tensor.shape().str();
}

}  // namespace

std::vector<DType> types_of(const Device& device) {
  std::vector<DType> types;
  for (const DType type : kAllTypes)
    if (device.supports(type)) types.push_back(type);
  return types;
}

void require(bool condition, std::string_view message) {
  if (!condition) throw Failure(std::string(message));
}

void require_type(const Device& device, DType type) {
  if (!device.supports(type)) throw Skip(device.name() + " does not compute with " + to_string(type));
}

std::vector<std::byte> bytes_of(const Tensor& tensor) {
  std::vector<std::byte> bytes(tensor.nbytes());
  tensor.copy_to_host(bytes.data(), bytes.size());
  return bytes;
}

void expect_same(std::string_view what, const Tensor& got, const Tensor& want) {
  const std::string name(what);
  if (got.dtype() != want.dtype() || got.shape() != want.shape())
    throw Failure(name + ": got " + described(got) + ", want " + described(want));
  const std::vector<std::byte> left = bytes_of(got), right = bytes_of(want);
  const size_t size = size_of(got.dtype());
  for (size_t i = 0; i < left.size(); i += size) {
    const std::byte *a = left.data() + i, *b = right.data() + i;
    if (std::memcmp(a, b, size) == 0) continue;
    if (is_nan(a, got.dtype()) && is_nan(b, got.dtype())) continue;
    throw Failure(name + " (" + described(got) + "): element " + std::to_string(i / size) + " is " +
                  hex(a, size) + ", want " + hex(b, size) + "\n  got  " + got.str() + "\n  want " +
                  want.str());
  }
}

void expect_error(std::string_view what, ErrorCode code, const std::function<void()>& call,
                  std::initializer_list<std::string_view> words) {
  const std::string name(what);
  try {
    call();
  } catch (const Error& error) {
    const std::string message = error.what();
    // The device lacks what was to be tried.
    if (error.code() == ErrorCode::Unimplemented && code != error.code()) throw;
    if (error.code() != code)
      throw Failure(name + ": error is " + to_string(error.code()) + " (" + message + "), want " +
                    to_string(code));
    for (const std::string_view word : words)
      if (message.find(word) == std::string::npos)
        throw Failure(name + ": message '" + message + "' lacks '" + std::string(word) + "'");
    return;
  }
  throw Failure(name + ": no error, want " + to_string(code));
}

uint64_t Numbers::bits() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double Numbers::between(double low, double high) {
  return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53;
}

Tensor Numbers::small_whole(const Shape& shape, DType type, const Device& device) {
  std::vector<int64_t> values(static_cast<size_t>(shape.size()));
  for (int64_t& value : values) value = static_cast<int64_t>(bits() % (type == DType::Bool ? 2 : 16));
  return tensor(values, shape, device).astype(type);
}

Tensor scattered(const Tensor& source) {
  if (source.rank() == 0) {
    const Tensor room = zeros({3}, source.dtype(), source.device());
    room.select(0, 1).assign(source);
    return room.select(0, 1);
  }
  Shape sizes;
  for (const int64_t size : source.shape()) sizes.push_back(2 * size + 3);
  Tensor view = zeros(sizes, source.dtype(), source.device());
  for (int axis = 0; axis < source.rank(); ++axis)
    view = view.slice(axis, {1, 1 + 2 * source.size(axis), 2}).flip(axis);
  view.assign(source);
  return view;
}

std::vector<Shape> awkward_shapes() {
  return {{},     {0},       {1},      {7},          {1, 1},
          {3, 5}, {2, 0, 3}, {33, 65}, {2, 3, 4, 5}, {1, 2, 1, 2, 1, 2, 1, 2, 1, 2}};
}

}  // namespace backplane::conformance::tensors
