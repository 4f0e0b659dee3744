// Tables that send their changes to Kinesis: the operations, and what the endpoint gets.
#include "compat/kinesis/destinations.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <thread>

#include "compat/emulator.h"
#include "compat/wire/base64.h"
#include "engine/clock.h"
#include "support/engine_world.h"

namespace mayfly::testing {
namespace {

using namespace std::chrono_literals;
using compat::outbound::Invocation;
using compat::outbound::InvocationAnswer;
using compat::outbound::InvocationFailure;
using nlohmann::json;

const std::string stream = "arn:aws:kinesis:us-east-1:000000000000:stream/changes";

// Plays Kinesis: refuses each record of the first `refusals` requests.
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

class World {
 public:
  explicit World(const std::string& directory = {}, compat::kinesis::KinesisOptions kinesis_options = {})
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
    const auto answer =
        emulator_->execute({"000000000000", "us-east-1"}, "DynamoDB_20120810." + operation, body);
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
  std::uint64_t dropped() { return emulator_->kinesis().dropped(); }
  bool settle() { return emulator_->kinesis().settle(engine::host_time() + 100s); }
  void advance(std::int64_t ms) {
    engine::Database& database = emulator_->database();
    database.advance("000000000000", database.now("000000000000") + ms);
  }

  std::shared_ptr<Kinesis> kinesis = std::make_shared<Kinesis>();

 private:
  std::shared_ptr<engine::ManualClock> clock_;
  std::unique_ptr<compat::Emulator> emulator_;
};

}  // namespace

TEST_CASE("a Kinesis destination is enabled, described, changed and disabled") {
  World world;
  world.create();
  const std::string named = R"({"TableName":"carts","StreamArn":")" + stream + R"(","DestinationStatus":)";
  const auto described = [&](const std::string& list) {
    return R"(200 {"TableName":"carts","KinesisDataStreamDestinations":[)" + list + "]}";
  };
  const std::string one = R"({"StreamArn":")" + stream + R"(","DestinationStatus":)";
  const std::string describe = R"({"TableName":"carts"})";
  CHECK(world.run("DescribeKinesisStreamingDestination", describe) == described(""));
  CHECK(world.change("Enable") == "200 " + named + R"("ENABLING"})");
  CHECK(world.run("DescribeKinesisStreamingDestination", describe) ==
        described(one + R"("ACTIVE","ApproximateCreationDateTimePrecision":"MILLISECOND"})"));
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

TEST_CASE("changes reach Kinesis in order, a user's with no identity and the service's with one") {
  World world;
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

TEST_CASE("what Kinesis refuses is put again, in order; microseconds are asked for") {
  World world;
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
  engine::test::Directory directory;
  {
    World world(directory.path());
    world.create();
    world.change("Enable");
  }
  World world(directory.path());
  world.run("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"a"}}})");
  REQUIRE(world.settle());
  CHECK(world.kinesis->records.size() == 1);
}

TEST_CASE("changes that Kinesis does not take are kept up to so many bytes; then the oldest go") {
  constexpr std::size_t bytes_max = 1'000'000, fit = bytes_max / 10'000;
  World world({}, {.waiting_bytes_max = bytes_max});
  world.create();
  world.kinesis->refusals = 1'000'000;
  world.change("Enable");
  const std::string large(9'000, 'x');
  const auto put = [&](std::size_t n) {
    world.run("PutItem", R"({"TableName":"carts","Item":{"id":{"S":")" + std::to_string(n) +
                             R"("},"large":{"S":")" + large + "\"}}}");
  };
  for (std::size_t n = 0; n < fit + 50; ++n) put(n);
  while (world.dropped() < 30) std::this_thread::yield();  // some may be under way, to be refused
  world.kinesis->accept();
  CHECK(world.settle());
  const auto dropped = world.dropped();
  CHECK(dropped <= 55);
  CHECK(world.kinesis->records.size() + dropped == fit + 50);
  CHECK(world.kinesis->records.front()["dynamodb"]["Keys"]["id"]["S"] == std::to_string(dropped));
  CHECK(world.kinesis->records.back()["dynamodb"]["Keys"]["id"]["S"] == std::to_string(fit + 49));
}

TEST_CASE("a record that is larger than a request may be goes alone, and the others go on") {
  World world;
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
