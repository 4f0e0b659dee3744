// Background work looks at an account only when something in that account has changed, never because another
// account has changed. Every component that listens for clock moves, resets and restores counts how often it
// looks at an account.
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "compat/backups/backups.h"
#include "compat/calls/times.h"
#include "compat/control/control.h"
#include "compat/emulator.h"
#include "compat/triggers/rest.h"
#include "compat/triggers/triggers.h"
#include "engine/background/history_trimmer.h"
#include "engine/background/reaper.h"
#include "engine/background/replication.h"
#include "engine/background/stream_trimmer.h"
#include "engine/database.h"
#include "tests/support/stepped_scheduler.h"

namespace mayfly::testing {

namespace {

using nlohmann::json;

class Accepting final : public compat::outbound::Invoker {
  void start(compat::outbound::Invocation, std::stop_token, Done done) override {
    done(compat::outbound::InvocationAnswer{.body = "null"});
  }
};

// Accounts that use many features: TTL, a stream with a mapping, recovery, a replica, and the SYSTEM backup
// of a dropped table.
class Accounts {
 public:
  explicit Accounts(int count) : count_(count) {
    compat::EmulatorOptions options;
    options.database.clock = clock_;
    options.database.make_scheduler = [this](std::size_t) { return scheduler_; };
    options.triggers.invoker = std::make_shared<Accepting>();
    auto opened = compat::Emulator::open(std::move(options));
    REQUIRE(opened);
    emulator_ = *std::move(opened);
    for (int number = 0; number < count; ++number) fill(id(number));
    scheduler_->run();
  }

  static std::string id(int number) { return std::to_string(100'000'000'000 + number); }

  void operation(const std::string& account, const std::string& name, const std::string& body) {
    answer(account, name, body);
  }
  json control(const std::string& account, const std::string& method, const std::string& path,
               const std::string& body = {}) {
    const auto given = compat::control::answer(
        *emulator_,
        {.method = method, .path = path, .query = {}, .body = body, .scope = {account, "us-east-1"}});
    INFO(method << " " << path << " -> " << given.body);
    REQUIRE(given.status == 200);
    return given.body.empty() ? json() : json::parse(given.body);
  }

  using Looks = std::map<std::string, std::uint64_t>;  // by listener
  // Returns how often each listener has looked at an account so far. The count for "triggers" leaves out the
  // first account.
  Looks looks() {
    const engine::Database& database = emulator_->database();
    Looks now{{"reaper", database.reaper().looks()},
              {"stream trimmer", database.stream_trimmer().looks()},
              {"history trimmer", database.history_trimmer().looks()},
              {"replication", database.replication().looks()},
              {"backups", emulator_->backups().looks()}};
    for (int number = 1; number < count_; ++number)
      now["triggers"] += emulator_->triggers().load(id(number)).looks;
    return now;
  }
  // Runs `work`, which changes only the first account, and then all background work. Returns how often each
  // listener looked.
  Looks of(const std::function<void()>& work) {
    const Looks before = looks();
    work();
    scheduler_->run();
    Looks rise = looks();
    for (auto& [listener, count] : rise) count -= before.at(listener);
    return rise;
  }

  compat::triggers::Triggers& triggers() { return emulator_->triggers(); }

 private:
  json answer(const std::string& account, const std::string& name, const std::string& body) {
    const auto given = emulator_->execute({account, "us-east-1"}, "DynamoDB_20120810." + name, body);
    INFO(name << " -> " << given.body);
    REQUIRE(given.status == 200);
    return json::parse(given.body);
  }

  void create(const std::string& account, const std::string& table) {
    operation(account, "CreateTable", R"({"TableName":")" + table + R"(","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
        "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}})");
    scheduler_->run();
    operation(account, "UpdateContinuousBackups",
              R"({"TableName":")" + table +
                  R"(","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}})");
  }

  void fill(const std::string& account) {
    create(account, "gone");
    operation(account, "DeleteTable", R"({"TableName":"gone"})");
    create(account, "carts");
    operation(account, "UpdateTimeToLive",
              R"({"TableName":"carts","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})");
    operation(account, "UpdateTable",
              R"({"TableName":"carts","ReplicaUpdates":[{"Create":{"RegionName":"eu-west-1"}}]})");
    scheduler_->run();
    const json table = answer(account, "DescribeTable", R"({"TableName":"carts"})")["Table"];
    control(account, "PUT", "/_mayfly/functions/f", R"({"url":"http://functions/f"})");
    const auto mapped = compat::triggers::answer_rest(
        triggers(), {.scope = {account, "us-east-1"},
                     .method = "POST",
                     .path = "/2015-03-31/event-source-mappings",
                     .query = {},
                     .body = R"({"EventSourceArn":")" + table["LatestStreamArn"].get<std::string>() +
                             R"(","FunctionName":"f","StartingPosition":"TRIM_HORIZON"})",
                     .invocation_type = {}});
    INFO(mapped.body);
    REQUIRE(mapped.status == 202);
    operation(account, "PutItem",
              R"({"TableName":"carts","Item":{"id":{"S":"a"},"ttl":{"N":"9000000000"}}})");
  }

  const int count_;
  const std::shared_ptr<SteppedClock> clock_ = std::make_shared<SteppedClock>(1'700'000'000'000);
  const std::shared_ptr<SteppedScheduler> scheduler_ = std::make_shared<SteppedScheduler>(clock_, 1);
  std::unique_ptr<compat::Emulator> emulator_;
};

}  // namespace

TEST_CASE("a listener examines only the account whose clock or state has changed", "[accounts]") {
  const auto measured = [](int count) {
    Accounts accounts(count);
    const std::string mine = Accounts::id(0);
    std::map<std::string, Accounts::Looks> by_call;
    by_call["advance"] =
        accounts.of([&] { accounts.control(mine, "POST", "/_mayfly/clock/advance", R"({"seconds":3600})"); });
    by_call["advance by 40 days"] = accounts.of(
        [&] { accounts.control(mine, "POST", "/_mayfly/clock/advance", R"({"seconds":3456000})"); });
    by_call["a function"] = accounts.of(
        [&] { accounts.control(mine, "PUT", "/_mayfly/functions/f", R"({"url":"http://functions/g"})"); });
    std::string snapshot;
    by_call["snapshot"] =
        accounts.of([&] { snapshot = accounts.control(mine, "POST", "/_mayfly/snapshots")["id"]; });
    by_call["restore"] =
        accounts.of([&] { accounts.control(mine, "POST", "/_mayfly/snapshots/" + snapshot + "/restore"); });
    by_call["reset"] = accounts.of([&] { accounts.control(mine, "POST", "/_mayfly/reset"); });
    return by_call;
  };
  const auto alone = measured(1), among_many = measured(25);
  std::map<std::string, std::uint64_t> total;
  for (const auto& [call, looks] : among_many) {
    for (const auto& [listener, count] : looks) {
      INFO(call << ", " << listener);
      const auto other = alone.at(call).find(listener);
      CHECK(count == (other == alone.at(call).end() ? 0 : other->second));
      total[listener] += count;
    }
  }
  for (const char* const listener : {"reaper", "stream trimmer", "history trimmer", "replication", "backups"})
    CHECK(total.at(listener) > 0);  // the counter works
}

}  // namespace mayfly::testing
