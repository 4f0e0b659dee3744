#include "engine/values/number.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/support/slow_decimal.h"

namespace mayfly::testing {

using namespace engine;
using mayfly::Expected;

namespace {

std::string parsed(std::string_view text) { return shown(Number::parse(text)); }

Number number_of(std::string_view text) {
  const auto value = Number::parse(text);
  REQUIRE(value);
  return *value;
}

// Most of the numbers are close to each other, so that sums cancel and carry.
Number random_number(std::mt19937_64& random) {
  while (true) {
    std::string text = random() % 2 ? "-" : "";
    const int digits = 1 + static_cast<int>(random() % 38);
    const int style = static_cast<int>(random() % 4);
    for (int d = 0; d < digits; ++d) {
      text += style == 0 ? '9' : style == 1 ? (d == 0 ? '1' : '0') : static_cast<char>('0' + random() % 10);
    }
    const int exponents[] = {0, -digits, 1 - digits, static_cast<int>(random() % 80) - 40,
                             static_cast<int>(random() % 290) - 165};
    text += "e" + std::to_string(exponents[random() % 5]);
    if (const auto value = Number::parse(text)) return *value;
  }
}

}  // namespace

TEST_CASE("a number is printed in the same plain form however it was written") {
  const std::pair<std::string_view, std::string> cases[] = {
      {"0", "0"},
      {"-0", "0"},
      {"-0.0", "0"},
      {"00", "0"},
      {"0e5", "0"},
      {"0.0e-3", "0"},
      {"+0", "0"},
      {"007", "7"},
      {"001.23", "1.23"},
      {"+3", "3"},
      {"1.0", "1"},
      {"1.10", "1.1"},
      {"100.000", "100"},
      {"1e3", "1000"},
      {"1E+3", "1000"},
      {"-3e2", "-300"},
      {"1.5e2", "150"},
      {"1e-3", "0.001"},
      {"123e-2", "1.23"},
      {"1.0e-1", "0.1"},
      {".5", "0.5"},
      {"-.5", "-0.5"},
      {"5.", "5"},
      {"-273.15", "-273.15"},
      {"-17.4E37", "-174" + std::string(36, '0')},
      {"1e125", "1" + std::string(125, '0')},
      {"-1e-130", "-0." + std::string(129, '0') + "1"},
      {"18446744073709551615", "18446744073709551615"},
      {"18446744073709551616", "18446744073709551616"},
      {"31415926535897932384626433832795028841e30",
       "31415926535897932384626433832795028841" + std::string(30, '0')},
      {"0.00031415926535897932384626433832795028841", "0.00031415926535897932384626433832795028841"},
  };
  for (const auto& [text, printed] : cases) {
    CAPTURE(text);
    CHECK(parsed(text) == printed);
    CHECK(number_of(text) == number_of(printed));
  }
}

TEST_CASE("text that is not a decimal number is rejected") {
  for (const char* text : {"",      "-",    "+",        ".",         "-.",  "e5",    "1e",    "1e+",
                           "1e5.0", "1..2", "1.2.3",    "--1",       "+-1", " 1",    "1 ",    "1,0",
                           "0x10",  "NaN",  "Infinity", "-Infinity", "dog", "1_000", "1e5e5", "\xd9\xa1"}) {
    CAPTURE(text);
    CHECK(parsed(text) == "not a number");
  }
}

TEST_CASE("a number has at most 38 digits and a magnitude from 1e-130 to below 1e126") {
  CHECK(parsed("12345678901234567890123456789012345678") == "12345678901234567890123456789012345678");
  CHECK(parsed("123456789012345678901234567890123456780") == "123456789012345678901234567890123456780");
  CHECK(parsed("000123456789012345678901234567890123456.780000") ==
        "123456789012345678901234567890123456.78");
  CHECK(parsed("123456789012345678901234567890123456789") == "too many digits");
  CHECK(parsed("1.00000000000000000000000000000000000001") == "too many digits");
  CHECK(parsed(std::string(38, '9') + "e88") == std::string(38, '9') + std::string(88, '0'));
  CHECK(parsed("0.1e126") == "1" + std::string(125, '0'));
  CHECK(parsed("1e126") == "overflow");
  CHECK(parsed("-11e125") == "overflow");
  CHECK(parsed("1" + std::string(126, '0')) == "overflow");
  CHECK(parsed("1e9223372036854775807") == "overflow");
  CHECK(parsed("1e-131") == "underflow");
  CHECK(parsed("0.9e-130") == "underflow");
  CHECK(parsed("1e-9223372036854775807") == "underflow");
  // The limits also apply to the exponent of a zero.
  CHECK(parsed("0e125") == "0");
  CHECK(parsed("0e126") == "overflow");
  CHECK(parsed("0e-130") == "0");
  CHECK(parsed("0e-131") == "underflow");
  CHECK(parsed("-0.0e126") == "0");
  // An exponent that does not fit into an int64 is malformed.
  CHECK(parsed("1e9223372036854775808") == "not a number");
  CHECK(parsed("0e-100000000000000000000") == "not a number");
  CHECK(parsed("1e000000000000000000000000001") == "10");
  // The error for a number out of range takes precedence over the error for too many digits.
  CHECK(parsed("123456789012345678901234567890123456789e99") == "overflow");
  CHECK(parsed("0." + std::string(130, '0') + "123456789012345678901234567890123456789") == "underflow");
  CHECK(parsed("0." + std::string(100000, '0') + "1") == "underflow");
}

TEST_CASE("integers can be converted to numbers") {
  CHECK(Number(0).to_string() == "0");
  CHECK(Number(-1200).to_string() == "-1200");
  CHECK(Number(-1200) == number_of("-1.2e3"));
  CHECK(Number(INT64_MAX).to_string() == "9223372036854775807");
  CHECK(Number(INT64_MIN).to_string() == "-9223372036854775808");
}

TEST_CASE("sums are exact or overflow if they need more than 38 digits") {
  const auto sum = [](std::string_view a, std::string_view b) {
    return shown(Number::add(number_of(a), number_of(b)));
  };
  CHECK(sum("1", "10000000000000000000000") == "10000000000000000000001");
  CHECK(sum("-1", "10000000000000000000000") == "9999999999999999999999");
  CHECK(sum("9e125", "9e124") == "99" + std::string(124, '0'));
  CHECK(sum("9e125", "9e125") == "overflow");
  CHECK(sum("1e50", "1") == "overflow");
  CHECK(sum("1e50", "-1") == "overflow");
  CHECK(sum("1e38", "-1") == std::string(38, '9'));
  CHECK(sum("1e38", "1") == "overflow");
  CHECK(sum("2e38", "-1") == "overflow");
  CHECK(sum("1.1e-130", "-1e-130") == "underflow");
  CHECK(sum("0", "-5") == "-5");
  CHECK(shown(Number::subtract(number_of("5"), number_of("0"))) == "5");
  CHECK(shown(Number::subtract(number_of("0"), number_of("5"))) == "-5");
  CHECK(shown(Number::subtract(number_of("5"), number_of("5"))) == "0");
}

TEST_CASE("addition and comparison agree with digit-by-digit arithmetic") {
  std::mt19937_64 random(20220719);
  for (int i = 0; i < 20000; ++i) {
    const Number a = random_number(random), b = random_number(random);
    CAPTURE(a.to_string(), b.to_string());
    const Slow slow_a(a), slow_b(b);
    REQUIRE(shown(Number::add(a, b)) == Slow::add(slow_a, slow_b).to_string());

    Slow minus_b = slow_b;
    minus_b.negative = !minus_b.negative;
    const Slow difference = Slow::add(slow_a, minus_b);
    REQUIRE(shown(Number::subtract(a, b)) == difference.to_string());
    const bool equal = difference.to_string() == "0";
    REQUIRE((a == b) == equal);
    REQUIRE((a < b) == (!equal && difference.negative));

    REQUIRE(a.to_string() == slow_a.to_string());
    REQUIRE(number_of(a.to_string()) == a);
  }
}

TEST_CASE("a number can be made from parts that are not normalized") {
  CHECK(shown(Number::from_parts(true, 1'000'000, -3)) == "-1000");
  CHECK(shown(Number::from_parts(true, 0, 5000)) == "0");
  CHECK(shown(Number::from_parts(false, ~Number::Wide{0}, 0)) == "too many digits");
  CHECK(shown(Number::from_parts(false, 1, 126)) == "overflow");
  CHECK(shown(Number::from_parts(false, 10, -132)) == "underflow");
}

TEST_CASE("scaling to an integer rounds toward minus infinity") {
  const auto milliseconds = [](std::string_view text) { return number_of(text).floor_scaled(3); };
  CHECK(milliseconds("1461938400") == 1461938400000);
  CHECK(milliseconds("1.9999") == 1999);
  CHECK(milliseconds("-1.9999") == -2000);
  CHECK(milliseconds("-2") == -2000);
  CHECK(milliseconds("1e-130") == 0);
  CHECK(milliseconds("-1e-130") == -1);
  CHECK(milliseconds("16e8") == 1600000000000);
  CHECK(milliseconds("0") == 0);
  CHECK(milliseconds("9223372036854775.807") == INT64_MAX);
  CHECK(milliseconds("9223372036854775.8079") == INT64_MAX);
  CHECK(milliseconds("9223372036854775.808") == std::nullopt);
  CHECK(milliseconds("-9223372036854775.808") == INT64_MIN);
  CHECK(milliseconds("-9223372036854775.8081") == std::nullopt);
  CHECK(milliseconds("1e125") == std::nullopt);
  CHECK(milliseconds("12345678901234567890123456789012345678") == std::nullopt);
}

}  // namespace mayfly::testing
