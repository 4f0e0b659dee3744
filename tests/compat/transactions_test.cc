// Concurrent transactions: no reader sees half of a transaction, no transaction is lost, and each token takes
// effect once.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

using nlohmann::json;

// TestEmulator::ok and refused use assertions, which only the test's thread may use. Other threads call this
// function instead.
compat::Answer call(TestEmulator& emulator, const std::string& operation, const json& body) {
  return emulator.emulator().execute({"000000000000", "us-east-1"}, "DynamoDB_20120810." + operation,
                                     body.dump());
}

void create_simple_table(TestEmulator& emulator, const std::string& name) {
  emulator.ok("CreateTable", {{"TableName", name},
                              {"BillingMode", "PAY_PER_REQUEST"},
                              {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
                              {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}}});
}

json key_named(const std::string& id) { return {{"id", {{"S", id}}}}; }

json add(const std::string& table, const std::string& id, int amount) {
  return {{"Update",
           {{"TableName", table},
            {"Key", key_named(id)},
            {"UpdateExpression", "ADD held :amount"},
            {"ExpressionAttributeValues", {{":amount", {{"N", std::to_string(amount)}}}}}}}};
}

json get(const std::string& table, const std::string& id) {
  return {{"Get", {{"TableName", table}, {"Key", key_named(id)}}}};
}

int held(const json& response) { return std::stoi(response["Item"]["held"]["N"].get<std::string>()); }

}  // namespace

TEST_CASE("no reader sees half of a transaction and no transaction is lost") {
  constexpr int transfers = 150, total = 1000;
  TestEmulator emulator;
  create_simple_table(emulator, "here");
  create_simple_table(emulator, "there");
  emulator.ok("TransactWriteItems", {{"TransactItems", {add("here", "a", total), add("there", "b", 0)}}});

  std::atomic<int> writing = 2, refused = 0, halves = 0, reads = 0;
  const auto write = [&](json first, json second) {
    const json request = {{"TransactItems", {std::move(first), std::move(second)}}};
    for (int i = 0; i < transfers; ++i) {
      if (i == transfers / 2) reads.wait(0);  // guarantees a read by the halfway point
      refused += call(emulator, "TransactWriteItems", request).status != 200;
    }
    --writing;
  };
  const auto read = [&] {
    const json request = {{"TransactItems", {get("there", "b"), get("here", "a")}}};
    do {
      const auto answer = call(emulator, "TransactGetItems", request);
      const json responses = json::parse(answer.body)["Responses"];
      halves += held(responses[0]) + held(responses[1]) != total;
      ++reads;
      reads.notify_all();
    } while (writing > 0);
  };
  {
    // The writers name the two items in opposite orders and must not deadlock.
    std::vector<std::thread> threads;
    threads.emplace_back(write, add("here", "a", -2), add("there", "b", 2));
    threads.emplace_back(write, add("there", "b", -1), add("here", "a", 1));
    threads.emplace_back(read);
    for (std::thread& thread : threads) thread.join();
  }
  CHECK(refused == 0);
  CHECK(halves == 0);
  const json after =
      emulator.ok("TransactGetItems", {{"TransactItems", {get("here", "a"), get("there", "b")}}});
  CHECK(held(after["Responses"][0]) == total - transfers);
  CHECK(held(after["Responses"][1]) == transfers);
}

TEST_CASE("concurrent requests with the same token all succeed and together write only once") {
  TestEmulator emulator;
  create_simple_table(emulator, "here");
  std::atomic<int> succeeded = 0;
  const json request = {{"ClientRequestToken", "once"}, {"TransactItems", {add("here", "a", 1)}}};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { succeeded += call(emulator, "TransactWriteItems", request).status == 200; });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(succeeded == 8);
  const json after = emulator.ok("TransactGetItems", {{"TransactItems", {get("here", "a")}}});
  CHECK(held(after["Responses"][0]) == 1);
}

TEST_CASE("a transaction has at most 100 actions and writes or reads at most 4 MB of items") {
  TestEmulator emulator;
  create_simple_table(emulator, "here");
  json puts = json::array(), deletes = json::array();
  for (int i = 0; i < 100; ++i) {
    json item = key_named(std::to_string(i));
    item["text"] = {{"S", std::string(100'000, 'x')}};
    puts.push_back({{"Put", {{"TableName", "here"}, {"Item", item}}}});
    deletes.push_back({{"Delete", {{"TableName", "here"}, {"Key", key_named(std::to_string(i))}}}});
  }
  CHECK(emulator.refused("TransactWriteItems", {{"TransactItems", puts}}) ==
        "Transaction payload size cannot exceed 4 MB");
  const json half(puts.begin(), puts.begin() + 40), rest(puts.begin() + 40, puts.begin() + 80);
  emulator.ok("TransactWriteItems", {{"TransactItems", half}});
  emulator.ok("TransactWriteItems", {{"TransactItems", rest}});
  json gets = json::array();
  for (int i = 0; i < 80; ++i) gets.push_back(get("here", std::to_string(i)));
  CHECK(emulator.refused("TransactGetItems", {{"TransactItems", gets}}) ==
        "Transaction payload size cannot exceed 4 MB");
  emulator.ok("TransactWriteItems", {{"TransactItems", deletes}});  // deletes 8 MB

  deletes.push_back({{"Delete", {{"TableName", "here"}, {"Key", key_named("100")}}}});
  const std::string message = emulator.refused("TransactWriteItems", {{"TransactItems", deletes}});
  CHECK(message.find(
            "at 'transactItems' failed to satisfy constraint: Member must have length less than or equal "
            "to 100") != std::string::npos);
}

TEST_CASE("a transaction checks names and expressions before nesting depth") {
  TestEmulator emulator;
  create_simple_table(emulator, "here");
  json deep = {{"S", "x"}};
  for (int i = 0; i < 100; ++i) deep = {{"L", {deep}}};
  const auto refused = [&](const std::string& action, json members) {
    members["TableName"] = "here";
    return emulator.refused("TransactWriteItems",
                            {{"TransactItems", json::array({{{action, std::move(members)}}})}});
  };
  CHECK(refused("Put", {{"Item", {{"id", {{"S", "a"}}}, {"deep", deep}, {"", {{"S", "x"}}}}}}) ==
        "Empty attribute name");
  const json deep_key = {{"id", deep}};
  CHECK(refused("Delete", {{"Key", deep_key}, {"ConditionExpression", "a ="}}) ==
        R"(Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "=")");
  CHECK(refused("Delete", {{"Key", deep_key}}) ==
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond "
        "supported limit");
  CHECK(refused("Update",
                {{"Key", key_named("a")}, {"UpdateExpression", "SET a = " + std::string(4096, 'b')}}) ==
        "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;");
}

}  // namespace mayfly::testing
