// Tests what settle calls report about batches that functions did not accept.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <mutex>
#include <thread>

#include "compat/lambda/outcome.h"
#include "engine/base/clock.h"
#include "engine/items/item_reader.h"
#include "tests/support/engine_world.h"
#include "tests/support/trigger_world.h"

namespace mayfly::testing {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Answer = TriggerWorld::Answer;

Answer take_all(const json&) { return {.body = "null"}; }
Answer raise_error(const json&) {
  return {.body = R"({"errorType":"AssertionError","errorMessage":"assert 1 == 2"})"};
}

const json the_error{
    {"status", 200}, {"error", "Unhandled"}, {"type", "AssertionError"}, {"message", "assert 1 == 2"}};

std::string item_of(const json& record) { return record["dynamodb"]["Keys"]["id"]["S"]; }
std::string sequence_of(const json& record) { return record["dynamodb"]["SequenceNumber"]; }

json settle(TriggerWorld& world) {
  return world.control("POST /_mayfly/clock/advance", R"({"seconds":0,"settle":"triggers"})");
}

std::string ids_of(const json& given_up) {
  std::string ids;
  for (const json& batch : given_up) {
    for (const json& record : batch["records"])
      ids += (ids.empty() ? "" : " ") + record["key"]["id"]["S"].get<std::string>();
  }
  return ids;
}

}  // namespace

// Regression: "settled" was true although the handler had raised an error, so a user's test passed.
TEST_CASE("a settle reports once which records were given up and why") {
  TriggerWorld world;
  world.function("f", raise_error);
  const std::string arn = world.create_table("carts");
  const std::string uuid = world.map(arn, "f", R"("MaximumRetryAttempts":0)");
  world.put("carts", "a");
  const json answer = settle(world);
  CHECK(answer["settled"] == false);
  CHECK(answer["unfinished"] == json::array());
  CHECK_FALSE(answer.contains("given_up_left_out"));
  CHECK(answer["given_up"] == json{{{"UUID", uuid},
                                    {"function", "f"},
                                    {"table", "carts"},
                                    {"stream", arn},
                                    {"condition", "RetryAttemptsExhausted"},
                                    {"attempts", 1},
                                    {"error", the_error},
                                    {"records",
                                     {{{"sequence_number", sequence_of(world.calls("f")[0]["Records"][0])},
                                       {"event", "INSERT"},
                                       {"key", {{"id", {{"S", "a"}}}}}}}},
                                    {"left_out", 0}}});
  const json next = settle(world);
  CHECK(next["settled"] == true);
  CHECK(next["given_up"] == json::array());
  const json shown = world.control("GET /_mayfly/triggers")["triggers"][0]["last_failure"];
  CHECK(shown["type"] == "AssertionError");
  CHECK(shown["message"] == "assert 1 == 2");
}

TEST_CASE("a settle reports batches that were given up before the settle began") {
  TriggerWorld world;
  world.function("f", raise_error);
  world.map(world.create_table("carts"), "f", R"("MaximumRetryAttempts":0)");
  world.put("carts", "a");
  while (world.control("GET /_mayfly/triggers")["triggers"][0]["given_up"] != 1) std::this_thread::yield();
  CHECK(ids_of(settle(world)["given_up"]) == "a");
}

TEST_CASE("a settle uses up limited retries without waiting between them") {
  TriggerWorld world;
  world.function("f", raise_error);
  world.map(world.create_table("carts"), "f", R"("MaximumRetryAttempts":12)");  // retry waits would take 36 s
  world.put("carts", "a");
  const json answer = settle(world);
  CHECK(answer["unfinished"] == json::array());
  REQUIRE(answer["given_up"].size() == 1);
  CHECK(answer["given_up"][0]["attempts"] == 13);
}

TEST_CASE("a settle names the mapping whose function is not registered") {
  TriggerWorld world;
  const std::string arn = world.create_table("carts");
  world.function("reminder");
  world.map(arn, "reminder");
  world.map(arn, "remindr");
  world.put("carts", "a");
  const auto answer = settle(world);
  CHECK(answer["settled"] == false);
  REQUIRE(answer["unfinished"].size() == 1);
  CHECK(answer["unfinished"][0]["function"] == "remindr");
  CHECK(answer["unfinished"][0]["table"] == "carts");
  CHECK(answer["unfinished"][0]["registered"] == false);
}

TEST_CASE("a settle does not wait for unlimited retries of a function that keeps failing") {
  TriggerWorld world;
  world.function("f", raise_error);
  const std::string uuid = world.map(world.create_table("carts"), "f");
  world.put("carts", "a");
  world.put("carts", "b");
  const auto answer = world.control("POST /_mayfly/clock/advance",
                                    R"({"seconds":0,"settle":"triggers","settle_seconds":600})");
  CHECK(answer["settled"] == false);
  CHECK(answer["given_up"] == json::array());
  REQUIRE(answer["unfinished"].size() == 1);
  const json& one = answer["unfinished"][0];
  CHECK(one["UUID"] == uuid);
  CHECK(one["function"] == "f");
  CHECK(one["table"] == "carts");
  CHECK(one["LastProcessingResult"] == "PROBLEM: Function call failed");
  CHECK(one["retrying"]["attempts"] >= 3);
  CHECK(one["retrying"]["error"] == the_error);
  CHECK_FALSE(one.contains("registered"));
  CHECK(world.control("GET /_mayfly/triggers")["triggers"][0]["retrying"]["error"] == the_error);
}

// Without settles, the function would be called this often only after more than a minute of retry waits.
TEST_CASE("a settle retries a failing function immediately and detects that the function works again") {
  TriggerWorld world;
  world.function("f", raise_error);
  world.map(world.create_table("carts"), "f");
  world.put("carts", "a");
  for (int i = 0; i < 12; ++i) CHECK(settle(world)["unfinished"].size() == 1);
  const auto calls = world.calls("f").size();
  CHECK(calls >= 14);
  world.endpoint("f", take_all);
  CHECK(settle(world)["settled"] == true);
  CHECK(world.calls("f").size() == calls + 1);
  CHECK_FALSE(world.control("GET /_mayfly/triggers")["triggers"][0].contains("retrying"));
}

TEST_CASE("a settle waits for all lanes except a lane that keeps failing") {
  TriggerWorld world;
  std::atomic<bool> others_done = false;
  world.function("f", [&](const json& event) {
    if (item_of(event["Records"][0]) == "bad") return raise_error(event);
    return take_all(event);
  });
  world.function("slow", [&](const json& event) {
    while (world.calls("f").size() < 6) std::this_thread::yield();  // until the failing lane has failed often
    others_done = true;
    return take_all(event);
  });
  const std::string arn = world.create_table("carts");
  world.map(arn, "f", R"("ParallelizationFactor":10,"BatchSize":1)");
  world.map(arn, "slow");
  world.put("carts", "bad");
  for (const char* id : {"a", "b"}) world.put("carts", id);
  const json answer = settle(world);
  CHECK(others_done);
  REQUIRE(answer["unfinished"].size() == 1);
  CHECK(answer["unfinished"][0]["function"] == "f");
  const std::string delivered = world.delivered("f");
  CHECK(delivered.find('a') != std::string::npos);
}

TEST_CASE("a split batch is given up record by record") {
  TriggerWorld world;
  world.function("f", [](const json& event) {
    for (const json& record : event["Records"])
      if (item_of(record) == "b" || item_of(record) == "d") return raise_error(event);
    return take_all(event);
  });
  const std::string arn = world.create_table("carts");
  for (const char* id : {"a", "b", "c", "d"}) world.put("carts", id);
  world.map(arn, "f", R"("BisectBatchOnFunctionError":true,"MaximumRetryAttempts":0)");
  const json answer = settle(world);
  CHECK(answer["settled"] == false);
  CHECK(ids_of(answer["given_up"]) == "b d");
}

TEST_CASE("a batch with unlimited retries is split down to one record before the batch counts as failing") {
  TriggerWorld world;
  world.function("f", [](const json& event) {
    for (const json& record : event["Records"])
      if (item_of(record) == "h") return raise_error(event);
    return take_all(event);
  });
  const std::string arn = world.create_table("carts");
  for (const char* id : {"a", "b", "c", "d", "e", "f", "g", "h"}) world.put("carts", id);
  world.map(arn, "f", R"("BisectBatchOnFunctionError":true)");
  const json answer = settle(world);
  REQUIRE(answer["unfinished"].size() == 1);
  CHECK(answer["unfinished"][0]["retrying"]["records"] == 1);
}

TEST_CASE("records before the first reported failure are not given up") {
  TriggerWorld world;
  world.function("f", [](const json& event) {
    const json& last = event["Records"].back();
    if (item_of(last) != "c") return take_all(event);
    return Answer{.body = json{{"batchItemFailures", {{{"itemIdentifier", sequence_of(last)}}}}}.dump()};
  });
  const std::string arn = world.create_table("carts");
  for (const char* id : {"a", "b", "c"}) world.put("carts", id);
  world.map(arn, "f", R"("FunctionResponseTypes":["ReportBatchItemFailures"],"MaximumRetryAttempts":1)");
  const json answer = settle(world);
  REQUIRE(answer["given_up"].size() == 1);
  CHECK(ids_of(answer["given_up"]) == "c");
  CHECK(answer["given_up"][0]["attempts"] == 2);
  CHECK(answer["given_up"][0]["error"] ==
        json{{"status", 200}, {"message", "The function reported batchItemFailures."}});
}

TEST_CASE("a batch that was sent to its destination is reported with the destination") {
  TemporaryDirectory directory;
  TriggerWorld world({}, directory.path());
  world.function("f", raise_error);
  const std::string file = "file://" + directory.path() + "/failed.jsonl";
  world.map(world.create_table("carts"), "f",
            R"("MaximumRetryAttempts":0,"DestinationConfig":{"OnFailure":{"Destination":")" + file + "\"}}");
  world.put("carts", "a");
  const json answer = settle(world);
  CHECK(answer["settled"] == false);
  REQUIRE(answer["given_up"].size() == 1);
  CHECK(answer["given_up"][0]["destination"] == file);
}

TEST_CASE("records that are too old are given up even if the function was never called") {
  TriggerWorld world;
  const std::string arn = world.create_table("carts");
  world.put("carts", "a");
  world.advance(61s, true);
  world.function("f", raise_error);
  world.map(arn, "f", R"("MaximumRecordAgeInSeconds":60)");
  const json answer = settle(world);
  REQUIRE(answer["given_up"].size() == 1);
  CHECK(answer["given_up"][0]["condition"] == "RecordAgeExceeded");
  CHECK(answer["given_up"][0]["attempts"] == 0);
  CHECK_FALSE(answer["given_up"][0].contains("error"));
}

TEST_CASE("a final call of a window is given up when it keeps failing") {
  TriggerWorld world;
  world.function("f", [](const json& event) {
    return event["isFinalInvokeForWindow"].get<bool>() ? raise_error(event) : take_all(event);
  });
  world.map(world.create_table("carts"), "f", R"("TumblingWindowInSeconds":60,"MaximumRetryAttempts":1)");
  world.put("carts", "a");
  const json answer = settle(world);
  REQUIRE(answer["given_up"].size() == 1);
  CHECK(answer["given_up"][0]["attempts"] == 2);
  CHECK(answer["given_up"][0]["error"] == the_error);
  CHECK(answer["given_up"][0]["records"] == json::array());
}

TEST_CASE("concurrent settles report the same batches and a later settle does not repeat them") {
  TriggerWorld world;
  std::atomic<bool> answers = true;
  world.function("f", [&](const json& event) {
    while (!answers) std::this_thread::yield();
    return raise_error(event);
  });
  world.function("again", raise_error);
  const std::string arn = world.create_table("carts");
  world.map(arn, "f", R"("MaximumRetryAttempts":0)");
  world.map(arn, "again");
  world.put("carts", "a");
  for (int i = 0; i < 10; ++i) settle(world);  // after this, the next retry is 10 s away
  answers = false;
  world.put("carts", "b");
  const auto begin_settle = [&] {  // each settle calls the failing function once more
    const auto calls = world.calls("again").size();
    auto answer = std::async(std::launch::async, [&] { return settle(world); });
    while (world.calls("again").size() == calls) std::this_thread::yield();
    return answer;
  };
  auto first = begin_settle();
  auto second = begin_settle();
  answers = true;
  CHECK(ids_of(first.get()["given_up"]) == "b");
  CHECK(ids_of(second.get()["given_up"]) == "b");
  CHECK(settle(world)["given_up"] == json::array());
}

TEST_CASE("a canceled settle leaves its given-up batches to the next settle") {
  TriggerWorld world;
  world.function("f", raise_error);
  world.map(world.create_table("carts"), "f", R"("MaximumRetryAttempts":0)");
  world.put("carts", "a");
  CHECK(world.settle().empty());  // this settle reports the batch with "a"
  world.put("carts", "b");
  while (world.control("GET /_mayfly/triggers")["triggers"][0]["given_up"] != 2) std::this_thread::yield();
  std::stop_source stop;
  stop.request_stop();
  CHECK(world.triggers().settle(world.scope.account, 20s, stop.get_token()).given_up.size() == 1);
  CHECK(ids_of(settle(world)["given_up"]) == "b");
}

TEST_CASE("a reset or a restore or the deletion of a mapping discards its given-up batches") {
  TriggerWorld world;
  world.function("f", raise_error);
  const std::string snapshot = world.control("POST /_mayfly/snapshots")["id"];
  const auto give_up = [&] {
    const std::string uuid = world.map(world.create_table("carts"), "f", R"("MaximumRetryAttempts":0)");
    world.put("carts", "a");
    while (world.control("GET /_mayfly/triggers")["triggers"][0]["given_up"] != 1) std::this_thread::yield();
    return uuid;
  };
  const std::string uuid = give_up();
  world.rest("DELETE /2015-03-31/event-source-mappings/" + uuid);
  CHECK(settle(world)["given_up"] == json::array());
  world.operation("DeleteTable", R"({"TableName":"carts"})");
  give_up();
  const std::string later = world.control("POST /_mayfly/snapshots")["id"];
  world.control("POST /_mayfly/snapshots/" + later + "/restore");
  const json answer = settle(world);
  CHECK(answer["given_up"] == json::array());
  CHECK_FALSE(answer.contains("given_up_left_out"));
  world.control("POST /_mayfly/reset");
  give_up();
  world.control("POST /_mayfly/reset");
  CHECK(settle(world)["settled"] == true);
}

TEST_CASE("only the newest given-up batches and a few records of each are kept") {
  TriggerWorld world;
  world.function("f", raise_error);
  const std::string arn = world.create_table("carts");
  for (int i = 0; i < 12; ++i) world.put("carts", "x" + std::to_string(i));
  world.map(arn, "f", R"("MaximumRetryAttempts":0)");
  const json one = settle(world)["given_up"];
  REQUIRE(one.size() == 1);
  CHECK(one[0]["records"].size() == 10);
  CHECK(one[0]["left_out"] == 2);
  world.rest("PUT /2015-03-31/event-source-mappings/" +
                 world.control("GET /_mayfly/triggers")["triggers"][0]["uuid"].get<std::string>(),
             R"({"BatchSize":1})");
  for (int i = 0; i < 103; ++i) world.put("carts", "y" + std::to_string(i));
  const json many = settle(world);
  CHECK(many["given_up"].size() == 100);
  CHECK(many["given_up_left_out"] == 3);
  CHECK(many["given_up"][99]["records"][0]["key"]["id"]["S"] == "y102");
}

TEST_CASE("large keys do not make the log of given-up batches exceed its limit") {
  using compat::triggers::GivenUpLog;
  GivenUpLog log;
  const auto batch = [](std::size_t bytes) {
    compat::triggers::GivenUp one{.function = "f", .condition = "RetryAttemptsExhausted"};
    one.records.push_back({"1", "INSERT", std::string(bytes, 'k')});
    return one;
  };
  for (int i = 0; i < 10; ++i) log.add(batch(20'000));
  CHECK(log.since(0).batches.size() == 3);
  CHECK(log.since(0).left_out == 7);
  log.add(batch(GivenUpLog::bytes_max));  // the newest batch is kept whatever its size
  CHECK(log.since(0).batches.size() == 1);
  CHECK(log.since(10).left_out == 0);
  log.forget();
  CHECK(log.since(0).batches.empty());
  CHECK(log.since(0).left_out == 0);
}

TEST_CASE("a function's error is truncated between characters and has no control characters") {
  using compat::outbound::InvocationAnswer;
  const auto judged = [](const json& body) {
    return compat::triggers::judge(InvocationAnswer{.body = body.dump()}, {}, false);
  };
  std::string text = "x";
  for (int i = 0; i < 3000; ++i) text += "ä";
  const auto large = judged({{"errorType", text}, {"errorMessage", text}});
  CHECK(large.error_type == text.substr(0, 255));
  CHECK(large.error_message == text.substr(0, 2047));
  const auto hostile = judged({{"errorType", "a\n\x1b[31m"}, {"errorMessage", "a\n\tb\x1b\x7f\xc2\x9b c"}});
  CHECK(hostile.error_type == "a??[31m");
  CHECK(hostile.error_message == "a\n\tb??? c");
  const auto other = judged({{"errorType", {1, 2}}, {"errorMessage", nullptr}});
  CHECK(other.function_error == "Unhandled");
  CHECK((other.error_type.empty() && other.error_message.empty()));
}

TEST_CASE("the error about an unreachable function says that the function is unreachable") {
  TriggerWorld world;
  world.function("f", nullptr);
  world.map(world.create_table("carts"), "f", R"("MaximumRetryAttempts":0)");
  world.put("carts", "a");
  CHECK(settle(world)["given_up"][0]["error"]["message"] == "nobody is there");
}

}  // namespace mayfly::testing
