// Tests replicas together with other features of an account: recovery, backups, snapshots, bulk puts, exports
// and stale reads.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "compat/control/control.h"
#include "engine/background/history.h"
#include "engine/background/history_size.h"
#include "engine/background/replication.h"
#include "tests/support/beside.h"
#include "tests/support/engine_world.h"
#include "tests/support/stepped_scheduler.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

using nlohmann::json;
using namespace std::chrono_literals;

const json create_carts_request = {
    {"TableName", "carts"},
    {"BillingMode", "PAY_PER_REQUEST"},
    {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
    {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}}};
const json named_carts = {{"TableName", "carts"}};

compat::EmulatorOptions exact_recovery() {
  compat::EmulatorOptions options;
  options.database.reap = false;  // writes in flight are delivered only when the test asks
  options.exact_recovery = true;
  return options;
}

// An emulator with functions that send a request to a given region.
struct Regions : TestEmulator {
  explicit Regions(compat::EmulatorOptions options = exact_recovery()) : TestEmulator(std::move(options)) {}
  json in(const std::string& region, std::string_view operation, const json& body) {
    scope.region = region;
    return ok(operation, body);
  }
  std::string refused_in(const std::string& region, std::string_view operation, const json& body) {
    scope.region = region;
    return refused(operation, body);
  }
  json control(std::string_view method, std::string_view path, const json& body = nullptr) {
    const std::string text = body.is_null() ? "" : body.dump();
    const auto answer = compat::control::answer(
        emulator(), {.method = method, .path = path, .query = {}, .body = text, .scope = scope, .stop = {}});
    INFO(answer.body);
    REQUIRE(answer.status == 200);
    return answer.body.empty() ? json() : json::parse(answer.body);
  }
  void replica(const char* action, const std::string& region, const std::string& at = "us-east-1") {
    in(at, "UpdateTable",
       {{"TableName", "carts"}, {"ReplicaUpdates", {{{action, {{"RegionName", region}}}}}}});
  }
  void put(const std::string& region, const std::string& id) {
    in(region, "PutItem", {{"TableName", "carts"}, {"Item", {{"id", {{"S", id}}}}}});
  }
  void recover(const std::string& region) {
    in(region, "UpdateContinuousBackups",
       {{"TableName", "carts"},
        {"PointInTimeRecoverySpecification", {{"PointInTimeRecoveryEnabled", true}}}});
  }
  std::string recovery(const std::string& region) {
    return in(region, "DescribeContinuousBackups",
              named_carts)["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
                          ["PointInTimeRecoveryStatus"];
  }
  json table(const std::string& region, const std::string& name = "carts") {
    return in(region, "DescribeTable", {{"TableName", name}})["Table"];
  }
  json backups(const std::string& region, const std::string& type) {
    return in(region, "ListBackups", {{"BackupType", type}})["BackupSummaries"];
  }
  int count(const std::string& region, const std::string& name = "carts") {
    return in(region, "Scan", {{"TableName", name}, {"Select", "COUNT"}, {"ConsistentRead", true}})["Count"];
  }
  void settle() { control("POST", "/_mayfly/replication/settle"); }
  void pause(const std::string& from, const std::string& to, bool paused = true) {
    control("PUT", "/_mayfly/replication", {{"from", from}, {"to", to}, {"paused", paused}});
  }
  // Restores the table carts as of `at` to a new table in the same region. Returns its name.
  std::string restore(const std::string& region, std::int64_t at) {
    std::string name = "at-" + std::to_string(at);
    in(region, "RestoreTableToPointInTime",
       {{"SourceTableName", "carts"}, {"TargetTableName", name}, {"RestoreDateTime", at}});
    return name;
  }
  // The time on the account's clock.
  std::int64_t seconds() { return emulator().database().accounts().of(scope.account).now() / 1000; }
  [[nodiscard]] std::string inconsistent() { return inconsistency(emulator().database()); }
};

}  // namespace

TEST_CASE("restoring a replica yields a standalone table with the replica's items at the requested second",
          "[replication][backups]") {
  Regions regions;
  regions.in("us-east-1", "CreateTable", create_carts_request);
  regions.recover("us-east-1");
  regions.put("us-east-1", "1");
  regions.replica("Create", "eu-west-1");
  CHECK(regions.recovery("eu-west-1") == "DISABLED");  // recovery is set per region
  regions.recover("eu-west-1");
  regions.advance(10s);
  const auto before = regions.seconds();
  regions.advance(10s);
  regions.pause("us-east-1", "eu-west-1");
  regions.put("us-east-1", "2");
  const auto written = regions.seconds();
  regions.advance(10s);
  regions.pause("us-east-1", "eu-west-1", false);
  regions.settle();
  const auto arrived = regions.seconds();
  regions.advance(10s);
  const auto restored = [&](const std::string& region, std::int64_t at) {
    const std::string name = regions.restore(region, at);
    const json table = regions.table(region, name);
    for (const char* of_global : {"Replicas", "GlobalTableVersion", "StreamSpecification",
                                  "DisassociationProtectionEnabled", "GlobalTableSettingsReplicationMode"})
      CHECK_FALSE(table.contains(of_global));
    return regions.count(region, name);
  };
  CHECK(restored("us-east-1", before) == 1);
  CHECK(restored("us-east-1", written) == 2);
  CHECK(restored("eu-west-1", before) == 1);
  CHECK(restored("eu-west-1", written) == 1);  // the write was in flight
  CHECK(restored("eu-west-1", arrived) == 2);
  CHECK(regions.inconsistent() == "");
}

TEST_CASE("deleting a replica keeps its backups and adds a SYSTEM backup if recovery was on",
          "[replication][backups]") {
  Regions regions;
  regions.in("us-east-1", "CreateTable", create_carts_request);
  regions.put("us-east-1", "1");
  regions.replica("Create", "eu-west-1");
  const std::string id = regions.table("eu-west-1")["TableId"];
  CHECK(id != regions.table("us-east-1")["TableId"].get<std::string>());
  regions.recover("eu-west-1");
  const std::string arn =
      regions.in("eu-west-1", "CreateBackup",
                 {{"TableName", "carts"}, {"BackupName", "nightly"}})["BackupDetails"]["BackupArn"];
  SECTION("another region deletes the replica") { regions.replica("Delete", "eu-west-1"); }
  SECTION("the replica's own region deletes the table") {
    regions.in("eu-west-1", "DeleteTable", named_carts);
  }
  CHECK(regions.backups("us-east-1", "ALL").empty());
  CHECK(regions.backups("eu-west-1", "USER").size() == 1);
  const json system = regions.backups("eu-west-1", "SYSTEM");
  REQUIRE(system.size() == 1);
  CHECK(system[0]["BackupName"] == "carts$DeletedTableBackup");
  CHECK(system[0]["TableId"] == id);
  regions.put("us-east-1", "2");
  regions.replica("Create", "eu-west-1");
  CHECK(regions.recovery("eu-west-1") == "DISABLED");
  CHECK(regions.table("eu-west-1")["TableId"] != id);
  CHECK(regions.count("eu-west-1") == 2);
  for (const std::string& each : {arn, system[0]["BackupArn"].get<std::string>()}) {
    const std::string name = "again-" + std::to_string(each.size());
    regions.in("eu-west-1", "RestoreTableFromBackup", {{"TargetTableName", name}, {"BackupArn", each}});
    CHECK(regions.count("eu-west-1", name) == 1);
    regions.in("eu-west-1", "DeleteTable", {{"TableName", name}});
  }
  CHECK(regions.inconsistent() == "");
}

TEST_CASE("replicas deleted together each leave a SYSTEM backup", "[replication][backups]") {
  Regions regions;
  regions.in("us-east-1", "CreateTable", create_carts_request);
  regions.in("us-east-1", "UpdateTable",
             {{"TableName", "carts"},
              {"MultiRegionConsistency", "STRONG"},
              {"ReplicaUpdates",
               {{{"Create", {{"RegionName", "us-east-2"}}}}, {{"Create", {{"RegionName", "us-west-2"}}}}}}});
  regions.put("us-west-2", "1");
  for (const char* region : {"us-east-2", "us-west-2"}) regions.recover(region);
  regions.in("us-east-1", "UpdateTable",
             {{"TableName", "carts"},
              {"ReplicaUpdates",
               {{{"Delete", {{"RegionName", "us-east-2"}}}}, {{"Delete", {{"RegionName", "us-west-2"}}}}}}});
  for (const char* region : {"us-east-2", "us-west-2"}) {
    const json system = regions.backups(region, "SYSTEM");
    REQUIRE(system.size() == 1);
    regions.in(region, "RestoreTableFromBackup",
               {{"TargetTableName", "carts"}, {"BackupArn", system[0]["BackupArn"]}});
    CHECK(regions.count(region) == 1);
  }
  CHECK(regions.backups("us-east-1", "SYSTEM").empty());
  CHECK(regions.inconsistent() == "");
}

TEST_CASE("a snapshot restore brings back replicas with their writes in flight and a reset removes both",
          "[replication][snapshots]") {
  Regions regions;
  regions.in("us-east-1", "CreateTable", create_carts_request);
  regions.replica("Create", "eu-west-1");
  regions.recover("us-east-1");
  regions.recover("eu-west-1");
  regions.pause("us-east-1", "eu-west-1");
  regions.put("us-east-1", "1");
  regions.put("eu-west-1", "2");
  regions.settle();
  const std::string snapshot = regions.control("POST", "/_mayfly/snapshots")["id"];
  regions.pause("us-east-1", "eu-west-1", false);
  regions.settle();
  regions.put("eu-west-1", "3");
  regions.replica("Delete", "eu-west-1");
  CHECK(regions.backups("eu-west-1", "SYSTEM").size() == 1);
  for (int times = 0; times < 2; ++times) {
    regions.control("POST", "/_mayfly/snapshots/" + snapshot + "/restore");
    CHECK(regions.backups("eu-west-1", "SYSTEM").empty());
    CHECK(regions.recovery("eu-west-1") == "ENABLED");
    CHECK(regions.count("us-east-1") == 2);
    CHECK(regions.count("eu-west-1") == 1);
    const json replication = regions.control("GET", "/_mayfly/replication");
    CHECK(replication["routes"][0]["paused"] == true);
    CHECK(replication["in_flight"][0]["writes"] == 1);
    CHECK(regions.inconsistent() == "");
    regions.pause("us-east-1", "eu-west-1", false);
    regions.settle();
    CHECK(regions.count("eu-west-1") == 2);
    CHECK(regions.inconsistent() == "");
  }
  regions.control("POST", "/_mayfly/reset");
  const json replication = regions.control("GET", "/_mayfly/replication");
  CHECK(replication["routes"].empty());
  CHECK(replication["in_flight"].empty());
  CHECK(regions.emulator().database().history_size().footprint().versions == 0);
  CHECK(regions.inconsistent() == "");
}

TEST_CASE("eventually consistent reads of a replica lag behind the writes that have arrived at the replica",
          "[replication][stale_reads]") {
  Regions regions;
  regions.in("us-east-1", "CreateTable", create_carts_request);
  regions.replica("Create", "eu-west-1");
  regions.control("PUT", "/_mayfly/faults", {{"rules", {{{"fault", "stale_reads"}, {"writes", 1}}}}});
  regions.put("us-east-1", "1");
  regions.control("POST", "/_mayfly/replication/settle");
  const json get = {{"TableName", "carts"}, {"Key", {{"id", {{"S", "1"}}}}}};
  json consistent = get;
  consistent["ConsistentRead"] = true;
  for (const char* region : {"us-east-1", "eu-west-1"}) {
    CHECK_FALSE(regions.in(region, "GetItem", get).contains("Item"));
    CHECK(regions.in(region, "GetItem", consistent).contains("Item"));
    CHECK(regions.in(region, "GetItem", get).contains("Item"));
  }
}

TEST_CASE("a bulk put into a global table is rejected and a table cannot get a replica during a bulk put",
          "[replication][imports]") {
  const TemporaryDirectory in, out;
  std::ofstream(in.path() + "/a") << R"({"Item":{"id":{"S":"1"}}})" << '\n';
  const auto scheduler =
      std::make_shared<SteppedScheduler>(std::make_shared<SteppedClock>(TestEmulator::start), 1);
  compat::EmulatorOptions options = exact_recovery();
  options.database.make_scheduler = [&](std::size_t) { return scheduler; };
  options.buckets.directories = {{"in", in.path()}, {"out", out.path()}};
  Regions regions(std::move(options));
  const json put = {{"TableName", "carts"},
                    {"InputS3Configuration", {{"S3Bucket", "in"}, {"InputFormat", "DYNAMODB_JSON"}}},
                    {"OutputS3Configuration", {{"S3Bucket", "out"}, {"OutputType", {"ERROR"}}}}};
  const json create = {{"TableName", "carts"},
                       {"ReplicaUpdates", {{{"Create", {{"RegionName", "eu-west-1"}}}}}}};
  regions.in("us-east-1", "CreateTable", create_carts_request);
  regions.in("us-east-1", "StartBulkPutItems", put);
  CHECK(regions.refused_in("us-east-1", "UpdateTable", create) ==
        "The resource which you are attempting to change is in use.");
  scheduler->run();
  CHECK(regions.count("us-east-1") == 1);
  regions.in("us-east-1", "UpdateTable", create);
  for (const char* region : {"us-east-1", "eu-west-1"})
    CHECK(regions.refused_in(region, "StartBulkPutItems", put) ==
          "Bulk put items does not support global tables: carts");
  regions.replica("Delete", "eu-west-1");
  regions.in("us-east-1", "StartBulkPutItems", put);
  scheduler->run();

  // An import creates a table in its own region only.
  regions.in("eu-west-1", "ImportTable",
             {{"ClientToken", "t"},
              {"S3BucketSource", {{"S3Bucket", "in"}}},
              {"InputFormat", "DYNAMODB_JSON"},
              {"TableCreationParameters", create_carts_request}});
  scheduler->run();
  CHECK_FALSE(regions.table("eu-west-1").contains("Replicas"));
  CHECK_FALSE(regions.table("us-east-1").contains("Replicas"));
  CHECK(regions.inconsistent() == "");
}

TEST_CASE("exactly one of a bulk put and a concurrent replica creation is rejected",
          "[replication][imports][races]") {
  // Nothing steps the jobs, so a bulk put runs until it is canceled.
  const auto clock = std::make_shared<SteppedClock>(TestEmulator::start);
  compat::EmulatorOptions options = exact_recovery();
  options.database.make_scheduler = [&](std::size_t) { return std::make_shared<SteppedScheduler>(clock, 1); };
  Regions regions(std::move(options));
  const json put = {{"TableName", "carts"},
                    {"InputS3Configuration", {{"S3Bucket", "in"}, {"InputFormat", "DYNAMODB_JSON"}}},
                    {"OutputS3Configuration", {{"S3Bucket", "out"}, {"OutputType", {"ERROR"}}}}};
  const json create = {{"TableName", "carts"},
                       {"ReplicaUpdates", {{{"Create", {{"RegionName", "eu-west-1"}}}}}}};
  int puts = 0, replicas = 0;
  for (int round = 0; round < 200; ++round) {
    regions.in("us-east-1", "CreateTable", create_carts_request);
    compat::Answer replicated;
    std::thread other([&] { replicated = regions.execute("UpdateTable", create.dump()); });
    for (int i = 0; i < round % 4; ++i) std::this_thread::yield();
    const compat::Answer started = regions.execute("StartBulkPutItems", put.dump());
    other.join();
    CAPTURE(round, started.body, replicated.body);
    REQUIRE((started.status == 200) + (replicated.status == 200) == 1);
    if (started.status == 200) {
      ++puts;
      const json bulk = json::parse(started.body)["BulkOperationDescription"]["BulkOperationArn"];
      regions.in("us-east-1", "CancelBulkOperation", {{"BulkOperationArn", bulk}});
    } else {
      ++replicas;
      regions.replica("Delete", "eu-west-1");
    }
    regions.in("us-east-1", "DeleteTable", named_carts);
    regions.control("POST", "/_mayfly/reset");
  }
  CHECK(puts + replicas == 200);
  CHECK(regions.inconsistent() == "");
}

TEST_CASE("a restored replica shows an item with a past TTL only at instants before TTL was enabled",
          "[replication][backups]") {
  Regions regions;
  regions.in("us-east-1", "CreateTable", create_carts_request);
  regions.replica("Create", "eu-west-1");
  for (const char* region : {"us-east-1", "eu-west-1"}) regions.recover(region);
  const auto due = std::to_string(regions.seconds() - 3600);
  regions.in("us-east-1", "PutItem",
             {{"TableName", "carts"}, {"Item", {{"id", {{"S", "1"}}}, {"ttl", {{"N", due}}}}}});
  regions.settle();
  regions.advance(10s);
  const auto before = regions.seconds();
  regions.advance(10s);
  const auto switch_ttl = [&](bool on) {
    regions.in(
        "us-east-1", "UpdateTimeToLive",
        {{"TableName", "carts"}, {"TimeToLiveSpecification", {{"Enabled", on}, {"AttributeName", "ttl"}}}});
  };
  switch_ttl(true);
  const auto since = regions.seconds();
  regions.replica("Create", "ap-south-1");
  regions.advance(10s);
  const auto items_at = [&](const std::string& region, std::int64_t at) {
    return regions.count(region, regions.restore(region, at));
  };
  for (const char* region : {"us-east-1", "eu-west-1"}) {
    CAPTURE(region);
    CHECK(items_at(region, before) == 1);
    CHECK(items_at(region, since) == 0);
  }
  // The instant at which TTL was enabled belongs to the table. A replica that is created later inherits it.
  for (const char* region : {"us-east-1", "eu-west-1", "ap-south-1"}) {
    CAPTURE(region);
    const auto live = regions.emulator().database().catalog().find({regions.scope.account, region}, "carts");
    CHECK(live->description()->ttl->since / 1000 == since);
  }
}

TEST_CASE("a replica's export contains the items of the replica's region as of the export time",
          "[replication][exports]") {
  const TemporaryDirectory bucket;
  const auto scheduler =
      std::make_shared<SteppedScheduler>(std::make_shared<SteppedClock>(TestEmulator::start), 1);
  compat::EmulatorOptions options = exact_recovery();
  options.database.make_scheduler = [&](std::size_t) { return scheduler; };
  options.buckets.directories = {{"bucket", bucket.path()}};
  Regions regions(std::move(options));
  regions.in("us-east-1", "CreateTable", create_carts_request);
  regions.put("us-east-1", "1");
  regions.replica("Create", "eu-west-1");
  for (const char* region : {"us-east-1", "eu-west-1"}) regions.recover(region);
  regions.pause("us-east-1", "eu-west-1");
  regions.put("us-east-1", "2");
  for (const auto& [region, items] : {std::pair("us-east-1", 2), {"eu-west-1", 1}}) {
    const json started = regions.in(
        region, "ExportTableToPointInTime",
        {{"TableArn", regions.table(region)["TableArn"]}, {"S3Bucket", "bucket"}})["ExportDescription"];
    CHECK(started["TableId"] == regions.table(region)["TableId"]);
    scheduler->run();
    const json ended =
        regions.in(region, "DescribeExport", {{"ExportArn", started["ExportArn"]}})["ExportDescription"];
    CHECK(ended["ExportStatus"] == "COMPLETED");
    CHECK(ended["ItemCount"] == items);
  }
}

TEST_CASE("a disassociated replica keeps its data and becomes a standalone table", "[replication]") {
  Regions regions;
  const json allow = {{"TableName", "carts"}, {"DisassociationProtectionEnabled", false}};
  const json leave = {
      {"TableName", "carts"},
      {"ReplicaUpdates",
       {{{"Disassociate", {{"RegionName", "eu-west-1"}, {"DisassociationMode", "WAIT_FOR_REPLICATION"}}}}}}};
  regions.in("us-east-1", "CreateTable", create_carts_request);
  regions.replica("Create", "eu-west-1");
  regions.replica("Create", "ap-south-1");
  regions.in(
      "us-east-1", "UpdateTimeToLive",
      {{"TableName", "carts"}, {"TimeToLiveSpecification", {{"AttributeName", "ttl"}, {"Enabled", true}}}});
  regions.recover("eu-west-1");
  const std::string id = regions.table("eu-west-1")["TableId"];
  CHECK(regions.table("eu-west-1")["DisassociationProtectionEnabled"] == true);
  regions.in("eu-west-1", "UpdateTable", allow);
  CHECK(regions.table("eu-west-1")["DisassociationProtectionEnabled"] == false);
  CHECK(regions.table("us-east-1")["DisassociationProtectionEnabled"] == true);  // set per region

  // The replica stays in the global table while a write to that replica cannot arrive.
  regions.pause("us-east-1", "eu-west-1");
  regions.in("us-east-1", "PutItem",
             {{"TableName", "carts"},
              {"Item", {{"id", {{"S", "1"}}}, {"ttl", {{"N", std::to_string(regions.seconds() + 60)}}}}}});
  regions.in("eu-west-1", "UpdateTable", leave);
  CHECK(regions.table("eu-west-1")["Replicas"].size() == 2);
  regions.pause("us-east-1", "eu-west-1", false);
  regions.in("eu-west-1", "UpdateTable", leave);
  for (const char* of_global : {"Replicas", "GlobalTableVersion", "DisassociationProtectionEnabled"})
    CHECK_FALSE(regions.table("eu-west-1").contains(of_global));
  CHECK(regions.table("eu-west-1")["TableId"] == id);
  CHECK(regions.recovery("eu-west-1") == "ENABLED");
  CHECK(regions.table("us-east-1")["Replicas"].size() == 1);
  CHECK(regions.table("ap-south-1")["Replicas"].size() == 1);
  CHECK(regions.inconsistent() == "");

  // From here on, the tables are independent.
  regions.put("eu-west-1", "2");
  regions.put("us-east-1", "3");
  regions.settle();
  CHECK(regions.count("eu-west-1") == 2);
  CHECK(regions.count("us-east-1") == 2);
  CHECK(regions.count("ap-south-1") == 2);
  // Item 1 expires in us-east-1, where it was written. The standalone table no longer receives that removal,
  // so the copy in the standalone table expires separately.
  CHECK(regions.advance(60s + 1ms) == 2);
  for (const char* region : {"eu-west-1", "us-east-1", "ap-south-1"}) CHECK(regions.count(region) == 1);
  CHECK(regions.refused_in(
            "us-east-1", "UpdateTable",
            {{"TableName", "carts"}, {"ReplicaUpdates", {{{"Create", {{"RegionName", "eu-west-1"}}}}}}}) ==
        "Failed to create a the new replica of table with name: ‘carts’ because one or more replicas already "
        "existed as tables.");

  // When one of the last two replicas leaves, both become standalone tables without data about each other.
  regions.in("ap-south-1", "UpdateTable", allow);
  json last = leave;
  last["ReplicaUpdates"][0]["Disassociate"]["RegionName"] = "ap-south-1";
  regions.in("ap-south-1", "UpdateTable", last);
  for (const char* region : {"us-east-1", "ap-south-1"})
    CHECK_FALSE(regions.table(region).contains("Replicas"));
  regions.put("us-east-1", "4");
  regions.settle();
  CHECK(regions.count("ap-south-1") == 1);
  CHECK(regions.inconsistent() == "");
  // A new global table starts with disassociation protection.
  regions.replica("Create", "eu-north-1", "ap-south-1");
  CHECK(regions.table("ap-south-1")["DisassociationProtectionEnabled"] == true);
}

// Regression: a write between the last delivery and the drop was lost.
TEST_CASE("a write during the drop of its region's table is rejected or arrives in the other region",
          "[replication]") {
  const bool from_elsewhere = GENERATE(false, true);
  const auto clock = std::make_shared<SteppedClock>(TestEmulator::start);
  const json put = {{"TableName", "carts"}, {"Item", {{"id", {{"S", "1"}}}}}};
  const int places = at_each_place([&](int place) {
    compat::EmulatorOptions options = exact_recovery();
    options.database.make_scheduler = [&](std::size_t) {
      return std::make_shared<SteppedScheduler>(clock, 1);
    };
    Regions regions(std::move(options));
    regions.in("us-east-1", "CreateTable", create_carts_request);
    regions.replica("Create", "eu-west-1");
    compat::Answer written{.status = 0};
    bool begun = false;
    {
      Beside write(place, [&] {
        written = regions.emulator().execute({"000000000000", "eu-west-1"}, "DynamoDB_20120810.PutItem",
                                             put.dump());
      });
      if (from_elsewhere) {
        regions.replica("Delete", "eu-west-1");
      } else {
        regions.in("eu-west-1", "DeleteTable", named_carts);
      }
      begun = write.begun;
    }
    INFO("the write comes at place " << place << ": " << written.body);
    CHECK(regions.count("us-east-1") == (written.status == 200 ? 1 : 0));
    CHECK(regions.refused_in("eu-west-1", "DescribeTable", named_carts) ==
          "Requested resource not found: Table: carts not found");
    CHECK(regions.inconsistent() == "");
    return begun;
  });
  CHECK(places > 5);
}

TEST_CASE("dropping a table discards its writes that a pause or a lag holds back", "[replication]") {
  Regions regions;
  regions.in("us-east-1", "CreateTable", create_carts_request);
  regions.replica("Create", "eu-west-1");
  regions.put("eu-west-1", "1");
  regions.settle();
  SECTION("the route is paused") { regions.pause("eu-west-1", "us-east-1"); }
  SECTION("the route has a lag") {
    regions.control("PUT", "/_mayfly/replication",
                    {{"from", "eu-west-1"}, {"to", "us-east-1"}, {"lag_milliseconds", 500}});
  }
  regions.put("eu-west-1", "2");
  regions.in("eu-west-1", "DeleteTable", named_carts);
  CHECK(regions.count("us-east-1") == 1);
  CHECK(regions.control("GET", "/_mayfly/replication")["in_flight"].empty());
  CHECK(regions.inconsistent() == "");
}

}  // namespace mayfly::testing
