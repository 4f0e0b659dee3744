#include "engine/values/item_codec.h"

#include <catch2/catch.hpp>

#include "engine/values/item_size.h"

namespace mayfly::testing {

using namespace engine;

namespace {

std::string encoding_of(const Item& item) {
  std::string out;
  encode_item(item, out);
  return out;
}

Number stored_number(std::string_view text) { return *Number::parse(text); }

template <class T>
Set<T> set_of(std::vector<T> members) {
  Set<T> set;
  REQUIRE(Set<T>::make(std::move(members), set));
  return set;
}

Item all_types() {
  return Item{
      {"binary", Binary{std::string("\0\xff", 2)}},
      {"binary_set", set_of<Binary>({{"b"}, {"a"}})},
      {"boolean_false", AttributeValue(false)},
      {"boolean_true", AttributeValue(true)},
      {"list", List{"x", Null{}, List{}, Map{{"y", stored_number("-1e-130")}}}},
      {"map", Map{{"a", Map{}}, {"b", AttributeValue(true)}}},
      {"null", Null{}},
      {"number", stored_number("-99999999999999999999999999999999999999e88")},
      {"number_set", set_of<Number>({stored_number("10"), stored_number("9"), stored_number("0")})},
      {"string", std::string(300, 's')},
      {"string_set", set_of<std::string>({"b", "a"})},
      {"zero", stored_number("0")},
  };
}

}  // namespace

TEST_CASE("an item is encoded as item_codec.h describes") {
  const std::string stored = encoding_of({{"id", "a"}, {"n", stored_number("-50")}});
  CHECK(stored == std::string("\x07\0\0\0"
                              "\x02"
                              "\x02"
                              "id\0\x01"
                              "a"
                              "\x01n\x01\x81\x83\x05",
                              17));
}

TEST_CASE("items of every type are decoded unchanged and their encoding begins with their size") {
  const Item item = all_types();
  const std::string stored = encoding_of(item);
  CHECK(decode_item(stored) == item);
  CHECK(stored_item_size(stored) == item_size(item));
  CHECK(decode_item(encoding_of({})) == Item{});
}

TEST_CASE("one attribute of an encoded item can be read without decoding the others") {
  const Item item = all_types();
  const std::string stored = encoding_of(item);
  for (const Attribute& attribute : item) {
    const auto found = stored_attribute(stored, attribute.name);
    REQUIRE(found);
    CHECK(*found == attribute.value);
  }
  CHECK_FALSE(stored_attribute(stored, "aa"));
  CHECK_FALSE(stored_attribute(stored, "m"));
  CHECK_FALSE(stored_attribute(stored, "zz"));
}

}  // namespace mayfly::testing
