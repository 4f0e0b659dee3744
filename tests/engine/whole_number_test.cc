#include "engine/base/whole_number.h"

#include <catch2/catch.hpp>
#include <cstdint>

namespace mayfly::testing {

using namespace engine;

TEST_CASE("only a string that is entirely a whole number is accepted") {
  CHECK(whole_number<std::uint16_t>("65535") == 65535);
  CHECK(whole_number<std::uint16_t>("0080") == 80);
  CHECK(whole_number<std::int64_t>("-9223372036854775808") == INT64_MIN);
  CHECK(whole_number<unsigned>("fF", 16) == 255);
  for (const char* text : {"", " 1", "1 ", "1x", "1.0", "1e3", "+1", "0x1", "-"}) {
    INFO(text);
    CHECK_FALSE(whole_number<std::int64_t>(text));
  }
}

TEST_CASE("a whole number outside the range of its type is rejected") {
  CHECK_FALSE(whole_number<std::uint16_t>("65536"));
  CHECK_FALSE(whole_number<std::uint16_t>("-1"));
  CHECK_FALSE(whole_number<std::uint8_t>("256"));
  CHECK_FALSE(whole_number<std::int64_t>("9223372036854775808"));
}

}  // namespace mayfly::testing
