// SPDX-License-Identifier: Apache-2.0
#include "backplane/shape.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "backplane/error.h"

namespace backplane {
namespace {

TEST(Shape, PrintsAsAPythonTuple) {
  EXPECT_EQ(Shape().str(), "()");
  EXPECT_EQ(Shape({3}).str(), "(3,)");
  EXPECT_EQ(Shape({2, 3}).str(), "(2, 3)");
  EXPECT_EQ(Shape({0, -1, 4000000000}).str(), "(0, -1, 4000000000)");
}

TEST(Shape, HasTheProductOfItsSizes) {
  EXPECT_EQ(Shape().size(), 1);
  EXPECT_EQ(Shape({2, 3, 4}).size(), 24);
  EXPECT_EQ(Shape({5, 0}).size(), 0);
}

TEST(Shape, IsEditedInPlace) {
  Shape shape = {2, 3};
  shape.push_back(4);
  EXPECT_EQ(shape, Shape({2, 3, 4}));
  shape.insert(0, 1);
  shape.insert(2, 9);
  EXPECT_EQ(shape, Shape({1, 2, 9, 3, 4}));
  shape.erase(2);
  shape.erase(3);
  EXPECT_EQ(shape, Shape({1, 2, 3}));
  shape.resize(5, 7);
  EXPECT_EQ(shape, Shape({1, 2, 3, 7, 7}));
  shape.resize(1);
  EXPECT_EQ(shape, Shape({1}));
  EXPECT_NE(shape, Shape({1, 1}));
}

TEST(Shape, RefusesPositionsOutsideIt) {
  Shape shape = {2, 3};
  EXPECT_THROW(shape.insert(3, 1), Error);
  EXPECT_THROW(shape.insert(-1, 1), Error);
  EXPECT_THROW(shape.erase(2), Error);
  EXPECT_THROW(shape.erase(-1), Error);
  EXPECT_THROW(Shape().erase(0), Error);
  EXPECT_EQ(shape, Shape({2, 3}));
}

TEST(Shape, HoldsAtMostSixteenSizesAndKeepsThemWhenThatFails) {
  const std::vector<int64_t> sizes(kMaxTensorRank, 2);
  Shape shape{std::span<const int64_t>(sizes)};
  EXPECT_EQ(shape.rank(), 16);
  const Shape before = shape;
  const std::vector<int64_t> more(kMaxTensorRank + 1, 2);
  for (const auto& fails :
       {std::function<void()>([&] { shape.push_back(1); }),
        std::function<void()>([&] { shape.insert(0, 1); }), std::function<void()>([&] { shape.resize(17); }),
        std::function<void()>([&] { shape.resize(-1); }),
        std::function<void()>([&] { Shape{std::span<const int64_t>(more)}; })}) {
    try {
      fails();
      ADD_FAILURE() << "no error was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    }
    EXPECT_EQ(shape, before);
  }
}

TEST(Shape, IsCopiedByValue) {
  const Shape original = {4, 5};
  Shape copy = original;
  copy[0] = 9;
  EXPECT_EQ(original, Shape({4, 5}));
  copy = original;
  EXPECT_EQ(copy, original);
  const std::span<const int64_t> span = original;
  EXPECT_EQ(span.size(), 2U);
}

}  // namespace
}  // namespace backplane
