// Tests exports of tables. The tests step the scheduler.
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "compat/jobs/jobs.h"
#include "engine/background/snapshots.h"
#include "tests/support/engine_world.h"
#include "tests/support/stepped_scheduler.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view carts_arn = "arn:aws:dynamodb:us-east-1:000000000000:table/carts";

struct Stepped {
  TemporaryDirectory directory;
  std::shared_ptr<SteppedClock> clock = std::make_shared<SteppedClock>(TestEmulator::start);
  std::shared_ptr<SteppedScheduler> scheduler = std::make_shared<SteppedScheduler>(clock, 1);
  TestEmulator emulator{options()};

  compat::EmulatorOptions options() {
    compat::EmulatorOptions options;
    options.buckets.directories = {{"bucket", directory.path()}};
    options.database.make_scheduler = [this](std::size_t) { return scheduler; };
    return options;
  }
  Stepped() { create_table(); }
  void create_table() {
    emulator.ok("CreateTable", {{"TableName", "carts"},
                                {"BillingMode", "PAY_PER_REQUEST"},
                                {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
                                {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}}});
    emulator.ok("UpdateContinuousBackups",
                {{"TableName", "carts"},
                 {"PointInTimeRecoverySpecification", {{"PointInTimeRecoveryEnabled", true}}}});
  }
  void put(const std::string& id, const std::string& text = "") {
    emulator.ok("PutItem",
                {{"TableName", "carts"}, {"Item", {{"id", {{"S", id}}}, {"text", {{"S", text}}}}}});
  }
  nlohmann::json start() {
    return emulator.ok("ExportTableToPointInTime",
                       {{"TableArn", carts_arn}, {"S3Bucket", "bucket"}})["ExportDescription"];
  }
  // The number of items that the latest export has counted so far.
  std::int64_t counted() {
    return emulator.emulator().jobs().list(emulator.scope.account).front()->count("ItemCount");
  }
  nlohmann::json describe(const nlohmann::json& exported) {
    return emulator.ok("DescribeExport", {{"ExportArn", exported["ExportArn"]}})["ExportDescription"];
  }
};

}  // namespace

TEST_CASE("an export counts items while it runs and contains the items that existed at its export time",
          "[exports]") {
  Stepped world;
  const std::string text(1'000, 'x');
  for (int i = 0; i < 3'000; ++i) world.put(std::to_string(i), text);
  const auto started = world.start();
  CHECK_FALSE(started.contains("ItemCount"));  // as on AWS
  std::int64_t last = -1;
  int seen = 0;
  while (world.scheduler->step_one()) {
    const auto now = world.describe(started);
    if (now["ExportStatus"] != "IN_PROGRESS") break;
    CHECK_FALSE(now.contains("ItemCount"));
    const auto count = world.counted();
    CHECK(count >= last);
    seen += count > last && count > 0 && count < 3'000;
    last = count;
    world.put("later" + std::to_string(seen));  // not in the export
  }
  CHECK(seen > 1);
  const auto over = world.describe(started);
  CHECK(over["ExportStatus"] == "COMPLETED");
  CHECK(over["ItemCount"] == 3'000);
  CHECK(over["BilledSizeBytes"] > 3'000'000);
}

TEST_CASE("an account can have at most 300 concurrent exports", "[exports]") {
  Stepped world;
  for (int i = 0; i < 300; ++i) world.start();
  CHECK(
      world.emulator.refused("ExportTableToPointInTime", {{"TableArn", carts_arn}, {"S3Bucket", "bucket"}}) ==
      "Subscriber limit exceeded: There is a limit of 300 concurrent exports");
  world.scheduler->run();
  CHECK(world.describe(world.start())["ExportStatus"] == "IN_PROGRESS");
}

TEST_CASE("concurrent callers in all accounts cannot exceed the limit on waiting exports", "[exports]") {
  Stepped world;
  const std::string accounts[] = {"000000000000", "000000000001", "000000000002", "000000000003"};
  const auto start = [&](const std::string& account) {
    const std::string body =
        R"({"TableArn":"arn:aws:dynamodb:us-east-1:)" + account + R"(:table/carts","S3Bucket":"bucket"})";
    return world.emulator.emulator()
        .execute({account, "us-east-1"}, "DynamoDB_20120810.ExportTableToPointInTime", body)
        .status;
  };
  for (const std::string& account : accounts) {
    world.emulator.scope.account = account;
    if (account != accounts[0]) world.create_table();
    for (int i = 0; i < 250; ++i) REQUIRE(start(account) == 200);
  }
  const compat::jobs::Jobs& jobs = world.emulator.emulator().jobs();
  REQUIRE(jobs.occupancy().running == 4);
  REQUIRE(jobs.occupancy().waiting == 996);
  std::atomic<int> started = 0, refused = 0;
  {
    std::vector<std::jthread> callers;
    for (const std::string& account : accounts) {
      callers.emplace_back([&] {
        for (int i = 0; i < 3; ++i) {
          const int status = start(account);
          started += status == 200;
          refused += status == 400;
        }
      });
    }
  }
  CHECK(started == 4);
  CHECK(refused == 8);
  CHECK(jobs.occupancy().waiting == 1'000);
}

TEST_CASE("a reset removes a running export and stops its writes", "[exports]") {
  Stepped world;
  for (int i = 0; i < 3'000; ++i) world.put(std::to_string(i), std::string(1'000, 'x'));
  const auto started = world.start();
  for (int i = 0; i < 3; ++i) world.scheduler->step_one();
  REQUIRE(world.describe(started)["ExportStatus"] == "IN_PROGRESS");
  world.emulator.emulator().database().snapshots().reset("000000000000");
  world.scheduler->run();
  CHECK(world.emulator.execute("DescribeExport", nlohmann::json{{"ExportArn", started["ExportArn"]}}.dump())
            .status == 400);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(world.directory.path()))
    CHECK(entry.path().filename().string().find("manifest") == std::string::npos);
}

}  // namespace mayfly::testing
