// Tests the files of an export that is made from the test's records and written to a bucket in memory.
#include "compat/exports/export_work.h"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "compat/data_files/reader.h"
#include "compat/wire/base64.h"
#include "engine/values/item_codec.h"
#include "engine/values/key_codec.h"
#include "tests/compat/data_files/read_file.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {
namespace {

using namespace compat;
using namespace compat::exports;
using data_files::ExportType;
using data_files::Format;

// A bucket that keeps its objects in memory. A chosen call can fail, and responses can wait until the test
// delivers them.
struct MemoryBucket final : buckets::Bucket {
  std::map<std::string, std::string> objects;
  int calls = 0, dropped = 0;
  int fails_at = 0;  // number of the call that fails; 0: none
  bool waits = false;
  std::vector<std::function<void()>> waiting;
  std::size_t largest_piece = 0;

  struct InMemory final : buckets::Upload {
    InMemory(MemoryBucket& bucket_, std::string_view key_) : bucket(bucket_), key(key_) {}
    ~InMemory() override {
      if (!finished) ++bucket.dropped;
    }
    void append(std::string_view piece, std::stop_token, buckets::Done<void> done) override {
      bucket.largest_piece = std::max(bucket.largest_piece, piece.size());
      if (bucket.fails()) return bucket.tell([done] { done(Unexpected{full()}); });
      bytes += piece;
      bucket.tell([done] { done(buckets::Outcome<void>()); });
    }
    void finish(std::stop_token, buckets::Done<buckets::Stored> done) override {
      if (bucket.fails()) return bucket.tell([done] { done(Unexpected{full()}); });
      bucket.objects[key] = bytes;
      finished = true;
      bucket.tell([done, size = bytes.size()] {
        done(buckets::Stored{"etag-of-" + std::to_string(size), size});
      });
    }
    MemoryBucket& bucket;
    std::string key, bytes;
    bool finished = false;
  };

  static buckets::Failure full() { return buckets::internal_error("No space left on device"); }
  bool fails() { return ++calls == fails_at; }
  void tell(std::function<void()> done) {
    if (!waits) return done();
    waiting.push_back(std::move(done));
  }
  void list(std::string_view, const std::optional<std::string>&, std::stop_token,
            buckets::Done<buckets::Listing>) override {}
  void head(std::string_view, std::stop_token, buckets::Done<buckets::Object>) override {}
  void read(std::string_view, std::uint64_t, std::string_view, std::stop_token,
            buckets::Done<buckets::Piece>) override {}
  std::unique_ptr<buckets::Upload> upload(std::string_view key) override {
    return std::make_unique<InMemory>(*this, key);
  }
};

struct MadeUp {
  std::string id;
  std::optional<Item> now, before;
  Instant written = 0;
};

class MadeUpRecords final : public Records {
 public:
  explicit MadeUpRecords(const std::vector<MadeUp>& all) {
    for (const MadeUp& each : all) {
      const AttributeValue id(each.id);
      const AttributeValue* const values[] = {&id};
      std::string key;
      engine::append_key(key, values, {});
      sorted_.emplace(std::move(key), each);
    }
  }
  bool next() override {
    at_ = started_ ? std::next(at_) : sorted_.begin();
    started_ = true;
    if (at_ == sorted_.end()) return false;
    const auto stored = [](const std::optional<Item>& item) {
      std::optional<engine::StoredItem> image;
      if (!item) return image;
      std::string bytes;
      engine::encode_item(*item, bytes);
      image.emplace(std::move(bytes));
      return image;
    };
    now_ = stored(at_->second.now), before_ = stored(at_->second.before);
    return true;
  }
  [[nodiscard]] std::string_view key() const override { return at_->first; }
  [[nodiscard]] const engine::StoredItem* new_image() const override { return now_ ? &*now_ : nullptr; }
  [[nodiscard]] const engine::StoredItem* old_image() const override { return before_ ? &*before_ : nullptr; }
  [[nodiscard]] Instant written() const override { return at_->second.written; }

 private:
  std::map<std::string, MadeUp> sorted_;
  std::map<std::string, MadeUp>::const_iterator at_;
  bool started_ = false;
  std::optional<engine::StoredItem> now_, before_;
};

Table carts() {
  Table table;
  table.account = account, table.region = "us-east-1", table.name = "carts";
  table.keys = KeySchema({{"id", ScalarType::string}}, {});
  return table;
}

struct Exported {
  World world;
  std::shared_ptr<MemoryBucket> bucket = std::make_shared<MemoryBucket>();
  std::shared_ptr<const Table> table = std::make_shared<const Table>(carts());
  ExportRequest asked{.table_arn = "arn:aws:dynamodb:us-east-1:000000000000:table/carts", .bucket = "bucket"};
  Filter filter;
  unsigned partitions = 4;
  jobs::Job job;
  int steps = 0, wakes = 0;

  Exported() {
    job.id = "01700000000000-1a2b3c4d";
    job.arn = asked.table_arn + "/export/" + job.id;
    job.table_uuid = "b116b490-6460-4d4a-9a6b-5d360abf4fb3";
    job.scope = {std::string(account), "us-east-1"};
    job.started = world.now();
    asked.until = world.now();
  }
  jobs::Ending run(const std::vector<MadeUp>& records) {
    ExportWork work(world.database(), {.bucket = std::shared_ptr<buckets::Bucket>(bucket),
                                       .table = table,
                                       .records = std::make_unique<MadeUpRecords>(records),
                                       .asked = asked,
                                       .filter = std::move(filter),
                                       .partitions = partitions});
    std::vector<std::string> log;
    const std::stop_token stop;
    const std::function<void()> wake = [this] { ++wakes; };
    for (;;) {
      REQUIRE(++steps < 100'000);
      jobs::Run run{job, job.progress, log, stop, wake};
      const jobs::Step step = work.step(run);
      if (step.then == jobs::Step::Then::ends) return step.ending;
      if (step.then == jobs::Step::Then::waits) {
        REQUIRE_FALSE(bucket->waiting.empty());
        const auto told = std::exchange(bucket->waiting, {});
        for (const auto& done : told) done();
      }
    }
  }

  std::string own(std::string_view name) { return "AWSDynamoDB/" + job.id + "/" + std::string(name); }
  std::vector<nlohmann::json> manifest() {
    std::istringstream lines(bucket->objects.at(own("manifest-files.json")));
    std::vector<nlohmann::json> files;
    for (std::string line; std::getline(lines, line);) files.push_back(nlohmann::json::parse(line));
    return files;
  }
  static std::string unpacked(std::string_view packed) {
    const auto unpacker = data_files::Unpacker::of(data_files::Compression::gzip);
    std::string text;
    while (!packed.empty() || unpacker->holds_more()) REQUIRE(unpacker->step(packed, text));
    REQUIRE(unpacker->end());
    return text;
  }
  // The lines of all data files, sorted.
  std::vector<std::string> lines() {
    std::vector<std::string> all;
    for (const auto& file : manifest()) {
      std::istringstream text(unpacked(bucket->objects.at(file["dataFileS3Key"])));
      for (std::string line; std::getline(text, line);) all.push_back(line);
    }
    std::sort(all.begin(), all.end());
    return all;
  }
};

std::vector<MadeUp> items(int count) {
  std::vector<MadeUp> all;
  for (int i = 0; i < count; ++i) {
    const std::string id = "id" + std::to_string(i);
    all.push_back({id, Item{{"id", id}, {"n", number(i)}}, {}, 0});
  }
  return all;
}

std::string md5_of(std::string_view bytes) {
  Md5 sum;
  sum.add(bytes);
  std::string text;
  append_base64(text, sum.end());
  return text;
}

}  // namespace

TEST_CASE("a full export matches its manifests and has one file per partition", "[exports]") {
  Exported exported;
  const auto all = items(5'000);
  const auto ending = exported.run(all);
  CHECK(ending.status == jobs::Status::completed);
  CHECK(ending.failure_code.empty());
  auto& objects = exported.bucket->objects;
  CHECK(objects.size() == 9);  // as observed on AWS for a small on-demand table
  CHECK(objects.at(exported.own("_started")).empty());

  const auto files = exported.manifest();
  REQUIRE(files.size() == 4);
  std::int64_t counted = 0;
  std::map<std::string, Item> read;
  for (const auto& file : files) {
    const std::string key = file["dataFileS3Key"];
    CHECK(key.starts_with(exported.own("data/")));
    CHECK(key.ends_with(".json.gz"));
    const std::string& packed = objects.at(key);
    CHECK(file["md5Checksum"] == md5_of(packed));
    CHECK(file["etag"] == "etag-of-" + std::to_string(packed.size()));
    const auto records = read_file({.compression = data_files::Compression::gzip}, packed);
    CHECK(file["itemCount"] == records.size());
    CHECK(records.size() > 1'000);  // each file has about a quarter of the items
    counted += file["itemCount"].get<std::int64_t>();
    for (const auto& record : records) {
      REQUIRE(record);
      read[*record->find("id")->get_if<std::string>()] = *record;
    }
  }
  CHECK(counted == 5'000);
  REQUIRE(read.size() == all.size());
  for (const MadeUp& each : all) CHECK(read.at(each.id) == *each.now);

  const auto summary = nlohmann::json::parse(objects.at(exported.own("manifest-summary.json")));
  CHECK(summary["itemCount"] == 5'000);
  CHECK(summary["billedSizeBytes"] == exported.job.progress.counts.at("BilledSizeBytes"));
  CHECK(summary["exportArn"] == exported.job.arn);
  CHECK(summary["manifestFilesS3Key"] == exported.own("manifest-files.json"));
  CHECK(objects.at(exported.own("manifest-files.md5")) ==
        md5_of(objects.at(exported.own("manifest-files.json"))));
  CHECK(objects.at(exported.own("manifest-summary.md5")) ==
        md5_of(objects.at(exported.own("manifest-summary.json"))));
  CHECK(exported.job.progress.done == exported.job.progress.total);
  CHECK(exported.steps > 5);  // each step exports at most 1,000 items
}

TEST_CASE("an empty table's export has empty files", "[exports]") {
  Exported exported;
  CHECK(exported.run({}).status == jobs::Status::completed);
  CHECK(exported.bucket->objects.size() == 9);
  CHECK(exported.lines().empty());
  CHECK(exported.manifest()[0]["itemCount"] == 0);
  CHECK(exported.job.progress.counts.at("ItemCount") == 0);
  CHECK(exported.job.progress.counts.at("BilledSizeBytes") == 0);
}

TEST_CASE(
    "an incremental export has each key's final state but no items both created and deleted in its period",
    "[exports]") {
  Exported exported;
  exported.partitions = 1;
  exported.asked.type = ExportType::incremental;
  exported.asked.from = exported.world.now() - 3'600'000;
  const std::vector<MadeUp> changes = {
      {"new", Item{{"id", "new"}, {"n", number(1)}}, {}, 1'684'374'845'117},
      {"changed", Item{{"id", "changed"}, {"n", number(2)}}, Item{{"id", "changed"}}, 1'684'374'845'118},
      {"gone", {}, Item{{"id", "gone"}}, 1'684'374'845'119},
      {"came and went", {}, {}, 1'684'374'845'120}};
  SECTION("the export has new and old images") {
    CHECK(exported.run(changes).status == jobs::Status::completed);
    CHECK(
        exported.lines() ==
        std::vector<std::string>{
            R"({"Metadata":{"WriteTimestampMicros":{"N":"1684374845117000"}},"Keys":{"id":{"S":"new"}},"NewImage":{"id":{"S":"new"},"n":{"N":"1"}}})",
            R"({"Metadata":{"WriteTimestampMicros":{"N":"1684374845118000"}},"Keys":{"id":{"S":"changed"}},"NewImage":{"id":{"S":"changed"},"n":{"N":"2"}},"OldImage":{"id":{"S":"changed"}}})",
            R"({"Metadata":{"WriteTimestampMicros":{"N":"1684374845119000"}},"Keys":{"id":{"S":"gone"}},"OldImage":{"id":{"S":"gone"}}})"});
    CHECK(exported.manifest()[0]["dataFileS3Key"].get<std::string>().starts_with("AWSDynamoDB/data/"));
    const auto summary =
        nlohmann::json::parse(exported.bucket->objects.at(exported.own("manifest-summary.json")));
    CHECK(summary["itemCount"] == 3);
    CHECK(summary["billedSizeBytes"] == 10'000'000);
    CHECK(summary["exportType"] == "INCREMENTAL_EXPORT");
  }
  SECTION("the export has new images only") {
    exported.asked.old_images = false;
    CHECK(exported.run(changes).status == jobs::Status::completed);
    for (const std::string& line : exported.lines()) CHECK(line.find("OldImage") == std::string::npos);
    CHECK(exported.lines().size() == 3);
  }
  SECTION("the export filters on the latest image and on the old image of a deleted item") {
    const auto specification = json::parse(
        R"({"FilterExpression":"attribute_exists(n) OR id = :g","ProjectionExpression":"n",
            "ExpressionAttributeValues":{":g":{"S":"gone"}}})");
    exported.filter = *Filter::read(specification->root(), exported.table, Frame::older);
    CHECK(exported.run(changes).status == jobs::Status::completed);
    CHECK(
        exported.lines() ==
        std::vector<std::string>{
            R"({"Metadata":{"WriteTimestampMicros":{"N":"1684374845117000"}},"Keys":{"id":{"S":"new"}},"NewImage":{"n":{"N":"1"}}})",
            R"({"Metadata":{"WriteTimestampMicros":{"N":"1684374845118000"}},"Keys":{"id":{"S":"changed"}},"NewImage":{"n":{"N":"2"}},"OldImage":{}})",
            R"({"Metadata":{"WriteTimestampMicros":{"N":"1684374845119000"}},"Keys":{"id":{"S":"gone"}},"OldImage":{}})"});
  }
}

TEST_CASE("an export in Ion can be read back", "[exports]") {
  Exported exported;
  exported.partitions = 1;
  exported.asked.format = Format::ion;
  CHECK(exported.run(items(10)).status == jobs::Status::completed);
  const std::string key = exported.manifest()[0]["dataFileS3Key"];
  CHECK(key.ends_with(".ion.gz"));
  const auto records = read_file({.format = Format::ion, .compression = data_files::Compression::gzip},
                                 exported.bucket->objects.at(key));
  CHECK(records.size() == 10);
  for (const auto& record : records) CHECK(record);
}

TEST_CASE("an export fails with the error code of a failed bucket call and leaves no complete summary",
          "[exports]") {
  int calls = 0;
  {
    Exported exported;
    exported.partitions = 2;
    CHECK(exported.run(items(100)).status == jobs::Status::completed);
    calls = exported.bucket->calls;
  }
  REQUIRE(calls > 8);
  for (int n = 1; n <= calls; ++n) {
    Exported exported;
    exported.partitions = 2;
    exported.bucket->fails_at = n;
    const auto ending = exported.run(items(100));
    INFO("call " << n);
    CHECK(ending.status == jobs::Status::failed);
    CHECK(ending.failure_code == "S3InternalError");
    CHECK(
        ending.failure_message.starts_with("No space left on device (Service: Amazon S3; Status Code: 500;"));
    CHECK_FALSE(exported.bucket->objects.contains(exported.own("manifest-summary.md5")));
    CHECK(exported.bucket->dropped == 1);  // the unfinished object was discarded
  }
}

TEST_CASE("an export does not occupy a thread while it waits for a slow bucket and completes as usual",
          "[exports]") {
  Exported exported;
  exported.bucket->waits = true;
  CHECK(exported.run(items(3'000)).status == jobs::Status::completed);
  CHECK(exported.wakes == exported.bucket->calls);
  CHECK(exported.lines().size() == 3'000);
}

TEST_CASE("an export's memory does not grow with the table", "[exports]") {
  Exported exported;
  exported.partitions = 1;
  std::vector<MadeUp> large;
  std::mt19937 random(1);
  for (int i = 0; i < 40; ++i) {
    std::string noise(300'000, ' ');  // incompressible
    for (char& c : noise) c = static_cast<char>(' ' + random() % 90);
    const std::string id = std::to_string(i);
    large.push_back({id, Item{{"id", id}, {"noise", noise}}, {}, 0});
  }
  CHECK(exported.run(large).status == jobs::Status::completed);
  CHECK(exported.lines().size() == 40);
  CHECK(exported.bucket->largest_piece < 2 * buckets::piece_bytes_max);
  CHECK(exported.job.progress.counts.at("BilledSizeBytes") > 12'000'000);
}

}  // namespace mayfly::testing
