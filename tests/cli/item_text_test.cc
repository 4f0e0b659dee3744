// Tests how the keys and items that users type are parsed.
#include "cli/views/item_text.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace mayfly::testing {

using cli::KeySchema;

namespace {

const KeySchema carts{.table = "carts", .attributes = {{"id", "S"}}};
const KeySchema events{.table = "events", .attributes = {{"user", "S"}, {"at", "N"}}};
const KeySchema blobs{.table = "blobs", .attributes = {{"id", "B"}}};
constexpr engine::Instant now = 1'924'992'000'500;  // 2031-01-01T00:00:00.500Z

std::string key(const KeySchema& schema, const std::vector<std::string>& words, bool whole = true) {
  const auto read = cli::read_key(schema, words, whole);
  return read ? json::print(*read) : read.error();
}

std::string item(const KeySchema& schema, const std::vector<std::string>& words) {
  const auto read = cli::read_item(schema, words, "ttl", now);
  return read ? json::print(*read) : read.error();
}

json::Tree tree(std::string_view text) { return *json::parse_tree(text, json::Decimals::as_written); }

}  // namespace

TEST_CASE("a key in any notation gets the types of the key schema") {
  CHECK(key(carts, {"1"}) == R"({"id":{"S":"1"}})");
  CHECK(key(carts, {"id=1"}) == R"({"id":{"S":"1"}})");
  CHECK(key(carts, {R"({"id":"1"})"}) == R"({"id":{"S":"1"}})");
  CHECK(key(carts, {R"({"id":1})"}) == R"({"id":{"S":"1"}})");
  CHECK(key(carts, {R"({"id":{"S":"1"}})"}) == R"({"id":{"S":"1"}})");
  CHECK(key(events, {"ann", "5"}) == R"({"user":{"S":"ann"},"at":{"N":"5"}})");
  CHECK(key(events, {"at=-5.50", "user=a=b"}) == R"({"at":{"N":"-5.50"},"user":{"S":"a=b"}})");
  CHECK(key(events, {R"({"user":"ann","at":12345678901234567890.5})"}) ==
        R"({"user":{"S":"ann"},"at":{"N":"12345678901234567890.5"}})");
  CHECK(key(blobs, {"YQ=="}) == R"({"id":{"B":"YQ=="}})");
  CHECK(key(events, {"ann"}, false) == R"({"user":{"S":"ann"}})");
}

TEST_CASE("text with '=' is a value unless a key attribute's name precedes the '='") {
  CHECK(key(carts, {"a=b"}) == R"({"id":{"S":"a=b"}})");
  CHECK(key(carts, {"id=a=b"}) == R"({"id":{"S":"a=b"}})");
}

TEST_CASE("a key that does not fit its table is rejected with the reason") {
  CHECK(key(events, {"ann"}) == "the key of events is user and at; at is missing.");
  CHECK(key(events, {"at=5"}) == "the key of events is user and at; user is missing.");
  CHECK(key(events, {"ann", "x"}) == "key attribute 'at' of events must be a number, got 'x'.");
  CHECK(key(blobs, {"?"}) == "key attribute 'id' of blobs must be a binary value in base64, got '?'.");
  CHECK(key(carts, {"1", "2"}) == "the key of carts is id; '2' is an extra value.");
  CHECK(key(events, {"user=a", "user=b"}) == "'user' was given twice.");
  CHECK(key(carts, {R"({"id":"1","x":2})"}) == "'x' is not a key attribute of carts; its key is id.");
  CHECK(key(carts, {R"({"id":[1]})"}) ==
        "key attribute 'id' of carts must be a string or a number, got [1].");
  CHECK(key(carts, {"{"}) == "'{' is not a valid JSON object.");
  CHECK(key(carts, {"{\x1b[2J"}) == "'{\\x1b[2J' is not a valid JSON object.");
}

TEST_CASE("an item's values are parsed as JSON if they are valid JSON and as strings otherwise") {
  CHECK(
      item(carts,
           {"id=007", "n=12.50", "big=123456789012345678901234567890", "t=true", "z=null", "s=12 monkeys",
            "q=\"5\"", "empty=", "l=[1,\"a\"]", "m={\"a\":{\"b\":false}}", "zip=007", "eq=a=b"}) ==
      R"({"id":{"S":"007"},"n":{"N":"12.50"},"big":{"N":"123456789012345678901234567890"},"t":{"BOOL":true},)"
      R"("z":{"NULL":true},"s":{"S":"12 monkeys"},"q":{"S":"5"},"empty":{"S":""},)"
      R"("l":{"L":[{"N":"1"},{"S":"a"}]},"m":{"M":{"a":{"M":{"b":{"BOOL":false}}}}},"zip":{"S":"007"},)"
      R"("eq":{"S":"a=b"}})");
}

TEST_CASE("a JSON item is read as DynamoDB JSON if and only if its key attributes are DynamoDB JSON") {
  CHECK(item(events, {R"({"user":"ann","at":5,"S":{"S":"x"}})"}) ==
        R"({"user":{"S":"ann"},"at":{"N":"5"},"S":{"M":{"S":{"S":"x"}}}})");
  CHECK(item(events, {R"({"user":{"S":"ann"},"at":{"N":"5"},"tags":{"SS":["a"]}})"}) ==
        R"({"user":{"S":"ann"},"at":{"N":"5"},"tags":{"SS":["a"]}})");
}

TEST_CASE("the TTL attribute accepts spans and times as well as epoch seconds") {
  const auto ttl = [](const std::string& text) { return item(carts, {"id=1", "ttl=" + text}); };
  const auto seconds = [](const std::string& number) {
    return R"({"id":{"S":"1"},"ttl":{"N":")" + number + R"("}})";
  };
  CHECK(ttl("+48h") == seconds("1925164800"));  // rounded down, as in the Python fixture's epoch_seconds()
  CHECK(ttl("+0.6s") == seconds("1924992001"));
  CHECK(ttl("-1h") == seconds("1924988400"));
  CHECK(ttl("2031-01-03T00:00:00Z") == seconds("1925164800"));
  CHECK(ttl("1924992000") == seconds("1924992000"));
  CHECK(ttl("-5") == seconds("-5"));
  CHECK(ttl("\"soon\"") == R"({"id":{"S":"1"},"ttl":{"S":"soon"}})");
  const std::string wanted =
      "TTL attribute 'ttl' must be a duration from now (+48h), a time (2031-01-03T00:00:00Z) or epoch "
      "seconds, got ";
  for (const char* text : {"tomorrow", "+48", "+", "+inf", "+1e300d", "+h"})
    CHECK(ttl(text) == wanted + "'" + text + "'.");
  // In other attributes, text such as +48h stays unchanged.
  CHECK(item(carts, {"id=1", "phone=+48h"}) == R"({"id":{"S":"1"},"phone":{"S":"+48h"}})");
  CHECK(cli::may_have_time_to_live({"id=1", "ttl=+48h"}));
  CHECK_FALSE(cli::may_have_time_to_live({R"({"id":"1","ttl":"+48h"})"}));
}

TEST_CASE("an item that cannot be parsed is rejected with the reason") {
  CHECK(item(carts, {"1"}) ==
        "'1' is not NAME=VALUE. Write an item as NAME=VALUE words or as one JSON object.");
  CHECK(item(carts, {"=1"}) ==
        "'=1' is not NAME=VALUE. Write an item as NAME=VALUE words or as one JSON object.");
  CHECK(item(carts, {"id=1", "a=1", "a=2"}) == "'a' was given twice.");
  CHECK(item(carts, {"a=1"}) == "the key of carts is id; id is missing.");
  CHECK(item(events, {R"({"user":"ann"})"}) == "the key of events is user and at; at is missing.");
  std::string deep = "{\"id\":\"1\",\"a\":";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  CHECK_THAT(item(carts, {deep}), Catch::EndsWith("is not a valid JSON object."));
}

TEST_CASE("typed values are printed plainly with control characters escaped") {
  CHECK(cli::plain_text(tree(R"({"S":"a b"})")) == "a b");
  CHECK(cli::plain_text(tree(R"({"N":"12.50"})")) == "12.50");
  CHECK(cli::plain_text(tree(R"({"NULL":true})")) == "null");
  CHECK(cli::plain_text(tree(R"({"M":{"a":{"L":[{"N":"1"},{"S":"x"}]},"s":{"NS":["1","2"]}}})")) ==
        R"({"a":[1,"x"],"s":[1,2]})");
  CHECK(cli::plain_text(tree(R"({"S":"\u001b[2J\nx"})")) == "\\x1b[2J\\x0ax");
  CHECK(cli::plain_text(tree(R"({"N":"\u001b[2J"})")) == "\\x1b[2J");
  CHECK(cli::plain_key(tree(R"({"id":{"S":"1"},"at":{"N":"5"}})")) == "id=1 at=5");
  CHECK(cli::typed_key(R"({"id":{"S":"1"}})"));
  for (const char* text : {"1", "{}", R"({"id":"1"})", R"({"id":{"S":1}})", R"({"id":{"S":"1","N":"1"}})"})
    CHECK_FALSE(cli::typed_key(text));
}

}  // namespace mayfly::testing
