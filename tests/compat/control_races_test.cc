// Runs every control API call concurrently with every other call and with requests. No call crashes, hangs,
// or returns a response that no order of the calls could produce.
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "compat/control/control.h"
#include "tests/support/engine_world.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

struct RacedCall {
  std::string_view method, path, body;
};

// Contains one example of each call. The snapshot, table or other object that a call names may or may not
// exist.
constexpr RacedCall calls[] = {
    {"GET", "/_mayfly/clock", ""},
    {"PUT", "/_mayfly/clock", R"({"mode":"frozen"})"},
    {"PUT", "/_mayfly/clock", R"({"rate":1000})"},
    {"POST", "/_mayfly/clock/advance", R"({"seconds":1})"},
    {"POST", "/_mayfly/clock/advance", R"({"to":"next-expiry"})"},
    {"POST", "/_mayfly/clock/advance", R"({"seconds":1,"age_streams":true})"},
    {"POST", "/_mayfly/clock/advance", R"({"minutes":0.01,"settle":"triggers","settle_seconds":0.1})"},
    {"GET", "/_mayfly/ttl", ""},
    {"GET", "/_mayfly/ttl/carts", ""},
    {"PUT", "/_mayfly/ttl/carts", R"({"mode":"manual"})"},
    {"PUT", "/_mayfly/ttl/carts", R"({"mode":"exact"})"},
    {"PUT", "/_mayfly/ttl/carts", R"({"mode":"aws","delay_seconds":[1,3]})"},
    {"POST", "/_mayfly/ttl/carts/sweep", ""},
    {"GET", "/_mayfly/ttl/carts/upcoming", ""},
    {"POST", "/_mayfly/ttl/carts/explain", R"({"key":{"id":{"S":"7"}}})"},
    {"PUT", "/_mayfly/failpoints", R"({"table":"carts","key":{"id":{"S":"7"}}})"},
    {"GET", "/_mayfly/failpoints", ""},
    {"DELETE", "/_mayfly/failpoints", ""},
    {"POST", "/_mayfly/snapshots", ""},
    {"POST", "/_mayfly/snapshots", R"({"name":"fixtures"})"},
    {"GET", "/_mayfly/snapshots", ""},
    {"POST", "/_mayfly/snapshots/1/restore", ""},
    {"POST", "/_mayfly/snapshots/2/restore", ""},
    {"DELETE", "/_mayfly/snapshots/3", ""},
    {"GET", "/_mayfly/streams/carts/shards", ""},
    {"POST", "/_mayfly/streams/carts/split", ""},
    {"POST", "/_mayfly/streams/carts/roll", ""},
    {"PUT", "/_mayfly/faults", R"({"rules":[]})"},
    {"PUT", "/_mayfly/faults", R"({"rules":[{"fault":"stale_reads","writes":5,"milliseconds":500}]})"},
    {"GET", "/_mayfly/faults", ""},
    {"DELETE", "/_mayfly/faults", ""},
    {"GET", "/_mayfly/replication", ""},
    {"PUT", "/_mayfly/replication", R"({"from":"us-east-1","to":"eu-west-1","lag_milliseconds":500})"},
    {"PUT", "/_mayfly/replication", R"({"from":"eu-west-1","to":"us-east-1","paused":true})"},
    {"DELETE", "/_mayfly/replication", ""},
    {"POST", "/_mayfly/replication/settle", ""},
    {"GET", "/_mayfly/triggers", ""},
    {"GET", "/_mayfly/functions", ""},
    {"PUT", "/_mayfly/functions/reminder", R"({"url":"http://127.0.0.1:1/"})"},
    {"DELETE", "/_mayfly/functions/reminder", ""},
    {"GET", "/_mayfly/jobs", ""},
    {"GET", "/_mayfly/jobs/01700000000000-00000000/log", ""},
    {"POST", "/_mayfly/jobs/await", R"({"timeout_seconds":0.01})"},
    {"POST", "/_mayfly/await", R"({"table":"carts","key":{"id":{"S":"7"}},"timeout_seconds":0.01})"},
    {"GET", "/_mayfly/", ""},
    {"GET", "/_mayfly/openapi.json", ""},
    {"GET", "/_mayfly/nothing", ""},
    {"PUT", "/_mayfly/faults", R"({"rules":1})"},
    {"GET", "/_mayfly/jobs/01700000000000-00000000", ""},
    {"GET", "/_mayfly/accounts", ""},
    {"GET", "/_mayfly/metrics", ""},
    {"GET", "/_mayfly/health", ""},
    {"POST", "/_mayfly/reset", ""},
};

int status_of(TestEmulator& emulator, const RacedCall& call, const std::stop_token& stop) {
  const engine::Scope scope{"000000000000", "us-east-1"};
  return compat::control::answer(emulator.emulator(), {.method = call.method,
                                                       .path = call.path,
                                                       .query = {},
                                                       .body = call.body,
                                                       .scope = scope,
                                                       .stop = stop})
      .status;
}

constexpr std::string_view carts_request =
    R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
        "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}})";

constexpr std::string_view switch_recovery_on =
    R"({"TableName":"carts","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}})";

}  // namespace

TEST_CASE("a fault rule strikes concurrent requests of any size exactly as often as its count says",
          "[races]") {
  TestEmulator emulator;
  REQUIRE(emulator.execute("CreateTable", carts_request).status == 200);
  REQUIRE(status_of(emulator,
                    {"PUT", "/_mayfly/faults",
                     R"({"rules":[{"table":"carts","fault":"throttle","count":30},)"
                     R"({"table":"others","fault":"internal_server_error"}]})"},
                    {}) == 200);
  const std::string put =
      R"({"TableName":"carts","Item":{"id":{"S":"a"},"text":{"S":")" + std::string(300'000, 'x') + R"("}}})";
  std::atomic<int> struck = 0, done = 0;
  std::vector<std::thread> threads;
  for (int client = 0; client < 4; ++client) {
    threads.emplace_back([&, client] {
      for (int i = 0; i < 25; ++i) {
        const int status = client % 2 == 0
                               ? emulator.execute("PutItem", put).status
                               : emulator.execute("Scan", R"({"TableName":"carts","Limit":1})").status;
        struck += status == 400;
        done += status == 200;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(struck == 30);
  CHECK(done == 70);
}

TEST_CASE("the server stays consistent and responsive under concurrent control calls and writers",
          "[control][races]") {
  compat::EmulatorOptions options;
  options.database.reap = true;
  TestEmulator emulator(std::move(options));
  std::atomic<bool> stop{false};
  std::stop_source stop_waits;  // ends calls that still wait at a failpoint
  std::atomic<int> unexpected{0}, answered{0};
  std::vector<std::thread> threads;
  const auto repeat = [&](std::function<void(unsigned)> action) {
    threads.emplace_back([&stop, action = std::move(action)] {
      for (unsigned i = 0; !stop; ++i) action(i);
    });
  };
  // Three threads walk through the calls in different orders.
  for (const unsigned step : {5u, 13u, 17u}) {
    REQUIRE(std::gcd(step, std::size(calls)) == 1);  // otherwise the walk would skip calls
    repeat([&, step](unsigned i) {
      const RacedCall& call = calls[i * step % std::size(calls)];
      const int status = status_of(emulator, call, stop_waits.get_token());
      const bool stopped = status == 503 && stop;
      const bool timed_out = status == 408 && call.path == "/_mayfly/await";
      unexpected +=
          status != 200 && status != 404 && status != 409 && status != 400 && !stopped && !timed_out;
      ++answered;
    });
  }
  repeat([&](unsigned i) {
    switch (i % 8) {
      case 0: emulator.execute("CreateTable", carts_request); break;
      case 1:
        emulator.execute(
            "UpdateTimeToLive",
            R"({"TableName":"carts","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})");
        break;
      case 2:
        emulator.execute("UpdateTable",
                         R"({"TableName":"carts","ReplicaUpdates":[{"Create":{"RegionName":"eu-west-1"}}]})");
        break;
      case 3: emulator.execute("UpdateContinuousBackups", switch_recovery_on); break;
      case 5:
        if (i % 32 == 29)
          emulator.execute(
              "UpdateTable",
              R"({"TableName":"carts","ReplicaUpdates":[{"Delete":{"RegionName":"eu-west-1"}}]})");
        break;
      case 7:
        if (i % 64 == 63) emulator.execute("DeleteTable", R"({"TableName":"carts"})");
        break;
      default: emulator.execute("Scan", R"({"TableName":"carts"})");
    }
  });
  repeat([&](unsigned i) {
    const std::string ttl = std::to_string(TestEmulator::start / 1000 + static_cast<std::int64_t>(i % 40));
    const compat::Answer answer = emulator.execute(
        "PutItem", R"({"TableName":"carts","Item":{"id":{"S":")" + std::to_string(i % 50) + R"("},"ttl":{")" +
                       (i % 5 == 4 ? "S" : "N") + R"(":")" + ttl + R"("}}})");
    unexpected += answer.status == 500;
  });
  repeat([&](unsigned i) {  // in the other region
    const engine::Scope there{"000000000000", "eu-west-1"};
    const auto answer = [&](std::string_view operation, std::string_view body) {
      return emulator.emulator().execute(there, "DynamoDB_20120810." + std::string(operation), body).status;
    };
    unexpected += answer("PutItem", R"({"TableName":"carts","Item":{"id":{"S":")" + std::to_string(i % 50) +
                                        R"("}}})") == 500;
    if (i % 16 == 7) unexpected += answer("UpdateContinuousBackups", switch_recovery_on) == 500;
    if (i % 128 == 127) unexpected += answer("DeleteTable", R"({"TableName":"carts"})") == 500;
  });
  repeat([&](unsigned) {
    status_of(emulator, {"DELETE", "/_mayfly/failpoints", ""}, {});
    std::this_thread::yield();
  });
  while (answered < 3000) std::this_thread::yield();
  stop = true;
  stop_waits.request_stop();
  for (std::thread& thread : threads) thread.join();
  CHECK(unexpected == 0);
  CHECK(inconsistency(emulator.emulator().database()) == "");

  CHECK(status_of(emulator, {"POST", "/_mayfly/reset", ""}, {}) == 200);
  CHECK(emulator.run("ListTables", "{}") == R"(200 {"TableNames":[]})");
  CHECK(emulator.execute("CreateTable", carts_request).status == 200);
  CHECK(emulator.execute("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"a"}}})").status == 200);
  CHECK(emulator.run("GetItem", R"({"TableName":"carts","Key":{"id":{"S":"a"}}})") ==
        R"(200 {"Item":{"id":{"S":"a"}}})");
}

}  // namespace mayfly::testing
