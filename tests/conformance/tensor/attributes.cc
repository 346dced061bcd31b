// SPDX-License-Identifier: Apache-2.0
#include "tensor/attributes.h"

#include <cstdlib>

#include "tensor/check.h"

namespace backplane::conformance::tensors {
namespace {

[[noreturn]] void not_taken(Attributes::Names names, const nlohmann::json& value) {
  throw Skip(std::string("attribute '") + *names.begin() + "' with the value " + value.dump() +
             " is not known");
}

int64_t to_integer(Attributes::Names names, const nlohmann::json& value) {
  if (value.is_number_integer()) return value.get<int64_t>();
  not_taken(names, value);
}

Shape to_shape(Attributes::Names names, const nlohmann::json& value) {
  Shape shape;
  for (const nlohmann::json& element : value) shape.push_back(to_integer(names, element));
  return shape;
}

// JSON has no infinity and no NaN; a string may stand for one.
double to_number(Attributes::Names names, const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) not_taken(names, value);
  const std::string text = value.get<std::string>();
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') not_taken(names, value);
  return number;
}

}  // namespace

const nlohmann::json* Attributes::find(Names names) const {
  for (const char* name : names) {
    const auto found = values_.find(name);
    if (found == values_.end()) continue;
    used_.insert(name);
    if (!found->is_null()) return &*found;
  }
  return nullptr;
}

bool Attributes::is_null(Names names) const {
  for (const char* name : names)
    if (const auto found = values_.find(name); found != values_.end()) return found->is_null();
  return false;
}

bool Attributes::is_list(Names names) const {
  const nlohmann::json* value = find(names);
  return value != nullptr && value->is_array();
}

bool Attributes::flag(Names names, bool otherwise) const {
  const nlohmann::json* value = find(names);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  return to_integer(names, *value) != 0;
}

int64_t Attributes::integer(Names names, int64_t otherwise) const {
  const nlohmann::json* value = find(names);
  return value == nullptr ? otherwise : to_integer(names, *value);
}

double Attributes::number(Names names, double otherwise) const {
  const nlohmann::json* value = find(names);
  return value == nullptr ? otherwise : to_number(names, *value);
}

std::string Attributes::text(Names names, const std::string& otherwise) const {
  const nlohmann::json* value = find(names);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) not_taken(names, *value);
  return value->get<std::string>();
}

uint64_t Attributes::seed(Names names) const {
  const nlohmann::json* value = find(names);
  if (value == nullptr) return 0;
  if (value->is_number_unsigned()) return value->get<uint64_t>();
  if (!value->is_string()) not_taken(names, *value);
  return std::strtoull(value->get<std::string>().c_str(), nullptr, 10);
}

std::optional<Scalar> Attributes::scalar(Names names) const {
  const nlohmann::json* value = find(names);
  if (value == nullptr) return {};
  if (value->is_boolean()) return Scalar(value->get<bool>());
  if (value->is_number_unsigned()) {
    const auto number = value->get<uint64_t>();
    return number <= INT64_MAX ? Scalar(static_cast<int64_t>(number)) : Scalar(number);
  }
  if (value->is_number_integer()) return Scalar(value->get<int64_t>());
  return Scalar(to_number(names, *value));
}

std::optional<DType> Attributes::type(Names names) const {
  const nlohmann::json* value = find(names);
  if (value == nullptr) return {};
  const auto type = value->is_string() ? dtype_from_string(value->get<std::string>()) : std::nullopt;
  if (!type) not_taken(names, *value);
  return type;
}

std::optional<int> Attributes::axis(Names names) const {
  const nlohmann::json* value = find(names);
  if (value == nullptr || (value->is_array() && value->empty())) return {};
  if (value->is_array() && value->size() == 1) return static_cast<int>(to_integer(names, value->front()));
  return static_cast<int>(to_integer(names, *value));
}

Shape Attributes::list(Names names) const {
  const nlohmann::json* value = find(names);
  if (value == nullptr) return {};
  if (value->is_array()) return to_shape(names, *value);
  return {to_integer(names, *value)};
}

std::vector<Shape> Attributes::lists(Names names) const {
  const nlohmann::json* value = find(names);
  std::vector<Shape> result;
  if (value == nullptr) return result;
  if (!value->is_array()) not_taken(names, *value);
  for (const nlohmann::json& element : *value)
    result.push_back(element.is_array() ? to_shape(names, element) : Shape{to_integer(names, element)});
  return result;
}

void Attributes::check_all_used() const {
  for (const auto& [name, value] : values_.items())
    if (used_.count(name) == 0) throw Skip("attribute '" + name + "' is not known");
}

}  // namespace backplane::conformance::tensors
