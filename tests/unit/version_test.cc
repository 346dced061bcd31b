// SPDX-License-Identifier: Apache-2.0
#include "backplane/version.h"

#include <gtest/gtest.h>

TEST(Version, IsTheOneTheProjectWasConfiguredWith) {
  EXPECT_STREQ(backplane::version(), BACKPLANE_PROJECT_VERSION);
}
