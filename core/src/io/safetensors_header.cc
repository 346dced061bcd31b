// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "backplane/error.h"
#include "io/checked_bytes.h"
#include "io/safetensors_events.h"
#include "io/safetensors_types.h"

namespace backplane::internal {
namespace {

using Named = std::pair<const std::string, SafetensorsEntry>;

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::InvalidArgument, what); }

std::string range(const SafetensorsEntry& entry) {
  return "[" + std::to_string(entry.begin) + ", " + std::to_string(entry.end) + ")";
}

void check_entry(const Named& named, uint64_t data_bytes) {
  const auto& [name, entry] = named;
  if (entry.end < entry.begin)
    fail("data_offsets " + range(entry) + " of tensor '" + name + "' run backwards");
  if (entry.end > data_bytes)
    fail("data_offsets " + range(entry) + " of tensor '" + name + "' pass the end of the file's " +
         std::to_string(data_bytes) + " data bytes");
  if (entry.end - entry.begin != checked_bytes(entry.shape, entry.type))
    fail("data_offsets " + range(entry) + " of tensor '" + name + "' do not fit its shape " +
         entry.shape.str() + " of " + to_string(entry.type));
}

// Entries in the order of the file must meet end to begin, from the first data byte to the last.
void check_coverage(const SafetensorsHeader& header, uint64_t data_bytes) {
  std::vector<const Named*> order;
  for (const Named& named : header.tensors) order.push_back(&named);
  std::sort(order.begin(), order.end(), [](const Named* a, const Named* b) {
    return std::tie(a->second.begin, a->second.end) < std::tie(b->second.begin, b->second.end);
  });
  uint64_t at = 0;
  for (const Named* named : order) {
    if (named->second.begin < at) fail("the bytes of tensor '" + named->first + "' overlap another's");
    if (named->second.begin > at)
      fail("no tensor has the bytes from " + std::to_string(at) + " to " +
           std::to_string(named->second.begin));
    at = named->second.end;
  }
  if (at != data_bytes) fail(std::to_string(data_bytes - at) + " bytes follow the last tensor");
}

}  // namespace

uint64_t parse_safetensors_length(std::span<const std::byte> bytes, uint64_t file_size) {
  if (bytes.size() < kSafetensorsLengthBytes || file_size < kSafetensorsLengthBytes)
    fail("not a safetensors file: shorter than 8 bytes");
  uint64_t length = 0;
  for (size_t i = 0; i < kSafetensorsLengthBytes; ++i) length |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  if (length > file_size - kSafetensorsLengthBytes)
    fail("header of " + std::to_string(length) + " bytes is longer than the file");
  if (length >= kSafetensorsHeaderLimit)
    fail("header of " + std::to_string(length) + " bytes; a header has less than " +
         std::to_string(kSafetensorsHeaderLimit));
  return length;
}

SafetensorsHeader parse_safetensors_header(std::string_view text, uint64_t data_bytes) {
  if (text.empty() || text.front() != '{') fail("header is not a JSON object: it does not start with '{'");
  SafetensorsHeader header;
  SafetensorsEvents events(&header);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &events)) fail(events.problem());
  for (const Named& named : header.tensors) check_entry(named, data_bytes);
  check_coverage(header, data_bytes);
  return header;
}

std::string format_safetensors_header(const SafetensorsHeader& header) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) json["__metadata__"] = header.metadata;
  for (const auto& [name, entry] : header.tensors) {
    if (name == "__metadata__") fail("no tensor may be called __metadata__");
    std::string_view type;
    for (const SafetensorsType& row : kSafetensorsTypes)
      if (row.type == entry.type) type = row.name;
    json[name] = {{"dtype", type},
                  {"shape", std::vector<int64_t>(entry.shape.begin(), entry.shape.end())},
                  {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text;
  try {
    text = json.dump();
  } catch (const nlohmann::json::exception& error) {
    fail(std::string("a name or text is not UTF-8: ") + error.what());
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() >= kSafetensorsHeaderLimit) fail("names and metadata make a header of 100 MB or more");
  std::string length;
  for (int i = 0; i < 8; ++i)
    length += static_cast<char>(static_cast<uint64_t>(text.size()) >> (8 * i) & 0xff);
  return length + text;
}

}  // namespace backplane::internal
