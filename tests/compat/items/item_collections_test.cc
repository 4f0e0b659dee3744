// Tests the size limit of an item collection: the items of one partition and their local index entries.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

using nlohmann::json;

constexpr std::size_t collection_bytes_max = 1000;

json with_local_index() {
  return json::parse(R"({"TableName":"music","BillingMode":"PAY_PER_REQUEST",
    "AttributeDefinitions":[{"AttributeName":"artist","AttributeType":"S"},{"AttributeName":"song","AttributeType":"S"},
      {"AttributeName":"year","AttributeType":"N"}],
    "KeySchema":[{"AttributeName":"artist","KeyType":"HASH"},{"AttributeName":"song","KeyType":"RANGE"}],
    "LocalSecondaryIndexes":[{"IndexName":"by_year","Projection":{"ProjectionType":"KEYS_ONLY"},"KeySchema":[
      {"AttributeName":"artist","KeyType":"HASH"},{"AttributeName":"year","KeyType":"RANGE"}]}]})");
}

// The keys take 6 + 1 and 4 + 1 bytes (name + value), and the text takes 1 + `bytes`.
json song(const std::string& artist, const std::string& name, std::size_t bytes) {
  return {{"artist", {{"S", artist}}}, {"song", {{"S", name}}}, {"t", {{"S", std::string(bytes, 'x')}}}};
}

json put(const json& item) { return {{"TableName", "music"}, {"Item", item}}; }

constexpr const char* too_large =
    R"(400 {"__type":"com.amazonaws.dynamodb.v20120810#ItemCollectionSizeLimitExceededException",)"
    R"("message":"Collection size exceeded."})";

TEST_CASE("an item collection cannot grow past its limit but can always shrink") {
  TestEmulator emulator({}, collection_bytes_max);
  emulator.ok("CreateTable", with_local_index());
  emulator.ok("PutItem", put(song("N", "a", 487)));  // 500 bytes
  emulator.ok("PutItem", put(song("N", "b", 487)));  // 1000
  CHECK(emulator.run("PutItem", put(song("N", "c", 0)).dump()) == too_large);
  CHECK(emulator.run("PutItem", put(song("N", "b", 488)).dump()) == too_large);
  CHECK(emulator.run("UpdateItem", R"({"TableName":"music","Key":{"artist":{"S":"N"},"song":{"S":"a"}},
    "UpdateExpression":"SET plays = :p","ExpressionAttributeValues":{":p":{"N":"1"}}})") == too_large);
  emulator.ok("PutItem", put(song("B", "c", 900)));  // "B" is another collection
  emulator.ok("PutItem", put(song("N", "b", 400)));
  emulator.ok("PutItem", put(song("N", "c", 60)));
  emulator.ok("DeleteItem",
              {{"TableName", "music"}, {"Key", {{"artist", {{"S", "N"}}}, {"song", {{"S", "a"}}}}}});
  emulator.ok("PutItem", put(song("N", "c", 500)));
}

TEST_CASE("entries in local indexes count toward the limit of an item collection") {
  TestEmulator emulator({}, collection_bytes_max);
  emulator.ok("CreateTable", with_local_index());
  emulator.ok("PutItem", put(song("N", "a", 970)));  // 983 bytes
  json indexed = song("N", "a", 970);
  indexed["year"] = {{"N", "1965"}};  // adds 7 bytes to the table and 19 to the index
  CHECK(emulator.run("PutItem", put(indexed).dump()) == too_large);
  indexed["t"]["S"] = std::string(960, 'x');
  emulator.ok("PutItem", put(indexed));
}

TEST_CASE("all writes of a request count together toward the limit of an item collection") {
  TestEmulator emulator({}, collection_bytes_max);
  emulator.ok("CreateTable", with_local_index());
  const json one = song("N", "a", 600), two = song("N", "b", 600);
  const json batch = {
      {"RequestItems", {{"music", {{{"PutRequest", {{"Item", one}}}}, {{"PutRequest", {{"Item", two}}}}}}}}};
  CHECK(emulator.run("BatchWriteItem", batch.dump()) == too_large);
  const json transaction = {{"TransactItems", {{{"Put", put(one)}}, {{"Put", put(two)}}}}};
  CHECK(
      emulator.run("TransactWriteItems", transaction.dump()) ==
      R"(400 {"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"Transaction )"
      R"(cancelled, please refer cancellation reasons for specific reasons [None, ItemCollectionSizeLimitExceeded]",)"
      R"("CancellationReasons":[{"Code":"None"},{"Code":"ItemCollectionSizeLimitExceeded",)"
      R"("Message":"Collection size exceeded."}]})");
  CHECK(emulator.run("Scan", R"({"TableName":"music","Select":"COUNT"})") ==
        R"(200 {"Count":0,"ScannedCount":0})");
}

TEST_CASE("a table without local indexes has no limit for item collections") {
  TestEmulator emulator({}, collection_bytes_max);
  json table = with_local_index();
  table.erase("LocalSecondaryIndexes");
  table["AttributeDefinitions"].erase(2);
  emulator.ok("CreateTable", table);
  emulator.ok("PutItem", put(song("N", "a", 2000)));
}

}  // namespace

}  // namespace mayfly::testing
