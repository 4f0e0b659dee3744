// Delivers changes to every kind of listener: event streams, awaits and Kinesis destinations. The code that
// renders a change as JSON asserts that no commit waits for the rendering (ChangeFeed::telling), so this test
// only has to deliver a change to each kind of listener.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <thread>

#include "compat/control/control.h"
#include "compat/emulator.h"
#include "compat/kinesis/destinations.h"
#include "compat/wire/base64.h"
#include "engine/base/clock.h"

namespace mayfly::testing {

namespace {

using namespace std::chrono_literals;

class Kinesis final : public compat::outbound::Invoker {
 public:
  void start(compat::outbound::Invocation invocation, std::stop_token, Done done) override {
    const auto request = nlohmann::json::parse(invocation.body);
    for (const auto& record : request["Records"])
      records.push_back(*compat::decode_base64(record["Data"].get<std::string>()));
    done(compat::outbound::InvocationAnswer{.body = R"({"FailedRecordCount":0,"Records":[]})"});
  }
  std::vector<std::string> records;
};

}  // namespace

TEST_CASE("every kind of listener renders its changes outside the commit section") {
  const engine::Scope scope{"000000000000", "us-east-1"};
  const auto kinesis = std::make_shared<Kinesis>();
  compat::EmulatorOptions options;
  options.kinesis.invoker = kinesis;
  options.kinesis.endpoint = *compat::outbound::Url::parse("http://kinesis/");
  const std::unique_ptr<compat::Emulator> emulator = std::move(*compat::Emulator::open(std::move(options)));
  const auto run = [&](const std::string& operation, const std::string& body) {
    const auto answer = emulator->execute(scope, "DynamoDB_20120810." + operation, body);
    INFO(answer.body);
    REQUIRE(answer.status == 200);
  };
  run("CreateTable", R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST",
      "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})");
  run("EnableKinesisStreamingDestination",
      R"({"TableName":"carts","StreamArn":"arn:aws:kinesis:us-east-1:000000000000:stream/changes"})");
  auto followed =
      compat::control::answer(*emulator, {.method = "GET", .path = "/_mayfly/events", .scope = scope});
  REQUIRE(followed.source);
  std::string events;
  REQUIRE(followed.source->next(events, {}));

  compat::Answer awaited;
  std::atomic<bool> over{false};
  std::thread waiter([&] {
    awaited = compat::control::answer(
        *emulator,
        {.method = "POST",
         .path = "/_mayfly/await",
         .body = R"({"table":"carts","key":{"id":{"S":"a"}},"event":"REMOVE","timeout_seconds":60})",
         .scope = scope});
    over = true;
  });
  int written = 0;
  while (!over) {  // repeat: the await may subscribe after the first removal
    run("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"a"}}})");
    run("DeleteItem", R"({"TableName":"carts","Key":{"id":{"S":"a"}}})");
    written += 2;
    std::this_thread::sleep_for(1ms);
  }
  waiter.join();

  CHECK(awaited.status == 200);
  CHECK(awaited.body.find(R"("eventName":"REMOVE")") != std::string::npos);
  REQUIRE(followed.source->next(events, {}));
  CHECK(events.find("event: INSERT") != std::string::npos);
  CHECK(events.find("event: REMOVE") != std::string::npos);
  REQUIRE(emulator->kinesis().settle(engine::host_time() + 100s));
  REQUIRE(static_cast<int>(kinesis->records.size()) == written);
  CHECK(kinesis->records.back().find(R"("eventName":"REMOVE")") != std::string::npos);
}

}  // namespace mayfly::testing
