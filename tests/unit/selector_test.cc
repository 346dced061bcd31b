// SPDX-License-Identifier: Apache-2.0
#include "device/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace backplane::internal {
namespace {

TEST(Selector, IsANameWithOrWithoutAnIndex) {
  struct Row {
    const char* text;
    const char* kind;
    uint64_t index;
  };
  for (const Row& row : {Row{"cpu", "cpu", 0}, Row{"cuda:1", "cuda", 1}, Row{"gpu:10", "gpu", 10},
                         Row{"a_9:0", "a_9", 0}, Row{"cpu:18446744073709551615", "cpu", UINT64_MAX},
                         Row{"cpu:18446744073709551616", "cpu", UINT64_MAX}}) {
    const auto selector = parse_selector(row.text);
    ASSERT_TRUE(selector) << row.text;
    EXPECT_EQ(selector->kind, row.kind);
    EXPECT_EQ(selector->index, row.index);
  }
}

TEST(Selector, IsNothingElse) {
  for (const char* text :
       {"", ":", "cpu:", ":0", "*:acc", "cuda:-1", "cuda:01x", "cuda:01", "cuda:+1", "cuda: 1", "CPU", "9cpu",
        "_cpu", "cpu-0", "cpu:0:0", "cpu:0 ", " cpu", "cpu:\xd9\xa1"})
    EXPECT_FALSE(parse_selector(text)) << text;
  EXPECT_FALSE(parse_selector(std::string_view("cpu\0", 4)));
}

TEST(Selector, ThatIsMalformedIsShownPrintableAndCut) {
  std::string selector = "a\n\xff";
  selector.append(1000, 'x');
  const std::string text = malformed_selector(selector);
  EXPECT_THAT(text, testing::HasSubstr("'a\\x0a\\xffxx"));
  EXPECT_THAT(text, testing::HasSubstr("...'"));
  EXPECT_LT(text.size(), 300U);
}

}  // namespace
}  // namespace backplane::internal
