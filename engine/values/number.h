// DynamoDB's decimal number type: up to 38 significant digits, magnitude from 1e-130 to 9.99…e+125, or zero.
//
// A Number is always normalized: value = (-1)^negative * significand * 10^exponent, the significand has no
// trailing zeros, and zero is {0, 0, false}. As a result, equal numbers have equal members, and a number
// prints as the same string whichever string it was parsed from ("1.0", "1e0", "001" -> "1").
//
//   Number::parse("3.140")->to_string() == "3.14"
//
// Rules: "Number" in AWS's "Supported data types and naming rules in Amazon DynamoDB".
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/expected.h"

namespace mayfly::engine {

enum class NumberError {
  not_a_number,     // the string is not a decimal number
  too_many_digits,  // more than 38 significant digits
  overflow,         // magnitude above 9.99…e+125
  underflow,        // magnitude below 1e-130, but not zero
};

class Number {
 public:
  __extension__ using Wide = unsigned __int128;

  static constexpr int digits_max = 38;
  static constexpr std::size_t text_bytes_max = 170;  // "-0.", 129 zeros and 38 digits
  static constexpr int magnitude_max = 125;           // power of ten of the leading digit
  static constexpr int magnitude_min = -130;

  Number() = default;
  explicit Number(std::int64_t value);

  // Accepts an optional sign, digits with at most one decimal point, and an optional exponent that fits an
  // int64. Overflow and underflow take precedence over too_many_digits. A zero has the magnitude that it is
  // written with, so 0e126 overflows.
  static Expected<Number, NumberError> parse(std::string_view text);

  // The parts need not be normalized. The limits of parse() apply.
  static Expected<Number, NumberError> from_parts(bool negative, Wide significand, int exponent);

  // For decoders: makes a Number from a significand and the power of ten of its leading digit.
  // Requires: the significand has no trailing zeros, and both are within the limits.
  static Number from_magnitude(bool negative, Wide significand, int magnitude);

  // The result is exact. A sum that needs more than 38 digits is an overflow, as in DynamoDB.
  static Expected<Number, NumberError> add(const Number& a, const Number& b);
  static Expected<Number, NumberError> subtract(const Number& a, const Number& b);

  // Prints the number as DynamoDB does, in plain decimal notation without an exponent.
  void append_to(std::string& out) const;
  // Writes the same string into a buffer of text_bytes_max bytes. Returns the end of the string.
  char* write(char* to) const;
  [[nodiscard]] std::string to_string() const;

  // floor(value * 10^power) if that fits an int64, else nullopt. floor_scaled(3) turns seconds into ms.
  [[nodiscard]] std::optional<std::int64_t> floor_scaled(int power) const;

  [[nodiscard]] bool is_zero() const { return significand() == 0; }
  [[nodiscard]] bool negative() const { return negative_; }
  [[nodiscard]] Wide significand() const { return (static_cast<Wide>(high_) << 64) | low_; }
  [[nodiscard]] int exponent() const { return exponent_; }
  // The number of decimal digits of the significand; 0 for zero.
  [[nodiscard]] int digit_count() const;
  // The power of ten of the leading digit: 2 for 314, -1 for 0.5. Requires: not zero.
  [[nodiscard]] int magnitude() const { return exponent_ + digit_count() - 1; }
  // Writes the significand's digits, leading digit first, into a buffer of digits_max bytes. Returns the
  // number of digits.
  int write_digits(char* digits) const;

  friend bool operator==(const Number&, const Number&) = default;
  friend std::strong_ordering operator<=>(const Number& a, const Number& b);

 private:
  static Number from_normalised(bool negative, Wide significand, int exponent);

  // Two halves, not one __int128, so that Number is 24 bytes and aligned to 8.
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
  std::int16_t exponent_ = 0;
  bool negative_ = false;
};

}  // namespace mayfly::engine
