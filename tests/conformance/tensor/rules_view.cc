// SPDX-License-Identifier: Apache-2.0
//
// Views share memory and read the right elements, whatever is done with them next.
#include "tensor/check.h"
#include "tensor/rules.h"

namespace backplane::conformance::tensors {
namespace {

// 0, 1, 2, ... in a shape.
Tensor counted(const Shape& shape, const Device& device) {
  return arange(shape.size(), float32, device).reshape(shape);
}

// The elements of a view, read in three ways: to the host, by a copy, by a kernel.
void expect_view(std::string_view what, const Tensor& view, const std::vector<float>& want,
                 const Shape& shape) {
  expect_values(what, view, want, shape);
  expect_values(std::string(what) + ", cloned", view.clone(), want, shape);
  expect_values(std::string(what) + ", computed with", view + 0, want, shape);
  require(view.clone().is_contiguous(), std::string(what) + ": the clone is not contiguous");
}

void views_read_the_right_elements(const Device& device) {
  const Tensor x = counted({2, 3}, device);
  expect_view("select", x[1], {3, 4, 5}, {3});
  expect_view("select of a negative index", x.select(1, -1), {2, 5}, {2});
  expect_view("slice", x.slice(1, {1, 3}), {1, 2, 4, 5}, {2, 2});
  expect_view("slice with a step", x.slice(1, {0, 3, 2}), {0, 2, 3, 5}, {2, 2});
  expect_view("slice backwards", x.slice(1, {{}, {}, -1}), {2, 1, 0, 5, 4, 3}, {2, 3});
  expect_view("slice backwards by two", x.slice(1, {{}, {}, -2}), {2, 0, 5, 3}, {2, 2});
  expect_view("slice past the end", x.slice(0, {1, 100}), {3, 4, 5}, {1, 3});
  expect_view("slice of negative bounds", x.slice(1, {-2, -1}), {1, 4}, {2, 1});
  expect_view("slice of nothing", x.slice(1, {2, 1}), {}, {2, 0});
  expect_view("slices", x.slice({{0, 1}, {1, {}}}), {1, 2}, {1, 2});
  expect_view("flip", x.flip(), {5, 4, 3, 2, 1, 0}, {2, 3});
  expect_view("flip of one axis", x.flip(0), {3, 4, 5, 0, 1, 2}, {2, 3});
  expect_view("transpose (C6)", x.transpose(), {0, 3, 1, 4, 2, 5}, {3, 2});
  expect_view("permute", counted({1, 2, 3}, device).permute({2, 0, 1}), {0, 3, 1, 4, 2, 5}, {3, 1, 2});
  expect_view("expand_dims", x.expand_dims(1), {0, 1, 2, 3, 4, 5}, {2, 1, 3});
  expect_view("squeeze", x.expand_dims(0).squeeze(0), {0, 1, 2, 3, 4, 5}, {2, 3});
  expect_view("broadcast_to (C6)", counted({4, 1}, device).broadcast_to({4, 3}),
              {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}, {4, 3});
  expect_view("diagonal", counted({3, 3}, device).diagonal(), {0, 4, 8}, {3});
  expect_view("diagonal above", counted({3, 3}, device).diagonal(1), {1, 5}, {2});
  expect_view("diagonal below", counted({3, 3}, device).diagonal(-1), {3, 7}, {2});
  expect_view("as_strided", x.as_strided({2, 2}, {1, 2}, 1), {1, 3, 2, 4}, {2, 2});
  expect_view("overlapping", x.as_strided({3, 3}, {1, 1}, 0), {0, 1, 2, 1, 2, 3, 2, 3, 4}, {3, 3});
  expect_view("reshape of a transposed view", x.transpose().reshape({6}), {0, 3, 1, 4, 2, 5}, {6});
  expect_view("reshape with -1", x.reshape({-1, 2}), {0, 1, 2, 3, 4, 5}, {3, 2});
  expect_view("of one element", x[1][2], {5}, {});
}

void views_share_memory(const Device& device) {
  const Tensor x = zeros({3, 4}, device);
  for (const Tensor& view : {x[0], x.slice(1, {1, 3}), x.flip(), x.transpose(), x.reshape({12}),
                             x.expand_dims(0), x.broadcast_to({2, 3, 4}), x.diagonal()})
    require(view.shares_memory_with(x), "a view of shape " + view.shape().str() + " has memory of its own");
  require(!x.clone().shares_memory_with(x), "a clone shares memory");
  require(x.contiguous().is(x), "contiguous() of a contiguous tensor is another tensor");
  require(!x.transpose().reshape({12}).shares_memory_with(x),
          "a reshape that strides do not allow shares memory");
  x.slice(1, {1, 3}).fill(1);
  x[2].assign(tensor({5.f, 6.f, 7.f, 8.f}, device));
  x.transpose().select(0, 0).fill(9);
  expect_values<float>("written through views", x, {9, 1, 1, 0, 9, 1, 1, 0, 9, 6, 7, 8}, {3, 4});
}

void assignment_broadcasts_and_converts(const Device& device) {
  const Tensor x = zeros({2, 3}, device);
  x.assign(tensor<int32_t>({1, 2, 3}, device));
  expect_values<float>("a row of int32", x, {1, 2, 3, 1, 2, 3}, {2, 3});
  x.slice(1, {{}, {}, 2}).assign(tensor({{7.f}, {8.f}}, device));
  expect_values<float>("a column into every other", x, {7, 2, 7, 8, 2, 8}, {2, 3});
  const Tensor y = tensor({1.f, 2.f, 3.f}, device);
  y.assign(y.flip());
  expect_values<float>("itself, backwards", y, {3, 2, 1});
}

void many_dimensions_work_where_they_merge(const Device& device) {
  const Tensor x = counted({2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1}, device);
  expect_same("12 dimensions", x + x, x * 2);
  // Eight that do not merge.
  Shape axes;
  for (int axis = 7; axis >= 0; --axis) axes.push_back(axis);
  const Tensor y = counted({2, 2, 2, 2, 2, 2, 2, 2}, device), reversed = y.permute(axes);
  expect_same("8 dimensions reversed", reversed.clone().permute(axes).contiguous(), y);
  expect_same("added", (reversed + reversed).permute(axes), y * 2);
}

void every_type_copies_on_every_layout(const Device& device) {
  Numbers numbers(7);
  for (const DType type : kAllTypes)
    for (const Shape& shape : awkward_shapes()) {
      std::vector<uint64_t> bits(static_cast<size_t>(shape.size()) * size_of(type) / 8 + 1);
      for (uint64_t& word : bits)
        word = type == DType::Bool ? numbers.bits() & 0x0101010101010101u : numbers.bits();
      const Tensor x = from_host(bits.data(), shape, type, device);
      const std::vector<std::byte> want = bytes_of(x);
      require(std::equal(want.begin(), want.end(), reinterpret_cast<const std::byte*>(bits.data())),
              "the host's bytes came back changed");
      // A type that the device does not compute with may still be stored there.
      try {
        require(bytes_of(scattered(x)) == want,
                std::string(to_string(type)) + " " + shape.str() + ": strided copy changed bits");
        require(bytes_of(scattered(x).clone()) == want,
                std::string(to_string(type)) + " " + shape.str() + ": clone changed bits");
      } catch (const Error& error) {
        if (error.code() != ErrorCode::Unimplemented || device.supports(type)) throw;
      }
    }
}

void offsets_of_every_byte_work(const Device& device) {
  std::vector<uint8_t> values(4096);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i * 7 + i / 256);
  const Tensor x = tensor(values, device);
  for (const int64_t offset : {1, 3, 64, 127}) {
    const std::vector<uint8_t> want(values.begin() + offset, values.end());
    const Tensor view = x.slice(0, {offset, {}});
    expect_values("read", view, want);
    expect_values("cloned", view.clone(), want);
    std::vector<uint8_t> doubled = want;
    for (uint8_t& value : doubled) value = static_cast<uint8_t>(2 * value);
    expect_values("added", view + view, doubled);
    const Tensor target = zeros({4096}, uint8, device);
    add_out(target.slice(0, {offset, {}}), view, view);
    expect_values("added at the offset", target.slice(0, {offset, {}}), doubled);
    expect_values("before it", target.slice(0, {0, offset}),
                  std::vector<uint8_t>(static_cast<size_t>(offset)));
  }
}

}  // namespace

void add_view_rules(std::vector<Rule>& rules) {
  rules.insert(rules.end(),
               {
                   {"views read the right elements (C6)", views_read_the_right_elements},
                   {"views share memory and write through", views_share_memory},
                   {"assignment broadcasts, converts and may overlap", assignment_broadcasts_and_converts},
                   {"many dimensions work", many_dimensions_work_where_they_merge},
                   {"every type keeps its bits on every shape and layout", every_type_copies_on_every_layout},
                   {"views at any byte offset read, copy and add (C8)", offsets_of_every_byte_work},
               });
}

}  // namespace backplane::conformance::tensors
