// SPDX-License-Identifier: Apache-2.0
#include "copy/traced.h"

#include <fmt/format.h>

namespace backplane::internal {

void write_copy_args(const void* subject, std::string& args) {
  const auto& copy = *static_cast<const TracedCopy*>(subject);
  args += fmt::format(R"("from": "{}", "to": "{}", "bytes": {})", copy.from, copy.to, copy.bytes);
  if (copy.route != nullptr) args += fmt::format(R"(, "route": "{}")", copy.route);
}

}  // namespace backplane::internal
