#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <stop_token>
#include <thread>

#include "compat/control/control.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

std::shared_ptr<compat::BodySource> follow(TestEmulator& emulator, std::string_view query) {
  auto answer = compat::control::answer(
      emulator.emulator(),
      {.method = "GET", .path = "/_mayfly/events", .query = query, .scope = emulator.scope});
  REQUIRE(answer.status == 200);
  REQUIRE(answer.source);
  std::string greeting;
  REQUIRE(answer.source->next(greeting, {}));
  CHECK(greeting == ": mayfly\n\n");
  return std::move(answer.source);
}

std::size_t held_bytes(TestEmulator& emulator) { return emulator.emulator().live_changes().held_bytes(); }

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

// Reads until `changes` complete changes have arrived.
std::string read(compat::BodySource& events, std::size_t changes) {
  std::string text;
  while (count(text, "event: ") < changes || !text.ends_with("\n\n")) REQUIRE(events.next(text, {}));
  return text;
}
// Reads until no undelivered change is left.
std::string read_all(TestEmulator& emulator, compat::BodySource& events) {
  std::string text;
  do REQUIRE(events.next(text, {}));
  while (held_bytes(emulator) > 0);
  return text;
}

}  // namespace

TEST_CASE("a slow event reader gets a gap event with the dropped count and then continues") {
  TestEmulator emulator;
  create_carts(emulator);
  const auto events = follow(emulator, "table=carts&event=INSERT");

  constexpr int written = 150;  // 45 MB, more than the server holds for all readers together
  for (int n = 0; n < written; ++n) {
    put(emulator, std::to_string(n), 300'000);
    CHECK(held_bytes(emulator) <= compat::LiveChanges::held_bytes_max);
  }
  const std::string text = read_all(emulator, *events);
  const std::size_t told = count(text, "event: INSERT");
  CHECK(told > 90);
  CHECK(text.starts_with("event: gap\ndata: {\"dropped\":" + std::to_string(written - told) + "}\n\n"));
  CHECK(count(text, "event: gap") == 1);

  put(emulator, "after", 1);
  CHECK(read_all(emulator, *events).find(R"({"id":{"S":"after"}})") != std::string::npos);
}

TEST_CASE("event readers share one copy of each undelivered change and of its text") {
  const auto held_for = [](std::size_t readers, bool one_reads) {
    TestEmulator emulator;
    create_carts(emulator);
    std::vector<std::shared_ptr<compat::BodySource>> all;
    for (std::size_t n = 0; n < readers; ++n) all.push_back(follow(emulator, ""));
    for (int n = 0; n < 3; ++n) put(emulator, std::to_string(n), 300'000);
    std::string first;
    if (one_reads) {  // reading the start of the first change renders its text
      REQUIRE(all[0]->next(first, {}));
      CHECK(first.size() == compat::LiveChanges::piece_bytes_max);
    }
    const std::size_t held = held_bytes(emulator);
    const std::string text = first + read(*all[0], one_reads ? 2 : 3);
    CHECK(count(text, "event: INSERT") == 3);
    for (std::size_t n = 1; n < readers; ++n) CHECK(read(*all[n], 3) == text);
    CHECK(held_bytes(emulator) == 0);
    return held;
  };
  CHECK(held_for(1, false) > 900'000);
  CHECK(held_for(128, false) == held_for(1, false));
  CHECK(held_for(128, true) == held_for(1, true));
}

TEST_CASE("an event reader that disconnects releases the changes held for it") {
  TestEmulator emulator;
  create_carts(emulator);
  auto stays = follow(emulator, "event=REMOVE"), leaves = follow(emulator, "");
  put(emulator, "1", 1000);
  CHECK(held_bytes(emulator) > 1000);
  leaves.reset();
  CHECK(held_bytes(emulator) == 0);
  stays.reset();
  put(emulator, "2", 1000);
  CHECK(held_bytes(emulator) == 0);
}

TEST_CASE("an event stream ends if the change being delivered is dropped") {
  TestEmulator emulator;
  create_carts(emulator);
  const auto slow = follow(emulator, ""), slower = follow(emulator, "");
  put(emulator, "large", 300'000);
  std::string text;
  REQUIRE(slow->next(text, {}));
  for (int n = 0; n < 150; ++n) put(emulator, std::to_string(n), 300'000);
  CHECK_FALSE(slow->next(text, {}));
  CHECK(read_all(emulator, *slower).starts_with("event: gap\n"));
}

TEST_CASE("event readers with different filters get their changes in order") {
  TestEmulator emulator;
  create_carts(emulator);
  const auto all = follow(emulator, ""), insertions = follow(emulator, "event=INSERT"),
             modifications = follow(emulator, "event=MODIFY");
  std::size_t bytes = 1;
  for (const char* id : {"1", "1", "2", "1", "3", "2", "3"}) put(emulator, id, bytes++);
  const auto told = [](const std::string& text) {
    std::string events;
    for (auto at = text.find("event: "); at != std::string::npos; at = text.find("event: ", at + 1)) {
      const auto id = text.find(R"("id":{"S":")", at) + 11;
      events += text.substr(at + 7, 1) + text.substr(id, 1) + ' ';
    }
    return events;
  };
  CHECK(told(read(*insertions, 3)) == "I1 I2 I3 ");
  CHECK(told(read(*all, 7)) == "I1 M1 I2 M1 I3 M2 M3 ");
  CHECK(told(read(*modifications, 4)) == "M1 M1 M2 M3 ");
  CHECK(held_bytes(emulator) == 0);
}

TEST_CASE("an await keeps at most 1 MB of records and reports how many records it left out") {
  TestEmulator emulator;
  create_carts(emulator);
  compat::Answer answer;
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
  CHECK(body["records"].size() == 1);  // two records, each with both images, would exceed 1 MB
  CHECK(body["left_out"] > 0);
}

TEST_CASE("an await for past changes also limits its records and stops when its client disconnects") {
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

TEST_CASE("an event stream contains only changes in its own account and region that match its filter") {
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
