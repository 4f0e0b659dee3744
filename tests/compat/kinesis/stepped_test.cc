// Steps Kinesis destinations in an order that a seed chooses. The fake Kinesis responds when the test tells
// it to, which can be too late.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "compat/emulator.h"
#include "compat/kinesis/destinations.h"
#include "compat/wire/base64.h"
#include "tests/support/stepped_scheduler.h"

namespace mayfly::testing {
namespace {

using compat::outbound::Invocation;
using compat::outbound::InvocationAnswer;
using compat::outbound::InvocationFailure;
using engine::SeededRandom;
using nlohmann::json;

constexpr engine::Instant start_ms = 1'700'000'000'000;

// A fake Kinesis that holds each request until the test responds to it.
class SlowKinesis final : public compat::outbound::Invoker {
 public:
  void start(Invocation invocation, std::stop_token stop, Done done) override {
    CHECK_FALSE(done_);  // there is only one request at a time
    request_ = json::parse(invocation.body);
    stop_ = std::move(stop);
    done_ = std::move(done);
    ++requests;
  }

  [[nodiscard]] bool asked() const { return done_ != nullptr; }
  [[nodiscard]] bool stopped() const { return stop_.stop_requested(); }
  // Accepts the first `count` records of the request and rejects the others.
  void take(std::size_t count) {
    json answer = {{"Records", json::array()}};
    for (const json& record : request_["Records"]) {
      const bool taken = answer["Records"].size() < count;
      if (taken) keep(record);
      answer["Records"].push_back(taken ? json{{"SequenceNumber", "1"}} : json{{"ErrorCode", "Slow"}});
    }
    answer_with(InvocationAnswer{.body = answer.dump()});
  }
  void take_all() { take(request_["Records"].size()); }
  // Accepts all records, but the response is lost.
  void take_in_silence() {
    for (const json& record : request_["Records"]) keep(record);
    fail();
  }
  void fail() { answer_with(Unexpected{InvocationFailure{InvocationFailure::Kind::no_answer, "no"}}); }
  void answer_with(Answer answer) { std::exchange(done_, nullptr)(std::move(answer)); }

  int requests = 0;
  std::vector<json> taken;  // records that Kinesis has accepted

 private:
  void keep(const json& record) {
    taken.push_back(json::parse(*compat::decode_base64(record["Data"].get<std::string>())));
  }

  json request_;
  std::stop_token stop_;
  Done done_;
};

struct SteppedEmulator {
  explicit SteppedEmulator(std::uint64_t seed) : scheduler(std::make_shared<SteppedScheduler>(clock, seed)) {
    compat::EmulatorOptions options;
    options.database.clock = clock;
    options.database.random = std::make_shared<SeededRandom>(seed);
    options.database.make_scheduler = [this](std::size_t) { return scheduler; };
    options.kinesis.invoker = kinesis;
    options.kinesis.endpoint = *compat::outbound::Url::parse("http://kinesis/");
    emulator = std::move(*compat::Emulator::open(std::move(options)));
    for (const std::string table : {"carts", "orders"}) {
      run("CreateTable", R"({"TableName":")" + table + R"(","BillingMode":"PAY_PER_REQUEST",
          "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
          "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})");
      run("EnableKinesisStreamingDestination",
          R"({"TableName":")" + table + R"(","StreamArn":"arn:aws:kinesis:us-east-1:000000000000:stream/)" +
              table + "\"}");
    }
  }
  void run(const std::string& operation, const std::string& body) {
    REQUIRE(emulator->execute({"000000000000", "us-east-1"}, "DynamoDB_20120810." + operation, body).status ==
            200);
  }
  void put(const std::string& table, int id) {
    run("PutItem", R"({"TableName":")" + table + R"(","Item":{"id":{"S":")" + std::to_string(id) + "\"}}}");
  }
  bool settled() { return emulator->kinesis().settle(engine::RealTime()); }

  std::shared_ptr<SteppedClock> clock = std::make_shared<SteppedClock>(start_ms);
  std::shared_ptr<SteppedScheduler> scheduler;
  std::shared_ptr<SlowKinesis> kinesis = std::make_shared<SlowKinesis>();
  std::unique_ptr<compat::Emulator> emulator;
};

// Puts items in the order of their ids while Kinesis accepts records, rejects records and fails, in an order
// that the seed chooses. Returns everything that happened as text, which is the same for the same seed.
std::string run(std::uint64_t seed) {
  SteppedEmulator stepped(seed);
  SlowKinesis& kinesis = *stepped.kinesis;
  std::mt19937_64 random(seed);
  int last_id = 0;
  for (int i = 0; i < 400; ++i) {
    switch (random() % 8) {
      case 0:
        if (kinesis.asked()) kinesis.take(random() % 3);
        break;
      case 1:
        if (kinesis.asked()) kinesis.fail();
        break;
      case 2:
        if (kinesis.asked()) kinesis.take_in_silence();
        break;
      case 3:
        if (kinesis.asked()) kinesis.take_all();
        break;
      case 4: stepped.clock->move(static_cast<engine::Instant>(random() % 2000)); break;
      case 5: stepped.put(random() % 4 == 0 ? "orders" : "carts", ++last_id); break;
      default: stepped.scheduler->step_one();
    }
  }
  for (stepped.scheduler->run(); !stepped.settled(); stepped.scheduler->run()) {
    if (kinesis.asked()) {
      kinesis.take_all();
    } else {
      stepped.clock->move(10'000);  // the longest pause before a retry
    }
  }
  // No record is missing, and the first deliveries of all records are in order. A record can be delivered
  // again after later records.
  std::string text = std::to_string(kinesis.requests) + " requests:";
  int next_id = 1;
  for (const json& record : kinesis.taken) {
    const int id = std::stoi(record["dynamodb"]["NewImage"]["id"]["S"].get<std::string>());
    CHECK(id <= next_id);
    next_id = std::max(next_id, id + 1);
    text += "\n" + record.dump();
  }
  CHECK(next_id == last_id + 1);
  CHECK(stepped.emulator->kinesis().dropped() == 0);
  return text + "\nat " + std::to_string(stepped.clock->now());
}

}  // namespace

TEST_CASE("Kinesis gets each change at least once and in order despite rejections and failures") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    const std::string first = run(seed);
    CHECK(run(seed) == first);
  }
}

TEST_CASE("the pause between Kinesis retries grows from 0.1 s to 10 s even if new changes arrive") {
  SteppedEmulator stepped(1);
  SlowKinesis& kinesis = *stepped.kinesis;
  stepped.put("carts", 1);
  stepped.scheduler->run();
  for (const engine::Instant wait : {100, 200, 400, 800, 1600, 3200, 6400, 10'000, 10'000}) {
    REQUIRE(kinesis.asked());
    kinesis.take(0);
    stepped.scheduler->run();
    stepped.clock->move(wait - 1);
    stepped.put("carts", 2);
    stepped.scheduler->run();
    REQUIRE_FALSE(kinesis.asked());
    stepped.clock->move(1);
    stepped.scheduler->run();
  }
  kinesis.take_all();
  stepped.scheduler->run();
  CHECK(stepped.settled());
  stepped.put("carts", 3);
  stepped.scheduler->run();
  kinesis.fail();
  stepped.scheduler->run();
  stepped.clock->move(100);  // retries start again with the shortest pause
  stepped.scheduler->run();
  CHECK(kinesis.asked());
}

TEST_CASE("a Kinesis request in flight at shutdown is stopped and may complete afterward") {
  SteppedEmulator stepped(1);
  SlowKinesis& kinesis = *stepped.kinesis;
  stepped.put("carts", 1);
  stepped.scheduler->run();
  REQUIRE(kinesis.asked());
  CHECK_FALSE(kinesis.stopped());
  stepped.emulator.reset();
  CHECK(kinesis.stopped());
  kinesis.take_all();
  stepped.scheduler->run();
  CHECK(kinesis.requests == 1);
}

}  // namespace mayfly::testing
