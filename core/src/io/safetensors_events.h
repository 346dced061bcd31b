// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_SRC_IO_SAFETENSORS_EVENTS_H_
#define BACKPLANE_SRC_IO_SAFETENSORS_EVENTS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/safetensors_header.h"

namespace backplane::internal {

// What nlohmann's parser calls while it reads a header. No document is built, and anything that the format
// does not have (a third level, a second name, a number where a string belongs) stops the parser where it
// stands, so that memory stays within a small multiple of the header.
class SafetensorsEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit SafetensorsEvents(SafetensorsHeader* header) : header_(header) {}

  const std::string& problem() const { return problem_; }

  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("true or false"); }
  bool number_integer(number_integer_t) override { return refuse("a negative number"); }
  bool number_unsigned(number_unsigned_t value) override;
  bool number_float(number_float_t, const string_t& text) override;
  bool string(string_t& value) override;
  bool binary(binary_t&) override { return refuse("binary data"); }
  bool start_object(size_t) override;
  bool key(string_t& value) override;
  bool end_object() override;
  bool start_array(size_t) override;
  bool end_array() override;
  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override;

 private:
  enum class Place { Outside, Root, Metadata, Entry, Sizes, Offsets };
  enum Field { kDtype = 1, kShape = 2, kOffsets = 4, kAllFields = 7 };

  bool stop(std::string problem);
  bool refuse(const char* what);
  bool name_tensor(const std::string& name);
  bool name_field(const std::string& name);
  bool finish_entry();
  std::string where() const;

  SafetensorsHeader* header_;
  Place place_ = Place::Outside;
  bool has_metadata_ = false;
  bool expects_metadata_ = false;
  int fields_ = 0;
  Field field_ = kAllFields;
  std::string name_;          // of the tensor being read
  std::string metadata_key_;  // of the text being read
  SafetensorsEntry entry_;
  std::vector<uint64_t> offsets_;
  std::string problem_;
};

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_IO_SAFETENSORS_EVENTS_H_
