// Tests backups as part of an account's state, the limits on backups, and concurrent operations on backups.
#include "compat/backups/backups.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compat/backups/arn.h"
#include "compat/backups/restores.h"
#include "compat/control/control.h"
#include "engine/background/history.h"
#include "engine/background/history_size.h"
#include "engine/background/history_trimmer.h"
#include "engine/database.h"
#include "tests/support/engine_world.h"
#include "tests/support/stepped_scheduler.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {
namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;

json create_request(const std::string& name) {
  return {{"TableName", name},
          {"BillingMode", "PAY_PER_REQUEST"},
          {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
          {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}}};
}

json item(const std::string& id) { return {{"TableName", "carts"}, {"Item", {{"id", {{"S", id}}}}}}; }

std::string backup(TestEmulator& emulator) {
  return emulator.ok("CreateBackup",
                     {{"TableName", "carts"}, {"BackupName", "nightly"}})["BackupDetails"]["BackupArn"];
}

std::string control(TestEmulator& emulator, std::string_view method, std::string_view path) {
  const auto answer =
      compat::control::answer(emulator.emulator(), {.method = method, .path = path, .scope = emulator.scope});
  REQUIRE(answer.status == 200);
  return answer.body;
}

std::size_t listed(TestEmulator& emulator) {
  return emulator.ok("ListBackups", {{"BackupType", "ALL"}})["BackupSummaries"].size();
}

int count(TestEmulator& emulator, const std::string& table) {
  return emulator.ok("Scan", {{"TableName", table}, {"Select", "COUNT"}})["Count"];
}

void switch_recovery(TestEmulator& emulator, bool on) {
  emulator.ok(
      "UpdateContinuousBackups",
      {{"TableName", "carts"}, {"PointInTimeRecoverySpecification", {{"PointInTimeRecoveryEnabled", on}}}});
}

std::size_t tables_and_system_backups(TestEmulator& emulator) {
  return emulator.ok("ListTables", json::object())["TableNames"].size() +
         emulator.ok("ListBackups", {{"BackupType", "SYSTEM"}})["BackupSummaries"].size();
}

}  // namespace

TEST_CASE("a backup ARN is formatted and parsed") {
  const std::string id = compat::backups::backup_id(1'791'504'762'511, 0x2779fadd);
  CHECK(id == "01791504762511-2779fadd");
  const std::string arn = compat::backups::backup_arn({"000000000000", "eu-west-1"}, "carts", id);
  CHECK(arn == "arn:aws:dynamodb:eu-west-1:000000000000:table/carts/backup/01791504762511-2779fadd");
  const auto parsed = compat::backups::parse_backup_arn(arn);
  REQUIRE(parsed);
  CHECK(parsed->region == "eu-west-1");
  CHECK(parsed->account == "000000000000");
  CHECK(parsed->table_name == "carts");
  CHECK(parsed->id == id);
  for (const char* none : {"", "arn", "arn:aws:dynamodb:eu-west-1:000000000000:table/carts",
                           "arn:aws:dynamodb:eu-west-1:000000000000:table/carts/backup/",
                           "arn:aws:dynamodb:eu-west-1:000000000000:table//backup/1",
                           "arn:aws:dynamodb:eu-west-1:000000000000:table/a/b/backup/1",
                           "arn:aws:dynamodb:eu-west-1:000000000000:table/carts/backup/1/2"})
    CHECK_FALSE(compat::backups::parse_backup_arn(none));
}

TEST_CASE("restoring a snapshot brings back its backups and a reset drops all backups", "[backups]") {
  TestEmulator emulator;
  emulator.ok("CreateTable", create_request("carts"));
  emulator.ok("PutItem", item("1"));
  const std::string kept = backup(emulator);
  const std::string id = json::parse(control(emulator, "POST", "/_mayfly/snapshots"))["id"];
  emulator.ok("PutItem", item("2"));
  const std::string later = backup(emulator);
  emulator.ok("DeleteBackup", {{"BackupArn", kept}});
  emulator.ok("DeleteTable", {{"TableName", "carts"}});
  CHECK(listed(emulator) == 1);
  control(emulator, "POST", "/_mayfly/snapshots/" + id + "/restore");
  CHECK(listed(emulator) == 1);
  CHECK(emulator.refused("DescribeBackup", {{"BackupArn", later}}) == "Backup not found: " + later);
  emulator.ok("PutItem", item("3"));
  emulator.ok("RestoreTableFromBackup", {{"TargetTableName", "again"}, {"BackupArn", kept}});
  CHECK(count(emulator, "again") == 1);
  CHECK(inconsistency(emulator.emulator().database()) == "");
  control(emulator, "POST", "/_mayfly/reset");
  CHECK(listed(emulator) == 0);
  CHECK(emulator.emulator().database().history().points("000000000000").empty());
  CHECK(emulator.emulator().database().history_size().footprint().versions == 0);
  CHECK(inconsistency(emulator.emulator().database()) == "");
}

TEST_CASE("a snapshot restore brings back point-in-time recovery with its history", "[backups]") {
  compat::EmulatorOptions options;
  options.exact_recovery = true;
  TestEmulator emulator(std::move(options));
  emulator.ok("CreateTable", create_request("carts"));
  const auto recovery = [&](bool on) {
    emulator.ok(
        "UpdateContinuousBackups",
        {{"TableName", "carts"}, {"PointInTimeRecoverySpecification", {{"PointInTimeRecoveryEnabled", on}}}});
  };
  recovery(true);
  const auto first = emulator.now() / 1000;
  emulator.advance(10s);
  emulator.ok("PutItem", item("1"));
  const std::string id = json::parse(control(emulator, "POST", "/_mayfly/snapshots"))["id"];
  recovery(false);
  emulator.advance(10s);
  control(emulator, "POST", "/_mayfly/snapshots/" + id + "/restore");
  const json described =
      emulator.ok("DescribeContinuousBackups",
                  {{"TableName", "carts"}})["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"];
  CHECK(described["PointInTimeRecoveryStatus"] == "ENABLED");
  CHECK(described["EarliestRestorableDateTime"] == first);
  for (const auto& [instant, there] : {std::pair{first + 9, 0}, {first + 10, 1}}) {
    const std::string target = "at-" + std::to_string(instant);
    emulator.ok("RestoreTableToPointInTime",
                {{"SourceTableName", "carts"}, {"TargetTableName", target}, {"RestoreDateTime", instant}});
    CHECK(count(emulator, target) == there);
  }
  CHECK(inconsistency(emulator.emulator().database()) == "");
}

TEST_CASE("with exact recovery a table can be restored to any instant up to the current millisecond",
          "[backups]") {
  compat::EmulatorOptions options;
  options.exact_recovery = true;
  TestEmulator emulator(std::move(options));
  emulator.ok("CreateTable", create_request("carts"));
  emulator.ok(
      "UpdateContinuousBackups",
      {{"TableName", "carts"}, {"PointInTimeRecoverySpecification", {{"PointInTimeRecoveryEnabled", true}}}});
  emulator.advance(1234ms);
  emulator.ok("PutItem", item("1"));
  const json described =
      emulator.ok("DescribeContinuousBackups",
                  {{"TableName", "carts"}})["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"];
  CHECK(described["LatestRestorableDateTime"] == 1'700'000'001.234);
  emulator.ok("RestoreTableToPointInTime",
              {{"SourceTableName", "carts"}, {"TargetTableName", "now"}, {"UseLatestRestorableTime", true}});
  CHECK(count(emulator, "now") == 1);
  emulator.ok(
      "RestoreTableToPointInTime",
      {{"SourceTableName", "carts"}, {"TargetTableName", "then"}, {"RestoreDateTime", 1'700'000'001}});
  CHECK(count(emulator, "then") == 0);
}

TEST_CASE("the number of an account's backups is limited", "[backups]") {
  compat::EmulatorOptions options;
  options.limits.backups_max = 2;
  TestEmulator emulator(std::move(options));
  emulator.ok("CreateTable", create_request("carts"));
  const std::string first = backup(emulator);
  backup(emulator);
  CHECK(emulator.refused("CreateBackup", {{"TableName", "carts"}, {"BackupName", "third"}}) ==
        "Subscriber limit exceeded: There is a limit of 2 backups per subscriber (--backups-max)");
  emulator.ok("DeleteBackup", {{"BackupArn", first}});
  backup(emulator);
  const std::string metrics = control(emulator, "GET", "/_mayfly/metrics");
  CHECK(metrics.find("\nmayfly_backups 2\n") != std::string::npos);
}

TEST_CASE("once old item versions reach their limit no backup is made and the health call reports the limit",
          "[backups]") {
  compat::EmulatorOptions options;
  options.database.history_bytes_max = 10'000;
  TestEmulator emulator(std::move(options));
  emulator.ok("CreateTable", create_request("carts"));
  for (int i = 0; i < 50; ++i) emulator.ok("PutItem", item(std::to_string(i) + std::string(300, 'x')));
  const std::string arn = backup(emulator);
  for (int i = 0; i < 50; ++i)
    emulator.ok("DeleteItem", {{"TableName", "carts"},
                               {"Key", {{"id", {{"S", std::to_string(i) + std::string(300, 'x')}}}}}});
  // Measure the old versions that backups need, instead of waiting until the background task does so.
  emulator.emulator().database().history_trimmer().trim();
  CHECK(json::parse(control(emulator, "GET", "/_mayfly/health"))["status"] ==
        "degraded: limit of old item versions reached (--history-max)");
  CHECK(emulator.refused("CreateBackup", {{"TableName", "carts"}, {"BackupName", "more"}}) ==
        "The server's limit of old item versions is reached (10000 bytes, set by --history-max).");
  emulator.ok("RestoreTableFromBackup", {{"TargetTableName", "again"}, {"BackupArn", arn}});
  CHECK(count(emulator, "again") == 50);
  emulator.ok("DeleteBackup", {{"BackupArn", arn}});
  emulator.ok("CreateBackup", {{"TableName", "carts"}, {"BackupName", "more"}});
}

TEST_CASE("a point in time without a backup document is dropped when the server starts", "[backups]") {
  TemporaryDirectory directory;
  const auto options = [&] {
    compat::EmulatorOptions made;
    made.database.directory = directory.path();
    return made;
  };
  {
    TestEmulator emulator(options());
    emulator.ok("CreateTable", create_request("carts"));
    engine::Database& database = emulator.emulator().database();
    REQUIRE(database.history().take_point(database.catalog().find(emulator.scope, "carts")));
    backup(emulator);
    CHECK(database.history().points("000000000000").size() == 2);
  }
  TestEmulator emulator(options());
  CHECK(emulator.emulator().database().history().points("000000000000").size() == 1);
  CHECK(listed(emulator) == 1);
}

TEST_CASE("a table deletion leaves either the table or its SYSTEM backup if any write fails",
          "[backups][holds]") {
  for (int failing = 0;; ++failing) {
    std::atomic<int> writes = -1;  // counts from the deletion on, without the writes of the trimmer's thread
    compat::EmulatorOptions options;
    options.database.write_fails = [&] { return writes >= 0 && writes++ == failing; };
    TestEmulator emulator(std::move(options));
    emulator.ok("CreateTable", create_request("carts"));
    switch_recovery(emulator, true);
    emulator.ok("PutItem", item("1"));
    writes = 0;
    const auto answer = emulator.execute("DeleteTable", R"({"TableName":"carts"})");
    const int made = writes.exchange(-1);
    CAPTURE(failing, answer.body);
    CHECK(tables_and_system_backups(emulator) == 1);
    emulator.emulator().database().history_trimmer().trim();  // so the trimmer's thread has nothing to do
    CHECK(inconsistency(emulator.emulator().database()) == "");
    if (made <= failing) {
      CHECK(answer.status == 200);
      break;
    }
  }
}

// Regression: a point in time without its backup held old versions until a restart.
TEST_CASE("any write failure while creating or deleting a backup leaves no point in time without its backup",
          "[backups]") {
  const bool for_a_while = GENERATE(false, true);
  for (int failing = 0;; ++failing) {
    const auto clock = std::make_shared<SteppedClock>(TestEmulator::start);
    const auto scheduler = std::make_shared<SteppedScheduler>(clock, 3);
    int writes = -1;  // counts from the first of the two requests on
    compat::EmulatorOptions options;
    options.database.make_scheduler = [&](std::size_t) { return scheduler; };
    options.database.write_fails = [&] {
      if (writes < 0) return false;
      const int write = writes++;
      return write == failing || (for_a_while && write > failing);
    };
    TestEmulator emulator(std::move(options));
    emulator.ok("CreateTable", create_request("carts"));
    emulator.ok("PutItem", item("1"));
    const json named = {{"BackupArn", backup(emulator)}};
    writes = 0;
    const auto made = emulator.execute("CreateBackup", R"({"TableName":"carts","BackupName":"nightly"})");
    const auto deleted = emulator.execute("DeleteBackup", named.dump());
    const bool failed = writes > failing;
    scheduler->run();
    writes = -1;
    clock->move(1000);  // background work that failed is retried now
    scheduler->run();
    CAPTURE(for_a_while, failing, made.body, deleted.body);
    const std::size_t there = (made.status == 200 ? 1 : 0) + (deleted.status == 200 ? 0 : 1);
    CHECK(listed(emulator) == there);
    CHECK(emulator.emulator().database().history().points("000000000000").size() == there);
    CHECK(inconsistency(emulator.emulator().database()) == "");
    if (!failed) {
      CHECK(made.status == 200);
      CHECK(deleted.status == 200);
      break;
    }
  }
}

TEST_CASE("enabling recovery during a table's deletion is rejected or leaves a SYSTEM backup",
          "[backups][races]") {
  TestEmulator emulator;
  int left = 0;
  for (int round = 0; round < 100; ++round) {  // the size of a ListBackups page
    emulator.ok("CreateTable", create_request("carts"));
    compat::Answer switched;
    std::thread other([&] {
      switched = emulator.execute(
          "UpdateContinuousBackups",
          R"({"TableName":"carts","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}})");
    });
    if (round % 2 == 0) std::this_thread::yield();
    emulator.ok("DeleteTable", {{"TableName", "carts"}});
    other.join();
    if (switched.status == 200) ++left;
    CAPTURE(round, switched.body);
    REQUIRE(listed(emulator) == static_cast<std::size_t>(left));
  }
}

TEST_CASE("a snapshot taken during a table's deletion contains the table or its SYSTEM backup",
          "[backups][races]") {
  TestEmulator emulator;
  for (int round = 0; round < 200; ++round) {
    emulator.ok("CreateTable", create_request("carts"));
    switch_recovery(emulator, true);
    compat::Answer deleted;
    std::thread other([&] { deleted = emulator.execute("DeleteTable", R"({"TableName":"carts"})"); });
    for (int i = 0; i < round % 5; ++i) std::this_thread::yield();
    const std::string id = json::parse(control(emulator, "POST", "/_mayfly/snapshots"))["id"];
    other.join();
    REQUIRE(deleted.status == 200);
    control(emulator, "POST", "/_mayfly/snapshots/" + id + "/restore");
    CAPTURE(round);
    REQUIRE(tables_and_system_backups(emulator) == 1);
    control(emulator, "POST", "/_mayfly/reset");
  }
}

TEST_CASE("an expired SYSTEM backup releases its data automatically", "[backups]") {
  const auto clock = std::make_shared<SteppedClock>(TestEmulator::start);
  auto scheduler = std::make_shared<SteppedScheduler>(clock, 3);
  compat::EmulatorOptions options;
  options.database.make_scheduler = [&](std::size_t) { return scheduler; };
  const bool restarted = GENERATE(false, true);
  TemporaryDirectory directory;
  if (restarted) options.database.directory = directory.path();
  std::optional<TestEmulator> emulator(std::in_place, options);
  const auto history = [&]() -> engine::History& { return emulator->emulator().database().history(); };
  const auto points = [&] { return history().points("000000000000").size(); };
  emulator->ok("CreateTable", create_request("carts"));
  switch_recovery(*emulator, true);
  for (int i = 0; i < 10; ++i) emulator->ok("PutItem", item(std::to_string(i)));
  emulator->ok("DeleteTable", {{"TableName", "carts"}});
  scheduler->run();
  CHECK(points() == 1);
  if (restarted) {
    emulator.reset();
    scheduler = std::make_shared<SteppedScheduler>(clock, 3);
    emulator.emplace(options);
    scheduler->run();
    CHECK(points() == 1);
  }
  // Moving the clock is enough to make the emulator release the data of the expired backup.
  emulator->advance(35 * 24h - 1ms);
  scheduler->run();
  CHECK(points() == 1);
  emulator->advance(1ms);
  scheduler->run();
  CHECK(points() == 0);
  CHECK(emulator->emulator().database().history_size().footprint().versions == 0);
  CHECK(control(*emulator, "GET", "/_mayfly/metrics").find("\nmayfly_backups 0\n") != std::string::npos);
  CHECK(inconsistency(emulator->emulator().database()) == "");
}

// Each thread repeats one kind of call. No call gets a 500, and the remaining data is consistent.
TEST_CASE("concurrent backups and restores during writes and resets leave consistent data",
          "[backups][races]") {
  compat::EmulatorOptions options;
  options.exact_recovery = true;
  options.restored_at_once_max = 20;
  options.database.reap = true;
  TestEmulator emulator(std::move(options));
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0}, answered{0}, restored{0};
  const auto ask = [&](std::string_view operation, const json& body) {
    const auto answer = emulator.execute(operation, body.dump());
    failures += answer.status == 500;
    ++answered;
    return answer;
  };
  const auto control_call = [&](std::string_view method, std::string_view path) {
    const auto answer = compat::control::answer(emulator.emulator(),
                                                {.method = method, .path = path, .scope = emulator.scope});
    failures += answer.status == 500;
  };
  std::vector<std::thread> threads;
  const auto repeat = [&](std::function<void(unsigned)> action) {
    threads.emplace_back([&stop, action = std::move(action)] {
      for (unsigned i = 0; !stop; ++i) action(i);
    });
  };
  repeat([&](unsigned i) {
    if (i % 50 == 0) ask("CreateTable", create_request("carts"));
    if (i % 50 == 1) {
      ask("UpdateContinuousBackups",
          {{"TableName", "carts"},
           {"PointInTimeRecoverySpecification", {{"PointInTimeRecoveryEnabled", i % 100 == 1}}}});
    }
    if (i % 400 == 399) ask("DeleteTable", {{"TableName", "carts"}});
    ask("PutItem", item(std::to_string(i % 200)));
  });
  repeat([&](unsigned i) {
    ask(i % 3 == 0 ? "DeleteItem" : "PutItem",
        i % 3 == 0 ? json{{"TableName", "carts"}, {"Key", {{"id", {{"S", std::to_string(i % 200)}}}}}}
                   : item(std::to_string(i % 200)));
  });
  for (int which = 0; which < 2; ++which) {
    repeat([&, which](unsigned i) {
      const auto made = ask("CreateBackup", {{"TableName", "carts"}, {"BackupName", "nightly"}});
      const std::string target = "again-" + std::to_string(which) + "-" + std::to_string(i % 3);
      if (made.status == 200) {
        const std::string arn = json::parse(made.body)["BackupDetails"]["BackupArn"];
        restored +=
            ask("RestoreTableFromBackup", {{"TargetTableName", target}, {"BackupArn", arn}}).status == 200;
        ask("DescribeBackup", {{"BackupArn", arn}});
        ask("DeleteBackup", {{"BackupArn", arn}});
      }
      restored += ask("RestoreTableToPointInTime", {{"SourceTableName", "carts"},
                                                    {"TargetTableName", target + "-then"},
                                                    {"UseLatestRestorableTime", true}})
                      .status == 200;
      ask("Scan", {{"TableName", target}});
      ask("DeleteTable", {{"TableName", target}});
      ask("DeleteTable", {{"TableName", target + "-then"}});
      ask("ListBackups", {{"BackupType", "ALL"}});
    });
  }
  repeat([&](unsigned i) {
    switch (i % 6) {
      case 0: control_call("POST", "/_mayfly/snapshots"); break;
      case 1: control_call("POST", "/_mayfly/clock/advance"); break;
      case 2:
      case 3: control_call("POST", "/_mayfly/snapshots/" + std::to_string(i / 6 + 1) + "/restore"); break;
      case 4: control_call("DELETE", "/_mayfly/snapshots/" + std::to_string(i / 6 + 1)); break;
      default:
        if (i % 30 == 29) control_call("POST", "/_mayfly/reset");
    }
    std::this_thread::yield();
  });
  while (answered < 6000 || restored < 20) std::this_thread::yield();
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  REQUIRE(emulator.emulator().restores().settle(emulator.scope.account, engine::host_time() + 60s));
  // Old versions are deleted in the background, and counters in memory are read after the data that they
  // count. The test therefore repeats the verification until background work ends. A real inconsistency does
  // not go away.
  std::string found;
  for (int look = 0; look < 1000; ++look) {
    found = inconsistency(emulator.emulator().database());
    if (found.empty()) break;
    std::this_thread::yield();
  }
  CHECK(found == "");
  control(emulator, "POST", "/_mayfly/reset");
  CHECK(emulator.run("ListTables", "{}") == R"(200 {"TableNames":[]})");
  CHECK(emulator.emulator().database().history_size().footprint().versions == 0);
  emulator.ok("CreateTable", create_request("carts"));
  emulator.ok("PutItem", item("1"));
  const std::string arn = backup(emulator);
  emulator.ok("RestoreTableFromBackup", {{"TargetTableName", "again"}, {"BackupArn", arn}});
  CHECK(count(emulator, "again") == 1);
}

}  // namespace mayfly::testing
