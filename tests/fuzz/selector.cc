// SPDX-License-Identifier: Apache-2.0
//
// Device selectors: what is accepted is of the documented form and says what it says; what is refused is
// shown in printable characters.
#include "device/selector.h"

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "require.h"

namespace {

using backplane::internal::malformed_selector;
using backplane::internal::parse_selector;

constexpr size_t kLongestMessage = 4096;

bool is_printable(const std::string& text) {
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte != '\n' && (byte < 0x20 || byte == 0x7f)) return false;
  }
  return true;
}

void check_accepted(std::string_view text, const std::string& kind, uint64_t index) {
  require(!kind.empty() && std::islower(static_cast<unsigned char>(kind[0])), "a name starts with a letter");
  const bool bare = text == kind;
  const bool numbered = text == kind + ":" + std::to_string(index);
  require(bare ? index == 0 : numbered || index == UINT64_MAX, "the selector is the text again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto selector = parse_selector(text)) {
    check_accepted(text, selector->kind, selector->index);
  } else {
    const std::string message = malformed_selector(text);
    require(is_printable(message), "the message is printable");
    require(message.size() <= kLongestMessage, "the message is cut");
  }
  return 0;
}
