// Tests mayfly/mayfly.h: operations and control calls as C++ functions in the test's own process.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mayfly/mayfly.h>
#include <mayfly/mayfly_c.h>
#include <string>

#include "tests/support/certificate.h"
#include "tests/support/engine_world.h"
#include "tests/support/http_client.h"

namespace mayfly::testing {

using namespace std::chrono_literals;
using mayfly::TimePoint;

namespace {

constexpr TimePoint new_year_2031{1'924'992'000s};

mayfly::Emulator with_carts(const mayfly::Identity& identity = {}) {
  mayfly::Emulator emulator({.frozen_at = new_year_2031});
  REQUIRE(
      emulator
          .execute(
              "CreateTable",
              R"({"TableName":"carts","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
              R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"})",
              identity)
          .status == 200);
  REQUIRE(emulator
              .execute(
                  "UpdateTimeToLive",
                  R"({"TableName":"carts","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})",
                  identity)
              .status == 200);
  return emulator;
}

void put(mayfly::Emulator& emulator, const std::string& id, std::chrono::seconds after,
         const mayfly::Identity& identity = {}) {
  const auto ttl =
      std::chrono::duration_cast<std::chrono::seconds>(new_year_2031.time_since_epoch() + after).count();
  REQUIRE(emulator
              .execute("PutItem",
                       R"({"TableName":"carts","Item":{"id":{"S":")" + id + R"("},"ttl":{"N":")" +
                           std::to_string(ttl) + R"("}}})",
                       identity)
              .status == 200);
}

}  // namespace

// The example in docs/backups.md.
TEST_CASE("a backup in an embedded emulator outlives its table") {
  const std::string carts =
      R"({"TableName":"carts","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
      R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"})";
  const auto arn_in = [](const std::string& body) {
    const auto begin = body.find("arn:");
    return body.substr(begin, body.find('"', begin) - begin);
  };
  mayfly::Emulator emulator({.frozen_at = new_year_2031});
  emulator.execute("CreateTable", carts);
  emulator.execute("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"1"}}})");
  const std::string arn =
      arn_in(emulator.execute("CreateBackup", R"({"TableName":"carts","BackupName":"nightly"})").body);
  emulator.execute("DeleteTable", R"({"TableName":"carts"})");
  emulator.advance(std::chrono::hours(24 * 365));
  emulator.execute("RestoreTableFromBackup", R"({"TargetTableName":"carts","BackupArn":")" + arn + R"("})");
  CHECK(emulator.execute("Scan", R"({"TableName":"carts"})").body ==
        R"({"Items":[{"id":{"S":"1"}}],"Count":1,"ScannedCount":1})");
}

TEST_CASE("an embedded operation returns status 0 when a fault closes connections") {
  mayfly::Emulator emulator = with_carts();
  emulator.control("PUT", "/_mayfly/faults",
                   R"({"rules":[{"fault":"connection_closed","applied":true,"count":1}]})");
  const mayfly::Answer answer =
      emulator.execute("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"1"}}})");
  CHECK(answer.status == 0);
  CHECK(answer.body.empty());
  CHECK(emulator.execute("Scan", R"({"TableName":"carts","Select":"COUNT"})").body ==
        R"({"Count":1,"ScannedCount":1})");
}

TEST_CASE("under a stale_reads rule an embedded emulator's reads lag until its clock advances") {
  mayfly::Emulator emulator = with_carts();
  CHECK(
      emulator.control("PUT", "/_mayfly/faults", R"({"rules":[{"fault":"stale_reads","milliseconds":500}]})")
          .status == 200);
  put(emulator, "a", 48h);
  const auto count = [&](const std::string& more) {
    return emulator.execute("Scan", R"({"TableName":"carts","Select":"COUNT")" + more + "}").body;
  };
  CHECK(count("") == R"({"Count":0,"ScannedCount":0})");
  emulator.advance(500ms);
  CHECK(count("") == R"({"Count":1,"ScannedCount":1})");
  put(emulator, "b", 48h);
  CHECK(count("") == R"({"Count":1,"ScannedCount":1})");
  CHECK(count(R"(,"ConsistentRead":true)") == R"({"Count":2,"ScannedCount":2})");
}

TEST_CASE("an embedded clock can be frozen and advanced and resumed") {
  mayfly::Emulator emulator = with_carts();
  put(emulator, "a", 1min);
  put(emulator, "b", 48h);
  CHECK(emulator.clock().mode == mayfly::Clock::Mode::frozen);

  mayfly::Advanced advanced = emulator.advance_to_next_expiry();
  CHECK(advanced.now == new_year_2031 + 1min + 1ms);
  CHECK(advanced.expired == 1);
  CHECK(advanced.tables == std::map<std::string, std::int64_t>{{"carts", 1}});
  CHECK(advanced.next_expiry == new_year_2031 + 48h + 1ms);
  advanced = emulator.advance_to(new_year_2031 + 48h);
  CHECK(advanced.expired == 0);
  advanced = emulator.advance(1ms);
  CHECK(advanced.expired == 1);
  CHECK_FALSE(advanced.next_expiry);
  CHECK(emulator.now() == new_year_2031 + 48h + 1ms);

  CHECK(emulator.run_at(60).expired == 0);
  CHECK(emulator.clock().mode == mayfly::Clock::Mode::rate);
  CHECK(emulator.clock().rate == 60);
  CHECK_THROWS_WITH(emulator.run_real(),
                    Catch::StartsWith("mayfly: The clock cannot go back while the account has tables"));
  CHECK_THROWS_WITH(emulator.advance(-1ms), "mayfly: the clock cannot be advanced by a negative duration");
}

TEST_CASE("an embedded account can be snapshotted and restored and reset") {
  const mayfly::Identity world{.account = "000000000042"};
  mayfly::Emulator emulator = with_carts(world);
  put(emulator, "a", 1min, world);
  const std::string id = emulator.take_snapshot(world);
  CHECK(emulator.advance(1h, world).expired == 1);
  emulator.restore_snapshot(id, world);
  CHECK(emulator.now(world) == new_year_2031);
  CHECK(emulator.explain("carts", R"({"id":{"S":"a"}})", world).reason == "not_due");
  CHECK(emulator.explain("carts", R"({"id":{"S":"a"}})", world).expires_at == new_year_2031 + 1min + 1ms);
  CHECK(emulator.sweep("carts", world) == 0);
  emulator.delete_snapshot(id, world);
  CHECK_THROWS_WITH(emulator.restore_snapshot(id, world),
                    "mayfly: Account 000000000042 has no snapshot " + id + ".");
  emulator.reset(world);
  CHECK(emulator.execute("ListTables", "{}", world).body == R"({"TableNames":[]})");
}

TEST_CASE("every control call can be made by its HTTP method and path") {
  mayfly::Emulator emulator = with_carts();
  CHECK(emulator.control("GET", "/_mayfly/clock").body ==
        R"({"mode":"frozen","now":"2031-01-01T00:00:00Z"})");
  CHECK(emulator.control("GET", "/_mayfly/ttl/carts/upcoming?limit=1").body == R"({"items":[]})");
  CHECK(emulator
            .control("POST", "/_mayfly/await",
                     R"({"table":"carts","key":{"id":{"S":"1"}},"timeout_seconds":0})")
            .status == 408);
  CHECK(emulator.control("GET", "/_mayfly/events").status == 406);
  CHECK(emulator.control("GET", "/nothing").status == 404);
}

TEST_CASE("an embedded emulator imports a table as docs/imports.md shows") {
  const TemporaryDirectory in;
  const std::string& directory = in.path();
  std::ofstream(directory + "/a.json") << R"({"Item":{"id":{"S":"1"}}})";
  mayfly::Emulator emulator({.buckets = {{"imports", directory}}});
  emulator.execute(
      "ImportTable",
      R"({"ClientToken":"t","S3BucketSource":{"S3Bucket":"imports"},"InputFormat":"DYNAMODB_JSON",
                       "TableCreationParameters":{"TableName":"carts","BillingMode":"PAY_PER_REQUEST",
                         "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
                         "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}})");
  emulator.control("POST", "/_mayfly/jobs/await", "{}");  // wait until the import has finished
  CHECK(emulator.execute("Scan", R"({"TableName":"carts"})").body ==
        R"({"Items":[{"id":{"S":"1"}}],"Count":1,"ScannedCount":1})");
}

TEST_CASE("an embedded server checks signatures and speaks TLS if configured") {
  const Certificate certificate;
  mayfly::ServerOptions options;
  options.require_signature = true;
  options.keys_file = certificate.key;
  CHECK_THROWS_WITH(mayfly::Server({}, options), "cannot use the keys in " + certificate.key +
                                                     ": line 1 is not a setting such as name = value");
  options.keys_file = certificate.cert + ".keys";
  std::ofstream(options.keys_file) << "[default]\naws_access_key_id=A\naws_secret_access_key=B\n";
  const mayfly::Server checking({}, options);
  HttpClient stranger(checking.port());
  stranger.send(http_request("GET", "/_mayfly/clock"));
  CHECK(stranger.receive().status == 403);

  const mayfly::Server secure({}, {.tls_cert_file = certificate.cert, .tls_key_file = certificate.key});
  CHECK(secure.url() == "https://127.0.0.1:" + std::to_string(secure.port()));
  CHECK_THROWS_WITH(mayfly::Server({}, {.tls_cert_file = certificate.cert}),
                    "TLS needs a certificate and its key, but there is no key (--tls-key)");
}

// The example in docs/exports.md.
TEST_CASE("an embedded emulator exports a table into a directory") {
  const TemporaryDirectory around;
  const std::string& directory = around.path();
  const TimePoint noon = new_year_2031 + 12h;

  mayfly::Emulator emulator({.buckets = {{"exports", directory}}, .frozen_at = noon});
  emulator.execute("CreateTable",
                   R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST",
                       "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
                       "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})");
  emulator.execute("UpdateContinuousBackups",
                   R"({"TableName":"carts",
                       "PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}})");
  emulator.execute("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"1"}}})");
  emulator.execute(
      "ExportTableToPointInTime",
      R"({"TableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/carts","S3Bucket":"exports"})");
  emulator.control("POST", "/_mayfly/jobs/await", "{}");  // wait until the export has finished

  std::size_t summaries = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.path().filename() != "manifest-summary.json") continue;
    ++summaries;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    CHECK(text.find(R"("exportTime":"2031-01-01T12:00:00.000Z")") != std::string::npos);
    CHECK(text.find(R"("itemCount":1,)") != std::string::npos);
  }
  CHECK(summaries == 1);
}

}  // namespace mayfly::testing
