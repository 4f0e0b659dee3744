// Parses, adds and compares two lines as numbers. The results must equal those of a slow parser and of a slow
// decimal that adds digit by digit.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "engine/schema/readable_key.h"
#include "engine/values/checked_item.h"
#include "engine/values/item_codec.h"
#include "engine/values/key_codec.h"
#include "engine/values/number.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"
#include "tests/support/slow_decimal.h"

namespace mayfly::testing {

using namespace engine;

namespace {

bool take_sign(std::string_view& text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  return negative;
}

std::string_view take_digits(std::string_view& text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
  text.remove_prefix(digits.size());
  return digits;
}

// What Number::parse should return, computed by moving characters.
std::string parsed_slowly(std::string_view text) {
  const bool negative = take_sign(text);
  std::string digits(take_digits(text));
  std::int64_t point = static_cast<std::int64_t>(digits.size());  // the number of digits before the point
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits += take_digits(text);
  }
  if (digits.empty()) return "not a number";
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    const bool small = take_sign(text);
    std::string exponent(take_digits(text));
    if (exponent.empty()) return "not a number";
    exponent.erase(0, std::min(exponent.find_first_not_of('0'), exponent.size() - 1));
    if (exponent.size() > 19 || (exponent.size() == 19 && exponent > "9223372036854775807"))
      return "not a number";
    const std::int64_t power = exponent.size() > 9 ? 1'000'000'000 : std::stoll(exponent);
    point += small ? -power : power;
  }
  if (!text.empty()) return "not a number";

  const auto leading = digits.find_first_not_of('0');
  if (leading == std::string::npos) {
    const std::int64_t last = point - static_cast<std::int64_t>(digits.size());  // the last digit's magnitude
    return last > Number::magnitude_max ? "overflow" : last < Number::magnitude_min ? "underflow" : "0";
  }
  digits.erase(0, leading);
  point -= static_cast<std::int64_t>(leading);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (point - 1 > Number::magnitude_max) return "overflow";
  if (point - 1 < Number::magnitude_min) return "underflow";
  const auto count = static_cast<std::int64_t>(digits.size());
  if (count > Number::digits_max) return "too many digits";
  if (point <= 0) {
    digits = "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  } else if (point >= count) {
    digits.append(static_cast<std::size_t>(point - count), '0');
  } else {
    digits.insert(static_cast<std::size_t>(point), ".");
  }
  return (negative ? "-" : "") + digits;
}

// The floor of a plain decimal after moving its point `power` digits to the right.
std::optional<std::int64_t> floored(std::string text, int power) {
  const bool negative = text.starts_with('-');
  if (negative) text.erase(0, 1);
  auto point = std::min(text.find('.'), text.size());
  text.erase(point, 1);
  text.append(static_cast<std::size_t>(power), '0');
  point += static_cast<std::size_t>(power);
  const bool whole = text.find_first_not_of('0', point) == std::string::npos;
  text.resize(point);
  text.erase(0, std::min(text.find_first_not_of('0'), text.size()));
  if (text.size() > 19) return std::nullopt;
  Number::Wide value = text.empty() ? 0 : static_cast<Number::Wide>(std::stoull(text));
  if (negative && !whole) ++value;
  constexpr Number::Wide most = std::numeric_limits<std::int64_t>::max();
  if (value > most + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - static_cast<std::uint64_t>(value)
                                            : static_cast<std::uint64_t>(value));
}

std::string key_of(const Number& number) {
  std::string bytes;
  append_scalar(bytes, number);
  return bytes;
}

void check_one(const Number& number) {
  const std::string text = number.to_string();
  must(number == *Number::parse(text), "a printed number is read as the same number", text);
  must(number == *Number::from_parts(number.negative(), number.significand(), number.exponent()),
       "a number equals the number made from its parts", text);
  must(text == Slow(number).to_string(), "a number prints like the slow decimal", text);
  for (const int power : {0, 3})
    must(number.floor_scaled(power) == floored(text, power), "the floor is right", text);

  const KeySchema schema({{"n", ScalarType::number}}, {});
  const AttributeValue value(number);
  const AttributeValue* const values[] = {&value};
  std::string key;
  append_partition(key, values);
  must(readable_key(schema, key) == "n=" + text, "a key shows its number", text);

  std::string stored;
  encode_item({{"n", number}}, stored);
  const auto item = checked_item(stored);
  must(item && *item == Item{{"n", number}}, "a stored number is unchanged", text);
}

}  // namespace

void fuzz_numbers(std::string_view input) {
  const std::string_view first = take_until(input), second = take_until(input);
  const auto a = Number::parse(first), b = Number::parse(second);
  must(shown(a) == parsed_slowly(first), "both parsers agree on the first line", parsed_slowly(first));
  must(shown(b) == parsed_slowly(second), "both parsers agree on the second line", parsed_slowly(second));
  if (a) check_one(*a);
  if (!a || !b) return;

  const Slow slow_a(*a), slow_b(*b);
  Slow minus_b = slow_b;
  minus_b.negative = !minus_b.negative;
  const Slow difference = Slow::add(slow_a, minus_b);
  must(shown(Number::add(*a, *b)) == Slow::add(slow_a, slow_b).to_string(), "the sum is right");
  must(shown(Number::subtract(*a, *b)) == difference.to_string(), "the difference is right");
  const auto order = difference.to_string() == "0" ? std::strong_ordering::equal
                     : difference.negative         ? std::strong_ordering::less
                                                   : std::strong_ordering::greater;
  must((*a <=> *b) == order, "the order is right");
  must((*a == *b) == (order == 0), "equality is right");
  must((key_of(*a) <=> key_of(*b)) == order, "keys sort as numbers do");
}

}  // namespace mayfly::testing
