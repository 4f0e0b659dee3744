// The results for these inputs were captured on AWS in October 2026: exponents beyond 32 bits, 1e2147483647,
// 0e126 and 0e-131.
#include "compat/wire/java_number.h"

#include <catch2/catch.hpp>
#include <string>

#include "compat/wire/attribute_value_json.h"

namespace mayfly::testing {

using namespace compat;

namespace {

const std::string overflow =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";
const std::string underflow =
    "Number underflow. Attempting to store a number with magnitude smaller than supported range";

// Returns the number as DynamoDB prints it, or the error message.
std::string read(std::string_view text) {
  const auto number = read_number(text);
  return number ? number->to_string() : number.error().message;
}

TEST_CASE("a number's magnitude is computed in 32 bits even for zero") {
  CHECK(read("1e125") == "1" + std::string(125, '0'));
  CHECK(read("1e126") == overflow);
  CHECK(read("12.5e124") == "125" + std::string(123, '0'));
  CHECK(read("12.5e125") == overflow);
  CHECK(read("1e-131") == underflow);
  CHECK(read("0e125") == "0");
  CHECK(read("0e126") == overflow);
  CHECK(read("-0e-130") == "0");
  CHECK(read("0e-131") == underflow);
  CHECK(read("0." + std::string(131, '0')) == underflow);
  CHECK(read("1e2147483646") == overflow);
  CHECK(read("1e2147483647") == underflow);
  CHECK(read("0001e0000000002") == "100");
}

TEST_CASE("a number whose exponent or scale does not fit in 32 bits is rejected") {
  for (const std::string text : {"1e2147483648", "1e99999999999999999999", "1e-2147483649", "1e-2147483648",
                                 "1.5e-2147483647", "0e-99999999999"}) {
    INFO(text);
    CHECK_FALSE(is_java_decimal(text));
    CHECK(read(text) == "The parameter cannot be converted to a numeric value: " + text);
  }
  for (const char* text : {"1", "-1.5", "1e-2147483647", "1.5e-2147483646", "15e2147483647", "1e+5"}) {
    INFO(text);
    CHECK(is_java_decimal(text));
  }
  CHECK(read("a") == "The parameter cannot be converted to a numeric value: a");
}

}  // namespace

}  // namespace mayfly::testing
