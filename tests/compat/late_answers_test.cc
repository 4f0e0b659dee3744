// The latency fault delays a read before the read runs, and delays a write after the write has run. The
// responses that the fault holds back take a limited amount of memory.
#include <atomic>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "compat/faults.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

using json = nlohmann::json;

void delay(TestEmulator& emulator, const std::string& operation) {
  compat::FaultRule rule;
  rule.operation = operation;
  rule.kind = compat::FaultRule::Kind::latency;
  rule.milliseconds = 600'000;
  emulator.emulator().faults().set(emulator.scope.account, {rule});
}

void create_plain_carts(TestEmulator& emulator) {
  emulator.ok("CreateTable", {{"TableName", "carts"},
                              {"BillingMode", "PAY_PER_REQUEST"},
                              {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
                              {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}}});
}

}  // namespace

TEST_CASE("a latency fault holds back at most 64 MB of responses and further responses are sent immediately",
          "[holds]") {
  TestEmulator emulator;
  create_plain_carts(emulator);
  const std::string text(390'000, 'x');
  emulator.ok("PutItem", {{"TableName", "carts"}, {"Item", {{"id", {{"S", "1"}}}, {"text", {{"S", text}}}}}});
  delay(emulator, "BatchExecuteStatement");
  json statements = json::array();
  for (int i = 0; i < 25; ++i) statements.push_back({{"Statement", "SELECT * FROM carts WHERE id = '1'"}});
  const std::string request = json{{"Statements", statements}}.dump();  // the response is 9.7 MB long
  std::stop_source stop;
  std::atomic<int> answered = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      const auto answer = emulator.emulator().execute(
          emulator.scope, "DynamoDB_20120810.BatchExecuteStatement", request, {}, stop.get_token());
      if (answer.status == 200) ++answered;
    });
  }
  while (answered == 0) std::this_thread::yield();
  CHECK(answered <= 3);
  stop.request_stop();
  for (std::thread& client : clients) client.join();
  CHECK(answered == 8);
}

TEST_CASE("a latency fault delays a read before the read runs", "[holds]") {
  TestEmulator emulator;
  create_plain_carts(emulator);
  delay(emulator, "GetItem");
  std::stop_source stop;
  std::string body;
  std::thread reader([&] {
    body = emulator.emulator()
               .execute(emulator.scope, "DynamoDB_20120810.GetItem",
                        R"({"TableName":"carts","Key":{"id":{"S":"1"}}})", {}, stop.get_token())
               .body;
  });
  while (emulator.emulator().faults().rules(emulator.scope.account).front().struck == 0)
    std::this_thread::yield();
  emulator.ok("PutItem", {{"TableName", "carts"}, {"Item", {{"id", {{"S", "1"}}}}}});
  stop.request_stop();
  reader.join();
  CHECK(body == R"({"Item":{"id":{"S":"1"}}})");
}

}  // namespace mayfly::testing
