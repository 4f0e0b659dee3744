#include "engine/values/key_codec.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace mayfly::testing {

using namespace engine;

namespace {

AttributeValue scalar_number(std::string_view text) {
  auto parsed = Number::parse(text);
  REQUIRE(parsed);
  return *parsed;
}

std::string scalar(const AttributeValue& value) {
  std::string out;
  append_scalar(out, value);
  return out;
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const unsigned char byte : bytes) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

// Returns the hash, in hexadecimal digits, at the start of the key of the partition with these values.
std::string hash_of(std::vector<AttributeValue> values) {
  std::vector<const AttributeValue*> pointers;
  for (const AttributeValue& value : values) pointers.push_back(&value);
  std::string out;
  append_partition(out, pointers);
  return hex(out.substr(0, 8));
}

}  // namespace

TEST_CASE("numbers are encoded as key_codec.h describes") {
  CHECK(hex(scalar(scalar_number("0"))) == "80");
  CHECK(hex(scalar(scalar_number("5"))) == "c0823300");
  CHECK(hex(scalar(scalar_number("50"))) == "c0833300");
  CHECK(hex(scalar(scalar_number("314"))) == "c084202900");
  CHECK(hex(scalar(scalar_number("-314"))) == "407bdfd6ff");
  CHECK(hex(scalar(scalar_number("1e125"))) == "c0ff0b00");
  CHECK(hex(scalar(scalar_number("-1e-130"))) == "40fff4ff");
}

TEST_CASE("a string or binary value sorts before the longer values that begin with it") {
  CHECK(hex(scalar("ab")) == "61620001");
  CHECK(hex(scalar(std::string("a\0", 2))) == "6100ff0001");
  CHECK(scalar("a") < scalar(std::string("a\0", 2)));
  CHECK(scalar(std::string("a\0", 2)) < scalar("a\x01"));
  CHECK(scalar(Binary{"\x7f"}) < scalar(Binary{"\x80"}));
}

// The expected hashes come from `printf '%s' 'Outliers' 'a' | md5sum` and so on.
TEST_CASE("a partition's key begins with the MD5 of its values as on AWS") {
  CHECK(hash_of({"a"}) == "f6558e516275dee2");
  CHECK(hash_of({Binary{"a"}}) == "f6558e516275dee2");
  CHECK(hash_of({"a", "b"}) == "8d018bed538791b3");
  CHECK(hash_of({scalar_number("0")}) == "ce212d751674ab5d");
  CHECK(hash_of({scalar_number("1")}) == "c3a0310aed78739b");
  CHECK(hash_of({scalar_number("-1")}) == "0267df4c95559d50");
  CHECK(hash_of({scalar_number("12.345")}) == "c65bcc6d06032a67");
  CHECK(hash_of({scalar_number("-0.05")}) == "773bbcb7bd3fb8fd");
  CHECK(hash_of({scalar_number("1e125")}) == "2f2857f5242da8c0");
}

TEST_CASE("the MD5 of long values does not depend on their alignment in memory") {
  CHECK(hash_of({std::string(55, 'x')}) == "cf693db98c357639");
  CHECK(hash_of({std::string(63, 'x')}) == "3445e2174ccc1d45");
  CHECK(hash_of({std::string(64, 'x')}) == "8bf820812dbaefa3");
  CHECK(hash_of({std::string(200, 'x')}) == "06b51bc5248845a0");  // UBSan reports unaligned reads
  CHECK(hash_of({"a", std::string(2048, 'x')}) == "fe00f585cffbbe47");
}

TEST_CASE("encoded scalars sort as their values do") {
  std::mt19937_64 random(20220719);
  std::vector<AttributeValue> numbers, strings;
  for (int i = 0; i < 2000; ++i) {
    std::string text = random() % 2 ? "-" : "";
    const int digits = 1 + static_cast<int>(random() % 38);
    for (int d = 0; d < digits; ++d)
      text += static_cast<char>('0' + (random() % 3 ? random() % 10 : 9 * (random() % 2)));
    const int exponents[] = {0, 0, -digits, static_cast<int>(random() % 200) - 120, -1, 1};
    text += "e" + std::to_string(exponents[random() % 6]);
    if (auto parsed = Number::parse(text)) numbers.push_back(*parsed);

    std::string bytes;
    for (auto length = random() % 6; length > 0; --length) bytes += "\x00\x01\xff\x61"[random() % 4];
    strings.push_back(bytes);
  }
  for (const auto& values : {numbers, strings}) {
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      const auto by_value = compare_scalars(values[i], values[i + 1]);
      const auto by_bytes = scalar(values[i]) <=> scalar(values[i + 1]);
      REQUIRE(by_value == by_bytes);
    }
  }
}

TEST_CASE("a key is its partition followed by its sort values and begins with the partition hash") {
  const AttributeValue partition = "a", sort = scalar_number("5");
  const AttributeValue* partitions[] = {&partition};
  const AttributeValue* sorts[] = {&sort};
  std::string key;
  append_key(key, partitions, sorts);
  CHECK(hex(key) ==
        "f6558e516275dee2"
        "610001"
        "c0823300");
  CHECK(partition_hash(key) == 0xf6558e516275dee2);
}

TEST_CASE("the end of a prefix is the smallest string greater than all strings with that prefix") {
  CHECK(prefix_end("ab") == "ac");
  CHECK(prefix_end("a\xff\xff") == "b");
  CHECK(prefix_end("\xff\xff") == "");
  CHECK(prefix_end("") == "");

  std::string prefix;
  append_scalar_prefix(prefix, "ab");
  CHECK(prefix == "ab");
  CHECK(scalar("abc") > prefix);
  CHECK(scalar("abc") < prefix_end(prefix));
}

}  // namespace mayfly::testing
