// Tests requests that take longer than an io thread may spend on them. Each of these requests is handed over
// to another thread, executed once, and answered.
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "compat/server_metrics.h"
#include "engine/database.h"
#include "engine/items/transaction.h"
#include "http/endpoints/router.h"
#include "http/requests/compression.h"
#include "os/sockets.h"
#include "tests/support/engine_world.h"
#include "tests/support/http_client.h"
#include "tests/support/running.h"

namespace mayfly::testing {

using compat::Meter;

namespace {

constexpr std::string_view key_of_big = R"("TableName":"carts","Key":{"id":{"S":"big"}})";

std::string repeated(std::string_view text, int times, std::string_view between = ",") {
  std::string all;
  for (int i = 0; i < times; ++i) {
    if (i > 0) all += between;
    all += text;
  }
  return all;
}

// Returns "list[0],list[1],…" with `count` elements.
std::string places(std::string_view list, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    if (i > 0) all += ',';
    all += std::string(list) + "[" + std::to_string(i) + "]";
  }
  return all;
}

std::int64_t handed_over(const Running& running) {
  return running.emulator->server_metrics().of(Meter::handed_over);
}

// Returns how many requests were handed over while `ask` ran.
std::int64_t handed_over_by(const Running& running, const std::function<void()>& ask) {
  const std::int64_t before = handed_over(running);
  ask();
  return handed_over(running) - before;
}

nlohmann::json item_with_list(const std::string& id, int values) {
  return nlohmann::json::parse(R"({"id":{"S":")" + id + R"("},"l":{"L":[)" +
                               repeated(R"({"NULL":true})", values) + "]}}");
}

// Writes in process, so that the meters count only the requests under test.
void write(const Running& running, std::string_view operation, const std::string& body) {
  const compat::Answer answer = running.emulator->execute(
      {running.account, "us-east-1"}, "DynamoDB_20120810." + std::string(operation), body);
  INFO(answer.body.substr(0, 300));
  REQUIRE(answer.status == 200);
}

void put(const Running& running, const nlohmann::json& item) {
  write(running, "PutItem", nlohmann::json{{"TableName", "carts"}, {"Item", item}}.dump());
}

}  // namespace

TEST_CASE("an io thread hands over a long request for any operation", "[holds]") {
  Running running;
  running.create_table("carts", true);
  for (int i = 0; i < 3; ++i) put(running, item_with_list("big" + std::to_string(i), 100'000));
  const std::string contains = repeated("contains(l,:v)", 140, " OR ");
  const std::string values = R"("ExpressionAttributeValues":{":v":{"S":"z"}})";
  const std::string key = R"("TableName":"carts","Key":{"id":{"S":"big0"}})";
  const std::string other_key = R"("TableName":"carts","Key":{"id":{"S":"big1"}})";
  const std::string keys = R"([{"id":{"S":"big0"}},{"id":{"S":"big1"}},{"id":{"S":"big2"}}])";
  struct Case {
    const char* operation;
    std::string body;
  };
  const Case cases[] = {
      {"Scan", R"({"TableName":"carts"})"},
      {"Scan", R"({"TableName":"carts","FilterExpression":")" + contains + "\"," + values + "}"},
      {"Query", R"({"TableName":"carts","KeyConditionExpression":"id=:i","FilterExpression":")" + contains +
                    R"(","ExpressionAttributeValues":{":v":{"S":"z"},":i":{"S":"big0"}}})"},
      {"GetItem", "{" + key + R"(,"ProjectionExpression":")" + places("l", 300) + "\"}"},
      {"BatchGetItem", R"({"RequestItems":{"carts":{"Keys":)" + keys + "}}}"},
      {"TransactGetItems", R"({"TransactItems":[{"Get":{)" + key + R"(}},{"Get":{)" + other_key + "}}]}"},
      {"ExecuteStatement", R"_({"Statement":"SELECT * FROM carts WHERE contains(l,'z')"})_"},
      {"UpdateItem", "{" + key + R"(,"UpdateExpression":"SET x=:v",)" + values + "}"},
      {"DeleteItem", "{" + key + ",\"ConditionExpression\":\"NOT (" + contains + ")\"," + values + "}"},
  };
  for (const Case& each : cases) {
    INFO(each.operation);
    HttpAnswer answer;
    CHECK(handed_over_by(running,
                         [&] { answer = running.ask(operation_request(each.operation, each.body)); }) == 1);
    INFO(answer.body.substr(0, 300));
    CHECK(answer.status == 200);
  }
}

TEST_CASE("a write that is handed over is executed once", "[holds]") {
  Running running;
  running.create_table("carts", true);
  put(running, item_with_list("big", 100'000));
  const std::string removes = "REMOVE " + places("l", 290);
  CHECK(handed_over_by(running, [&] {
          const HttpAnswer answer = running.ask(operation_request(
              "UpdateItem", "{" + std::string(key_of_big) + R"(,"UpdateExpression":")" + removes +
                                R"( ADD n :one",)"
                                R"("ExpressionAttributeValues":{":one":{"N":"1"}}})"));
          CHECK(answer.status == 200);
        }) == 1);
  CHECK(handed_over_by(running, [&] {
          const HttpAnswer answer = running.ask(
              operation_request("TransactWriteItems",
                                R"({"ClientRequestToken":"once","TransactItems":[{"Update":{)" +
                                    std::string(key_of_big) + R"(,"UpdateExpression":")" + removes +
                                    R"( ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}}]})"));
          CHECK(answer.status == 200);
        }) == 1);
  const auto item =
      running.execute("GetItem", "{" + std::string(key_of_big) + R"(,"ProjectionExpression":"n"})");
  CHECK(item["Item"]["n"]["N"] == "2");
}

TEST_CASE("a batch that deletes large items of a table with a stream is handed over as a whole", "[holds]") {
  Running running;
  running.create_table("carts", true);
  std::string requests;
  for (int i = 0; i < 20; ++i) {
    put(running, {{"id", {{"S", "big" + std::to_string(i)}}}, {"text", {{"S", std::string(390'000, 'x')}}}});
    requests += std::string(i > 0 ? "," : "") + R"({"DeleteRequest":{"Key":{"id":{"S":"big)" +
                std::to_string(i) + "\"}}}}";
  }
  CHECK(handed_over_by(running, [&] {
          const auto answer =
              running.execute("BatchWriteItem", R"({"RequestItems":{"carts":[)" + requests + "]}}");
          CHECK(answer["UnprocessedItems"].empty());
        }) == 1);
  CHECK(running.execute("Scan", R"({"TableName":"carts"})")["Count"] == 0);
}

TEST_CASE("an io thread answers a page of 1 MB of ordinary items itself", "[holds]") {
  Running running;
  running.create_table("carts", false);
  for (int batch = 0; batch < 50; ++batch) {
    std::string requests;
    for (int i = 0; i < 25; ++i) {
      requests += std::string(i > 0 ? "," : "") + R"({"PutRequest":{"Item":{"id":{"S":")" +
                  std::to_string(batch) + "-" + std::to_string(i) +
                  R"("},"n":{"N":"1"},"tags":{"SS":["one","two"]},"text":{"S":")" + std::string(900, 'x') +
                  "\"}}}}";
    }
    write(running, "BatchWriteItem", R"({"RequestItems":{"carts":[)" + requests + "]}}");
  }
  CHECK(handed_over_by(running, [&] {
          const auto page = running.execute("Scan", R"({"TableName":"carts"})");
          CHECK(page["Count"] > 1000);
          CHECK(page.contains("LastEvaluatedKey"));
        }) == 0);
}

TEST_CASE("an io thread does not parse a large or compressed body", "[holds]") {
  const auto emulator = *compat::Emulator::open({});
  const http::Router router(*emulator, {});
  http::Request request;
  request.route = {.kind = http::Route::Kind::root, .operation = compat::operation_named("PutItem")};
  request.body.assign(http::quick_body_bytes_max, ' ');
  CHECK(router.waits_as(request) == std::nullopt);
  request.body += ' ';
  CHECK(router.waits_as(request) == http::Waiting::processors);
  request.body = http::compress("{}", http::Encoding::gzip);
  request.set(http::Header::content_encoding, "gzip");
  CHECK(router.waits_as(request) == http::Waiting::processors);
}

TEST_CASE("a request that must wait for an item does not delay other requests", "[holds]") {
  Running running;
  running.create_table("carts", false);
  put(running, item_with_list("held", 1));
  put(running, item_with_list("free", 1));
  const auto table = running.emulator->database().catalog().find({running.account, "us-east-1"}, "carts");
  auto held =
      std::make_unique<engine::Transaction>(running.emulator->database().write_path(), engine::Cause::user);
  held->add(table, key_of(*table->description(), {{"id", "held"}}));
  REQUIRE(held->lock());

  const std::int64_t before = handed_over(running);
  HttpClient waits(running.port());
  waits.send(operation_request(
      "UpdateItem", R"({"TableName":"carts","Key":{"id":{"S":"held"}},"UpdateExpression":"SET x=:v",)"
                    R"("ExpressionAttributeValues":{":v":{"S":"1"}}})"));
  while (handed_over(running) == before) std::this_thread::yield();
  const std::string get = operation_request("GetItem", R"({"TableName":"carts","Key":{"id":{"S":"held"}}})");
  CHECK(running.ask(get).body.find("\"x\"") == std::string::npos);
  CHECK(running.ask(operation_request("DeleteItem", R"({"TableName":"carts","Key":{"id":{"S":"free"}}})"))
            .status == 200);
  CHECK(handed_over(running) == before + 1);

  held.reset();
  CHECK(waits.receive().status == 200);
  CHECK(running.ask(get).body.find("\"x\"") != std::string::npos);
}

TEST_CASE("concurrent long and short requests are each answered once", "[holds]") {
  http::ServerSettings settings;
  settings.threads = 2;
  settings.shares_port = GENERATE(false, os::can_share_ports);
  Running running(settings);
  running.create_table("carts", true);
  constexpr int callers = 4, updates = 10;
  for (int i = 0; i < callers; ++i) put(running, item_with_list("big" + std::to_string(i), 30'000));
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, caller] {
      HttpClient client(running.port());
      // Each caller writes to all items, so that the callers contend.
      for (int i = 0; i < updates; ++i) {
        for (int item = 0; item < callers; ++item) {
          client.send(operation_request(
              "UpdateItem",
              R"({"TableName":"carts","Key":{"id":{"S":"big)" + std::to_string((caller + item) % callers) +
                  R"("}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}})"));
          if (client.receive().status != 200) ++failed;
          client.send(operation_request("GetItem", R"({"TableName":"carts","Key":{"id":{"S":"none"}}})"));
          if (client.receive().status != 200) ++failed;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  for (int item = 0; item < callers; ++item) {
    const auto answer =
        running.execute("GetItem", R"({"TableName":"carts","Key":{"id":{"S":"big)" + std::to_string(item) +
                                       R"("}},"ProjectionExpression":"n"})");
    CHECK(answer["Item"]["n"]["N"] == std::to_string(callers * updates));
  }
}

}  // namespace mayfly::testing
