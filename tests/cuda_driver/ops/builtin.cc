// SPDX-License-Identifier: Apache-2.0
#include "ops/builtin.h"

#include <cstdio>
#include <cstring>
#include <string>

#include "exec/cuda_codes.h"
#include "ops/access.h"

namespace cuda_double {
namespace {

template <class T>
T argument(Warp& warp, const Instr& instr, int lane, size_t index) {
  T value{};
  const Argument& where = instr.call->arguments[index];
  std::memcpy(&value, warp.block->local_memory(warp, lane) + warp.frame->local_base + where.caller_offset,
              sizeof value);
  return value;
}

std::string read_string(Warp& warp, const Instr& instr, int lane, uint64_t address) {
  std::string text;
  for (;; ++address) {
    const char c = static_cast<char>(*locate(warp, instr, lane, Space::kGeneric, address, 1, false).host);
    if (c == '\0') return text;
    text += c;
  }
}

// One conversion of a printf format, from its '%' on; leaves `position` after it.
std::string conversion(const std::string& format, size_t& position) {
  const size_t start = position++;
  while (position < format.size() && std::strchr("0123456789+-# .lhjztL", format[position]) != nullptr)
    ++position;
  if (position < format.size()) ++position;
  return format.substr(start, position - start);
}

std::string format_value(const std::string& spec, uint64_t bits) {
  char buffer[256];
  const char kind = spec.back();
  std::string wide = spec;
  if (std::strchr("diouxX", kind) != nullptr && wide.find('l') == std::string::npos) {
    const auto value = static_cast<int>(bits);
    std::snprintf(buffer, sizeof buffer, wide.c_str(), value);
  } else if (std::strchr("diouxX", kind) != nullptr) {
    std::snprintf(buffer, sizeof buffer, wide.c_str(), static_cast<long long>(bits));
  } else if (kind == 'c') {
    std::snprintf(buffer, sizeof buffer, wide.c_str(), static_cast<int>(bits));
  } else if (kind == 'p') {
    std::snprintf(buffer, sizeof buffer, wide.c_str(), reinterpret_cast<void*>(bits));
  } else {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    std::snprintf(buffer, sizeof buffer, wide.c_str(), value);
  }
  return buffer;
}

bool takes_eight_bytes(const std::string& spec) {
  return std::strchr("sfFeEgGaAp", spec.back()) != nullptr || spec.find('l') != std::string::npos;
}

void print(Warp& warp, const Instr& instr, int lane) {
  const std::string format = read_string(warp, instr, lane, argument<uint64_t>(warp, instr, lane, 0));
  uint64_t values = argument<uint64_t>(warp, instr, lane, 1);
  std::string text;
  for (size_t i = 0; i < format.size();) {
    if (format[i] != '%') {
      text += format[i++];
      continue;
    }
    const std::string spec = conversion(format, i);
    if (spec == "%%") {
      text += '%';
      continue;
    }
    const uint32_t size = takes_eight_bytes(spec) ? 8 : 4;
    values = (values + size - 1) / size * size;
    uint64_t bits = 0;
    std::memcpy(&bits, locate(warp, instr, lane, Space::kGeneric, values, size, false).host, size);
    values += size;
    text += spec.back() == 's' ? read_string(warp, instr, lane, bits) : format_value(spec, bits);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void assertion_failed(Warp& warp, const Instr& instr, int lane) {
  const std::string message = read_string(warp, instr, lane, argument<uint64_t>(warp, instr, lane, 0));
  const std::string file = read_string(warp, instr, lane, argument<uint64_t>(warp, instr, lane, 1));
  const auto line = argument<uint32_t>(warp, instr, lane, 2);
  warp.fault(instr, lane, kErrorAssert,
             file + ":" + std::to_string(line) + ": assertion '" + message + "' failed");
}

}  // namespace

Builtin find_builtin(std::string_view name) {
  if (name == "vprintf") return print;
  if (name == "__assertfail") return assertion_failed;
  return nullptr;
}

}  // namespace cuda_double
