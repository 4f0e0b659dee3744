// Tests reads that run while their table or index is dropped. A response shows the state before the drop or
// the state after it, never a mixture.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "tests/support/test_emulator.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view no_index =
    R"(400 {"__type":"com.amazon.coral.validate#ValidationException","message":)"
    R"("The table does not have the specified index: by_user"})";

void create_vectors_table(TestEmulator& emulator) {
  emulator.ok("CreateTable", {{"TableName", "carts"},
                              {"BillingMode", "PAY_PER_REQUEST"},
                              {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
                              {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}}});
}

}  // namespace

TEST_CASE("a Query during the drop of its index returns all items or reports a missing index") {
  TestEmulator emulator;
  create_vectors_table(emulator);
  emulator.ok("PutItem", {{"TableName", "carts"}, {"Item", {{"id", {{"S", "1"}}}, {"user", {{"S", "u"}}}}}});
  std::atomic<bool> ends{false};
  std::thread changer([&] {
    const nlohmann::json keys = {{{"AttributeName", "user"}, {"KeyType", "HASH"}}};
    const nlohmann::json index = {
        {"IndexName", "by_user"}, {"KeySchema", keys}, {"Projection", {{"ProjectionType", "ALL"}}}};
    for (int i = 0; i < 500; ++i) {
      emulator.ok("UpdateTable",
                  {{"TableName", "carts"},
                   {"AttributeDefinitions", {{{"AttributeName", "user"}, {"AttributeType", "S"}}}},
                   {"GlobalSecondaryIndexUpdates", {{{"Create", index}}}}});
      emulator.ok("UpdateTable",
                  {{"TableName", "carts"},
                   {"GlobalSecondaryIndexUpdates", {{{"Delete", {{"IndexName", "by_user"}}}}}}});
    }
    ends = true;
  });
  std::string other;
  while (!ends) {
    const std::string answer = emulator.run(
        "Query", R"({"TableName":"carts","IndexName":"by_user","KeyConditionExpression":"#u = :u",)"
                 R"("ExpressionAttributeNames":{"#u":"user"},"ExpressionAttributeValues":{":u":{"S":"u"}}})");
    const bool whole =
        answer == R"(200 {"Items":[{"id":{"S":"1"},"user":{"S":"u"}}],"Count":1,"ScannedCount":1})";
    if (!whole && answer != no_index && answer.find("backfilling") == std::string::npos) other = answer;
  }
  changer.join();
  CHECK(other.empty());
}

TEST_CASE("a read during the drop of its table returns the item or reports a missing table") {
  TestEmulator emulator;
  std::atomic<int> round{0};  // odd: the table has its item, or is being dropped
  std::thread changer([&] {
    for (int i = 0; i < 500; ++i) {
      create_vectors_table(emulator);
      emulator.ok("PutItem", {{"TableName", "carts"}, {"Item", {{"id", {{"S", "1"}}}}}});
      ++round;
      emulator.ok("DeleteTable", {{"TableName", "carts"}});
      ++round;
    }
    round = -1;
  });
  std::string other;
  for (int before = 0; before != -1; before = round) {
    for (const auto& [operation, body] :
         {std::pair("GetItem", R"({"TableName":"carts","Key":{"id":{"S":"1"}}})"),
          std::pair("Scan", R"({"TableName":"carts"})"),
          std::pair("BatchGetItem", R"({"RequestItems":{"carts":{"Keys":[{"id":{"S":"1"}}]}}})"),
          std::pair("ExecuteStatement", R"({"Statement":"SELECT * FROM carts WHERE id='1'"})"),
          std::pair("BatchExecuteStatement",
                    R"({"Statements":[{"Statement":"SELECT * FROM carts WHERE id='1'"}]})")}) {
      before = round;
      const std::string answer = emulator.run(operation, body);
      const bool has = answer.find(R"({"id":{"S":"1"}})") != std::string::npos;
      const bool none = answer.find("ResourceNotFound") != std::string::npos;
      // Check only reads that ran within one lifetime of the table.
      if (before % 2 == 1 && round == before && !has && !none) other = answer;
    }
  }
  changer.join();
  CHECK(other.empty());
}

TEST_CASE("a vector search during the drop of its index or table returns the item or a not-found error") {
  TestEmulator emulator;
  const nlohmann::json table = {{"TableName", "carts"}};
  const nlohmann::json index = {{"IndexName", "by_v"},
                                {"VectorAttribute", {{"AttributeName", "v"}}},
                                {"Projection", {{"ProjectionType", "KEYS_ONLY"}}},
                                {"Dimensions", 1},
                                {"DistanceFunction", "EUCLIDEAN"}};
  std::atomic<bool> ends{false};
  std::thread changer([&] {
    for (int i = 0; i < 200; ++i) {
      create_vectors_table(emulator);
      emulator.ok("PutItem",
                  {{"TableName", "carts"}, {"Item", {{"id", {{"S", "1"}}}, {"v", {{"L", {{{"N", "1"}}}}}}}}});
      for (const auto& action :
           {nlohmann::json{{"Create", index}}, nlohmann::json{{"Delete", {{"IndexName", "by_v"}}}},
            nlohmann::json{{"Create", index}}})
        emulator.ok("UpdateTable",
                    {{"TableName", "carts"}, {"VectorIndexUpdates", nlohmann::json::array({action})}});
      emulator.ok("DescribeTable", table);
      emulator.ok("DeleteTable", table);
    }
    ends = true;
  });
  std::string other;
  int found = 0;
  while (!ends) {
    const std::string answer = emulator.run(
        "SearchVectors", R"({"TableName":"carts","IndexName":"by_v","SearchVector":[{"N":"1"}],"TopK":1})");
    const bool whole = answer == R"(200 {"SearchResults":[{"Item":{"id":{"S":"1"}},"Score":0.0}]})";
    const bool none = answer.find("ResourceNotFound") != std::string::npos ||
                      answer.find("does not have the specified index: by_v") != std::string::npos;
    found += whole ? 1 : 0;
    if (!whole && !none) other = answer;
  }
  changer.join();
  CHECK(other == "");
  CHECK(found > 0);
}

}  // namespace mayfly::testing
