#include "compat/dispatch.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

TEST_CASE("an unknown operation is rejected before its body is parsed") {
  TestEmulator emulator;
  CHECK(emulator.run("RenameTable", "not JSON") ==
        R"(400 {"__type":"com.amazon.coral.service#UnknownOperationException"})");
  CHECK(emulator.emulator().execute(emulator.scope, "", "{}").status == 400);
  CHECK(emulator.emulator().execute(emulator.scope, "DynamoDBStreams_20120810.PutItem", "{}").status == 400);
}

TEST_CASE("each operation declares the member in which its request names tables") {
  using compat::TablesIn;
  const std::vector<std::pair<TablesIn, std::string_view>> places = {
      {TablesIn::table_name, "TableName"},
      {TablesIn::request_items, "RequestItems"},
      {TablesIn::transact_items, "TransactItems"},
      {TablesIn::stream_arn, "StreamArn"},
      {TablesIn::shard_iterator, "ShardIterator"}};
  for (const compat::Operation* operation : compat::all_operations()) {
    INFO(operation->name);
    // The operation must declare the first of these members that its request has. StreamArn comes after
    // TableName, because a StreamArn in a request with a TableName names a Kinesis stream.
    TablesIn says = TablesIn::nothing;
    for (const auto& [tables_in, member] : places) {
      const auto& members = operation->shape->members;
      const bool has = std::any_of(members.begin(), members.end(),
                                   [&, name = member](const auto& one) { return one.name == name; });
      if (has && says == TablesIn::nothing) says = tables_in;
    }
    CHECK(operation->tables_in == says);
  }
}

TEST_CASE("a body that is not a JSON object is a serialization error") {
  TestEmulator emulator;
  const std::string nothing_more = R"(400 {"__type":"com.amazon.coral.service#SerializationException"})";
  CHECK(emulator.run("ListTables", "") == nothing_more);
  CHECK(emulator.run("ListTables", "{") == nothing_more);
  CHECK(emulator.run("ListTables", "null") == nothing_more);
  CHECK(emulator.run("ListTables", "{\"Limit\":1,\"x\":\"\xff\"}") == nothing_more);
  CHECK(
      emulator.run("ListTables", "[]") ==
      R"(400 {"__type":"com.amazon.coral.service#SerializationException",)"
      R"("Message":"Unrecognized collection type class com.amazonaws.dynamodb.v20120810.ListTablesInput"})");
}

TEST_CASE("a request's types are checked first and its constraints are checked before other rules") {
  TestEmulator emulator;
  CHECK(emulator.run("ListTables", R"({"ExclusiveStartTableName":"a","Limit":"1"})") ==
        R"(400 {"__type":"com.amazon.coral.service#SerializationException",)"
        R"("Message":"STRING_VALUE cannot be converted to Integer"})");
  CHECK(
      emulator.run("ListTables", R"({"ExclusiveStartTableName":"a","Limit":1})") ==
      R"(400 {"__type":"com.amazon.coral.validate#ValidationException","message":"1 validation error detected: )"
      R"(Value 'a' at 'exclusiveStartTableName' failed to satisfy constraint: Member must have length greater than )"
      R"(or equal to 3"})");
}

TEST_CASE("ListTables returns tables in order and page by page") {
  TestEmulator emulator;
  for (const char* name : {"ccc", "aaa", "bbb"}) {
    emulator.ok("CreateTable", {{"TableName", name},
                                {"BillingMode", "PAY_PER_REQUEST"},
                                {"AttributeDefinitions", {{{"AttributeName", "a"}, {"AttributeType", "S"}}}},
                                {"KeySchema", {{{"AttributeName", "a"}, {"KeyType", "HASH"}}}}});
  }
  CHECK(emulator.run("ListTables", "{}") == R"(200 {"TableNames":["aaa","bbb","ccc"]})");
  CHECK(emulator.run("ListTables", R"({"Limit":2})") ==
        R"(200 {"TableNames":["aaa","bbb"],"LastEvaluatedTableName":"bbb"})");
  CHECK(emulator.run("ListTables", R"({"Limit":2,"ExclusiveStartTableName":"bbb"})") ==
        R"(200 {"TableNames":["ccc"]})");
  CHECK(emulator.run("ListTables", R"({"Limit":3})") == R"(200 {"TableNames":["aaa","bbb","ccc"]})");
}

TEST_CASE("concurrent TagResource calls keep all tags") {
  TestEmulator emulator;
  emulator.ok("CreateTable", {{"TableName", "music"},
                              {"BillingMode", "PAY_PER_REQUEST"},
                              {"AttributeDefinitions", {{{"AttributeName", "a"}, {"AttributeType", "S"}}}},
                              {"KeySchema", {{{"AttributeName", "a"}, {"KeyType", "HASH"}}}}});
  const std::string arn = "arn:aws:dynamodb:us-east-1:000000000000:table/music";
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 10; ++i) {
        const auto key = std::to_string(thread) + "/" + std::to_string(i);
        const nlohmann::json body = {{"ResourceArn", arn}, {"Tags", {{{"Key", key}, {"Value", ""}}}}};
        emulator.execute("TagResource", body.dump());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(emulator.ok("ListTagsOfResource", {{"ResourceArn", arn}})["Tags"].size() == 40);
}

TEST_CASE("DescribeLimits returns the default limits and DescribeEndpoints returns the client's endpoint") {
  TestEmulator emulator;
  CHECK(emulator.run("DescribeLimits", "{}") ==
        R"(200 {"AccountMaxReadCapacityUnits":80000,"AccountMaxWriteCapacityUnits":80000,)"
        R"("TableMaxReadCapacityUnits":40000,"TableMaxWriteCapacityUnits":40000})");
  CHECK(emulator.run("DescribeEndpoints", "{}") ==
        R"(200 {"Endpoints":[{"Address":"dynamodb.us-east-1.amazonaws.com","CachePeriodInMinutes":1440}]})");
  CHECK(emulator.emulator()
            .execute(emulator.scope, "DynamoDB_20120810.DescribeEndpoints", "{}", "localhost:8000")
            .body == R"({"Endpoints":[{"Address":"localhost:8000","CachePeriodInMinutes":1440}]})");
}

}  // namespace

}  // namespace mayfly::testing
