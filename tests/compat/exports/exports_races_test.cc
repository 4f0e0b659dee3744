// Runs exports during writes, drops, resets, restores and changes to recovery. Every export that completes
// contains exactly the items that its table had at one instant.
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "compat/data_files/compression.h"
#include "compat/jobs/jobs.h"
#include "engine/background/snapshots.h"
#include "tests/support/bucket_calls.h"
#include "tests/support/engine_world.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view create_carts =
    R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})";
constexpr std::string_view recovery_on =
    R"({"TableName":"carts","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}})";
constexpr std::string_view recovery_off =
    R"({"TableName":"carts","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":false}})";
constexpr std::string_view export_carts =
    R"({"TableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/carts","S3Bucket":"bucket"})";

struct WithBucket {
  TemporaryDirectory directory;
  TestEmulator emulator{options(directory.path())};

  static compat::EmulatorOptions options(const std::string& path) {
    compat::EmulatorOptions options;
    options.buckets.directories = {{"bucket", path}};
    return options;
  }
  bool settle() {
    return emulator.emulator().jobs().settle("000000000000", engine::host_time() + std::chrono::seconds(60));
  }
  BucketCalls bucket() { return {**emulator.emulator().buckets().find("bucket")}; }
  nlohmann::json describe(const std::string& arn) {
    return emulator.ok("DescribeExport", {{"ExportArn", arn}})["ExportDescription"];
  }
  // The lines of a completed export's data files.
  std::vector<nlohmann::json> lines(const nlohmann::json& exported) {
    const auto calls = bucket();
    std::vector<nlohmann::json> lines;
    const auto summary = nlohmann::json::parse(calls.get(exported["ExportManifest"].get<std::string>()));
    std::istringstream files(calls.get(summary["manifestFilesS3Key"].get<std::string>()));
    for (std::string file; std::getline(files, file);) {
      const std::string packed = calls.get(nlohmann::json::parse(file)["dataFileS3Key"].get<std::string>());
      std::string_view rest = packed;
      const auto unpacker = compat::data_files::Unpacker::of(compat::data_files::Compression::gzip);
      std::string text;
      while (!rest.empty() || unpacker->holds_more()) REQUIRE(unpacker->step(rest, text));
      std::istringstream all(text);
      for (std::string line; std::getline(all, line);) lines.push_back(nlohmann::json::parse(line));
    }
    CHECK(summary["itemCount"] == lines.size());
    return lines;
  }
};

}  // namespace

TEST_CASE("an export during writes contains both halves of each transaction or neither half",
          "[exports][races]") {
  WithBucket world;
  TestEmulator& emulator = world.emulator;
  emulator.run("CreateTable", create_carts);
  emulator.run("UpdateContinuousBackups", recovery_on);
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (const std::string writer : {"a", "b"}) {
    writers.emplace_back([&, writer] {
      for (int i = 0; !stop; ++i) {
        const auto put = [&](const std::string& id) {
          return R"({"Put":{"TableName":"carts","Item":{"id":{"S":")" + id + R"("},"n":{"N":")" +
                 std::to_string(i) + R"("}}}})";
        };
        emulator.run("TransactWriteItems",
                     R"({"TransactItems":[)" + put(writer + "1") + "," + put(writer + "2") + "]}");
      }
    });
  }
  std::vector<std::string> arns;
  for (int i = 0; i < 30; ++i) {
    const auto answer = emulator.execute("ExportTableToPointInTime", export_carts);
    REQUIRE(answer.status == 200);
    arns.push_back(nlohmann::json::parse(answer.body)["ExportDescription"]["ExportArn"]);
  }
  CHECK(world.settle());
  stop = true;
  for (auto& writer : writers) writer.join();
  for (const std::string& arn : arns) {
    const auto exported = world.describe(arn);
    REQUIRE(exported["ExportStatus"] == "COMPLETED");
    std::map<std::string, std::string> numbers;
    for (const auto& line : world.lines(exported)) numbers[line["Item"]["id"]["S"]] = line["Item"]["n"]["N"];
    CHECK(numbers["a1"] == numbers["a2"]);
    CHECK(numbers["b1"] == numbers["b2"]);
  }
}

TEST_CASE("concurrent requests with the same token start only one export", "[exports][races]") {
  WithBucket world;
  world.emulator.run("CreateTable", create_carts);
  world.emulator.run("UpdateContinuousBackups", recovery_on);
  std::vector<std::thread> threads;
  std::vector<std::string> answers(8);
  for (std::string& answer : answers) {
    threads.emplace_back([&] {
      answer =
          world.emulator
              .execute(
                  "ExportTableToPointInTime",
                  R"({"TableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/carts","S3Bucket":"bucket",
                                "ClientToken":"t"})")
              .body;
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<std::string> arns;
  for (const std::string& answer : answers)
    arns.insert(nlohmann::json::parse(answer)["ExportDescription"]["ExportArn"].get<std::string>());
  CHECK(arns.size() == 1);
  CHECK(world.settle());
  CHECK(world.emulator.ok("ListExports", nlohmann::json::object())["ExportSummaries"].size() == 1);
}

TEST_CASE("an export continues when its table is dropped or recovery is disabled", "[exports][races]") {
  WithBucket world;
  TestEmulator& emulator = world.emulator;
  for (const bool drops : {true, false}) {
    emulator.run("CreateTable", create_carts);
    emulator.run("UpdateContinuousBackups", recovery_on);
    emulator.ok("PutItem", {{"TableName", "carts"}, {"Item", {{"id", {{"S", "1"}}}}}});
    const std::string arn = emulator.ok(
        "ExportTableToPointInTime", nlohmann::json::parse(export_carts))["ExportDescription"]["ExportArn"];
    if (drops) {
      emulator.run("DeleteTable", R"({"TableName":"carts"})");
    } else {
      emulator.run("UpdateContinuousBackups", recovery_off);
      emulator.run("DeleteItem", R"({"TableName":"carts","Key":{"id":{"S":"1"}}})");
    }
    CHECK(world.settle());
    const auto exported = world.describe(arn);
    CHECK(exported["ExportStatus"] == "COMPLETED");
    CHECK(world.lines(exported).size() == 1);
  }
}

TEST_CASE("exports still work after running concurrently with drops and restores", "[exports][races]") {
  WithBucket world;
  TestEmulator& emulator = world.emulator;
  std::atomic<bool> stop{false};
  std::atomic<int> unexpected{0};
  std::vector<std::thread> threads;
  const auto repeat = [&](std::function<void(unsigned)> action) {
    threads.emplace_back([&stop, action = std::move(action)] {
      for (unsigned i = 0; !stop; ++i) action(i);
    });
  };
  const auto run = [&](std::string_view operation, std::string_view body) {
    unexpected += emulator.execute(operation, body).status >= 500;
  };
  for (int exporter = 0; exporter < 2; ++exporter) {
    repeat([&](unsigned i) {
      run("ExportTableToPointInTime", export_carts);
      if (i % 4 == 0) run("ListExports", "{}");
    });
  }
  repeat([&](unsigned i) {
    switch (i % 16) {
      case 0: run("CreateTable", create_carts); break;
      case 1: run("UpdateContinuousBackups", recovery_on); break;
      case 14:
        if (i % 64 == 62) run("UpdateContinuousBackups", recovery_off);
        break;
      case 15:
        if (i % 128 == 127) run("DeleteTable", R"({"TableName":"carts"})");
        break;
      default:
        run("PutItem", R"({"TableName":"carts","Item":{"id":{"S":")" + std::to_string(i % 50) + R"("}}})");
    }
  });
  repeat([&](unsigned i) {
    engine::Database& database = emulator.emulator().database();
    const auto snapshot = database.snapshots().take("000000000000");
    if (i % 3 == 0) (void)database.snapshots().restore("000000000000", snapshot);
    if (i % 10 == 9) database.snapshots().reset("000000000000");
    (void)database.snapshots().drop("000000000000", snapshot);
  });
  std::this_thread::sleep_for(std::chrono::seconds(2));
  stop = true;
  for (auto& thread : threads) thread.join();
  CHECK(unexpected == 0);
  CHECK(world.settle());
  const auto exports = emulator.ok("ListExports", nlohmann::json::object());
  for (const auto& each : exports["ExportSummaries"]) CHECK(each["ExportStatus"] != "IN_PROGRESS");

  emulator.emulator().database().snapshots().reset("000000000000");
  CHECK(emulator.ok("ListExports", nlohmann::json::object())["ExportSummaries"].empty());
  emulator.run("CreateTable", create_carts);
  emulator.run("UpdateContinuousBackups", recovery_on);
  const std::string arn = emulator.ok("ExportTableToPointInTime",
                                      nlohmann::json::parse(export_carts))["ExportDescription"]["ExportArn"];
  CHECK(world.settle());
  CHECK(world.describe(arn)["ExportStatus"] == "COMPLETED");
}

}  // namespace mayfly::testing
