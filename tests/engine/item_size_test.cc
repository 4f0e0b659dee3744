#include "engine/values/item_size.h"

#include <catch2/catch.hpp>

namespace mayfly::testing {

using namespace engine;

namespace {

std::size_t size_of(std::string_view text) { return number_size(*Number::parse(text)); }

}  // namespace

TEST_CASE("a number takes 1 byte plus 1 per digit pair aligned at the decimal point plus 1 if negative") {
  CHECK(size_of("0") == 1);
  CHECK(size_of("1") == 2);
  CHECK(size_of("10") == 2);
  CHECK(size_of("100") == 2);
  CHECK(size_of("12") == 2);
  CHECK(size_of("120") == 3);  // 1|20
  CHECK(size_of("123") == 3);
  CHECK(size_of("1234") == 3);
  CHECK(size_of("1.2") == 3);  // 1|20
  CHECK(size_of("0.12") == 2);
  CHECK(size_of("-1") == 3);
  CHECK(size_of("-1234") == 4);
  CHECK(size_of("12345678901234567890123456789012345678") == 20);
  CHECK(size_of("-1.2345678901234567890123456789012345678") == 22);
}

TEST_CASE("an item's size includes its names and values and the overhead of lists and maps") {
  CHECK(value_size("h\xc3\xa9") == 3);
  CHECK(value_size(Binary{std::string(5, '\0')}) == 5);
  CHECK(value_size(AttributeValue(true)) == 1);
  CHECK(value_size(Null{}) == 1);
  CHECK(value_size(List{}) == 3);
  CHECK(value_size(Map{}) == 3);
  CHECK(value_size(List{"ab", List{}}) == 3 + (1 + 2) + (1 + 3));
  CHECK(value_size(Map{{"name", "ab"}, {"x", Null{}}}) == 3 + (1 + 4 + 2) + (1 + 1 + 1));
  StringSet strings;
  REQUIRE(StringSet::make({"a", "bcd"}, strings));
  CHECK(value_size(strings) == 4);
  NumberSet numbers;
  REQUIRE(NumberSet::make({Number(0), Number(-5)}, numbers));
  CHECK(value_size(numbers) == 1 + 3);
  CHECK(item_size({}) == 0);
  CHECK(item_size({{"id", "a"}, {"n", Number(-50)}}) == 7);
}

}  // namespace mayfly::testing
