// SPDX-License-Identifier: Apache-2.0
//
// Copies between this device and every device present, itself included, both ways.
#include <limits>

#include "tensor/check.h"
#include "tensor/rules.h"

namespace backplane::conformance::tensors {
namespace {

template <typename Function>
void for_each_pair(const Device& device, const Function& function) {
  for (const Device& other : devices()) {
    function(device, other);
    if (other != device) function(other, device);
  }
}

std::string named(const char* what, const Device& from, const Device& to) {
  return std::string(what) + " from " + from.name() + " to " + to.name();
}

void copies_keep_every_bit(const Device& device) {
  for_each_pair(device, [](const Device& from, const Device& to) {
    Numbers numbers(8);
    for (const DType type : kAllTypes)
      for (const Shape& shape : awkward_shapes()) {
        std::vector<uint64_t> bits(static_cast<size_t>(shape.size()) * size_of(type) / 8 + 1);
        for (uint64_t& word : bits)
          word = type == DType::Bool ? numbers.bits() & 0x0101010101010101u : numbers.bits();
        const Tensor x = from_host(bits.data(), shape, type, from);
        const Tensor copy = x.copy_to(to);
        require(copy.device() == to, named("the copy is elsewhere", from, to));
        require(copy.dtype() == type && copy.shape() == shape, named("type or shape changed", from, to));
        require(bytes_of(copy) == bytes_of(x), named("bits changed", from, to));
      }
  });
}

void views_are_packed_on_the_way(const Device& device) {
  for_each_pair(device, [](const Device& from, const Device& to) {
    const Tensor x = arange(6, float32, from).reshape({2, 3});
    expect_values<float>(named("transposed", from, to), x.transpose().copy_to(to), {0, 3, 1, 4, 2, 5},
                         {3, 2});
    expect_values<float>(named("every other, backwards", from, to), x.slice(1, {{}, {}, -2}).copy_to(to),
                         {2, 0, 5, 3}, {2, 2});
    const Tensor column = tensor({1.f, 2.f, 3.f, 4.f}, from).reshape({4, 1});
    expect_values<float>(named("expanded", from, to), column.broadcast_to({4, 3}).copy_to(to),
                         {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}, {4, 3});
    const Tensor target = zeros({3, 4}, to);
    target.slice({{0, 3}, {1, 3}}).assign(x.transpose());
    expect_values<float>(named("into a view", from, to), target, {0, 0, 3, 0, 0, 1, 4, 0, 0, 2, 5, 0},
                         {3, 4});
  });
}

void nothing_copies_as_nothing(const Device& device) {
  for_each_pair(device, [](const Device& from, const Device& to) {
    const Tensor x = empty({0}, from);
    require(x.copy_to(to).size() == 0, named("an empty tensor", from, to));
    require(x.to(to).nbytes() == 0, named("an empty tensor", from, to));
    expect_scalar(named("sum of a copied slice of nothing", from, to),
                  sum(ones({5}, from).slice(0, {2, 2}).copy_to(to)), 0.f);
  });
  expect_values<float>("to the host", zeros({0, 3}, device), {}, {0, 3});
  zeros({0}, device).copy_from_host(nullptr, 0);
  expect_values<float>("add", zeros({0}, device) + zeros({0}, device), {}, {0});
}

void odd_offsets_copy(const Device& device) {
  std::vector<uint8_t> values(4096);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i * 11);
  for_each_pair(device, [&](const Device& from, const Device& to) {
    const Tensor x = tensor(values, from);
    for (const int64_t offset : {1, 3, 64, 127}) {
      const std::vector<uint8_t> want(values.begin() + offset, values.end());
      expect_values(named("a view", from, to), x.slice(0, {offset, {}}).copy_to(to), want);
      const Tensor target = zeros({4096}, uint8, to);
      target.slice(0, {offset, {}}).assign(x.slice(0, {offset, {}}));
      expect_values(named("into a view", from, to), target.slice(0, {offset, {}}), want);
    }
  });
}

void large_copies_arrive_whole(const Device& device) {
  // More than any staging chunk, and no multiple of one.
  const int64_t count = (int64_t{5} << 20) + 12345;
  for_each_pair(device, [&](const Device& from, const Device& to) {
    const Tensor x = arange(count, int32, from);
    const Tensor there = x.copy_to(to);
    expect_same(named("5 Mi int32", from, to), there.copy_to(from), x);
    require(there.select(0, count - 1).item<int64_t>() == count - 1, named("the last element", from, to));
  });
}

void to_moves_only_if_needed(const Device& device) {
  const Tensor x = ones({2, 3}, device);
  require(x.to(device).is(x), "to() its own device is another tensor");
  require(!x.copy_to(device).shares_memory_with(x), "copy_to() its own device shares memory");
  expect_same("copy_to its own device", x.copy_to(device), x);
  for (const Device& other : devices())
    if (other != device) require(x.to(other).device() == other, "to() another device stays");
}

void devices_are_never_mixed_silently(const Device& device) {
  bool found = false;
  for (const Device& other : devices()) {
    if (other == device) continue;
    found = true;
    const Tensor x = ones({2, 3}, device), y = ones({2, 3}, other);
    expect_error("x + y", ErrorCode::InvalidArgument, [&] { x + y; }, {"add", device.name(), other.name()});
    expect_error("matmul", ErrorCode::InvalidArgument, [&] { matmul(x, y.transpose()); },
                 {"matmul", device.name(), other.name()});
    expect_error("add into another device", ErrorCode::InvalidArgument, [&] { add_out(y, x, x); },
                 {"add", device.name(), other.name()});
    const Tensor z = x.copy_to(other);
    expect_values<float>("after a copy", y + z, {2, 2, 2, 2, 2, 2}, {2, 3});
    require((y + z).device() == other, "the sum is elsewhere");
  }
  if (!found) throw Skip("there is one device only");
}

void copies_keep_program_order(const Device& device) {
  for_each_pair(device, [](const Device& from, const Device& to) {
    const Tensor x = zeros({100003}, from), y = zeros({100003}, to);
    for (int i = 0; i < 5; ++i) {
      x += 1;
      y.fill(-1);
      y.assign(x);
      x += 1;
      y += 1;
    }
    expect_same(named("after five rounds", from, to), y, full({100003}, 10, float32, to));
    expect_same(named("the source", from, to), x, full({100003}, 10, float32, from));
  });
}

}  // namespace

void add_copy_rules(std::vector<Rule>& rules) {
  rules.insert(rules.end(),
               {
                   {"copies keep every bit, between every pair of devices", copies_keep_every_bit},
                   {"views are packed on the way (C6)", views_are_packed_on_the_way},
                   {"nothing copies as nothing (C7)", nothing_copies_as_nothing},
                   {"copies start at any byte (C8)", odd_offsets_copy},
                   {"large copies arrive whole", large_copies_arrive_whole},
                   {"copies keep the program's order (C3)", copies_keep_program_order},
                   {"to moves only if needed, copy_to always copies", to_moves_only_if_needed},
                   {"operands on two devices are an error that names both", devices_are_never_mixed_silently},
               });
}

}  // namespace backplane::conformance::tensors
