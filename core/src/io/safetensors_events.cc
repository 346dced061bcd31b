// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors_events.h"

#include <cstdint>
#include <limits>

#include "io/safetensors_types.h"

namespace backplane::internal {
namespace {

constexpr size_t kExcerpt = 60;  // characters of a file's own text that a message repeats

std::string excerpt(const std::string& text) {
  return text.size() <= kExcerpt ? "'" + text + "'" : "'" + text.substr(0, kExcerpt) + "...'";
}

}  // namespace

bool SafetensorsEvents::stop(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
  return false;
}

std::string SafetensorsEvents::where() const {
  switch (place_) {
    case Place::Outside:
      return "the header";
    case Place::Root:
      return "the header's object";
    case Place::Metadata:
      return "__metadata__";
    case Place::Entry:
      return "tensor " + excerpt(name_);
    case Place::Sizes:
      return "the shape of tensor " + excerpt(name_);
    case Place::Offsets:
      return "data_offsets of tensor " + excerpt(name_);
  }
  return {};
}

bool SafetensorsEvents::refuse(const char* what) {
  return stop(std::string(what) + " where it does not belong, in " + where());
}

bool SafetensorsEvents::number_unsigned(number_unsigned_t value) {
  if (place_ == Place::Sizes) {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return stop("a size overflows 63 bits in " + where());
    if (entry_.shape.rank() == kMaxTensorRank)
      return stop("more than " + std::to_string(kMaxTensorRank) + " dimensions in " + where());
    entry_.shape.push_back(static_cast<int64_t>(value));
    return true;
  }
  if (place_ != Place::Offsets) return refuse("a number");
  if (offsets_.size() == 2) return stop("more than two numbers in " + where());
  offsets_.push_back(value);
  return true;
}

bool SafetensorsEvents::number_float(number_float_t, const string_t& text) {
  return stop("number " + excerpt(text) + " is no 64-bit integer, in " + where());
}

bool SafetensorsEvents::string(string_t& value) {
  if (place_ == Place::Metadata) {
    header_->metadata.emplace(metadata_key_, std::move(value));
    return true;
  }
  if (place_ != Place::Entry || field_ != kDtype) return refuse("text");
  for (const SafetensorsType& row : kSafetensorsTypes) {
    if (row.name != value) continue;
    entry_.type = row.type;
    return true;
  }
  return stop("tensor " + excerpt(name_) + " has the unknown type " + excerpt(value));
}

bool SafetensorsEvents::start_object(size_t) {
  if (place_ == Place::Outside) {
    place_ = Place::Root;
  } else if (place_ == Place::Root && expects_metadata_) {
    place_ = Place::Metadata;
  } else if (place_ == Place::Root) {
    place_ = Place::Entry;
    entry_ = {};
    fields_ = 0;
    offsets_.clear();
  } else {
    return refuse("a nested object");
  }
  return true;
}

bool SafetensorsEvents::key(string_t& value) {
  if (place_ == Place::Entry) return name_field(value);
  if (place_ == Place::Root) return name_tensor(value);
  if (header_->metadata.count(value) != 0)
    return stop("__metadata__ has the name " + excerpt(value) + " twice");
  metadata_key_ = std::move(value);
  return true;
}

bool SafetensorsEvents::name_tensor(const std::string& name) {
  expects_metadata_ = name == "__metadata__";
  if (expects_metadata_ && has_metadata_) return stop("__metadata__ stands twice");
  has_metadata_ |= expects_metadata_;
  if (header_->tensors.count(name) != 0) return stop("the name " + excerpt(name) + " stands twice");
  name_ = name;
  return true;
}

bool SafetensorsEvents::name_field(const std::string& name) {
  field_ = name == "dtype"          ? kDtype
           : name == "shape"        ? kShape
           : name == "data_offsets" ? kOffsets
                                    : kAllFields;
  if (field_ == kAllFields) return stop("unknown field " + excerpt(name) + " in " + where());
  if ((fields_ & field_) != 0) return stop("field " + excerpt(name) + " stands twice in " + where());
  fields_ |= field_;
  return true;
}

bool SafetensorsEvents::end_object() {
  if (place_ == Place::Entry && !finish_entry()) return false;
  place_ = place_ == Place::Root ? Place::Outside : Place::Root;
  return true;
}

bool SafetensorsEvents::finish_entry() {
  if (fields_ != kAllFields) return stop("dtype, shape or data_offsets is missing in " + where());
  if (offsets_.size() != 2) return stop("data_offsets is not two numbers in " + where());
  entry_.begin = offsets_[0];
  entry_.end = offsets_[1];
  header_->tensors.emplace(std::move(name_), entry_);
  return true;
}

bool SafetensorsEvents::start_array(size_t) {
  if (place_ != Place::Entry || field_ == kDtype) return refuse("an array");
  place_ = field_ == kShape ? Place::Sizes : Place::Offsets;
  return true;
}

bool SafetensorsEvents::end_array() {
  place_ = Place::Entry;
  return true;
}

bool SafetensorsEvents::parse_error(size_t position, const std::string&,
                                    const nlohmann::detail::exception& error) {
  std::string text = error.what();
  if (text.size() > 200) text = text.substr(0, 200) + "...";
  return stop("header is not valid JSON at byte " + std::to_string(position) + ": " + text);
}

}  // namespace backplane::internal
