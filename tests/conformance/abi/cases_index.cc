// SPDX-License-Identifier: Apache-2.0
// The index family: gather, scatter with the last write winning, indices out of range, nonzero.
#include <algorithm>
#include <cstring>

#include "cases.h"
#include "launch.h"

namespace backplane::conformance {
namespace {

using plugin::IndexOp;

plugin::KernelDesc index_desc(IndexOp op, DType element, DType index) {
  plugin::KernelDesc desc = make_desc(plugin::Family::Index, static_cast<uint8_t>(op));
  desc.types[0] = element;
  desc.types[1] = index;
  return desc;
}

Values some_indices(DType type, int64_t count, int64_t size) {
  Numbers numbers(static_cast<uint64_t>(count + size));
  Values values(type, count);
  for (int64_t i = 0; i < count; ++i) values.set_integer(i, numbers.integer(-size, size - 1));
  return values;
}

int64_t wrapped(int64_t index, int64_t size) { return index < 0 ? index + size : index; }

void copy_element(Values& to, int64_t at, const Values& from, int64_t index) {
  const size_t size = plugin::size_of(to.type());
  std::memcpy(to.bytes().data() + static_cast<size_t>(at) * size,
              from.bytes().data() + static_cast<size_t>(index) * size, size);
}

int64_t read_error(Context& context, plugin::Buffer& word) {
  return context.download(word, DType::Int64, 1).get_integer(0);
}

// Along the middle of (outer, size, inner): whole rows of `inner` elements by one index each, or one index an
// element.
void gather(Context& context, DType element, DType index, int64_t inner, bool index_per_element) {
  const int64_t outer = 5;
  const int64_t size = 37;
  const int64_t count = 61;
  const Values source = some_values(element, outer * size * inner, 1);
  const Values indices = some_indices(index, count * (index_per_element ? outer * inner : 1), size);
  Values expected(element, outer * count * inner);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < inner; ++j) {
        const int64_t which = index_per_element ? (o * count + i) * inner + j : i;
        copy_element(expected, (o * count + i) * inner + j, source,
                     (o * size + wrapped(indices.get_integer(which), size)) * inner + j);
      }
    }
  }
  const auto kernel = context.create_kernel(index_desc(IndexOp::Gather, element, index));
  const auto in = context.upload(source);
  const auto in_index = context.upload(indices);
  const auto out = context.allocate(expected.byte_size());
  const auto word = context.upload(Values(DType::Int64, 1));
  Launch launch({outer, count, inner});
  launch.operand(*out, element, {count * inner, inner, 1});
  launch.operand(*in_index, index, index_per_element ? Dims{count * inner, inner, 1} : Dims{0, 1, 0});
  launch.operand(*in, element, {size * inner, 0, 1}).axis(size, inner).error(*word);
  launch.run(context, *kernel);
  require_same(context.download(*out, element, expected.count()), expected, "gather");
  if (read_error(context, *word) != 0) fail("an error where every index is in range");
}

void scatter(Context& context, DType element, DType index, int64_t inner, bool index_per_element) {
  const int64_t outer = 5;
  const int64_t size = 7;
  const int64_t count = 300;  // most places are written many times
  const Values values = some_values(element, outer * count * inner, 2);
  const Values indices = some_indices(index, count * (index_per_element ? outer * inner : 1), size);
  Values expected = some_values(element, outer * size * inner, 3);
  const auto out = context.upload(expected);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < inner; ++j) {
        const int64_t which = index_per_element ? (o * count + i) * inner + j : i;
        copy_element(expected, (o * size + wrapped(indices.get_integer(which), size)) * inner + j, values,
                     (o * count + i) * inner + j);
      }
    }
  }
  const auto kernel = context.create_kernel(index_desc(IndexOp::Scatter, element, index));
  const auto in = context.upload(values);
  const auto in_index = context.upload(indices);
  const auto word = context.upload(Values(DType::Int64, 1));
  Launch launch({outer, count, inner});
  launch.operand(*out, element, {size * inner, 0, 1});
  launch.operand(*in_index, index, index_per_element ? Dims{count * inner, inner, 1} : Dims{0, 1, 0});
  launch.operand(*in, element, {count * inner, inner, 1}).axis(size, inner).error(*word);
  launch.run(context, *kernel);
  require_same(context.download(*out, element, expected.count()), expected, "scatter");
  if (read_error(context, *word) != 0) fail("an error where every index is in range");
}

// Writes to one row of places, in an order that only one thread can keep.
void scatter_flat(Context& context) {
  const int64_t size = 1000;
  const int64_t count = 100000;
  const Values indices = some_indices(DType::Int64, count, size);
  Values values(DType::Int32, count);
  Values expected(DType::Int32, size);
  for (int64_t i = 0; i < count; ++i) {
    values.set_integer(i, i);
    expected.set_integer(wrapped(indices.get_integer(i), size), i);
  }
  const auto kernel = context.create_kernel(index_desc(IndexOp::Scatter, DType::Int32, DType::Int64));
  const auto out = context.upload(Values(DType::Int32, size));
  const auto in = context.upload(values);
  const auto in_index = context.upload(indices);
  const auto word = context.upload(Values(DType::Int64, 1));
  Launch launch({count});
  launch.operand(*out, DType::Int32, {0})
      .operand(*in_index, DType::Int64, {1})
      .operand(*in, DType::Int32, {1});
  launch.axis(size, 1).error(*word);
  launch.run(context, *kernel);
  require_same(context.download(*out, DType::Int32, size), expected, "the last of many writes");
}

void out_of_range(Context& context, IndexOp op, DType index) {
  const int64_t size = 10;
  Values indices(index, 6);
  const int64_t numbers[] = {3, -1, 10, -11, 0, 5};
  for (int64_t i = 0; i < 6; ++i) indices.set_integer(i, numbers[i]);
  const bool gathers = op == IndexOp::Gather;
  const Values source = some_values(DType::Float32, gathers ? size : 6, 4);
  Values expected = some_values(DType::Float32, gathers ? 6 : size, 5);
  const auto out = context.upload(expected);
  for (int64_t i = 0; i < 6; ++i) {
    if (numbers[i] >= size || numbers[i] < -size) continue;
    const int64_t place = wrapped(numbers[i], size);
    copy_element(expected, gathers ? i : place, source, gathers ? place : i);
  }
  const auto kernel = context.create_kernel(index_desc(op, DType::Float32, index));
  const auto in = context.upload(source);
  const auto in_index = context.upload(indices);
  const auto word = context.upload(Values(DType::Int64, 1));
  Launch launch({6});
  launch.operand(*out, DType::Float32, {gathers ? 1 : 0}).operand(*in_index, index, {1});
  launch.operand(*in, DType::Float32, {gathers ? 0 : 1}).axis(size, 1).error(*word);
  launch.run(context, *kernel);
  require_same(context.download(*out, DType::Float32, expected.count()), expected, "what is in range");
  const int64_t error = read_error(context, *word);
  if (error != 3 && error != 4)
    fail("the error word is %lld, expected 1 + a bad point", static_cast<long long>(error));
}

void nonzero(Context& context, int64_t size, int64_t every) {
  Numbers numbers(8);
  Values input(DType::Bool, size);
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < size; ++i) {
    input.set_integer(i, numbers.integer(0, every) == 0 ? 1 : 0);
    if (input.get_integer(i) != 0) positions.push_back(i);
  }
  plugin::KernelDesc desc = index_desc(IndexOp::Nonzero, DType::Int64, DType::Bool);
  desc.layout = plugin::Layout::Contiguous;
  const auto kernel = context.create_kernel(desc);
  const auto in = context.upload(input);
  const auto out = context.allocate(static_cast<uint64_t>(size) * 8);
  const auto count = context.allocate(8);
  Launch launch({size});
  launch.operand(*out, DType::Int64, {1}).operand(*count, DType::Int64, {0}).operand(*in, DType::Bool, {1});
  launch.run(context, *kernel);
  const int64_t found = context.download(*count, DType::Int64, 1).get_integer(0);
  if (found != static_cast<int64_t>(positions.size())) fail("%lld found", static_cast<long long>(found));
  const Values result = context.download(*out, DType::Int64, found);
  for (int64_t i = 0; i < found; ++i) {
    if (result.get_integer(i) != positions[static_cast<size_t>(i)])
      fail("position %d is wrong", static_cast<int>(i));
  }
}

}  // namespace

void add_index_cases(std::vector<Case>& cases) {
  for (const DType element : {DType::UInt8, DType::BFloat16, DType::Float32, DType::Int64}) {
    for (const DType index : {DType::Int32, DType::Int64}) {
      for (const int64_t inner : {1, 33}) {
        for (const bool each : {false, true}) {
          const std::string what = " of " + name_of(element) + " by " + name_of(index) + ", " +
                                   std::to_string(inner) +
                                   (each ? " wide, an index an element" : " wide, an index a row");
          cases.push_back({"index/gather" + what,
                           [=](Context& context) { gather(context, element, index, inner, each); }});
          cases.push_back({"index/scatter" + what,
                           [=](Context& context) { scatter(context, element, index, inner, each); }});
        }
      }
    }
  }
  cases.push_back({"index/of many writes to one place the last wins", scatter_flat});
  for (const DType index : {DType::Int32, DType::Int64}) {
    cases.push_back({"index/gather reports " + name_of(index) + " out of range and reads nothing there",
                     [=](Context& context) { out_of_range(context, IndexOp::Gather, index); }});
    cases.push_back({"index/scatter reports " + name_of(index) + " out of range and writes nothing there",
                     [=](Context& context) { out_of_range(context, IndexOp::Scatter, index); }});
  }
  cases.push_back({"index/nonzero of few", [](Context& context) { nonzero(context, 100, 3); }});
  cases.push_back({"index/nonzero of many", [](Context& context) { nonzero(context, 200003, 5); }});
  cases.push_back({"index/nonzero of one", [](Context& context) { nonzero(context, 1, 0); }});
}

}  // namespace backplane::conformance
