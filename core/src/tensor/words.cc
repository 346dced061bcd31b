// SPDX-License-Identifier: Apache-2.0
#include "tensor/words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace backplane::internal {
namespace {

constexpr int kPrecision = 8;  // digits behind the point

std::string to_text(double value, std::chars_format format, int precision) {
  char text[400];
  return {text, std::to_chars(text, text + sizeof text, value, format, precision).ptr};
}

// The shortest scientific text that reads back as the same element.
template <typename T>
std::string shortest(T value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr};
}

template <typename T, T (*from_float)(float) noexcept>
std::string shortest_narrow(T element) {
  const float value = to_float(element);
  for (int precision = 0;; ++precision) {
    std::string text = to_text(value, std::chars_format::scientific, precision);
    if (from_float(std::strtof(text.c_str(), nullptr)).bits == element.bits || precision == kPrecision)
      return text;
  }
}
std::string shortest(Half value) { return shortest_narrow<Half, to_half>(value); }
std::string shortest(BFloat16 value) { return shortest_narrow<BFloat16, to_bfloat16>(value); }

double widen(float value) { return value; }
double widen(double value) { return value; }
double widen(Half value) { return to_float(value); }
double widen(BFloat16 value) { return to_float(value); }

// Sign and integer part, fraction without trailing zeros, exponent.
struct Number {
  double value = 0;
  std::string whole;
  std::string fraction;
  int exponent = 0;
};

void trim_zeros(std::string& fraction) { fraction.erase(fraction.find_last_not_of('0') + 1); }

// "-1.25e-05" -> "-1", "25", -5.
Number split(double value, const std::string& text) {
  const size_t e = text.find('e');
  const size_t point = std::min(text.find('.'), e);
  Number number{value, text.substr(0, point), {}, std::atoi(text.c_str() + e + 1)};
  if (point < e) number.fraction = text.substr(point + 1, e - point - 1);
  return number;
}

Number in_scientific(Number number) {
  if (number.fraction.size() > kPrecision)
    number = split(number.value, to_text(number.value, std::chars_format::scientific, kPrecision));
  trim_zeros(number.fraction);
  return number;
}

Number in_positional(const Number& number) {
  const int digits_behind = static_cast<int>(number.fraction.size()) - number.exponent;
  Number result{number.value, {}, {}, 0};
  if (number.value == std::trunc(number.value)) {
    result.whole = to_text(number.value, std::chars_format::fixed, 0);
  } else if (digits_behind > kPrecision) {
    const std::string text = to_text(number.value, std::chars_format::fixed, kPrecision);
    result.whole = text.substr(0, text.find('.'));
    result.fraction = text.substr(text.find('.') + 1);
  } else {
    const bool negative = number.whole.front() == '-';
    std::string digits = number.whole.substr(negative ? 1 : 0) + number.fraction;
    if (number.exponent < 0) digits.insert(0, static_cast<size_t>(-number.exponent), '0');
    const auto point = static_cast<size_t>(1 + std::max(0, number.exponent));
    result.whole = (negative ? "-" : "") + digits.substr(0, point);
    result.fraction = digits.substr(point);
  }
  trim_zeros(result.fraction);
  return result;
}

bool needs_exponent(const std::vector<Number>& numbers) {
  double largest = 0, smallest = HUGE_VAL;
  bool all_whole = true;
  for (const Number& number : numbers) {
    const double size = std::fabs(number.value);
    if (size == 0 || !std::isfinite(size)) continue;
    largest = std::max(largest, size);
    smallest = std::min(smallest, size);
    all_whole = all_whole && size == std::trunc(size);
  }
  if (largest == 0) return false;
  return largest >= (all_whole ? 1e16 : 1e8) || smallest < 1e-4 || largest / smallest > 1000;
}

std::string exponent_text(int exponent, size_t digits) {
  std::string text = std::to_string(std::abs(exponent));
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return (exponent < 0 ? "e-" : "e+") + text;
}

std::string non_finite(double value) {
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

// All with the same number of digits, as NumPy has it.
void show_digits(std::vector<Number>& numbers, int fraction) {
  for (Number& number : numbers)
    if (std::isfinite(number.value))
      number = split(number.value, to_text(number.value, std::chars_format::scientific, fraction));
}

// Text of all numbers, points below one another.
std::vector<std::string> align(std::vector<Number> numbers) {
  const bool scientific = needs_exponent(numbers);
  size_t left = 0, fraction = 0, exponent_digits = 2, other = 0;
  for (Number& number : numbers) {
    if (!std::isfinite(number.value)) {
      other = std::max(other, non_finite(number.value).size());
      continue;
    }
    number = scientific ? in_scientific(number) : in_positional(number);
    left = std::max(left, number.whole.size());
    fraction = std::max(fraction, number.fraction.size());
    exponent_digits = std::max(exponent_digits, std::to_string(std::abs(number.exponent)).size());
  }
  if (scientific) show_digits(numbers, static_cast<int>(fraction));
  const size_t right = 1 + fraction + (scientific ? 2 + exponent_digits : 0);
  left = std::max(left, other > right ? other - right : 0);

  std::vector<std::string> words;
  for (const Number& number : numbers) {
    std::string word;
    if (!std::isfinite(number.value)) {
      word = non_finite(number.value);
      word.insert(0, left + right - word.size(), ' ');
    } else {
      word = std::string(left - number.whole.size(), ' ') + number.whole + "." + number.fraction;
      word.append(fraction - number.fraction.size(), ' ');
      if (scientific) word += exponent_text(number.exponent, exponent_digits);
    }
    words.push_back(std::move(word));
  }
  return words;
}

template <typename T>
T element_at(std::span<const std::byte> elements, size_t i) {
  T value;
  std::memcpy(&value, elements.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
std::vector<std::string> floating_words(std::span<const std::byte> elements) {
  std::vector<Number> numbers;
  for (size_t i = 0; i < elements.size() / sizeof(T); ++i) {
    const T element = element_at<T>(elements, i);
    const double value = widen(element);
    numbers.push_back(std::isfinite(value) ? split(value, shortest(element)) : Number{value, {}, {}, 0});
  }
  return align(std::move(numbers));
}

std::vector<std::string> right_aligned(std::vector<std::string> words) {
  size_t width = 0;
  for (const std::string& word : words) width = std::max(width, word.size());
  for (std::string& word : words) word.insert(0, width - word.size(), ' ');
  return words;
}

template <typename T>
std::vector<std::string> integer_words(std::span<const std::byte> elements) {
  std::vector<std::string> words;
  for (size_t i = 0; i < elements.size() / sizeof(T); ++i)
    words.push_back(std::to_string(element_at<T>(elements, i)));
  return right_aligned(std::move(words));
}

std::vector<std::string> truth_words(std::span<const std::byte> elements) {
  std::vector<std::string> words;
  for (const std::byte element : elements) words.emplace_back(element == std::byte{0} ? "False" : "True");
  return right_aligned(std::move(words));
}

using Formatter = std::vector<std::string> (*)(std::span<const std::byte>);
constexpr Formatter kFormatters[plugin::kDTypeCount] = {
    truth_words,
    integer_words<int8_t>,
    integer_words<int16_t>,
    integer_words<int32_t>,
    integer_words<int64_t>,
    integer_words<uint8_t>,
    integer_words<uint16_t>,
    integer_words<uint32_t>,
    integer_words<uint64_t>,
    floating_words<Half>,
    floating_words<BFloat16>,
    floating_words<float>,
    floating_words<double>,
};

}  // namespace

std::vector<std::string> format_elements(std::span<const std::byte> elements, DType type) {
  return kFormatters[static_cast<size_t>(type)](elements);
}

}  // namespace backplane::internal
