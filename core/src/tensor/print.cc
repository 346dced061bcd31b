// SPDX-License-Identifier: Apache-2.0
//
// Tensor::str: the layout of numpy/core/arrayprint.py, with 3 elements at each edge where there are more than
// 1000, and what follows the elements.
#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "backplane/tensor.h"
#include "tensor/words.h"

namespace backplane::inline v0 {
namespace {

constexpr int64_t kShownInFull = 1000;  // elements
constexpr int64_t kEdge = 3;            // elements at either end of a dimension cut short
constexpr size_t kLineWidth = 75;       // characters
constexpr std::string_view kPrefix = "tensor(";

bool is_cut(int64_t size, bool summary) { return summary && size > 2 * kEdge; }

// Appends a tensor's shown elements, row-major. Only those travel to the host.
void append_shown(const Tensor& tensor, bool summary, std::vector<std::byte>& bytes) {
  if (!summary || tensor.rank() == 0 || (tensor.rank() == 1 && !is_cut(tensor.size(0), summary))) {
    const size_t at = bytes.size();
    bytes.resize(at + tensor.nbytes());
    tensor.copy_to_host(bytes.data() + at, tensor.nbytes());
    return;
  }
  const int64_t size = tensor.size(0);
  const int64_t leading = is_cut(size, summary) ? kEdge : size;
  if (tensor.rank() == 1) {
    append_shown(tensor.slice(0, {0, kEdge}), false, bytes);
    append_shown(tensor.slice(0, {size - kEdge, size}), false, bytes);
    return;
  }
  for (int64_t i = 0; i < leading; ++i) append_shown(tensor.select(0, i), summary, bytes);
  for (int64_t i = std::max(leading, size - kEdge); i < size; ++i)
    append_shown(tensor.select(0, i), summary, bytes);
}

// Puts words, in order, between brackets.
class Layout {
 public:
  Layout(const Shape& shape, bool summary, std::vector<std::string> words)
      : shape_(shape), summary_(summary), words_(std::move(words)) {}

  std::string text() {
    if (shape_.empty()) return next();
    return block(0, std::string(kPrefix.size() + 1, ' '), kLineWidth - 1);
  }

 private:
  const std::string& next() { return words_[used_++]; }

  std::string block(int axis, const std::string& indent, size_t width) {
    const std::string inner =
        axis == shape_.rank() - 1 ? row(shape_[axis], indent, width) : blocks(axis, indent, width);
    return std::string(1, '[').append(inner).append(1, ']');
  }

  std::string blocks(int axis, const std::string& indent, size_t width) {
    const int64_t size = shape_[axis];
    const bool cut = is_cut(size, summary_);
    const std::string separator =
        std::string(1, ',').append(static_cast<size_t>(shape_.rank() - 1 - axis), '\n').append(indent);
    std::string text;
    for (int64_t i = 0; i < (cut ? 2 * kEdge : size); ++i) {
      if (i > 0) text += separator;
      if (cut && i == kEdge) text += "..." + separator;
      text += block(axis + 1, indent + " ", width - 1);
    }
    return text;
  }

  std::string row(int64_t size, const std::string& indent, size_t width) {
    const bool cut = is_cut(size, summary_);
    std::string text, line;
    const auto put = [&](const std::string& word, bool last) {
      if (!line.empty() && indent.size() + line.size() + word.size() > width - 1) {
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n" + indent;
        line.clear();
      }
      line += word;
      if (!last) line += ", ";
    };
    const int64_t shown = cut ? 2 * kEdge : size;
    for (int64_t i = 0; i < shown; ++i) {
      if (cut && i == kEdge) put("...", false);
      put(next(), i + 1 == shown);
    }
    return text + line;
  }

  const Shape& shape_;
  bool summary_;
  std::vector<std::string> words_;
  size_t used_ = 0;
};

// The type of a literal: it goes without saying.
bool is_default_type(DType type) {
  return type == DType::Bool || type == DType::Int64 || type == DType::Float32;
}

std::string description(const Tensor& tensor, bool summary) {
  std::string text;
  if (summary || (tensor.size() == 0 && tensor.rank() != 1)) text += "shape=" + tensor.shape().str() + ", ";
  if (!is_default_type(tensor.dtype())) text += std::string("dtype=") + to_string(tensor.dtype()) + ", ";
  return text + "device=" + tensor.device().name();
}

}  // namespace

std::string Tensor::str() const {
  if (!defined()) return "tensor(undefined)";
  const bool summary = size() > kShownInFull;
  std::string text(kPrefix);
  if (size() == 0) {
    text += "[]";
  } else {
    std::vector<std::byte> bytes;
    append_shown(*this, summary, bytes);
    text += Layout(shape(), summary, internal::format_elements(bytes, dtype())).text();
  }
  const std::string rest = description(*this, summary) + ")";
  const size_t last_line = text.size() - (text.rfind('\n') + 1);
  const bool fits = last_line + 2 + rest.size() <= kLineWidth;
  text += fits ? ", " : ",\n";
  if (!fits) text.append(kPrefix.size(), ' ');
  return text + rest;
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.str(); }

}  // namespace backplane::inline v0
