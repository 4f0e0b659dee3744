// Tests what happens to imports and bulk puts when their account, table or bucket changes while they run.
#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "compat/control/control.h"
#include "compat/imports/source.h"
#include "compat/jobs/jobs.h"
#include "engine/background/snapshots.h"
#include "tests/support/engine_world.h"
#include "tests/support/stepped_scheduler.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {
namespace {

using Json = nlohmann::json;

const Json carts = {{"TableName", "carts"},
                    {"BillingMode", "PAY_PER_REQUEST"},
                    {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
                    {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}}};
const Json import_carts = {{"ClientToken", "t"},
                           {"S3BucketSource", {{"S3Bucket", "in"}}},
                           {"InputFormat", "DYNAMODB_JSON"},
                           {"TableCreationParameters", carts}};
const Json put_carts = {{"TableName", "carts"},
                        {"InputS3Configuration", {{"S3Bucket", "in"}, {"InputFormat", "DYNAMODB_JSON"}}},
                        {"OutputS3Configuration", {{"S3Bucket", "out"}, {"OutputType", {"ERROR"}}}}};

// An emulator with two buckets. If `stepped` is true, the test steps the emulator's jobs.
struct ImportWorld {
  explicit ImportWorld(bool stepped = true) {
    compat::EmulatorOptions options;
    options.database.reap = false;
    if (stepped) options.database.make_scheduler = [this](std::size_t) { return scheduler; };
    options.buckets.directories = {{"in", in.path()}, {"out", out.path()}};
    emulator.emplace(std::move(options));
  }
  void file(const std::string& name, std::size_t items, const std::string& further = {}) const {
    std::ofstream file(in.path() + "/" + name);
    for (std::size_t i = 0; i < items; ++i) file << R"({"Item":{"id":{"S":")" << name << i << "\"}}}\n";
    file << further;
  }
  std::string start_import() {
    Json request = import_carts;
    request["ClientToken"] = std::to_string(++imports);
    return emulator->ok("ImportTable", request)["ImportTableDescription"]["ImportArn"];
  }
  // The number of items that the latest import has imported so far. DescribeImport shows this number only
  // after the import has ended.
  [[nodiscard]] std::int64_t imported() {
    return emulator->emulator().jobs().list(account).front()->count("ImportedItemCount");
  }
  std::string start_put() {
    return emulator->ok("StartBulkPutItems", put_carts)["BulkOperationDescription"]["BulkOperationArn"];
  }
  Json describe_import(const std::string& arn) {
    return emulator->ok("DescribeImport", {{"ImportArn", arn}})["ImportTableDescription"];
  }
  Json describe_put(const std::string& arn) {
    return emulator->ok("DescribeBulkOperation", {{"BulkOperationArn", arn}})["BulkOperationDescription"];
  }
  std::int64_t count() {
    return emulator->ok("Scan", {{"TableName", "carts"}, {"Select", "COUNT"}})["Count"];
  }
  bool steps_until(const std::function<bool()>& done) {
    while (!done())
      if (!scheduler->step_one()) return done();
    return true;
  }

  TemporaryDirectory in, out;
  std::shared_ptr<SteppedClock> clock = std::make_shared<SteppedClock>(TestEmulator::start);
  std::shared_ptr<SteppedScheduler> scheduler = std::make_shared<SteppedScheduler>(clock, 1);
  std::optional<TestEmulator> emulator;
  int imports = 0;
};

}  // namespace

TEST_CASE("an import's table is CREATING until all of its items are imported", "[imports]") {
  ImportWorld world;
  world.file("a", 1000);
  const std::string arn = world.start_import();
  CHECK(world.emulator->refused("DescribeTable", {{"TableName", "carts"}}) ==
        "Requested resource not found: Table: carts not found");
  REQUIRE(world.steps_until([&] { return world.imported() > 0; }));
  const Json running = world.describe_import(arn);
  CHECK(running["ImportStatus"] == "IN_PROGRESS");
  for (const char* const count : {"ImportedItemCount", "ProcessedItemCount", "ErrorCount"})
    CHECK(running[count] == 0);
  CHECK(running["ProcessedSizeBytes"] > 0);
  CHECK(world.emulator->ok("DescribeTable", {{"TableName", "carts"}})["Table"]["TableStatus"] == "CREATING");
  CHECK(world.emulator->refused("GetItem", {{"TableName", "carts"}, {"Key", {{"id", {{"S", "a0"}}}}}}) ==
        "Requested resource not found");
  CHECK(world.emulator->refused("DeleteTable", {{"TableName", "carts"}}) ==
        "Attempt to change a resource which is still in use: Table is being created: carts");
  world.scheduler->run();
  CHECK(world.describe_import(arn)["ImportStatus"] == "COMPLETED");
  CHECK(world.count() == 1000);
}

TEST_CASE("a restore or a reset during an import ends the import and nothing is written afterward",
          "[imports]") {
  const bool resets = GENERATE(false, true);
  ImportWorld world;
  world.file("a", 2000);
  engine::Database& database = world.emulator->emulator().database();
  const auto empty = database.snapshots().take(account);
  const std::string arn = world.start_import();
  REQUIRE(world.steps_until([&] { return world.imported() > 0; }));
  const auto during = database.snapshots().take(account);
  REQUIRE(world.steps_until([&] { return world.imported() > 500; }));
  if (resets) {
    database.snapshots().reset(account);
  } else {
    CHECK(database.snapshots().restore(account, empty));
  }
  world.scheduler->run();
  CHECK(world.emulator->ok("ListTables", Json::object())["TableNames"].empty());
  CHECK(world.emulator->ok("ListImports", Json::object())["ImportSummaryList"].empty());
  CHECK(world.emulator->emulator().table_changes().find(world.emulator->scope, "carts") == std::nullopt);

  if (resets) return;
  // After a restore of the snapshot taken during the import, the import is FAILED, and its table has the
  // items imported before the snapshot.
  CHECK(database.snapshots().restore(account, during));
  world.scheduler->run();
  const Json failed = world.describe_import(arn);
  CHECK(failed["ImportStatus"] == "FAILED");
  CHECK(failed["FailureCode"] == "InternalServerError");
  CHECK(world.emulator->ok("DescribeTable", {{"TableName", "carts"}})["Table"]["TableStatus"] == "ACTIVE");
  CHECK(world.count() >= failed["ImportedItemCount"].get<std::int64_t>());
  CHECK(world.count() < 500);
}

TEST_CASE("concurrent imports into one table are all accepted and one succeeds", "[imports]") {
  ImportWorld world;
  world.file("a", 1000);
  const std::vector<std::string> arns{world.start_import(), world.start_import(), world.start_import()};
  world.scheduler->run();
  int completed = 0;
  for (const std::string& arn : arns) {
    const Json ended = world.describe_import(arn);
    completed += ended["ImportStatus"] == "COMPLETED";
    if (ended["ImportStatus"] == "FAILED") CHECK(ended["FailureCode"] == "TableAlreadyExists");
  }
  CHECK(completed == 1);
  CHECK(world.emulator->ok("DescribeTable", {{"TableName", "carts"}})["Table"]["TableStatus"] == "ACTIVE");
  CHECK(world.count() == 1000);
}

TEST_CASE("an object deleted during an import counts as one error", "[imports]") {
  ImportWorld world;
  for (const char* const name : {"a", "b", "c"}) world.file(name, 100);
  const std::string arn = world.start_import();
  REQUIRE(world.steps_until([&] { return world.imported() > 0; }));
  REQUIRE(std::remove((world.in.path() + "/b").c_str()) == 0);
  world.scheduler->run();
  const Json ended = world.describe_import(arn);
  CHECK(ended["ImportStatus"] == "FAILED");
  CHECK(ended["FailureCode"] == "ItemValidationError");
  CHECK(ended["ErrorCount"] == 1);
  CHECK(ended["ImportedItemCount"] == 200);
  const auto job = world.emulator->emulator().jobs().list(account).front();
  const auto log = world.emulator->emulator().jobs().log(*job);
  REQUIRE(log.size() == 1);
  CHECK(Json::parse(log[0])["itemS3Pointer"]["key"] == "b");
}

TEST_CASE("a bulk put fails when its table is deleted and does not touch a new table of the same name",
          "[imports]") {
  ImportWorld world;
  world.file("a", 2000);
  world.emulator->ok("CreateTable", carts);
  const std::string arn = world.start_put();
  REQUIRE(world.steps_until([&] { return world.describe_put(arn).value("ProcessedItemCount", 0) > 0; }));
  world.emulator->ok("DeleteTable", {{"TableName", "carts"}});
  world.emulator->ok("CreateTable", carts);
  world.scheduler->run();
  const Json ended = world.describe_put(arn);
  CHECK(ended["BulkOperationStatus"] == "FAILED");
  CHECK(ended["FailureCode"] == "ResourceNotFoundException");
  CHECK(world.count() == 0);
}

TEST_CASE("a bulk put respects its write limit and can be canceled between two commits", "[imports]") {
  ImportWorld world;
  world.file("a", 20'000);
  world.emulator->ok("CreateTable", carts);
  Json request = put_carts;
  request["MaxWriteRequestUnits"] = 1024;
  const std::string arn =
      world.emulator->ok("StartBulkPutItems", request)["BulkOperationDescription"]["BulkOperationArn"];
  const auto put_in = [&](engine::Instant time) {
    const std::int64_t before = world.count();
    for (engine::Instant passed = 0; passed < time; passed += 10) {
      world.scheduler->run();
      world.clock->move(10);
    }
    return world.count() - before;
  };
  CHECK(put_in(2000) <= 2 * 1024 + 2 * 64);
  CHECK(put_in(2000) >= 1024);
  CHECK(world.emulator->ok("CancelBulkOperation", {{"BulkOperationArn", arn}})["BulkOperationStatus"] ==
        "CANCELLING");
  CHECK(world.describe_put(arn)["BulkOperationStatus"] == "CANCELLING");
  const std::int64_t put = world.count();
  world.scheduler->run();
  const Json ended = world.describe_put(arn);
  CHECK(ended["BulkOperationStatus"] == "CANCELLED");
  CHECK(ended["FailureCode"] == "Cancelled");
  CHECK(world.count() == put);
}

TEST_CASE("bulk put usage is counted for the table and for each of its indexes", "[imports]") {
  ImportWorld world;
  std::ofstream(world.in.path() + "/a")
      << R"({"Item":{"id":{"S":"1"},"by":{"S":"x"},"text":{"S":"0123456789"}}})"
      << "\n"
      << R"({"Item":{"id":{"S":"2"}}})"
      << "\n";
  Json table = carts;
  table["AttributeDefinitions"].push_back({{"AttributeName", "by"}, {"AttributeType", "S"}});
  table["GlobalSecondaryIndexes"] = {{{"IndexName", "by_by"},
                                      {"Projection", {{"ProjectionType", "KEYS_ONLY"}}},
                                      {"KeySchema", {{{"AttributeName", "by"}, {"KeyType", "HASH"}}}}}};
  world.emulator->ok("CreateTable", table);
  const std::string arn = world.start_put();
  world.scheduler->run();
  const Json usage = world.describe_put(arn)["BulkOperationUsage"][0];
  CHECK(usage["Table"]["BulkPutBytes"] == 3 + 3 + 14 + 3);
  CHECK(usage["GlobalSecondaryIndexes"]["by_by"]["BulkPutBytes"] == 6);
  CHECK(usage["BulkPutBytes"] == 23 + 6);
}

TEST_CASE("concurrent imports and bulk puts are limited", "[imports]") {
  ImportWorld world;
  world.emulator->ok("CreateTable", carts);
  Json request = import_carts;
  for (int i = 0; i < 50; ++i) {
    request["ClientToken"] = request["TableCreationParameters"]["TableName"] = "table" + std::to_string(i);
    world.emulator->ok("ImportTable", request);
    world.start_put();
  }
  request["ClientToken"] = request["TableCreationParameters"]["TableName"] = "another";
  CHECK(world.emulator->refused("ImportTable", request) ==
        "Subscriber limit exceeded: There is a limit of 50 concurrent imports");
  CHECK(world.emulator->refused("StartBulkPutItems", put_carts) ==
        "Subscriber limit exceeded: There is a limit of 50 concurrent bulk operations");
  world.scheduler->run();
  CHECK(world.emulator->ok("ListTables", Json::object())["TableNames"].size() == 51);
  world.emulator->ok("ImportTable", request);
}

// A bucket with an endless listing: `add` fills each page, and each page has a continuation token.
class EndlessBucket final : public compat::buckets::Bucket {
 public:
  using Add = std::function<void(compat::buckets::Listing& listing, std::size_t page)>;
  explicit EndlessBucket(Add add) : add_(std::move(add)) {}
  void list(std::string_view, const std::optional<std::string>&, std::stop_token,
            compat::buckets::Done<compat::buckets::Listing> done) override {
    compat::buckets::Listing listing{.objects = {}, .next_token = std::to_string(pages_)};
    add_(listing, pages_++);
    done(std::move(listing));
  }
  void head(std::string_view, std::stop_token, compat::buckets::Done<compat::buckets::Object>) override {}
  void read(std::string_view, std::uint64_t, std::string_view, std::stop_token,
            compat::buckets::Done<compat::buckets::Piece>) override {}
  std::unique_ptr<compat::buckets::Upload> upload(std::string_view) override { return nullptr; }

 private:
  const Add add_;
  std::size_t pages_ = 0;
};

// Lists an EndlessBucket until the listing fails. Returns the number of pages and the failure's message.
std::pair<std::size_t, std::string> pages_until_failure(EndlessBucket::Add add) {
  compat::imports::Source source(std::make_shared<EndlessBucket>(std::move(add)), {.bucket = "b"});
  const compat::jobs::Job job;
  compat::jobs::Progress progress;
  std::vector<std::string> log;
  const std::stop_token stop;
  const std::function<void()> wake = [] {};
  compat::jobs::Run run{job, progress, log, stop, wake};
  using Got = compat::imports::Source::Got;
  std::size_t pages = 0;
  Got got = Got::later;
  for (; got == Got::later; ++pages) got = source.list(run);
  REQUIRE(got == Got::failed);
  return {pages, source.failure().message};
}

TEST_CASE("an import's listing of objects fails if it has too many objects or never ends", "[imports]") {
  using compat::buckets::Listing, compat::buckets::listed_max;
  const auto [full, too_many] = pages_until_failure([](Listing& listing, std::size_t page) {
    for (std::size_t i = 0; i < listed_max; ++i)
      listing.objects.push_back({std::to_string(page) + "-" + std::to_string(i), 1});
  });
  CHECK(full == compat::imports::objects_max / listed_max + 1);
  CHECK(too_many == "The prefix has more than 50000 objects");

  const auto empty = [](Listing&, std::size_t) {};
  const auto markers = [](Listing& listing, std::size_t page) {
    listing.objects.push_back({std::to_string(page) + "/", 0});
  };
  for (const EndlessBucket::Add& add : {EndlessBucket::Add(empty), EndlessBucket::Add(markers)}) {
    const auto [pages, what] = pages_until_failure(add);
    CHECK(pages == compat::imports::empty_pages_max + 1);
    CHECK(what == "The bucket's listing has more than 1000 pages without an object");
  }

  const auto [circle, again] = pages_until_failure([](Listing& listing, std::size_t page) {
    listing.objects.push_back({std::to_string(page), 1});
    listing.next_token = std::to_string(page % 3);
  });
  CHECK(circle < 10);
  CHECK(again == "The bucket's endpoint returned the same continuation token twice");
}

TEST_CASE("imports and bulk puts still work after running concurrently with drops or restores",
          "[imports][races]") {
  ImportWorld world(false);
  for (const char* const name : {"a", "b", "c"}) world.file(name, 300, "nonsense\n");
  TestEmulator& emulator = *world.emulator;
  std::atomic<bool> stop = false;
  std::atomic<int> unexpected = 0, done = 0;
  std::vector<std::thread> threads;
  const auto repeat = [&](std::function<compat::Answer()> act) {
    threads.emplace_back([&, act = std::move(act)] {
      while (!stop) {
        unexpected += act().status == 500;
        ++done;
      }
    });
  };
  std::atomic<int> imports = 0;
  repeat([&] {
    Json request = import_carts;
    request["ClientToken"] = std::to_string(++imports);
    return emulator.execute("ImportTable", request.dump());
  });
  repeat([&] { return emulator.execute("StartBulkPutItems", put_carts.dump()); });
  repeat([&] {
    const Json answer = Json::parse(emulator.execute("ListBulkOperations", "{}").body);
    const Json& listed = answer["BulkOperationsSummaryList"];
    if (listed.empty()) return emulator.execute("ListImports", "{}");
    return emulator.execute("CancelBulkOperation",
                            Json{{"BulkOperationArn", listed[0]["BulkOperationArn"]}}.dump());
  });
  repeat([&] { return emulator.execute("DeleteTable", R"({"TableName":"carts"})"); });
  repeat([&] { return emulator.execute("CreateTable", carts.dump()); });
  threads.emplace_back([&] {
    engine::Database& database = emulator.emulator().database();
    for (int i = 0; i < 30; ++i) {
      const auto snapshot = database.snapshots().take(account);
      if (i % 3 == 0) database.snapshots().reset(account);
      if (i % 3 == 1) static_cast<void>(database.snapshots().restore(account, snapshot));
    }
    stop = true;
  });
  for (std::thread& thread : threads) thread.join();
  CHECK(unexpected == 0);
  compat::jobs::Jobs& jobs = emulator.emulator().jobs();
  CHECK(jobs.settle(account, engine::host_time() + std::chrono::seconds(60)));
  for (const auto& job : jobs.list(account)) CHECK(job->over());
  CHECK(emulator.emulator().table_changes().find(emulator.scope, "carts") == std::nullopt);
  static_cast<void>(emulator.execute("DeleteTable", R"({"TableName":"carts"})"));
  const std::string arn = world.start_import();
  CHECK(jobs.settle(account, engine::host_time() + std::chrono::seconds(60)));
  CHECK(world.describe_import(arn)["ImportedItemCount"] == 900);
  CHECK(world.count() == 900);
  if (const auto table = emulator.emulator().database().catalog().find(emulator.scope, "carts"))
    CHECK(inconsistency(emulator.emulator().database()).empty());
}

}  // namespace mayfly::testing
