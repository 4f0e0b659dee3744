// Tests the rules of "Time to Live: How It Works" in AWS's developer guide, one test for each rule, on a
// frozen clock.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "compat/emulator.h"
#include "engine/background/reaper.h"
#include "engine/base/clock.h"

namespace mayfly::testing {

namespace {

constexpr engine::Instant year_ms = 31'556'952'000;  // one fifth of five years, which have 157,784,760 s

// The table SessionData of the guide's example. Its TTL attribute is ExpirationTime.
class Sessions {
 public:
  enum class Deletion { exact, late };  // late: expired items remain until delete_expired(), as on AWS

  explicit Sessions(engine::Instant now, Deletion deletion = Deletion::exact)
      : clock_(std::make_shared<engine::ManualClock>(now)),
        emulator_(std::move(*compat::Emulator::open(
            {.database = {.clock = clock_,
                          .expiry = {deletion == Deletion::exact ? engine::ExpiryMode::Kind::exact
                                                                 : engine::ExpiryMode::Kind::manual}}}))) {
    call("CreateTable", R"({"TableName":"SessionData","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"UserName","AttributeType":"S"},
                                {"AttributeName":"SessionId","AttributeType":"N"},
                                {"AttributeName":"CreationTime","AttributeType":"N"}],
        "KeySchema":[{"AttributeName":"UserName","KeyType":"HASH"},
                     {"AttributeName":"SessionId","KeyType":"RANGE"}],
        "LocalSecondaryIndexes":[{"IndexName":"of_user","Projection":{"ProjectionType":"ALL"},
          "KeySchema":[{"AttributeName":"UserName","KeyType":"HASH"},
                       {"AttributeName":"CreationTime","KeyType":"RANGE"}]}],
        "GlobalSecondaryIndexes":[{"IndexName":"of_all","Projection":{"ProjectionType":"ALL"},
          "KeySchema":[{"AttributeName":"CreationTime","KeyType":"HASH"}]}]})");
    call("UpdateTimeToLive", R"({"TableName":"SessionData",
        "TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ExpirationTime"}})");
  }

  std::string call(std::string_view operation, std::string_view body) {
    auto answer = emulator_->execute({"000000000000", "us-east-1"},
                                     "DynamoDB_20120810." + std::string(operation), body);
    INFO(operation << " " << body << " -> " << answer.body);
    REQUIRE(answer.status == 200);
    return answer.body;
  }

  // `expiration` is an attribute value as JSON, or empty for an item without the attribute.
  void put(std::string_view user, std::string_view expiration) {
    std::string attribute = expiration.empty() ? "" : R"(,"ExpirationTime":)" + std::string(expiration);
    call("PutItem", R"({"TableName":"SessionData","Item":{"UserName":{"S":")" + std::string(user) +
                        R"("},"SessionId":{"N":"1"},"CreationTime":{"N":"2"})" + attribute + "}}");
  }

  void update(std::string_view user, std::string_view rest) {
    call("UpdateItem", R"({"TableName":"SessionData",)" + key(user) + "," + std::string(rest) + "}");
  }

  bool has(std::string_view user) {
    return call("GetItem", R"({"TableName":"SessionData",)" + key(user) + "}") != "{}";
  }

  // `index` is "of_user", "of_all", or empty for the table.
  std::string count(std::string_view index) {
    std::string name = index.empty() ? "" : R"(,"IndexName":")" + std::string(index) + "\"";
    return call("Scan", R"({"TableName":"SessionData","Select":"COUNT")" + name + "}");
  }

  std::int64_t advance_to(engine::Instant instant) {
    return emulator_->database().time_travel().advance("000000000000", instant).expired;
  }
  std::int64_t delete_expired() {
    engine::Database& database = emulator_->database();
    return database.reaper().sweep(database.catalog().find({"000000000000", "us-east-1"}, "SessionData"));
  }

 private:
  static std::string key(std::string_view user) {
    return R"("Key":{"UserName":{"S":")" + std::string(user) + R"("},"SessionId":{"N":"1"}})";
  }

  std::shared_ptr<engine::ManualClock> clock_;
  std::unique_ptr<compat::Emulator> emulator_;
};

constexpr engine::Instant noon = 1461931200'000;  // April 29, 2016, 12:00:00
constexpr engine::Instant two_oclock = 1461938400'000;

TEST_CASE("the sessions in AWS's guide expire in the order of their TTLs") {
  Sessions sessions(1461920000'000);
  sessions.put("user1", R"({"N":"1461938400"})");
  sessions.put("user2", R"({"N":"1461927600"})");
  sessions.put("user3", R"({"N":"1461929400"})");
  sessions.put("user4", R"({"N":"1461932580"})");
  sessions.put("user5", R"({"N":"1461927600"})");
  CHECK(sessions.advance_to(1461927600'001) == 2);
  CHECK_FALSE(sessions.has("user2"));
  CHECK_FALSE(sessions.has("user5"));
  CHECK(sessions.advance_to(1461929400'001) == 1);
  CHECK_FALSE(sessions.has("user3"));
  CHECK(sessions.advance_to(1461932580'001) == 1);
  CHECK_FALSE(sessions.has("user4"));
  CHECK(sessions.has("user1"));
  CHECK(sessions.advance_to(two_oclock + 1) == 1);
  CHECK_FALSE(sessions.has("user1"));
}

TEST_CASE(
    "an item expires when the current time is greater than its TTL but not when it is equal to its TTL") {
  Sessions sessions(noon);
  sessions.put("user1", R"({"N":"1461938400"})");
  CHECK(sessions.advance_to(two_oclock) == 0);
  CHECK(sessions.has("user1"));
  CHECK(sessions.advance_to(two_oclock + 1) == 1);
  CHECK_FALSE(sessions.has("user1"));
}

TEST_CASE("a TTL is in seconds since 1970 UTC: 1579116412 is January 15 2020 19:26:52") {
  CHECK(engine::iso8601(1579116412'000) == "2020-01-15T19:26:52.000Z");
  Sessions sessions(1579116411'000);
  sessions.put("user1", R"({"N":"1579116412"})");
  CHECK(sessions.advance_to(1579116412'001) == 1);
}

TEST_CASE("a TTL of any type other than Number is ignored") {
  for (const char* value : {R"({"S":"1461931300"})", R"({"B":"MTQ2MTkzMTMwMA=="})", R"({"BOOL":true})",
                            R"({"NULL":true})", R"({"NS":["1461931300"]})", R"({"L":[{"N":"1461931300"}]})",
                            R"({"M":{"ExpirationTime":{"N":"1461931300"}}})", ""}) {
    INFO(value);
    Sessions sessions(noon);
    sessions.put("user1", value);
    CHECK(sessions.advance_to(noon + year_ms) == 0);
    CHECK(sessions.has("user1"));
  }
}

TEST_CASE("a TTL in milliseconds is far in the future") {
  Sessions sessions(noon);
  sessions.put("user1", R"({"N":"1461931300000"})");
  CHECK(sessions.advance_to(noon + 100 * year_ms) == 0);
  CHECK(sessions.has("user1"));
}

TEST_CASE("an item with a past TTL expires unless its TTL is more than five years in the past") {
  Sessions sessions(two_oclock, Sessions::Deletion::late);
  sessions.put("older", R"({"N":"1304153639"})");    // two_oclock - 157,784,761 s
  sessions.put("younger", R"({"N":"1304153641"})");  // two_oclock - 157,784,759 s
  sessions.put("negative", R"({"N":"-1"})");
  CHECK(sessions.delete_expired() == 1);
  CHECK(sessions.has("older"));
  CHECK_FALSE(sessions.has("younger"));
  CHECK(sessions.has("negative"));
}

TEST_CASE("an expired item that is not deleted yet appears in reads and queries and scans") {
  Sessions sessions(two_oclock, Sessions::Deletion::late);
  sessions.put("user1", R"({"N":"1461938399"})");
  CHECK(sessions.has("user1"));
  CHECK(sessions.count("") == R"({"Count":1,"ScannedCount":1})");
  CHECK(sessions.call("Query", R"({"TableName":"SessionData","Select":"COUNT",
      "KeyConditionExpression":"UserName = :u","ExpressionAttributeValues":{":u":{"S":"user1"}}})") ==
        R"({"Count":1,"ScannedCount":1})");
  CHECK(sessions.delete_expired() == 1);
  CHECK(sessions.count("") == R"({"Count":0,"ScannedCount":0})");
}

TEST_CASE("a filter on the TTL attribute excludes expired items") {
  Sessions sessions(two_oclock, Sessions::Deletion::late);
  sessions.put("expired", R"({"N":"1461938399"})");
  sessions.put("lives", R"({"N":"1461938401"})");
  CHECK(sessions.call("Scan", R"({"TableName":"SessionData","FilterExpression":"ExpirationTime > :now",
      "ExpressionAttributeValues":{":now":{"N":"1461938400"}},"ProjectionExpression":"UserName"})") ==
        R"({"Items":[{"UserName":{"S":"lives"}}],"Count":1,"ScannedCount":2})");
}

TEST_CASE("changing the TTL of an expired item to a future time keeps the item") {
  Sessions sessions(two_oclock, Sessions::Deletion::late);
  sessions.put("user1", R"({"N":"1461938399"})");
  sessions.update("user1", R"("UpdateExpression":"SET ExpirationTime = :later",
      "ExpressionAttributeValues":{":later":{"N":"1461938500"}})");
  CHECK(sessions.delete_expired() == 0);
  CHECK(sessions.has("user1"));
  CHECK(sessions.advance_to(1461938500'000) == 0);
  CHECK(sessions.delete_expired() == 0);
  CHECK(sessions.advance_to(1461938500'001) == 0);
  CHECK(sessions.delete_expired() == 1);
}

TEST_CASE("removing the TTL of an expired item keeps the item") {
  Sessions sessions(two_oclock, Sessions::Deletion::late);
  sessions.put("user1", R"({"N":"1461938399"})");
  sessions.update("user1", R"("UpdateExpression":"REMOVE ExpirationTime")");
  CHECK(sessions.delete_expired() == 0);
  CHECK(sessions.advance_to(two_oclock + 4 * year_ms) == 0);
  CHECK(sessions.delete_expired() == 0);
  CHECK(sessions.has("user1"));
}

TEST_CASE("an expired item is removed from its local and global indexes") {
  Sessions sessions(noon);
  sessions.put("goes", R"({"N":"1461938400"})");
  sessions.put("stays", R"({"N":"1461938500"})");
  for (const char* index : {"", "of_user", "of_all"}) {
    CHECK(sessions.count(index) == R"({"Count":2,"ScannedCount":2})");
  }
  CHECK(sessions.advance_to(two_oclock + 1) == 1);
  for (const char* index : {"", "of_user", "of_all"}) {
    INFO(index);
    CHECK(sessions.count(index) == R"({"Count":1,"ScannedCount":1})");
  }
}

}  // namespace

}  // namespace mayfly::testing
