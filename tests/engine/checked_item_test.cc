// checked_item rejects malformed bytes and never reads past their end.
#include "engine/values/checked_item.h"

#include <catch2/catch.hpp>
#include <random>

#include "engine/schema/table.h"
#include "engine/tables/change_log.h"
#include "engine/values/item_codec.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

Item every_type() {
  StringSet strings;
  NumberSet numbers;
  REQUIRE(StringSet::make({"b", "a"}, strings));
  REQUIRE(NumberSet::make({*Number::parse("-1.5"), *Number::parse("1e100")}, numbers));
  return {{"id", "a"},
          {"n", number("-50")},
          {"zero", number("0")},
          {"binary", Binary{std::string("\0\xff", 2)}},
          {"yes", AttributeValue(true)},
          {"null", Null{}},
          {"strings", strings},
          {"numbers", numbers},
          {"list", List{AttributeValue("x"), AttributeValue(List{AttributeValue(Null{})})}},
          {"map", AttributeValue(Map{{"inner", AttributeValue(Map{{"n", number("7")}})}})}};
}

std::string encoded(const Item& item) {
  std::string bytes;
  encode_item(item, bytes);
  return bytes;
}

// Copies the bytes to a separate buffer, so that a sanitizer detects every read past the end.
Expected<Item, std::string> checked(const std::string& bytes) {
  return checked_item(std::string(bytes.begin(), bytes.end()));
}

std::string error_of(std::string_view bytes) {
  const auto item = checked_item(bytes);
  REQUIRE_FALSE(item);
  return item.error();
}

}  // namespace

TEST_CASE("an encoded item passes the check and is decoded", "[verification]") {
  const Item item = every_type();
  const auto decoded = checked(encoded(item));
  REQUIRE(decoded);
  CHECK(*decoded == item);
  CHECK(checked(encoded(Item{{"id", "a"}})));
}

TEST_CASE("malformed item bytes are rejected with the reason and the position", "[verification]") {
  using namespace std::string_view_literals;
  CHECK(error_of("") == "it has 0 bytes");
  CHECK(error_of("\1\0\0\0"sv) == "it has 4 bytes");
  CHECK(error_of("\3\0\0\0\1\2id\0\1"sv) == "a count exceeds the remaining bytes at byte 10");
  CHECK(error_of("\3\0\0\0\1\2id"sv) == "it ends too early at byte 8");
  CHECK(error_of("\3\0\0\0\1\2id\0\1ab"sv) == "bytes follow its end at byte 11");
  CHECK(error_of("\4\0\0\0\1\2id\0\1a"sv) == "its stored size is wrong");
  CHECK(error_of("\3\0\0\0\1\2id\x1f"sv) == "unknown type tag at byte 9");
  CHECK(error_of("\3\0\0\0\x81\0\2id\0\1a"sv) == "a count is not in its shortest form at byte 6");
  CHECK(error_of("\3\0\0\0\xff\xff\xff\xff\xff\x01"sv) == "a count is too long at byte 9");
  CHECK(error_of("\3\0\0\0\x7f\2id\0\1a"sv) == "a count exceeds the remaining bytes at byte 5");
  CHECK(error_of("\6\0\0\0\2\1b\4\1a\4"sv) == "names are out of order at byte 10");
  CHECK(error_of("\6\0\0\0\1\1n\1\1\x83\x0a"sv) == "a number is not normalized at byte 10");
  CHECK(error_of("\6\0\0\0\1\1n\1\x80"sv) == "a number has an invalid head at byte 9");
  CHECK(error_of("\6\0\0\0\1\1s\5\5\0\0\0\2\1a\1a"sv) == "a set has a duplicate member at byte 17");
  CHECK(error_of("\6\0\0\0\1\1l\x08\x09\0\0\0\1\4"sv) == "a value is cut off at byte 12");
  std::string deep = std::string("\6\0\0\0\1\1l", 7);
  for (int i = 0; i < 100; ++i) deep += std::string("\x08\xff\x0f\0\0\1", 6);
  CHECK_FALSE(checked(deep));
}

TEST_CASE("corrupted item bytes are rejected unless they are a valid encoding of another item",
          "[verification][holds]") {
  const std::string bytes = encoded(every_type());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    REQUIRE_FALSE(checked(bytes.substr(0, length)));
  const auto seed = GENERATE(range(1u, 9u));
  INFO("seed " << seed);
  std::mt19937 random(seed);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string changed = bytes;
    for (auto changes = random() % 3 + 1; changes > 0; --changes)
      changed[random() % changed.size()] = static_cast<char>(random());
    const auto item = checked(changed);
    refused += item ? 0 : 1;
    if (item) REQUIRE(encoded(*item) == changed);
  }
  CHECK(refused > 500);
}

TEST_CASE("decoding corrupted descriptions and records never reads past their end", "[verification][holds]") {
  World world({.stream_shards = 2, .reap = false});
  Table made = simple_table("carts");
  made.indexes = {local_index("by_day", "day"), global_index("by_user", "user")};
  made.stream = stream_of(StreamView::new_and_old_images);
  const auto carts = world.create(made);
  world.enable_ttl(carts);
  const Table& table = *carts->description();
  const std::string described = encoded(to_item(table)), stream = encoded(to_item(*table.stream));
  REQUIRE(decode_table(described));
  CHECK(to_item(*decode_table(described)) == to_item(table));
  REQUIRE(decode_stream(stream));
  std::string record = encode_record(Cause::user, StreamView::new_and_old_images, {{"id", "a"}},
                                     encoded({{"id", "a"}}), encoded(every_type()));
  REQUIRE(checked_record(*table.stream, 1, record));

  const auto seed = GENERATE(range(1u, 5u));
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto changed = [&](std::string bytes) {
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    for (auto changes = random() % 3 + 1; changes > 0 && !bytes.empty(); --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    return bytes;
  };
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    refused += decode_table(changed(described)) ? 0 : 1;
    refused += decode_stream(changed(stream)) ? 0 : 1;
    refused += checked_record(*table.stream, 1, changed(record)) ? 0 : 1;
  }
  CHECK(refused > 500);
}

TEST_CASE("a table description with a member of the wrong type is rejected instead of converted",
          "[verification]") {
  World world({.reap = false});
  const auto carts = world.create(simple_table("carts"));
  const Item right = to_item(*carts->description());
  const auto error = [&](const char* member, AttributeValue value) {
    Item wrong = right;
    wrong.set(member, std::move(value));
    const auto table = decode_table(encoded(wrong));
    REQUIRE_FALSE(table);
    return table.error();
  };
  CHECK(error("name", number(1)) == "its member name is malformed");
  CHECK(error("id", "one") == "its member id is malformed");
  CHECK(error("id", number(std::int64_t{1} << 40)) == "its member id is malformed");
  CHECK(error("indexes", "none") == "its member indexes is malformed");
  CHECK(error("stream", "none") == "its member stream is malformed");
  CHECK(error("settings", "none") == "its member settings is malformed");
  CHECK(error("keys", AttributeValue(Map{})) == "its key has an invalid number of attributes");
  CHECK(error("expiry", number(9)) == "its expiry mode is unknown");
}

}  // namespace mayfly::testing
