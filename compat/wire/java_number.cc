#include "compat/wire/java_number.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "engine/base/whole_number.h"

namespace mayfly::compat {
namespace {

// value = unscaled * 10^-scale, where `unscaled` has `precision` digits.
struct Decimal {
  std::int64_t precision = 0, scale = 0;
};

bool is_int32(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() &&
         value <= std::numeric_limits<std::int32_t>::max();
}

// Returns nullopt if the exponent is too large.
std::optional<Decimal> decimal(std::string_view text) {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  std::int64_t exponent = 0;
  if (mark < text.size()) {
    std::string_view digits = text.substr(mark + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto written = engine::whole_number<std::int32_t>(digits);
    const bool none = digits.find_first_of("0123456789") == std::string_view::npos;
    if (!written && !none) return std::nullopt;
    exponent = written.value_or(0);
  }
  Decimal result;
  const std::string_view significand = text.substr(0, mark);
  const std::size_t point = significand.find('.');
  if (point != std::string_view::npos)
    result.scale = static_cast<std::int64_t>(significand.size() - point - 1);
  result.scale -= exponent;
  const std::size_t first = std::min(significand.find_first_of("123456789"), significand.size());
  result.precision = std::count_if(significand.begin() + static_cast<std::ptrdiff_t>(first),
                                   significand.end(), [](char c) { return c != '.'; });
  result.precision = std::max<std::int64_t>(result.precision, 1);  // zero has precision 1
  return result;
}

}  // namespace

bool is_java_decimal(std::string_view text) {
  const auto parts = decimal(text);
  return parts && is_int32(parts->scale);
}

engine::NumberError java_number_error(std::string_view text, engine::NumberError why) {
  using engine::Number;
  using engine::NumberError;
  const auto parts = decimal(text);
  if (why == NumberError::not_a_number || !parts || !is_int32(parts->scale)) return NumberError::not_a_number;
  const auto digits_before_point =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(parts->precision - parts->scale));
  const std::int64_t magnitude = std::int64_t{digits_before_point} - 1;
  if (magnitude > Number::magnitude_max) return NumberError::overflow;
  if (magnitude < Number::magnitude_min) return NumberError::underflow;
  return why;
}

}  // namespace mayfly::compat
