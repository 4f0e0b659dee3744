// Tests delivery to functions: batches, retries, splits, partial failures, windows,
// destinations and restarts.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "compat/control/control.h"
#include "compat/triggers/position.h"
#include "engine/storage/documents.h"
#include "tests/support/engine_world.h"
#include "tests/support/trigger_world.h"

namespace mayfly::testing {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Answer = TriggerWorld::Answer;

const std::string arn_of_function = "arn:aws:lambda:us-east-1:000000000000:function:f";

Answer succeed(const json&) { return {.body = "null"}; }
Answer fail(const json&) { return {.body = R"({"errorMessage":"no","errorType":"ValueError"})"}; }

std::string id_of(const json& record) { return record["dynamodb"]["Keys"]["id"]["S"]; }
std::string number_of(const json& record) { return record["dynamodb"]["SequenceNumber"]; }
bool has(const json& event, const std::string& id) {
  return std::any_of(event["Records"].begin(), event["Records"].end(),
                     [&](const json& one) { return id_of(one) == id; });
}

}  // namespace

TEST_CASE("a function receives a stream's records in order and in batches") {
  TriggerWorld world;
  world.function("f");
  const std::string arn = world.create_table("carts");
  for (const char* id : {"a", "b", "c", "d", "e"}) world.put("carts", id);
  const std::string uuid = world.map(arn, "f", R"("BatchSize":2)");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a b c d e");
  CHECK(world.sizes("f") == "2 2 1");
  CHECK(world.mapping(uuid)["LastProcessingResult"] == "OK");
  world.put("carts", "f");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a b c d e f");
}

// Unlike in GetRecords, the names in userIdentity begin with a lowercase letter, the time is a float, and
// each record has the stream's ARN.
TEST_CASE("an event has the format of Lambda's events") {
  TriggerWorld world;
  world.function("f");
  const std::string arn = world.create_table("carts");
  world.map(arn, "f");
  world.put("carts", "a", R"(,"ttl":{"N":"1700000000"})");
  world.advance(1ms);
  CHECK(world.settle().empty());
  std::vector<json> records;
  for (const json& event : world.calls("f")) {
    CHECK(event.size() == 1);
    records.insert(records.end(), event["Records"].begin(), event["Records"].end());
  }
  REQUIRE(records.size() == 2);
  CHECK(!records[0].contains("userIdentity"));
  json expired = records[1];
  CHECK(expired["dynamodb"]["ApproximateCreationDateTime"].is_number_float());
  expired.erase("eventID");
  expired["dynamodb"].erase("SequenceNumber");
  CHECK(expired == json::parse(R"({"eventName":"REMOVE","eventVersion":"1.1","eventSource":"aws:dynamodb",
      "awsRegion":"us-east-1","eventSourceARN":")" +
                               arn + R"(",
      "userIdentity":{"type":"Service","principalId":"dynamodb.amazonaws.com"},
      "dynamodb":{"ApproximateCreationDateTime":1700000000,"Keys":{"id":{"S":"a"}},
        "OldImage":{"id":{"S":"a"},"ttl":{"N":"1700000000"}},"SizeBytes":11,"StreamViewType":"NEW_AND_OLD_IMAGES"}})"));
}

TEST_CASE("records that match no filter are discarded") {
  TriggerWorld world;
  world.function("f");
  const std::string arn = world.create_table("carts");
  const std::string filters = R"("FilterCriteria":{"Filters":[{"Pattern":"{\"eventName\":[\"REMOVE\"]}"},
      {"Pattern":"{\"dynamodb\":{\"NewImage\":{\"id\":{\"S\":[{\"prefix\":\"v\"}]}}}}"}]})";
  world.map(arn, "f", filters);
  for (const char* id : {"a", "v1", "b", "v2"}) world.put("carts", id);
  world.remove("carts", "a");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "v1 v2 a");
}

TEST_CASE("a mapping that starts at LATEST receives only records written after its creation") {
  TriggerWorld world;
  world.function("f");
  const std::string arn = world.create_table("carts");
  world.put("carts", "before");
  world.map(arn, "f", R"("StartingPosition":"LATEST")");
  world.put("carts", "after");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "after");
}

TEST_CASE("a failing batch goes to the destination after the configured number of retries") {
  TriggerWorld world;
  world.function("f", fail);
  world.endpoint("failed", succeed);
  const std::string arn = world.create_table("carts");
  const std::string uuid = world.map(arn, "f", R"("MaximumRetryAttempts":3,
      "DestinationConfig":{"OnFailure":{"Destination":"http://functions/failed"}})");
  world.put("carts", "a");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a a a a");
  REQUIRE(world.calls("failed").size() == 1);
  json sent = world.calls("failed")[0];
  CHECK(sent["requestContext"]["requestId"].get<std::string>().size() == 36);
  sent["requestContext"].erase("requestId");
  const std::string number = number_of(world.calls("f")[0]["Records"][0]);
  CHECK(sent == json::parse(R"({"requestContext":{"functionArn":")" + arn_of_function + R"(",
      "condition":"RetryAttemptsExhausted","approximateInvokeCount":4},
      "responseContext":{"statusCode":200,"executedVersion":"$LATEST","functionError":"Unhandled"},
      "version":"1.0","timestamp":"2023-11-14T22:13:20.000Z",
      "DDBStreamBatchInfo":{"shardId":"shardId-00000001700000000000-00000001",
        "startSequenceNumber":")" +
                            number + R"(","endSequenceNumber":")" + number + R"(",
        "approximateArrivalOfFirstRecord":"2023-11-14T22:13:20Z",
        "approximateArrivalOfLastRecord":"2023-11-14T22:13:20Z","batchSize":1,"streamArn":")" +
                            arn + "\"}}"));
  CHECK(world.mapping(uuid)["LastProcessingResult"] == "PROBLEM: Function call failed");
  json shown{{"uuid", uuid},  {"function", "f"},    {"table", "carts"},
             {"stream", arn}, {"state", "Enabled"}, {"last_result", "PROBLEM: Function call failed"},
             {"batches", 0},  {"records", 0},       {"failures", 4},
             {"retries", 3},  {"given_up", 1}};
  shown["last_failure"] = {{"status", 200},
                           {"error", "Unhandled"},
                           {"type", "ValueError"},
                           {"message", "no"},
                           {"at", "2023-11-14T22:13:20Z"}};
  CHECK(world.control("GET /_mayfly/triggers") == json{{"triggers", {shown}}});
  // A batch that was given up is not delivered again.
  world.endpoint("f", succeed);
  world.put("carts", "b");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a a a a b");
  CHECK(world.mapping(uuid)["LastProcessingResult"] == "OK");
  // A restore does not reset the counters.
  world.control("POST /_mayfly/snapshots/" +
                world.control("POST /_mayfly/snapshots")["id"].get<std::string>() + "/restore");
  shown["last_result"] = "OK";
  shown["batches"] = shown["records"] = 1;
  shown["last_batch"] = {{"records", 1}, {"at", "2023-11-14T22:13:20Z"}};
  CHECK(world.control("GET /_mayfly/triggers") == json{{"triggers", {shown}}});
}

TEST_CASE("every form of function failure leads to a retry") {
  const Answer answers[] = {
      {.status = 500, .body = "{}"},
      {.status = 301},
      {.function_error = "Handled", .body = "{}"},
      {.body = R"({"errorType":"X"})"},
      {.body = R"({"errorMessage":null})"},
  };
  for (const Answer& answer : answers) {
    TriggerWorld world;
    world.function("f", [&](const json&) { return answer; });
    world.map(world.create_table("carts"), "f", R"("MaximumRetryAttempts":1)");
    world.put("carts", "a");
    CHECK(world.settle().empty());
    CHECK(world.delivered("f") == "a a");
  }
  TriggerWorld world;
  world.function("f", nullptr);  // no server listens at its URL
  world.map(world.create_table("carts"), "f", R"("MaximumRetryAttempts":1)");
  world.put("carts", "a");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a a");
}

TEST_CASE("a function is called only once if its mapping allows no retries") {
  TriggerWorld world;
  world.function("f", fail);
  world.map(world.create_table("carts"), "f", R"("MaximumRetryAttempts":0)");
  world.put("carts", "a");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a");
}

TEST_CASE("a failing batch is split down to the bad record without using up retries") {
  TriggerWorld world;
  world.function("f", [](const json& event) { return has(event, "c") ? fail(event) : succeed(event); });
  world.endpoint("failed", succeed);
  const std::string arn = world.create_table("carts");
  for (const char* id : {"a", "b", "c", "d"}) world.put("carts", id);
  world.map(arn, "f", R"("BisectBatchOnFunctionError":true,"MaximumRetryAttempts":1,
      "DestinationConfig":{"OnFailure":{"Destination":"http://functions/failed"}})");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a b c d a b c d c c d");
  CHECK(world.sizes("f") == "4 2 2 1 1 1");
  REQUIRE(world.calls("failed").size() == 1);
  CHECK(world.calls("failed")[0]["DDBStreamBatchInfo"]["batchSize"] == 1);
  CHECK(world.calls("failed")[0]["requestContext"]["approximateInvokeCount"] == 4);
}

TEST_CASE("a batch whose function reports failed records is sent again from the lowest failed record") {
  TriggerWorld world;
  std::atomic<int> calls{0};
  world.function("f", [&](const json& event) {
    if (++calls > 1) return succeed(event);
    return Answer{.body = json{{"batchItemFailures",
                                {{{"itemIdentifier", number_of(event["Records"][3])}},
                                 {{"itemIdentifier", number_of(event["Records"][2])}}}}}
                              .dump()};
  });
  const std::string arn = world.create_table("carts");
  for (const char* id : {"a", "b", "c", "d"}) world.put("carts", id);
  world.map(arn, "f", R"("FunctionResponseTypes":["ReportBatchItemFailures"],"MaximumRetryAttempts":1)");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a b c d c d");
}

// As observed on Lambda: with three retries, a record that fails at the end of a batch is tried five times.
// The first call includes the records before that record. The other four calls have only that record: one
// call and its three retries.
TEST_CASE("a report that the first records succeeded uses up no retry and restarts the retry count") {
  TriggerWorld world;
  world.function("f", [](const json& event) {
    const json& last = event["Records"].back();
    if (id_of(last) != "c") return succeed(event);
    return Answer{.body = json{{"batchItemFailures", {{{"itemIdentifier", number_of(last)}}}}}.dump()};
  });
  world.endpoint("failed", succeed);
  const std::string arn = world.create_table("carts");
  for (const char* id : {"a", "b", "c"}) world.put("carts", id);
  world.map(arn, "f", R"("FunctionResponseTypes":["ReportBatchItemFailures"],"MaximumRetryAttempts":3,
      "DestinationConfig":{"OnFailure":{"Destination":"http://functions/failed"}})");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a b c c c c c");
  REQUIRE(world.calls("failed").size() == 1);
  const json sent = world.calls("failed")[0];
  CHECK(sent["requestContext"]["approximateInvokeCount"] == 4);
  CHECK(sent["responseContext"] ==
        json::parse(R"({"statusCode":200,"executedVersion":"$LATEST","functionError":null})"));
}

TEST_CASE("the message about a failed batch contains its records if the destination is a bucket") {
  TriggerWorld world;
  world.function("f", fail);
  world.endpoint("failed", succeed);
  world.function("bucket", succeed);
  const std::string arn = world.create_table("carts");
  world.map(arn, "f", R"("MaximumRetryAttempts":0,
      "DestinationConfig":{"OnFailure":{"Destination":"arn:aws:s3:::bucket"}})");
  world.map(arn, "f:v2", R"("MaximumRetryAttempts":0,
      "DestinationConfig":{"OnFailure":{"Destination":"http://functions/failed"}})");
  world.put("carts", "a");
  CHECK(world.settle().empty());
  REQUIRE(world.calls("bucket").size() == 1);
  CHECK(world.calls("bucket")[0]["payload"] == world.calls("f")[0]);
  REQUIRE(world.calls("failed").size() == 1);
  CHECK(!world.calls("failed")[0].contains("payload"));
}

TEST_CASE("a report without failures counts as success and an invalid report fails the batch") {
  const auto sizes_for = [](const std::string& body, const std::string& types) {
    TriggerWorld world;
    world.function("f", [&](const json&) { return Answer{.body = body}; });
    const std::string arn = world.create_table("carts");
    for (const char* id : {"a", "b"}) world.put("carts", id);
    world.map(arn, "f", R"("FunctionResponseTypes":)" + types + R"(,"MaximumRetryAttempts":1)");
    CHECK(world.settle().empty());
    return world.sizes("f");
  };
  const std::string reports = R"(["ReportBatchItemFailures"])";
  for (const char* body : {"[]", "null", "{}", "", R"({"batchItemFailures":[]})",
                           R"({"batchItemFailures":null})", R"("done")", R"({"other":1})"}) {
    INFO(body);
    CHECK(sizes_for(body, reports) == "2");
  }
  for (const char* body : {R"({"batchItemFailures":[{"itemIdentifier":"123"}]})",
                           R"({"batchItemFailures":[{"itemIdentifier":""}]})",
                           R"({"batchItemFailures":[{"itemIdentifier":null}]})",
                           R"({"batchItemFailures":[{}]})", R"({"batchItemFailures":[{"other":"1"}]})"}) {
    INFO(body);
    CHECK(sizes_for(body, reports) == "2 2");
    CHECK(sizes_for(body, "[]") == "2");  // reports are not enabled
  }
}

TEST_CASE("records that are too old by stream time go to the destination") {
  TriggerWorld world;
  world.function("f", fail);
  world.endpoint("failed", succeed);
  const std::string arn = world.create_table("carts");
  world.map(arn, "f", R"("MaximumRecordAgeInSeconds":60,
      "DestinationConfig":{"OnFailure":{"Destination":"http://functions/failed"}})");
  world.put("carts", "a");
  while (world.calls("f").empty()) world.settle(1ms);
  world.advance(1h);  // does not age stream records
  CHECK(world.settle(1ms).size() == 1);
  CHECK(world.calls("failed").empty());
  world.advance(61s, true);
  CHECK(world.settle().empty());
  REQUIRE(world.calls("failed").size() == 1);
  CHECK(world.calls("failed")[0]["requestContext"]["condition"] == "RecordAgeExceeded");
}

TEST_CASE("a destination is a file or the function registered under the last part of its ARN") {
  TemporaryDirectory directory;
  TriggerWorld world({}, directory.path());
  world.function("f", fail);
  world.function("failed");
  const std::string file = directory.path() + "/failed.jsonl", arn = world.create_table("carts");
  world.map(
      arn, "f",
      R"("MaximumRetryAttempts":0,"DestinationConfig":{"OnFailure":{"Destination":"file://)" + file + "\"}}");
  world.map(arn, "f:v2", R"("MaximumRetryAttempts":0,
      "DestinationConfig":{"OnFailure":{"Destination":"arn:aws:sqs:us-east-1:000000000000:failed"}})");
  world.put("carts", "a");
  CHECK(world.settle().empty());
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  CHECK(json::parse(text.str())["requestContext"]["functionArn"] == arn_of_function);
  REQUIRE(world.calls("failed").size() == 1);
  CHECK(world.calls("failed")[0]["requestContext"]["functionArn"] == arn_of_function + ":v2");
}

TEST_CASE("records wait until their function is registered") {
  TriggerWorld world;
  const std::string arn = world.create_table("carts");
  const std::string uuid = world.map(arn, "f");
  world.put("carts", "a");
  const auto unfinished = world.settle();
  REQUIRE(unfinished.size() == 1);
  CHECK(unfinished[0].reason == "PROBLEM: Function not found");
  CHECK(world.mapping(uuid)["LastProcessingResult"] == "PROBLEM: Function not found");
  world.function("f");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a");
}

TEST_CASE("a settle names the mapping of a function that keeps failing") {
  TriggerWorld world;
  world.function("f", fail);
  const std::string uuid = world.map(world.create_table("carts"), "f");
  world.put("carts", "a");
  const auto unfinished = world.settle(300ms);
  REQUIRE(unfinished.size() == 1);
  CHECK(unfinished[0].mapping->uuid == uuid);
  CHECK(unfinished[0].mapping->function.arn() == arn_of_function);
  CHECK(unfinished[0].reason == "PROBLEM: Function call failed");
}

TEST_CASE("a batching window gathers records until it is full or flushed") {
  TriggerWorld world;
  world.function("patient");
  world.function("quick");
  const std::string arn = world.create_table("carts");
  world.map(arn, "patient", R"("MaximumBatchingWindowInSeconds":300,"BatchSize":3)");
  world.map(arn, "quick");
  world.put("carts", "a");
  world.put("carts", "b");
  while (world.delivered("quick") != "a b") std::this_thread::yield();
  CHECK(world.calls("patient").empty());
  world.put("carts", "c");
  while (world.sizes("patient") != "3") std::this_thread::yield();
  world.put("carts", "d");
  CHECK(world.settle().empty());
  CHECK(world.sizes("patient") == "3 1");
}

TEST_CASE("tumbling windows pass state from call to call and end with a final call") {
  TriggerWorld world;
  world.function("f", [](const json& event) {
    const int seen = event["state"].value("seen", 0) + static_cast<int>(event["Records"].size());
    return Answer{.body = json{{"state", {{"seen", seen}}}}.dump()};
  });
  const std::string arn = world.create_table("carts");
  for (const char* id : {"a", "b", "c"}) world.put("carts", id);
  world.advance(60s);
  world.put("carts", "d");
  world.map(arn, "f", R"("TumblingWindowInSeconds":60,"BatchSize":2)");
  CHECK(world.settle().empty());
  const auto calls = world.calls("f");
  std::string story;
  for (const json& call : calls) {
    story += std::to_string(call["Records"].size()) + " " + call["state"].dump() + " " +
             call["window"]["start"].get<std::string>().substr(11) + " " +
             (call["isFinalInvokeForWindow"].get<bool>() ? "final" : "on") + "\n";
  }
  CHECK(story ==
        "2 {} 22:13:00Z on\n"
        "1 {\"seen\":2} 22:13:00Z on\n"
        "0 {\"seen\":3} 22:13:00Z final\n"
        "1 {} 22:14:00Z on\n"
        "0 {\"seen\":1} 22:14:00Z final\n");
  REQUIRE(!calls.empty());
  CHECK(calls[0]["window"] == json({{"start", "2023-11-14T22:13:00Z"}, {"end", "2023-11-14T22:14:00Z"}}));
  CHECK(calls[0]["eventSourceARN"] == arn);
  CHECK(calls[0]["shardId"] == "shardId-00000001700000000000-00000001");
  CHECK(calls[0]["isWindowTerminatedEarly"] == false);
}

TEST_CASE("parallel lanes deliver the records of each item once and in order") {
  TriggerWorld world;
  std::mutex mutex;
  std::map<std::string, std::vector<int>> versions;
  world.function("f", [&](const json& event) {
    const std::lock_guard lock(mutex);
    for (const json& record : event["Records"]) {
      versions[id_of(record)].push_back(
          std::stoi(record["dynamodb"]["NewImage"]["v"]["N"].get<std::string>()));
    }
    return Answer{.body = "{}"};
  });
  world.map(world.create_table("carts"), "f", R"("ParallelizationFactor":4,"BatchSize":3)");
  for (int version = 0; version < 10; ++version) {
    for (int item = 0; item < 20; ++item) {
      world.put("carts", "i" + std::to_string(item), R"(,"v":{"N":")" + std::to_string(version) + "\"}");
    }
  }
  CHECK(world.settle().empty());
  CHECK(versions.size() == 20);
  for (const auto& [id, seen] : versions) CHECK(seen == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("shards are read before their children so that an item's records stay in order") {
  TriggerWorld world;
  std::mutex mutex;
  std::map<std::string, std::vector<std::string>> versions;
  world.function("f", [&](const json& event) {
    const std::lock_guard lock(mutex);
    for (const json& record : event["Records"])
      versions[id_of(record)].push_back(record["dynamodb"]["NewImage"]["v"]["S"]);
    return Answer{.body = "{}"};
  });
  const std::string arn = world.create_table("carts");
  engine::Database& database = world.triggers().database();
  const auto table = database.catalog().find(world.scope, "carts");
  const auto put_all = [&](const std::string& version) {
    for (int item = 0; item < 10; ++item)
      world.put("carts", "i" + std::to_string(item), R"(,"v":{"S":")" + version + "\"}");
  };
  put_all("a");
  REQUIRE(database.tables().reshard(table, 0, engine::Resharding::split));
  put_all("b");
  world.map(arn, "f", R"("BatchSize":3)");
  CHECK(world.settle().empty());
  REQUIRE(database.tables().reshard(table, 1, engine::Resharding::split));
  REQUIRE(database.tables().reshard(table, 2, engine::Resharding::roll));
  put_all("c");
  CHECK(world.settle().empty());
  CHECK(versions.size() == 10);
  for (const auto& [id, seen] : versions) CHECK(seen == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("a disabled mapping continues where it stopped when it is enabled") {
  TriggerWorld world;
  world.function("f");
  const std::string uuid = world.map(world.create_table("carts"), "f");
  world.put("carts", "a");
  CHECK(world.settle().empty());
  const auto result_of = [](const json& mapping) {
    return mapping["LastProcessingResult"].get<std::string>();
  };
  const auto enable = [&](bool enabled) {
    const std::string answer =
        world.rest("PUT /2015-03-31/event-source-mappings/" + uuid, json{{"Enabled", enabled}}.dump());
    return json::parse(answer.substr(4));
  };
  CHECK(result_of(enable(false)) == "OK");  // the response keeps the last result, as recorded on AWS
  CHECK(world.mapping(uuid)["State"] == "Disabled");
  CHECK(result_of(world.mapping(uuid)) == "OK");
  world.put("carts", "b");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a");
  CHECK(result_of(enable(true)) == "OK");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a b");
}

TEST_CASE("additional lanes continue where the single lane stopped") {
  TriggerWorld world;
  world.function("f");
  const std::string uuid = world.map(world.create_table("carts"), "f");
  world.put("carts", "a");
  CHECK(world.settle().empty());
  world.rest("PUT /2015-03-31/event-source-mappings/" + uuid, R"({"ParallelizationFactor":3})");
  world.put("carts", "b");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a b");
}

TEST_CASE("mappings with their functions and positions survive a restart") {
  TemporaryDirectory directory;
  std::string uuid;
  {
    TriggerWorld world(directory.path());
    world.function("f");
    uuid = world.map(world.create_table("carts"), "f",
                     R"("FilterCriteria":{"Filters":[{"Pattern":"{\"eventName\":[\"INSERT\"]}"}]})");
    world.put("carts", "a");
    world.put("carts", "b");
    CHECK(world.settle().empty());
    CHECK(world.delivered("f") == "a b");
  }
  TriggerWorld world(directory.path());
  world.endpoint("f", succeed);
  world.put("carts", "c");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "c");
  CHECK(world.mapping(uuid)["FilterCriteria"]["Filters"][0]["Pattern"] == R"({"eventName":["INSERT"]})");
}

// Regression: the mapping stayed Enabled, but its stream was not read until a restart.
TEST_CASE("a mapping whose deletion fails goes on delivering and can be deleted later") {
  std::atomic<bool> fails = false;
  TriggerWorld world({}, {}, 1'000, [&] { return fails.load(); });
  world.function("f");
  const std::string path = "/2015-03-31/event-source-mappings/" + world.map(world.create_table("carts"), "f");
  world.put("carts", "a");
  CHECK(world.settle().empty());
  fails = true;
  CHECK(
      world.rest("DELETE " + path) ==
      R"(500 x-amzn-ErrorType: ServiceException {"Type":"Service","Message":"An internal error occurred"})");
  fails = false;
  CHECK(world.rest("GET " + path).find(R"("State":"Enabled")") != std::string::npos);
  world.put("carts", "b");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a b");
  CHECK(world.rest("DELETE " + path).starts_with("202 "));
  CHECK(world.rest("GET " + path).starts_with("404 "));
}

// Regression: the function disappeared and came back at the next start.
TEST_CASE("a function whose removal fails stays registered and can be removed later") {
  std::atomic<bool> fails = false;
  TriggerWorld world({}, {}, 1'000, [&] { return fails.load(); });
  world.function("f");
  const auto remove = [&] {
    const auto answer = compat::control::answer(
        world.emulator(), {.method = "DELETE", .path = "/_mayfly/functions/f", .scope = world.scope});
    return std::to_string(answer.status) + " " + answer.body;
  };
  fails = true;
  CHECK(
      remove() ==
      R"(500 {"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"Internal server error"})");
  fails = false;
  CHECK(world.control("GET /_mayfly/functions")["functions"].size() == 1);
  CHECK(remove() == "200 {}");
  CHECK(world.control("GET /_mayfly/functions") == json{{"functions", json::array()}});
  CHECK(world.emulator().database().documents().list("function").empty());
}

TEST_CASE("a batch in flight at shutdown is delivered again") {
  TemporaryDirectory directory;
  {
    TriggerWorld world(directory.path());
    world.function("f", fail);
    world.map(world.create_table("carts"), "f");
    world.put("carts", "a");
    CHECK(world.settle(100ms).size() == 1);
  }
  TriggerWorld world(directory.path());
  world.endpoint("f", succeed);
  CHECK(world.settle().empty());
  CHECK(world.delivered("f").ends_with("a"));
}

TEST_CASE("changing the number of lanes and restarting delivers no record twice") {
  TemporaryDirectory directory;
  std::string uuid;
  {
    TriggerWorld world(directory.path());
    world.function("f");
    uuid = world.map(world.create_table("carts"), "f");
    world.put("carts", "a");
    CHECK(world.settle().empty());
    for (const char* const step : {"b2", "c10", "d3", "e1"}) {
      world.rest("PUT /2015-03-31/event-source-mappings/" + uuid,
                 R"({"ParallelizationFactor":)" + std::string(step + 1) + "}");
      world.put("carts", std::string(step, 1));
      CHECK(world.settle().empty());
    }
    CHECK(world.delivered("f") == "a b c d e");
  }
  for (const char* const next : {"f", "g"}) {
    TriggerWorld world(directory.path());
    world.endpoint("f", succeed);
    world.put("carts", next);
    CHECK(world.settle().empty());
    CHECK(world.delivered("f") == next);
  }
}

TEST_CASE("records that only some lanes have passed are not delivered again if the number of lanes changes") {
  TriggerWorld world;
  std::mutex mutex;
  std::multiset<std::string> taken;
  std::atomic<bool> all{false};
  // At first, the function accepts only the records of one item.
  world.function("f", [&](const json& event) {
    const std::lock_guard lock(mutex);
    for (const json& record : event["Records"]) {
      if (!all && id_of(record) != "i3") return fail(event);
    }
    for (const json& record : event["Records"]) taken.insert(id_of(record));
    return succeed(event);
  });
  const std::string uuid =
      world.map(world.create_table("carts"), "f", R"("ParallelizationFactor":10,"BatchSize":1)");
  world.put("carts", "i3");
  CHECK(world.settle().empty());
  for (int i = 0; i < 20; ++i) world.put("carts", "j" + std::to_string(i));
  CHECK(world.settle(std::chrono::milliseconds(50)).size() == 1);
  all = true;
  for (const int lanes : {3, 7, 1, 10}) {
    world.rest("PUT /2015-03-31/event-source-mappings/" + uuid,
               R"({"ParallelizationFactor":)" + std::to_string(lanes) + "}");
    world.put("carts", "k" + std::to_string(lanes));
  }
  CHECK(world.settle().empty());
  CHECK(taken.size() == 25);
  CHECK(std::set<std::string>(taken.begin(), taken.end()).size() == 25);
}

TEST_CASE("the stored positions of a shard determine where its lanes begin") {
  using compat::triggers::passed, compat::triggers::shard_start, compat::triggers::StoredPosition;
  const auto at = [](std::uint32_t lane, std::uint32_t lanes, engine::Sequence next, bool done = false) {
    return StoredPosition{{0, lane, lanes}, {next, done, std::nullopt}};
  };
  // One lane stopped at 100. Later, two lanes stopped at 500 and 450.
  const std::vector<StoredPosition> stored = {at(0, 1, 100), at(0, 2, 500), at(1, 2, 450)};
  const auto one = shard_start(stored, 1, false);
  CHECK(one.lanes[0].next == 450);
  CHECK(passed(one.others, 2, 499));
  CHECK_FALSE(passed(one.others, 3, 450));
  const auto two = shard_start(stored, 2, false);
  CHECK((two.lanes[0].next == 500 && two.lanes[1].next == 450));
  CHECK(two.others.empty());
  const auto three = shard_start(stored, 3, false);
  for (const auto& lane : three.lanes) CHECK(lane.next == 450);
  CHECK(three.others.size() == 1);
  // One of two lanes has no stored position, so it begins at the start of the shard, whatever the other
  // lane's position is.
  CHECK(shard_start({at(1, 2, 7)}, 1, false).lanes[0].next == 0);
  // A stored end counts only while the shard is closed.
  CHECK(shard_start({at(0, 1, 9, true)}, 2, true).done);
  CHECK_FALSE(shard_start({at(0, 1, 9, true)}, 2, false).done);
  CHECK_FALSE(shard_start({at(0, 1, 9, true)}, 1, false).lanes[0].done);
}

TEST_CASE("a tumbling window that is open at shutdown continues with its state") {
  TemporaryDirectory directory;
  {
    TriggerWorld world(directory.path());
    world.function("f", [](const json&) { return Answer{.body = R"({"state":{"seen":1}})"}; });
    world.map(world.create_table("carts"), "f", R"("TumblingWindowInSeconds":900)");
    world.put("carts", "a");
    const auto stored = [&] {
      return world.triggers().database().documents().list("@trigger-position").at(0).bytes;
    };
    while (stored().find("seen") == std::string::npos) std::this_thread::yield();
  }
  TriggerWorld world(directory.path());
  world.endpoint("f", succeed);
  CHECK(world.settle().empty());
  REQUIRE(world.calls("f").size() == 1);
  CHECK(world.calls("f")[0]["state"] == json({{"seen", 1}}));
  CHECK(world.calls("f")[0]["isFinalInvokeForWindow"] == true);
}

TEST_CASE("a disabled stream is read to its end") {
  TriggerWorld world;
  const std::string arn = world.create_table("carts");
  world.put("carts", "a");
  world.operation("UpdateTable", R"({"TableName":"carts","StreamSpecification":{"StreamEnabled":false}})");
  world.function("f");
  world.map(arn, "f");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a");
}

}  // namespace mayfly::testing
