// A slow reference implementation of decimals to compare Number with. It adds digit by digit, as on paper.
//
//   Slow::add(Slow(a), Slow(b)).to_string()       // the result of Number::add(a, b): a number or an error
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/values/number.h"

namespace mayfly::testing {

// Prints a number, or the error in the same words as Slow.
inline std::string shown(const Expected<engine::Number, engine::NumberError>& number) {
  using engine::NumberError;
  if (number) return number->to_string();
  switch (number.error()) {
    case NumberError::not_a_number: return "not a number";
    case NumberError::too_many_digits: return "too many digits";
    case NumberError::overflow: return "overflow";
    case NumberError::underflow: return "underflow";
  }
  return "";
}

// Digits from 10^-300 to 10^300, least significant first.
struct Slow {
  static constexpr int zero_at = 300, size = 601;
  std::vector<int> digits = std::vector<int>(size, 0);
  bool negative = false;

  explicit Slow(const engine::Number& number) {
    negative = number.negative();
    char text[engine::Number::digits_max];
    const int count = number.write_digits(text);
    for (int i = 0; i < count; ++i) digits[zero_at + number.exponent() + count - 1 - i] = text[i] - '0';
  }

  static int compare_magnitudes(const Slow& a, const Slow& b) {
    for (int i = size - 1; i >= 0; --i) {
      if (a.digits[i] != b.digits[i]) return a.digits[i] < b.digits[i] ? -1 : 1;
    }
    return 0;
  }

  static Slow add(Slow a, const Slow& b) {
    if (a.negative != b.negative && compare_magnitudes(a, b) < 0) return add(b, a);
    const int sign = a.negative == b.negative ? 1 : -1;
    int carry = 0;
    for (int i = 0; i < size; ++i) {
      const int sum = a.digits[i] + sign * b.digits[i] + carry;
      carry = sum < 0 ? -1 : sum / 10;
      a.digits[i] = (sum + 10) % 10;
    }
    return a;
  }

  [[nodiscard]] std::string to_string() const {
    int top = size - 1, bottom = 0;
    while (top >= 0 && digits[top] == 0) --top;
    if (top < 0) return "0";
    while (digits[bottom] == 0) ++bottom;
    if (top - zero_at > engine::Number::magnitude_max) return "overflow";
    if (top - zero_at < engine::Number::magnitude_min) return "underflow";
    if (top - bottom + 1 > engine::Number::digits_max) return "overflow";
    std::string out = negative ? "-" : "";
    for (int i = std::max(top, int{zero_at}); i >= std::min(bottom, int{zero_at}); --i) {
      if (i == zero_at - 1) out += '.';
      out += static_cast<char>('0' + digits[i]);
    }
    return out;
  }
};

}  // namespace mayfly::testing
