#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <stop_token>
#include <thread>

#include "compat/control/control.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

std::unique_ptr<compat::control::EventSource> follow(TestEmulator& emulator, std::string_view query) {
  auto answer = compat::control::answer(
      emulator.emulator(),
      {.method = "GET", .path = "/_mayfly/events", .query = query, .scope = emulator.scope});
  REQUIRE(answer.status == 200);
  REQUIRE(answer.events);
  return std::move(answer.events);
}

void put(TestEmulator& emulator, const std::string& id, std::size_t bytes) {
  emulator.ok("PutItem", {{"TableName", "carts"},
                          {"Item", {{"id", {{"S", id}}}, {"text", {{"S", std::string(bytes, 'x')}}}}}});
}

void create_carts(TestEmulator& emulator, const nlohmann::json& stream = {{"StreamEnabled", false}}) {
  emulator.ok("CreateTable", {{"TableName", "carts"},
                              {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
                              {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}},
                              {"BillingMode", "PAY_PER_REQUEST"},
                              {"StreamSpecification", stream}});
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace

TEST_CASE("a reader of events that is too slow is told what it missed, and goes on from there") {
  TestEmulator emulator;
  create_carts(emulator);
  const auto events = follow(emulator, "table=carts&event=INSERT");
  std::string greeting;
  REQUIRE(events->next(greeting, {}));
  CHECK(greeting == ": mayfly\n\n");

  constexpr int written = 60;  // 18 MB: more than a reader is kept
  for (int n = 0; n < written; ++n) put(emulator, std::to_string(n), 300'000);
  std::string text;
  while (text.find("event: gap") == std::string::npos) REQUIRE(events->next(text, {}));
  const std::size_t told = count(text, "event: INSERT");
  CHECK(told > 0);
  CHECK(text.ends_with("event: gap\ndata: {\"dropped\":" + std::to_string(written - told) + "}\n\n"));

  put(emulator, "after", 1);
  std::string next;
  REQUIRE(events->next(next, {}));
  CHECK(next.find(R"({"id":{"S":"after"}})") != std::string::npos);
}

TEST_CASE("an await keeps so many bytes of what it is told, and says how much is left out") {
  TestEmulator emulator;
  create_carts(emulator);
  compat::control::Answer answer;
  std::atomic<bool> answered{false};
  std::thread waits([&] {
    answer = compat::control::answer(
        emulator.emulator(),
        {.method = "POST",
         .path = "/_mayfly/await",
         .body = R"({"table":"carts","key":{"id":{"S":"1"}},"event":"REMOVE","timeout_seconds":1})",
         .scope = emulator.scope});
    answered = true;
  });
  for (std::size_t n = 0; !answered; ++n) {
    put(emulator, "1", 300'000 + n % 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  waits.join();
  CHECK(answer.status == 408);
  const auto body = nlohmann::json::parse(answer.body);
  CHECK(body["message"] == R"(Timed out after 1 s: only other changes to carts/{"id": "1"}.)");
  CHECK(body["records"].size() == 1);  // with both images two would be more than 1 MB
  CHECK(body["left_out"] > 0);
}

TEST_CASE("an await that looks back keeps as little, and ends when nobody waits for it") {
  TestEmulator emulator;
  create_carts(emulator, {{"StreamEnabled", true}, {"StreamViewType", "NEW_IMAGE"}});
  std::stop_source stop;
  const auto look_back = [&](const std::string& event) {
    const std::string body = R"({"table":"carts","key":{"id":{"S":"1"}},"since":"2020-01-01T00:00:00Z",)"
                             R"("timeout_seconds":0,"event":")" +
                             event + "\"}";
    return compat::control::answer(emulator.emulator(), {.method = "POST",
                                                         .path = "/_mayfly/await",
                                                         .body = body,
                                                         .scope = emulator.scope,
                                                         .stop = stop.get_token()});
  };
  for (std::size_t n = 0; n < 150; ++n) put(emulator, "1", n);
  auto seen = nlohmann::json::parse(look_back("REMOVE").body);
  CHECK(seen["records"].size() == 100);
  CHECK(seen["records"][99]["dynamodb"]["NewImage"]["text"]["S"] == std::string(149, 'x'));
  CHECK(seen["left_out"] == 50);
  for (std::size_t n = 0; n < 5; ++n) put(emulator, "1", 300'000 + n);
  seen = nlohmann::json::parse(look_back("REMOVE").body);
  CHECK(seen["records"].size() == 3);
  CHECK(seen["left_out"] == 152);

  CHECK(look_back("INSERT").status == 200);
  stop.request_stop();
  CHECK(look_back("INSERT").status == 503);
}

TEST_CASE("events of another account, region or kind are not told") {
  TestEmulator emulator;
  const nlohmann::json table = {{"TableName", "carts"},
                                {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
                                {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}},
                                {"BillingMode", "PAY_PER_REQUEST"}};
  emulator.ok("CreateTable", table);
  const auto events = follow(emulator, "by=user");
  std::string text;
  REQUIRE(events->next(text, {}));
  const engine::Scope own = emulator.scope;
  for (const engine::Scope& other :
       {engine::Scope{"000000000042", own.region}, engine::Scope{own.account, "eu-west-1"}}) {
    emulator.scope = other;
    emulator.ok("CreateTable", table);
    put(emulator, "theirs", 1);
  }
  emulator.scope = own;
  put(emulator, "ours", 1);
  text.clear();
  REQUIRE(events->next(text, {}));
  CHECK(count(text, "event: ") == 1);
  CHECK(text.find("ours") != std::string::npos);

  const auto refused = compat::control::answer(
      emulator.emulator(), {.method = "GET", .path = "/_mayfly/events", .query = "by=nobody", .scope = own});
  CHECK(refused.status == 400);
}

}  // namespace mayfly::testing
