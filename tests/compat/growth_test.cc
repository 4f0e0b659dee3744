// The cost of a request is linear in its size. Each request is sent in two sizes, one twice as large as the
// other. The test counts steps instead of measuring time.
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <string>

#include "compat/items/transact_items.h"
#include "compat/json/json.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

// "m0":V,"m1":V,...
std::string members(std::size_t count, const std::string& value) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i ? ",\"m" : "\"m") + std::to_string(i) + "\":" + value;
  return text;
}
std::string elements(std::size_t count, const std::string& value) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i ? "," : "") + value;
  return text;
}

std::uint64_t comparisons(TestEmulator& emulator, const std::string& operation, const std::string& body) {
  const std::uint64_t before = json::members_compared;
  emulator.run(operation, body);
  return json::members_compared - before;
}

}  // namespace

TEST_CASE("doubling a request's size at most doubles the steps for looking up its members", "[holds]") {
  using Make = std::function<std::string(std::size_t)>;
  const std::map<std::string, std::pair<std::string, Make>> requests = {
      {"a wide item of a transaction with a token",
       {"TransactWriteItems",
        [](std::size_t n) {
          return R"({"ClientRequestToken":"t)" + std::to_string(n) +
                 R"(","TransactItems":[{"Put":{"TableName":"carts","Item":{"id":{"S":"a"},)" +
                 members(n, R"({"S":"v"})") + "}}}]}";
        }}},
      {"a transaction with a token and members that nobody declared",
       {"TransactWriteItems",
        [](std::size_t n) {
          return R"({"ClientRequestToken":"u)" + std::to_string(n) +
                 R"(","TransactItems":[{"Put":{"TableName":"carts","Item":{"id":{"S":"a"}},"More":{)" +
                 members(n, "null") + "}}}]}";
        }}},
      {"an item with a wide map",
       {"PutItem",
        [](std::size_t n) {
          return R"({"TableName":"carts","Item":{"id":{"S":"a"},"m":{"M":{)" + members(n, R"({"N":"1"})") +
                 "}}}}";
        }}},
      {"a value with many types",
       {"PutItem",
        [](std::size_t n) {
          return R"({"TableName":"carts","Item":{"id":{"S":"a"},"m":{)" + members(n, R"("x")") + "}}}";
        }}},
      {"members that nobody declared",
       {"Scan", [](std::size_t n) { return R"({"TableName":"carts",)" + members(n, "{}") + "}"; }}},
      {"names that no expression uses",
       {"Scan",
        [](std::size_t n) {
          std::string names;
          for (std::size_t i = 0; i < n; ++i)
            names += (i ? ",\"#m" : "\"#m") + std::to_string(i) + "\":\"a\"";
          return R"({"TableName":"carts","FilterExpression":"a = :v","ExpressionAttributeValues":{":v":{"S":"x"}},)"
                 R"("ExpressionAttributeNames":{)" +
                 names + "}}";
        }}},
      {"a legacy filter",
       {"Scan",
        [](std::size_t n) {
          return R"({"TableName":"carts","ScanFilter":{)" + members(n, R"({"ComparisonOperator":"NULL"})") +
                 "}}";
        }}},
      {"a legacy update",
       {"UpdateItem",
        [](std::size_t n) {
          return R"({"TableName":"carts","Key":{"id":{"S":"a"}},"AttributeUpdates":{)" +
                 members(n, R"({"Value":{"N":"1"}})") + "}}";
        }}},
      {"many definitions of attributes",
       {"CreateTable",
        [](std::size_t n) {
          return R"({"TableName":"other","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"AttributeDefinitions":[)" +
                 elements(n, R"({"AttributeName":"id","AttributeType":"S"})") + "]}";
        }}},
  };
  TestEmulator emulator;
  emulator.run("CreateTable", R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST",
      "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})");
  for (const auto& [name, request] : requests) {
    INFO(name);
    const auto& [operation, make] = request;
    const std::uint64_t once = comparisons(emulator, operation, make(1000));
    const std::uint64_t twice = comparisons(emulator, operation, make(2000));
    CHECK(once < 100'000);
    CHECK(twice <= 2 * once + 1000);
  }
}

TEST_CASE("a request digest ignores member order as well as null and overridden members") {
  const auto digest = [](std::string_view text) { return compat::request_digest(json::parse(text)->root()); };
  const std::string one = digest(R"([{"a":1,"b":{"c":"x","d":[true,null]}}])");
  CHECK(digest(R"([{"b":{"d":[true,null],"c":"x"},"a":1}])") == one);
  CHECK(digest(R"([{"a":1,"z":null,"b":{"c":"x","d":[true,null]}}])") == one);
  CHECK(digest(R"([{"a":2,"a":1,"b":{"c":"x","d":[true,null]}}])") == one);
  CHECK(digest(R"([{"a":2,"b":{"c":"x","d":[true,null]}}])") != one);
  CHECK(digest(R"([{"a":1,"a":null,"b":{"c":"x","d":[true,null]}}])") != one);
}

}  // namespace mayfly::testing
