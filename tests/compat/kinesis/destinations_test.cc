// Tests tables that send their changes to Kinesis: the operations, and what the endpoint receives.
#include "compat/kinesis/destinations.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <thread>

#include "compat/control/control.h"
#include "compat/emulator.h"
#include "compat/wire/base64.h"
#include "engine/base/clock.h"
#include "engine/storage/documents.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

namespace {

using namespace std::chrono_literals;
using compat::outbound::Invocation;
using compat::outbound::InvocationAnswer;
using nlohmann::json;

const std::string stream = "arn:aws:kinesis:us-east-1:000000000000:stream/changes";

// A fake Kinesis that rejects every record of the first `refusals` requests.
class Kinesis final : public compat::outbound::Invoker {
 public:
  void start(Invocation invocation, std::stop_token, Done done) override { done(take(invocation)); }

  InvocationAnswer take(const Invocation& invocation) {
    const std::lock_guard lock(mutex_);
    const json request = json::parse(invocation.body);
    requests.push_back(invocation);
    const bool refuse = refusals > 0;
    if (refuse) --refusals;
    json answer = {{"FailedRecordCount", 0}, {"Records", json::array()}};
    for (const json& record : request["Records"]) {
      if (refuse) {
        answer["Records"].push_back(
            {{"ErrorCode", "ProvisionedThroughputExceededException"}, {"ErrorMessage", "slow"}});
        continue;
      }
      answer["Records"].push_back({{"SequenceNumber", "1"}, {"ShardId", "shardId-0"}});
      records.push_back(json::parse(*compat::decode_base64(record["Data"].get<std::string>())));
    }
    return InvocationAnswer{.body = answer.dump()};
  }

  void accept() {
    const std::lock_guard lock(mutex_);
    refusals = 0;
  }

  int refusals = 0;
  std::vector<Invocation> requests;
  std::vector<json> records;

 private:
  std::mutex mutex_;
};

class KinesisWorld {
 public:
  explicit KinesisWorld(const std::string& directory = {},
                        compat::kinesis::KinesisOptions kinesis_options = {})
      : clock_(std::make_shared<engine::ManualClock>(1'700'000'000'123)) {
    compat::EmulatorOptions options;
    options.database.clock = clock_;
    options.database.directory = directory;
    options.kinesis = std::move(kinesis_options);
    options.kinesis.invoker = kinesis;
    options.kinesis.endpoint = *compat::outbound::Url::parse("http://kinesis/");
    emulator_ = std::move(*compat::Emulator::open(std::move(options)));
  }
  std::string run(const std::string& operation, const std::string& body) {
    const auto answer = emulator_->execute(scope, "DynamoDB_20120810." + operation, body);
    return std::to_string(answer.status) + " " + answer.body;
  }
  void create() {
    run("CreateTable", R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})");
    run("UpdateTimeToLive",
        R"({"TableName":"carts","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})");
  }
  std::string change(const std::string& verb, const std::string& more = {}) {
    return run(verb + "KinesisStreamingDestination",
               R"({"TableName":"carts","StreamArn":")" + stream + "\"" + more + "}");
  }
  // The ids of the items whose changes Kinesis has received since the last call.
  std::string taken() {
    REQUIRE(settle());
    std::string ids;
    for (const json& record : kinesis->records)
      ids += (ids.empty() ? "" : " ") + record["dynamodb"]["Keys"]["id"]["S"].get<std::string>();
    kinesis->records.clear();
    return ids;
  }
  void put(const std::string& id) {  // causes a change even if the item exists
    run("PutItem", R"({"TableName":"carts","Item":{"id":{"S":")" + id + R"("},"n":{"N":")" +
                       std::to_string(++puts_) + "\"}}}");
  }
  // "ACTIVE", "DISABLED", or "" if the table has no destination.
  std::string status() {
    const std::string answer =
        run("DescribeKinesisStreamingDestination", R"({"TableName":"carts"})").substr(4);
    const json list = json::parse(answer)["KinesisDataStreamDestinations"];
    return list.empty() ? "" : list[0]["DestinationStatus"].get<std::string>();
  }
  // Makes a call under /_mayfly/. The call must succeed.
  json control(const std::string& method, const std::string& path) {
    const std::string whole_path = "/_mayfly/" + path;
    const auto answer =
        compat::control::answer(*emulator_, {.method = method, .path = whole_path, .scope = scope});
    INFO(answer.body);
    REQUIRE(answer.status == 200);
    return json::parse(answer.body);
  }
  engine::Database& database() { return emulator_->database(); }
  std::uint64_t dropped() { return emulator_->kinesis().dropped(); }
  bool settle() { return emulator_->kinesis().settle(engine::host_time() + 100s); }
  void advance(std::int64_t ms) {
    engine::Database& database = emulator_->database();
    database.time_travel().advance("000000000000", database.accounts().of("000000000000").now() + ms);
  }

  engine::Scope scope{"000000000000", "us-east-1"};
  std::shared_ptr<Kinesis> kinesis = std::make_shared<Kinesis>();

 private:
  int puts_ = 0;
  std::shared_ptr<engine::ManualClock> clock_;
  std::unique_ptr<compat::Emulator> emulator_;
};

}  // namespace

TEST_CASE("a Kinesis destination can be enabled or updated or disabled") {
  KinesisWorld world;
  world.create();
  const std::string named = R"({"TableName":"carts","StreamArn":")" + stream + R"(","DestinationStatus":)";
  const auto described = [&](const std::string& list) {
    return R"(200 {"TableName":"carts","KinesisDataStreamDestinations":[)" + list + "]}";
  };
  const std::string one = R"({"StreamArn":")" + stream + R"(","DestinationStatus":)";
  const std::string describe = R"({"TableName":"carts"})";
  CHECK(world.run("DescribeKinesisStreamingDestination", describe) == described(""));
  // As recorded on AWS, responses leave out settings that the request did not specify.
  CHECK(world.change("Enable") == "200 " + named + R"("ENABLING","EnableKinesisStreamingConfiguration":{}})");
  CHECK(world.run("DescribeKinesisStreamingDestination", describe) == described(one + R"("ACTIVE"})"));
  CHECK(world.change("Enable").find("EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to "
                                    "perform ENABLE operation.") != std::string::npos);
  const std::string micro =
      R"(,"UpdateKinesisStreamingConfiguration":{"ApproximateCreationDateTimePrecision":"MICROSECOND"})";
  CHECK(
      world.change("Update", micro) ==
      "200 " + named +
          R"("UPDATING","UpdateKinesisStreamingConfiguration":{"ApproximateCreationDateTimePrecision":"MICROSECOND"}})");
  CHECK(world.change("Update", micro)
            .find("Invalid Request: Precision is already set to the desired value of MICROSECOND") !=
        std::string::npos);
  CHECK(world.change("Disable") == "200 " + named + R"("DISABLING"})");
  CHECK(world.run("DescribeKinesisStreamingDestination", describe) ==
        described(one + R"("DISABLED","ApproximateCreationDateTimePrecision":"MICROSECOND"})"));
  CHECK(world.change("Disable").find(
            "DisableKinesisStreamingDestination must be ACTIVE to perform DISABLE operation.") !=
        std::string::npos);
}

TEST_CASE("changes reach Kinesis in order and only the service's changes carry an identity") {
  KinesisWorld world;
  world.create();
  world.change("Enable");
  world.run("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"a"},"ttl":{"N":"1700000001"}}})");
  world.run("UpdateItem", R"({"TableName":"carts","Key":{"id":{"S":"a"}},"UpdateExpression":"SET #t = :t",
      "ExpressionAttributeNames":{"#t":"ttl"},"ExpressionAttributeValues":{":t":{"N":"1700000002"}}})");
  world.advance(2000);
  REQUIRE(world.settle());
  auto& records = world.kinesis->records;
  REQUIRE(records.size() == 3);
  for (json& record : records) {
    CHECK(record["eventID"].get<std::string>().size() == 36);
    record.erase("eventID");
  }
  const std::string common =
      R"("awsRegion":"us-east-1","recordFormat":"application/json","tableName":"carts","eventSource":"aws:dynamodb",)";
  CHECK(records[0] == json::parse("{" + common + R"("eventName":"INSERT","userIdentity":null,"dynamodb":{
      "ApproximateCreationDateTime":1700000000123,"Keys":{"id":{"S":"a"}},
      "NewImage":{"id":{"S":"a"},"ttl":{"N":"1700000001"}},"SizeBytes":15}})"));
  CHECK(records[1]["eventName"] == "MODIFY");
  CHECK(records[1]["dynamodb"]["OldImage"] == json::parse(R"({"id":{"S":"a"},"ttl":{"N":"1700000001"}})"));
  CHECK(records[2]["eventName"] == "REMOVE");
  CHECK(records[2]["userIdentity"] ==
        json::parse(R"({"type":"Service","principalId":"dynamodb.amazonaws.com"})"));
  CHECK(!records[2]["dynamodb"].contains("NewImage"));
}

TEST_CASE("changes that Kinesis rejects are retried in order and timestamps can have microseconds") {
  KinesisWorld world;
  world.create();
  world.kinesis->refusals = 1;
  world.change(
      "Enable",
      R"(,"EnableKinesisStreamingConfiguration":{"ApproximateCreationDateTimePrecision":"MICROSECOND"})");
  for (const char* id : {"a", "b"})
    world.run("PutItem", R"({"TableName":"carts","Item":{"id":{"S":")" + std::string(id) + "\"}}}");
  REQUIRE(world.settle());
  REQUIRE(world.kinesis->records.size() == 2);
  CHECK(world.kinesis->records[0]["dynamodb"]["Keys"]["id"]["S"] == "a");
  CHECK(world.kinesis->records[0]["dynamodb"]["ApproximateCreationDateTime"] == 1700000000123000);
  CHECK(world.kinesis->records[0]["dynamodb"]["ApproximateCreationDateTimePrecision"] == "MICROSECOND");
  CHECK(world.kinesis->requests.size() >= 2);
  CHECK(world.kinesis->requests[0].headers[0] ==
        std::pair<std::string, std::string>("X-Amz-Target", "Kinesis_20131202.PutRecords"));
  CHECK(json::parse(world.kinesis->requests[0].body)["StreamARN"] == stream);
}

TEST_CASE("a Kinesis destination survives a restart") {
  TemporaryDirectory directory;
  {
    KinesisWorld world(directory.path());
    world.create();
    world.change("Enable");
  }
  KinesisWorld world(directory.path());
  world.run("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"a"}}})");
  REQUIRE(world.settle());
  CHECK(world.kinesis->records.size() == 1);
}

TEST_CASE("a snapshot's destinations are restored even after a restart", "[restore]") {
  TemporaryDirectory directory;
  std::optional<KinesisWorld> world(std::in_place, directory.path());
  world->create();
  const std::string before = world->control("POST", "snapshots")["id"];
  world->change("Enable");
  const std::string active = world->control("POST", "snapshots")["id"];
  world->change("Disable");
  const std::string disabled = world->control("POST", "snapshots")["id"];
  const auto restore = [&](const std::string& id) { world->control("POST", "snapshots/" + id + "/restore"); };
  const auto holds = [&](const std::string& status, const std::string& taken) {
    CHECK(world->status() == status);
    world->put("a");
    CHECK(world->taken() == taken);
  };
  for (const bool restarted : {false, true}) {
    if (restarted) {
      world.reset();
      world.emplace(directory.path());  // no destination is active, so none listens for changes
    }
    holds("DISABLED", "");
    restore(active);
    holds("ACTIVE", "a");
    world->change("Disable");
    restore(active);
    holds("ACTIVE", "a");
    restore(before);
    holds("", "");
    restore(disabled);
    holds("DISABLED", "");
    CHECK(world->change("Enable").starts_with("200"));
    holds("ACTIVE", "a");
    restore(disabled);
  }
}

TEST_CASE("restored destinations are still active after a restart", "[restore]") {
  TemporaryDirectory directory;
  {
    KinesisWorld world(directory.path());
    world.create();
    world.change("Enable");
    const std::string id = world.control("POST", "snapshots")["id"];
    world.change("Disable");
    world.control("POST", "snapshots/" + id + "/restore");
  }
  KinesisWorld world(directory.path());
  CHECK(world.status() == "ACTIVE");
  world.put("a");
  CHECK(world.taken() == "a");
}

TEST_CASE("a table's destinations are deleted and restored with their table", "[restore]") {
  TemporaryDirectory directory;
  {
    KinesisWorld world(directory.path());
    world.create();
    world.change("Enable");
    const std::string id = world.control("POST", "snapshots")["id"];
    world.run("DeleteTable", R"({"TableName":"carts"})");
    CHECK(world.database().documents().list("@kinesis-destination").empty());
    world.create();
    CHECK(world.status().empty());
    world.put("a");
    CHECK(world.taken().empty());
    world.control("POST", "snapshots/" + id + "/restore");
  }
  KinesisWorld world(directory.path());
  CHECK(world.status() == "ACTIVE");
  world.put("b");
  CHECK(world.taken() == "b");
}

TEST_CASE("no destination outlives its table when tables and destinations change concurrently") {
  KinesisWorld world;
  std::atomic<bool> ends{false};
  std::vector<std::thread> changers;
  for (int i = 0; i < 3; ++i) {
    changers.emplace_back([&] {
      while (!ends) {
        world.change("Enable");
        world.change("Disable");
      }
    });
  }
  for (int i = 0; i < 1000; ++i) {
    world.create();
    std::this_thread::yield();
    world.run("DeleteTable", R"({"TableName":"carts"})");
  }
  ends = true;
  for (std::thread& changer : changers) changer.join();
  CHECK(world.database().documents().list("@kinesis-destination").empty());
}

TEST_CASE("a concurrent Disable and Update do not undo each other") {
  KinesisWorld world;
  world.create();
  for (int i = 0; i < 500; ++i) {
    world.change("Enable");
    std::thread update([&] {
      world.change("Update", R"(,"UpdateKinesisStreamingConfiguration":{
          "ApproximateCreationDateTimePrecision":"MICROSECOND"})");
    });
    const bool disabled = world.change("Disable").starts_with("200");
    update.join();
    REQUIRE(disabled);
    REQUIRE(world.status() == "DISABLED");
  }
}

TEST_CASE("a reset drops only the account's own destinations", "[restore]") {
  TemporaryDirectory directory;
  {
    KinesisWorld world(directory.path());
    world.create();
    world.change("Enable");
    world.scope.account = "000000000001";
    world.create();
    world.change("Enable");
    world.control("POST", "reset");
    CHECK(world.database().documents().list("@kinesis-destination").size() == 1);
    world.create();
    CHECK(world.status().empty());
    world.put("a");
    CHECK(world.taken().empty());
    world.scope.account = "000000000000";
    world.put("a");
    CHECK(world.taken() == "a");
    world.control("POST", "reset");
  }
  KinesisWorld world(directory.path());
  CHECK(world.database().documents().list("@kinesis-destination").empty());
}

TEST_CASE("a restore of one account does not change another account's destinations", "[restore]") {
  KinesisWorld world;
  world.create();
  const std::string id = world.control("POST", "snapshots")["id"];
  world.scope.account = "000000000001";
  world.create();
  world.change("Enable");
  world.scope.account = "000000000000";
  world.control("POST", "snapshots/" + id + "/restore");
  CHECK(world.status().empty());
  world.scope.account = "000000000001";
  CHECK(world.status() == "ACTIVE");
}

TEST_CASE("a destination stored under its former document name is found", "[restore]") {
  TemporaryDirectory directory;
  {
    KinesisWorld world(directory.path());
    world.create();
    world.change("Enable");
    engine::Documents& documents = world.database().documents();
    engine::Document former = documents.list("@kinesis-destination").at(0);
    const engine::DocumentName name = former.name;
    former.name.kind = "kinesis-destination";
    documents.write({name}, {former});
  }
  KinesisWorld world(directory.path());
  CHECK(world.status() == "ACTIVE");
  CHECK(world.database().documents().list("kinesis-destination").empty());
  world.put("a");
  CHECK(world.taken() == "a");
}

TEST_CASE("undelivered Kinesis changes are kept up to a byte limit and then the oldest are dropped") {
  constexpr std::size_t bytes_max = 1'000'000, fit = bytes_max / 10'000;
  KinesisWorld world({}, {.waiting_bytes_max = bytes_max});
  world.create();
  world.kinesis->refusals = 1'000'000;
  world.change("Enable");
  const std::string large(9'000, 'x');
  const auto put = [&](std::size_t n) {
    world.run("PutItem", R"({"TableName":"carts","Item":{"id":{"S":")" + std::to_string(n) +
                             R"("},"large":{"S":")" + large + "\"}}}");
  };
  for (std::size_t n = 0; n < fit + 50; ++n) put(n);
  while (world.dropped() < 30) std::this_thread::yield();  // Kinesis can still reject records in flight
  world.kinesis->accept();
  CHECK(world.settle());
  const auto dropped = world.dropped();
  CHECK(dropped <= 55);
  CHECK(world.kinesis->records.size() + dropped == fit + 50);
  // The missing changes are the oldest ones that were not in flight, so the last change is there.
  std::size_t next = 0;
  for (const auto& record : world.kinesis->records) {
    const std::size_t id = std::stoul(record["dynamodb"]["Keys"]["id"]["S"].get<std::string>());
    CHECK(id >= next);
    next = id + 1;
  }
  CHECK(next == fit + 50);
}

TEST_CASE("a record that exceeds the maximum request size is sent alone and the other records follow") {
  KinesisWorld world;
  world.create();
  world.change("Enable");
  std::string controls;
  for (int i = 0; i < 380'000; ++i) controls += "\\u0001";
  for (const char* const id : {"a", "b"}) {
    world.run("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"large"},"v":{"S":")" + std::string(id) +
                             controls + "\"}}}");
  }
  world.run("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"small"}}})");
  CHECK(world.settle());
  CHECK(world.kinesis->records.size() == 3);
}

}  // namespace mayfly::testing
