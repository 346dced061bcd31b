// SPDX-License-Identifier: Apache-2.0
#include "io/npy_header.h"

#include <charconv>
#include <cstring>
#include <optional>

#include "backplane/error.h"

namespace backplane::internal {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// Only structured types need more than a few hundred bytes.
constexpr uint64_t kLongestHeader = 1u << 20;

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::InvalidArgument, what); }

struct TypeRow {
  std::string_view code;  // kind and bytes
  DType type;
};
constexpr TypeRow kTypes[] = {
    {"b1", DType::Bool},   {"i1", DType::Int8},    {"i2", DType::Int16},   {"i4", DType::Int32},
    {"i8", DType::Int64},  {"u1", DType::UInt8},   {"u2", DType::UInt16},  {"u4", DType::UInt32},
    {"u8", DType::UInt64}, {"f2", DType::Float16}, {"f4", DType::Float32}, {"f8", DType::Float64},
};

struct KindRow {
  char kind;
  const char* meaning;
};
constexpr KindRow kUnsupported[] = {
    {'O', "pickled objects, which are never loaded"},
    {'c', "complex numbers, which are no element type here"},
    {'S', "text, which is no element type here"},
    {'a', "text, which is no element type here"},
    {'U', "text, which is no element type here"},
    {'M', "dates, which are no element type here"},
    {'m', "time spans, which are no element type here"},
    {'V', "raw or structured records, which are no element type here"},
};

void set_type(std::string_view descr, NpyHeader& header) {
  std::string_view code = descr;
  char order = '=';
  if (!code.empty() && std::strchr("<>=|", code.front()) != nullptr) {
    order = code.front();
    code.remove_prefix(1);
  }
  if (code == "?") code = "b1";
  for (const TypeRow& row : kTypes) {
    if (row.code != code) continue;
    header.type = row.type;
    header.swap = order == '>' && size_of(row.type) > 1;
    return;
  }
  for (const KindRow& row : kUnsupported)
    if (!code.empty() && code.front() == row.kind)
      fail("type '" + std::string(descr) + "' means " + row.meaning);
  fail("unknown type '" + std::string(descr.substr(0, 40)) + "'");
}

// A reader for the few literals of Python that a header may hold. Nothing is evaluated.
class Literal {
 public:
  explicit Literal(std::string_view text) : rest_(text) {}

  bool accept(char c) {
    skip_space();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("header is not a dictionary of three keys: '") + c + "' expected");
  }
  bool at_end() {
    skip_space();
    return rest_.empty();
  }

  std::string_view string() {
    skip_space();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"') fail("header: a quoted name expected");
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) fail("header: a quoted name does not end");
    const std::string_view value = rest_.substr(1, end - 1);
    if (value.find('\\') != std::string_view::npos) fail("header: an escape in a quoted name");
    rest_.remove_prefix(end + 1);
    return value;
  }

  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    fail("header: fortran_order is neither True nor False");
  }

  Shape tuple() {
    Shape shape;
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) fail("header: shape is not a tuple");
      shape.push_back(size());
      comma = accept(',');
    }
    if (shape.rank() == 1 && !comma) fail("header: shape is a number, not a tuple");
    return shape;
  }

 private:
  void skip_space() {
    while (!rest_.empty() && std::strchr(" \t\n\r\f", rest_.front()) != nullptr && rest_.front() != '\0')
      rest_.remove_prefix(1);
  }

  int64_t size() {
    skip_space();
    if (!rest_.empty() && rest_.front() == '-') fail("shape has a negative size");
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error == std::errc::result_out_of_range) fail("a size of the shape overflows 63 bits");
    if (error != std::errc()) fail("header: shape is not a tuple of sizes");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    // Python 2 wrote long integers so.
    if (!rest_.empty() && rest_.front() == 'L') rest_.remove_prefix(1);
    return value;
  }

  std::string_view rest_;
};

}  // namespace

NpyPreamble parse_npy_preamble(std::span<const std::byte> bytes, uint64_t file_size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic)) fail("not a .npy file: its first bytes are not \\x93NUMPY");
  if (text.size() < kMagic.size() + 2) fail("file ends inside its header");
  const int major = static_cast<unsigned char>(text[6]);
  const int minor = static_cast<unsigned char>(text[7]);
  if (major < 1 || major > 3 || minor != 0)
    fail("version " + std::to_string(major) + "." + std::to_string(minor) +
         " of the format is not known; 1.0, 2.0 and 3.0 are");
  NpyPreamble preamble;
  const size_t length_bytes = major == 1 ? 2 : 4;
  preamble.begin = kMagic.size() + 2 + length_bytes;
  if (text.size() < preamble.begin) fail("file ends inside its header");
  for (size_t i = 0; i < length_bytes; ++i)
    preamble.size |= static_cast<uint64_t>(static_cast<unsigned char>(text[8 + i])) << (8 * i);
  if (preamble.size > file_size - preamble.begin)
    fail("header of " + std::to_string(preamble.size) + " bytes is longer than the file");
  if (preamble.size > kLongestHeader)
    fail("header of " + std::to_string(preamble.size) + " bytes; at most 1 MiB is read");
  return preamble;
}

NpyHeader parse_npy_dictionary(std::string_view text) {
  NpyHeader header;
  bool has_type = false, has_order = false, has_shape = false;
  const auto once = [](bool& seen, std::string_view key) {
    if (seen) fail("header has the key '" + std::string(key) + "' twice");
    seen = true;
  };
  Literal literal(text);
  literal.expect('{');
  bool comma = true;
  while (!literal.accept('}')) {
    if (!comma) fail("header is not a dictionary: ',' expected");
    const std::string_view key = literal.string();
    literal.expect(':');
    if (key == "descr") {
      once(has_type, key);
      if (literal.accept('[')) fail("structured type, which is no element type here");
      set_type(literal.string(), header);
    } else if (key == "fortran_order") {
      once(has_order, key);
      header.fortran = literal.boolean();
    } else if (key == "shape") {
      once(has_shape, key);
      header.shape = literal.tuple();
    } else {
      fail("header has an unknown key '" + std::string(key.substr(0, 40)) + "'");
    }
    comma = literal.accept(',');
  }
  if (!literal.at_end()) fail("header has something after its dictionary");
  if (!has_type) fail("header lacks the key 'descr'");
  if (!has_order) fail("header lacks the key 'fortran_order'");
  if (!has_shape) fail("header lacks the key 'shape'");
  return header;
}

std::string format_npy_header(DType type, const Shape& shape) {
  std::string_view code;
  for (const TypeRow& row : kTypes)
    if (row.type == type) code = row.code;
  std::string header = "{'descr': '";
  header += size_of(type) == 1 ? '|' : '<';
  header += code;
  header += "', 'fortran_order': False, 'shape': " + shape.str() + ", }";
  // The data starts at a multiple of 64 bytes.
  constexpr size_t kPreamble = 10;
  header.append(63 - (kPreamble + header.size()) % 64, ' ');
  header += '\n';
  std::string result(kMagic);
  result += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return result + header;
}

}  // namespace backplane::internal
