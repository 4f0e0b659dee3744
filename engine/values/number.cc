#include "engine/values/number.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "engine/base/check.h"
#include "engine/base/text.h"

namespace mayfly::engine {
namespace {

using Wide = Number::Wide;

constexpr int wide_digits_max = 39;  // digits of the largest Wide, 3.4e38
constexpr std::int64_t exponent_text_max =
    1'000'000'000;  // a number with a larger exponent is also out of range

constexpr std::array<Wide, wide_digits_max> make_powers() {
  std::array<Wide, wide_digits_max> powers{};
  Wide power = 1;
  for (Wide& entry : powers) {
    entry = power;
    power *= 10;
  }
  return powers;
}
constexpr std::array<Wide, wide_digits_max> power_of_ten = make_powers();
constexpr std::uint64_t ten_to_19 = 10'000'000'000'000'000'000u;

constexpr char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051"
    "525354"
    "555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

int count_digits(Wide value) {
  if (value == 0) return 0;
  const auto high = static_cast<std::uint64_t>(value >> 64);
  const int bits =
      high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<std::uint64_t>(value));
  // 1233/4096 approximates log10(2). For up to 128 bits, the guess is exact or one too low.
  const int guess = (bits * 1233) >> 12;
  return guess + (guess < wide_digits_max && value >= power_of_ten[guess] ? 1 : 0);
}

// Divides out the trailing zeros, halving the step each time. Returns the number of these zeros.
int strip_zeros(Wide& value) {
  int stripped = 0;
  for (const int step : {32, 16, 8, 4, 2, 1}) {
    while (value % power_of_ten[step] == 0) {
      value /= power_of_ten[step];
      stripped += step;
    }
  }
  return stripped;
}

// Writes exactly `count` digits of `value`, with leading zeros.
void write_fixed(char* out, std::uint64_t value, int count) {
  while (count >= 2) {
    count -= 2;
    std::memcpy(out + count, digit_pairs + 2 * (value % 100), 2);
    value /= 100;
  }
  if (count == 1) out[0] = static_cast<char>('0' + value);
}

}  // namespace

Number::Number(std::int64_t value) {
  if (value == 0) return;
  Wide significand = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  const int exponent = strip_zeros(significand);
  *this = from_normalised(value < 0, significand, exponent);
}

Number Number::from_normalised(bool negative, Wide significand, int exponent) {
  Number number;
  number.high_ = static_cast<std::uint64_t>(significand >> 64);
  number.low_ = static_cast<std::uint64_t>(significand);
  number.exponent_ = static_cast<std::int16_t>(exponent);
  number.negative_ = negative;
  MAYFLY_DEBUG_CHECK(significand == 0 ? number == Number() : significand % 10 != 0);
  MAYFLY_CHECK(number.is_zero() ||
               (number.magnitude() >= magnitude_min && number.magnitude() <= magnitude_max));
  return number;
}

Number Number::from_magnitude(bool negative, Wide significand, int magnitude) {
  return from_normalised(negative, significand, magnitude - count_digits(significand) + 1);
}

Expected<Number, NumberError> Number::parse(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  bool negative = false;
  if (at != end && (*at == '-' || *at == '+')) negative = *at++ == '-';

  // Zeros wait in `pending` until a nonzero digit follows them. So the zeros before the first nonzero digit
  // and after the last one never reach the significand, which is therefore normalized.
  std::uint64_t narrow = 0;  // the first 19 digits; more digits need wider arithmetic
  Wide significand = 0;
  std::int64_t digits = 0, pending = 0, fraction = 0;
  bool any = false, point = false;
  for (; at != end; ++at) {
    if (*at == '.') {
      if (point) return Unexpected{NumberError::not_a_number};
      point = true;
      continue;
    }
    if (!is_digit(*at)) break;
    any = true;
    fraction += point ? 1 : 0;
    if (*at == '0') {
      ++pending;
      continue;
    }
    if (digits == 0) pending = 0;
    digits += pending + 1;
    if (digits <= 19) {
      for (; pending > 0; --pending) narrow *= 10;
      narrow = narrow * 10 + static_cast<unsigned>(*at - '0');
      significand = narrow;
    } else if (digits <= digits_max) {
      significand = significand * power_of_ten[pending + 1] + static_cast<unsigned>(*at - '0');
    }
    pending = 0;
  }
  if (!any) return Unexpected{NumberError::not_a_number};

  std::int64_t exponent = 0;
  if (at != end) {
    if (*at != 'e' && *at != 'E') return Unexpected{NumberError::not_a_number};
    ++at;
    bool exponent_negative = false;
    if (at != end && (*at == '-' || *at == '+')) exponent_negative = *at++ == '-';
    if (at == end) return Unexpected{NumberError::not_a_number};
    for (const char* digit = at; digit != end; ++digit) {
      if (!is_digit(*digit)) return Unexpected{NumberError::not_a_number};
    }
    // A string whose exponent does not fit into an int64 is not a number. An exponent that fits may still be
    // far out of range.
    if (std::from_chars(at, end, exponent).ec != std::errc()) return Unexpected{NumberError::not_a_number};
    exponent = std::min(exponent, exponent_text_max);
    if (exponent_negative) exponent = -exponent;
  }
  if (digits == 0) {
    const std::int64_t magnitude = exponent - fraction;
    if (magnitude > magnitude_max) return Unexpected{NumberError::overflow};
    if (magnitude < magnitude_min) return Unexpected{NumberError::underflow};
    return Number();
  }

  exponent += pending - fraction;
  const std::int64_t magnitude = exponent + digits - 1;
  if (magnitude > magnitude_max) return Unexpected{NumberError::overflow};
  if (magnitude < magnitude_min) return Unexpected{NumberError::underflow};
  if (digits > digits_max) return Unexpected{NumberError::too_many_digits};
  return from_normalised(negative, significand, static_cast<int>(exponent));
}

Expected<Number, NumberError> Number::from_parts(bool negative, Wide significand, int exponent) {
  if (significand == 0) return Number();
  exponent += strip_zeros(significand);
  const int digits = count_digits(significand);
  const int magnitude = exponent + digits - 1;
  if (magnitude > magnitude_max) return Unexpected{NumberError::overflow};
  if (magnitude < magnitude_min) return Unexpected{NumberError::underflow};
  if (digits > digits_max) return Unexpected{NumberError::too_many_digits};
  return from_normalised(negative, significand, exponent);
}

Expected<Number, NumberError> Number::add(const Number& a, const Number& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const Number& upper = a.exponent_ >= b.exponent_ ? a : b;
  const Number& lower = a.exponent_ >= b.exponent_ ? b : a;
  const bool same_sign = upper.negative_ == lower.negative_;
  const int shift = upper.exponent_ - lower.exponent_;

  // With a shift, the sum ends in the last digit of `lower`. That digit is not zero, so the sum has no
  // trailing zeros to strip. If the shifted number has 40 digits or more, subtracting a number of 38 digits
  // cannot reduce it to 38 digits.
  const int shifted_digits = upper.digit_count() + shift;
  if (shifted_digits > digits_max + 1) return Unexpected{NumberError::overflow};
  Wide x = upper.significand();
  if (shifted_digits > digits_max) {
    // A number of 39 digits may not fit into a Wide, but only a significand that begins with 1 can be reduced
    // to 38 digits.
    if (same_sign || x / power_of_ten[upper.digit_count() - 1] != 1) return Unexpected{NumberError::overflow};
  }
  x *= power_of_ten[shift];
  const Wide y = lower.significand();

  auto sum = same_sign ? from_parts(upper.negative_, x + y, lower.exponent_)
             : x >= y  ? from_parts(upper.negative_, x - y, lower.exponent_)
                       : from_parts(lower.negative_, y - x, lower.exponent_);
  if (!sum && sum.error() == NumberError::too_many_digits) return Unexpected{NumberError::overflow};
  return sum;
}

Expected<Number, NumberError> Number::subtract(const Number& a, const Number& b) {
  Number negated = b;
  if (!b.is_zero()) negated.negative_ = !b.negative_;
  return add(a, negated);
}

int Number::digit_count() const { return count_digits(significand()); }

int Number::write_digits(char* digits) const {
  const int count = digit_count();
  if (count <= 19) {
    write_fixed(digits, low_, count);
  } else {
    const Wide value = significand();
    write_fixed(digits, static_cast<std::uint64_t>(value / ten_to_19), count - 19);
    write_fixed(digits + count - 19, static_cast<std::uint64_t>(value % ten_to_19), 19);
  }
  return count;
}

char* Number::write(char* to) const {
  if (is_zero()) {
    *to++ = '0';
    return to;
  }
  const auto zeros = [&](int number) { to = std::fill_n(to, number, '0'); };
  if (negative_) *to++ = '-';
  if (exponent_ >= 0) {
    to += write_digits(to);
    if (exponent_ > 0) zeros(exponent_);
    return to;
  }
  char digits[digits_max];
  const int count = write_digits(digits);
  if (count + exponent_ > 0) {
    to = std::copy_n(digits, count + exponent_, to);
    *to++ = '.';
    to = std::copy_n(digits + count + exponent_, -exponent_, to);
  } else {
    *to++ = '0';
    *to++ = '.';
    zeros(-exponent_ - count);
    to = std::copy_n(digits, count, to);
  }
  return to;
}

void Number::append_to(std::string& out) const {
  std::array<char, text_bytes_max> text;
  out.append(text.data(), write(text.data()));
}

std::string Number::to_string() const {
  std::string out;
  append_to(out);
  return out;
}

std::optional<std::int64_t> Number::floor_scaled(int power) const {
  if (is_zero()) return 0;
  const int exponent = exponent_ + power;
  Wide value = significand();
  bool remainder = false;
  if (exponent >= 0) {
    if (digit_count() + exponent > 19) return std::nullopt;
    value *= power_of_ten[exponent];
  } else if (-exponent >= wide_digits_max) {
    value = 0;
    remainder = true;
  } else {
    remainder = value % power_of_ten[-exponent] != 0;
    value /= power_of_ten[-exponent];
  }
  if (negative_ && remainder) ++value;  // rounds toward minus infinity
  constexpr Wide positive_max = std::numeric_limits<std::int64_t>::max();
  if (value > positive_max + (negative_ ? 1 : 0)) return std::nullopt;
  const auto bits = static_cast<std::uint64_t>(value);
  return static_cast<std::int64_t>(negative_ ? 0 - bits : bits);
}

std::strong_ordering operator<=>(const Number& a, const Number& b) {
  const int sign_a = a.is_zero() ? 0 : a.negative_ ? -1 : 1;
  const int sign_b = b.is_zero() ? 0 : b.negative_ ? -1 : 1;
  if (sign_a != sign_b || sign_a == 0) return sign_a <=> sign_b;

  const int digits_a = a.digit_count(), digits_b = b.digit_count();
  std::strong_ordering order = a.exponent_ + digits_a <=> b.exponent_ + digits_b;
  if (order == 0) {
    // The magnitudes are equal: pad the shorter significand with zeros, to at most 38 digits.
    const Wide x = a.significand() * power_of_ten[std::max(0, digits_b - digits_a)];
    const Wide y = b.significand() * power_of_ten[std::max(0, digits_a - digits_b)];
    order = x < y   ? std::strong_ordering::less
            : x > y ? std::strong_ordering::greater
                    : std::strong_ordering::equal;
  }
  return sign_a > 0 ? order : 0 <=> order;
}

}  // namespace mayfly::engine
