// Tests restores that outlast their request, together with what can happen during a restore: other requests,
// a restart, snapshots and resets.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compat/control/control.h"
#include "engine/background/history.h"
#include "engine/background/history_size.h"
#include "tests/support/engine_world.h"
#include "tests/support/stepped_scheduler.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {
namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;

constexpr int items = 3000;
const json carts = {{"TableName", "carts"}};
const json again = {{"TableName", "again"}};

json create_table_request(const std::string& name) {
  return {{"TableName", name},
          {"BillingMode", "PAY_PER_REQUEST"},
          {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
          {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}}};
}

json recovery(bool on) {
  return {{"TableName", "carts"}, {"PointInTimeRecoverySpecification", {{"PointInTimeRecoveryEnabled", on}}}};
}

// An emulator whose background work the test steps. Each request and each step restores ten items.
struct Stepped {
  explicit Stepped(const std::string& directory = {}) : directory(directory) { open(); }

  void open() {
    emulator.reset();
    scheduler = std::make_shared<SteppedScheduler>(clock, 7);
    compat::EmulatorOptions options;
    options.restored_at_once_max = 10;
    options.exact_recovery = true;
    options.database.directory = directory;
    options.database.make_scheduler = [scheduler = scheduler](std::size_t) { return scheduler; };
    options.database.report = [this](std::string_view sentence) { reports.emplace_back(sentence); };
    emulator.emplace(std::move(options));
  }
  // Uses the emulator's own clock, so that time does not go back on a restart.
  void fill() {
    emulator->ok("CreateTable", create_table_request("carts"));
    for (int i = 0; i < items; ++i) put(i);
  }
  void put(int i) {
    emulator->ok("PutItem", {{"TableName", "carts"}, {"Item", {{"id", {{"S", std::to_string(i)}}}}}});
  }
  std::string backup() {
    return emulator->ok("CreateBackup",
                        {{"TableName", "carts"}, {"BackupName", "nightly"}})["BackupDetails"]["BackupArn"];
  }
  json restore(const std::string& arn, const std::string& target = "again") {
    return emulator->ok("RestoreTableFromBackup", {{"TargetTableName", target}, {"BackupArn", arn}});
  }
  json restore_now() {
    return emulator->ok(
        "RestoreTableToPointInTime",
        {{"SourceTableName", "carts"}, {"TargetTableName", "again"}, {"UseLatestRestorableTime", true}});
  }
  json described() { return emulator->ok("DescribeTable", again)["Table"]; }
  int count(const std::string& table) {
    return emulator->ok("Scan", {{"TableName", table}, {"Select", "COUNT"}})["Count"];
  }
  std::string control(std::string_view method, std::string_view path) {
    const auto answer = compat::control::answer(emulator->emulator(),
                                                {.method = method, .path = path, .scope = emulator->scope});
    REQUIRE(answer.status == 200);
    return answer.body;
  }
  std::string consistency() { return inconsistency(emulator->emulator().database()); }

  const std::string directory;
  std::shared_ptr<SteppedClock> clock = std::make_shared<SteppedClock>(1'700'000'000'000);
  std::shared_ptr<SteppedScheduler> scheduler;
  std::vector<std::string> reports;
  std::optional<TestEmulator> emulator;
};

}  // namespace

TEST_CASE("a table being restored is CREATING and its backup is in use", "[backups]") {
  Stepped world;
  world.fill();
  TestEmulator& emulator = *world.emulator;
  const std::string arn = world.backup();
  const json answer = world.restore(arn)["TableDescription"];
  CHECK(answer["TableStatus"] == "CREATING");
  const json summary = {{"SourceBackupArn", arn},
                        {"SourceTableArn", "arn:aws:dynamodb:us-east-1:000000000000:table/carts"},
                        {"RestoreDateTime", 1'700'000'000},
                        {"RestoreInProgress", true}};
  CHECK(world.described()["TableStatus"] == "CREATING");
  CHECK(world.described()["RestoreSummary"] == summary);
  CHECK(world.described()["ItemCount"] < items);

  CHECK(emulator.refused("Scan", again) == "Requested resource not found");
  CHECK(emulator.refused("PutItem", {{"TableName", "again"}, {"Item", {{"id", {{"S", "x"}}}}}}) ==
        "Requested resource not found");
  const std::string not_found = "Requested resource not found: Table: again not found";
  CHECK(emulator.refused("DescribeTimeToLive", again) == not_found);
  CHECK(emulator.refused("UpdateTimeToLive", {{"TableName", "again"},
                                              {"TimeToLiveSpecification",
                                               {{"Enabled", true}, {"AttributeName", "ttl"}}}}) == not_found);
  CHECK(emulator.refused("UpdateTable", {{"TableName", "again"}, {"DeletionProtectionEnabled", true}}) ==
        not_found);
  CHECK(emulator.refused("DescribeContributorInsights", again) == not_found);
  CHECK(emulator.refused("DescribeContinuousBackups", again) == "Table not found: again");
  CHECK(emulator.refused("CreateBackup", {{"TableName", "again"}, {"BackupName", "one"}}) ==
        "Table not found: again");
  CHECK(emulator.refused("CreateTable", create_table_request("again")) == "Table is being used: again");
  CHECK(emulator.refused("DeleteTable", again) ==
        "Attempt to change a resource which is still in use: Table is being created: again");
  CHECK(emulator.refused("RestoreTableFromBackup", {{"TargetTableName", "third"}, {"BackupArn", arn}}) ==
        "Backup is being used to restore another table: " + arn);
  CHECK(emulator.refused("DeleteBackup", {{"BackupArn", arn}}) ==
        "Backup is being used to restore table: " + arn);
  const std::string other = world.backup();
  CHECK(emulator.refused("RestoreTableFromBackup", {{"TargetTableName", "again"}, {"BackupArn", other}}) ==
        "Table: again is already being restored from backup: " + arn);
  CHECK(world.control("GET", "/_mayfly/metrics").find("\nmayfly_restores_running 1\n") != std::string::npos);

  world.scheduler->run();
  CHECK(world.described()["TableStatus"] == "ACTIVE");
  CHECK_FALSE(world.described().contains("RestoreSummary"));
  CHECK(world.count("again") == items);
  emulator.ok("DeleteBackup", {{"BackupArn", arn}});
  emulator.ok("DeleteTable", again);
  CHECK(world.control("GET", "/_mayfly/metrics").find("\nmayfly_restores_running 0\n") != std::string::npos);
  CHECK(world.consistency() == "");
}

TEST_CASE("a restore request and each later step of the restore copy a limited number of items",
          "[backups]") {
  Stepped world;
  world.emulator->ok("CreateTable", create_table_request("carts"));
  constexpr int few = 95;
  for (int i = 0; i < few; ++i) world.put(i);
  world.scheduler->run();
  world.restore(world.backup());
  int steps = 0, there = world.described()["ItemCount"];
  CHECK(there == 10);
  while (world.scheduler->step_one()) {
    const int now = world.described()["ItemCount"];
    CHECK(now - there <= 10);
    if (std::exchange(there, now) != now) ++steps;
  }
  CHECK(there == few);
  CHECK(steps == 9);
  CHECK(world.described()["TableStatus"] == "ACTIVE");
}

TEST_CASE("later changes to a table do not affect a restore in progress", "[backups]") {
  Stepped world;
  world.fill();
  TestEmulator& emulator = *world.emulator;
  emulator.ok("UpdateContinuousBackups", recovery(true));
  const bool at_instant = GENERATE(false, true);
  at_instant ? world.restore_now() : world.restore(world.backup());
  emulator.advance(1s);
  for (int i = 0; i < items; i += 2)
    emulator.ok("DeleteItem", {{"TableName", "carts"}, {"Key", {{"id", {{"S", std::to_string(i)}}}}}});
  world.put(items + 1);
  if (GENERATE(false, true)) emulator.ok("DeleteTable", carts);
  world.scheduler->run();
  CHECK(world.count("again") == items);
  CHECK(world.consistency() == "");
}

TEST_CASE("a restore that a shutdown interrupts continues at the next start and the server says so",
          "[backups][holds]") {
  TemporaryDirectory directory;
  Stepped world(directory.path());
  world.fill();
  world.restore(world.backup());
  REQUIRE(world.scheduler->step_one());
  world.open();
  CHECK(world.reports ==
        std::vector<std::string>{"The restore of table again, interrupted by a server restart, continues."});
  CHECK(world.described()["TableStatus"] == "CREATING");
  CHECK(world.described()["RestoreSummary"]["RestoreInProgress"] == true);
  world.scheduler->run();
  CHECK(world.described()["TableStatus"] == "ACTIVE");
  CHECK(world.count("again") == items);
  CHECK(world.consistency() == "");
  world.open();
  CHECK(world.reports.size() == 1);
  CHECK(world.described()["TableStatus"] == "ACTIVE");
}

TEST_CASE("an interrupted restore continues after a restart even if its source is gone", "[backups][holds]") {
  const bool deleted = GENERATE(false, true);
  TemporaryDirectory directory;
  Stepped world(directory.path());
  TestEmulator* emulator = &*world.emulator;
  world.fill();
  emulator->ok("UpdateContinuousBackups", recovery(true));
  std::string arn;
  SECTION("the restore is from an earlier instant") {
    emulator->advance(2s);
    for (int i = 0; i < items; ++i) world.put(items + i);
    emulator->ok(
        "RestoreTableToPointInTime",
        {{"SourceTableName", "carts"}, {"TargetTableName", "again"}, {"RestoreDateTime", 1'700'000'001}});
  }
  SECTION("the restore is from the current state") { world.restore_now(); }
  SECTION("the restore is from the backup of a deleted table") {
    emulator->ok("DeleteTable", carts);
    arn = emulator->ok("ListBackups", {{"BackupType", "SYSTEM"}})["BackupSummaries"][0]["BackupArn"];
    world.restore(arn);
  }
  if (arn.empty()) {
    emulator->advance(1s);
    for (int i = 0; i < items; i += 2)
      emulator->ok("DeleteItem", {{"TableName", "carts"}, {"Key", {{"id", {{"S", std::to_string(i)}}}}}});
    world.put(items + 1);
    emulator->ok("UpdateContinuousBackups", recovery(false));
    if (deleted) emulator->ok("DeleteTable", carts);
  } else {
    emulator->advance(24h * 36);  // the backup expires
  }
  REQUIRE(world.scheduler->step_one());
  world.open();
  CHECK(world.reports ==
        std::vector<std::string>{"The restore of table again, interrupted by a server restart, continues."});
  world.scheduler->run();
  CHECK(world.described()["TableStatus"] == "ACTIVE");
  CHECK(world.count("again") == items);
  CHECK(world.consistency() == "");
  // No point in time and no old version remains.
  CHECK(world.emulator->emulator().database().history().points(world.emulator->scope.account).size() == 0);
  CHECK(world.emulator->emulator().database().history_size().footprint().versions == 0);
}

TEST_CASE(
    "a table restore resumes if a snapshot taken during it is restored and stops if the account is reset",
    "[backups]") {
  Stepped world;
  world.fill();
  world.restore(world.backup());
  const std::string id = json::parse(world.control("POST", "/_mayfly/snapshots"))["id"];
  const std::string path = "/_mayfly/snapshots/" + id + "/restore";
  SECTION("the table restore is still running") {}
  SECTION("the table restore has finished") {
    world.scheduler->run();
    CHECK(world.described()["TableStatus"] == "ACTIVE");
    world.emulator->ok("DeleteTable", again);
  }
  world.control("POST", path);
  CHECK(world.described()["TableStatus"] == "CREATING");
  CHECK(world.emulator->refused("Scan", again) == "Requested resource not found");
  world.scheduler->run();
  CHECK(world.described()["TableStatus"] == "ACTIVE");
  CHECK(world.count("again") == items);
  CHECK(world.consistency() == "");
  world.control("POST", path);
  world.control("POST", "/_mayfly/reset");
  CHECK(world.emulator->run("ListTables", "{}") == R"(200 {"TableNames":[]})");
  CHECK(world.emulator->run("ListBackups", R"({"BackupType":"ALL"})") == R"(200 {"BackupSummaries":[]})");
  world.emulator->ok("CreateTable", create_table_request("again"));
  world.scheduler->run();
  CHECK(world.count("again") == 0);
  CHECK(world.consistency() == "");
}

TEST_CASE("a restore that hits write failures completes once writes succeed again", "[backups]") {
  bool fails = false;
  auto clock = std::make_shared<SteppedClock>(1'700'000'000'000);
  auto scheduler = std::make_shared<SteppedScheduler>(clock, 3);
  compat::EmulatorOptions options;
  options.restored_at_once_max = 10;
  options.database.write_fails = [&] { return fails; };
  options.database.make_scheduler = [&](std::size_t) { return scheduler; };
  TestEmulator emulator(std::move(options));
  emulator.ok("CreateTable", create_table_request("carts"));
  for (int i = 0; i < items; ++i)
    emulator.ok("PutItem", {{"TableName", "carts"}, {"Item", {{"id", {{"S", std::to_string(i)}}}}}});
  const std::string arn = emulator.ok(
      "CreateBackup", {{"TableName", "carts"}, {"BackupName", "one"}})["BackupDetails"]["BackupArn"];
  emulator.ok("RestoreTableFromBackup", {{"TargetTableName", "again"}, {"BackupArn", arn}});
  fails = true;
  scheduler->run();
  CHECK(emulator.ok("DescribeTable", again)["Table"]["TableStatus"] == "CREATING");
  fails = false;
  clock->move(10'000);
  scheduler->run();
  CHECK(emulator.ok("DescribeTable", again)["Table"]["TableStatus"] == "ACTIVE");
  CHECK(emulator.ok("Scan", {{"TableName", "again"}, {"Select", "COUNT"}})["Count"] == items);
}

TEST_CASE("an account can run at most 50 restores at once", "[backups]") {
  Stepped world;
  world.fill();
  std::vector<std::string> arns;
  for (int i = 0; i < 51; ++i) arns.push_back(world.backup());
  for (int i = 0; i < 50; ++i) world.restore(arns[static_cast<std::size_t>(i)], "again-" + std::to_string(i));
  CHECK(world.emulator->refused("RestoreTableFromBackup",
                                {{"TargetTableName", "again-50"}, {"BackupArn", arns[50]}}) ==
        "Subscriber limit exceeded: Only 50 restore operations can be done simultaneously");
  world.scheduler->run();
  world.restore(arns[50], "again-50");
  world.scheduler->run();
  CHECK(world.count("again-0") == items);
  CHECK(world.count("again-50") == items);
}

}  // namespace mayfly::testing
