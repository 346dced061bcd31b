// SPDX-License-Identifier: Apache-2.0
#include "backplane/kernels/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// The position that combining gives, from the left and from the right.
int64_t argmax(const std::vector<float>& values, bool backward) {
  const int64_t n = static_cast<int64_t>(values.size());
  int64_t best = backward ? n - 1 : 0;
  for (int64_t k = 1; k < n; ++k) {
    const int64_t i = backward ? n - 1 - k : k;
    if (bp_argmax_takes_f32(values[static_cast<size_t>(best)], best, values[static_cast<size_t>(i)], i))
      best = i;
  }
  return best;
}

TEST(ArgMax, IsTheFirstNanElseTheFirstOfEqualsInWhateverOrder) {
  for (const bool backward : {false, true}) {
    EXPECT_EQ(argmax({1, kNan, 3}, backward), 1);
    EXPECT_EQ(argmax({kInf, 1, kNan, kNan}, backward), 2);
    EXPECT_EQ(argmax({2, 2, 2, 2}, backward), 0);
    EXPECT_EQ(argmax({0.0f, -0.0f}, backward), 0);
    EXPECT_EQ(argmax({-0.0f, 0.0f}, backward), 0);
    EXPECT_EQ(argmax({1, 5, 4, 5}, backward), 1);
  }
  EXPECT_EQ(bp_argmin_takes_i32(3, 0, 2, 1), 1);
  EXPECT_EQ(bp_argmin_takes_i32(2, 0, 2, 1), 0);
  EXPECT_EQ(bp_argmin_takes_i32(2, 1, 2, 0), 1);
  EXPECT_EQ(bp_argmin_takes_f64(1, 0, kNan, 1), 1);
  EXPECT_EQ(bp_argmax_takes_bool(0, 0, 1, 1), 1);
}

TEST(Identities, ChangeNothing) {
  for (const float x : {-kInf, -3.0f, 0.5f, kInf}) {
    EXPECT_EQ(bp_maximum_f32(bp_identity_max_f32(), x), x);
    EXPECT_EQ(bp_minimum_f32(bp_identity_min_f32(), x), x);
    EXPECT_EQ(bp_add_f32(bp_identity_sum_f32(), x), x);
    EXPECT_EQ(bp_multiply_f32(bp_identity_prod_f32(), x), x);
  }
  EXPECT_EQ(bp_identity_max_i8(), -128);
  EXPECT_EQ(bp_identity_min_i64(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(bp_identity_max_i64(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(bp_identity_min_u64(), ~uint64_t{0});
  EXPECT_EQ(bp_identity_max_bool(), 0);
  EXPECT_EQ(bp_identity_min_bool(), 1);
  EXPECT_EQ(bp_identity_max_f64(), -std::numeric_limits<double>::infinity());
}

}  // namespace
