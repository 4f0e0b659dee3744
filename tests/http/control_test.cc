// Tests the control API over HTTP: its routes, and the requests that it rejects. Also tests that a waiting
// call does not delay other requests.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "compat/emulator.h"
#include "http/connections/server.h"
#include "http/endpoints/router.h"
#include "http/requests/request.h"
#include "tests/support/http_client.h"
#include "tests/support/running.h"
#include "tests/support/signed_request.h"

namespace mayfly::testing {

using Json = nlohmann::json;

namespace {

const Headers json_body = {{"Content-Type", "application/json"}};

void create_table(Running& running, const std::string& name, bool stream) {
  running.execute(
      "CreateTable",
      R"({"TableName":")" + name +
          R"(","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
          R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST")" +
          (stream ? R"(,"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"})" : "") +
          "}");
}

Json error_of(const HttpAnswer& answer) {
  CHECK(answer.headers.at("content-type") == "application/json");
  return Json::parse(answer.body);
}

}  // namespace

TEST_CASE("the health check works with --no-control") {
  http::ServerSettings settings;
  settings.access.control = false;
  Running running(settings);
  const HttpAnswer answer = running.ask(http_request("GET", "/_mayfly/health"));
  CHECK(answer.status == 200);
  CHECK(Json::parse(answer.body)["status"] == "ok");
  const HttpAnswer refused = running.ask(http_request("GET", "/_mayfly/faults"));
  CHECK(refused.status == 404);
  CHECK(error_of(refused) ==
        Json{{"__type", "mayfly#NotFound"}, {"message", "The control API is disabled (--no-control)."}});
}

TEST_CASE("control API responses end with a newline and DynamoDB responses end without a newline") {
  Running running;
  for (const HttpAnswer& answer : {running.ask(http_request("GET", "/_mayfly/clock")),
                                   running.ask(http_request("GET", "/_mayfly/nothing")),
                                   running.ask(http_request("DELETE", "/_mayfly/faults", json_body, "x")),
                                   running.ask(http_request("DELETE", "/_mayfly/faults", {}, "{}"))}) {
    CHECK(answer.body.ends_with("}\n"));
    CHECK(answer.headers.at("content-length") == std::to_string(answer.body.size()));
  }
  CHECK(running.ask(operation_request("ListTables", "{}")).body == R"({"TableNames":[]})");
}

TEST_CASE("jobs can be listed and awaited") {
  Running running;
  CHECK(running.ask(http_request("GET", "/_mayfly/jobs")).body == "{\"jobs\":[]}\n");
  CHECK(
      running.ask(http_request("POST", "/_mayfly/jobs/await", json_body, R"({"timeout_seconds":5})")).body ==
      "{\"settled\":true,\"unfinished\":[]}\n");
  const HttpAnswer missing = running.ask(http_request("GET", "/_mayfly/jobs/7/log"));
  CHECK(missing.status == 404);
  CHECK(error_of(missing)["message"] == "Account 000000000000 has no job 7.");
  running.execute(
      "ImportTable",
      R"({"ClientToken":"t","S3BucketSource":{"S3Bucket":"nobodys"},"InputFormat":"ION","TableCreationParameters":{)"
      R"("TableName":"ghost","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[)"
      R"({"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}})");
  CHECK(Json::parse(
            running.ask(http_request("POST", "/_mayfly/jobs/await", json_body, "{}")).body)["settled"] ==
        true);
  const Json jobs = Json::parse(running.ask(http_request("GET", "/_mayfly/jobs")).body)["jobs"];
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0]["kind"] == "import");
  CHECK(jobs[0]["status"] == "FAILED");
  CHECK(jobs[0]["percent"] == 100);
  CHECK(jobs[0]["failure_code"] == "S3NoSuchBucket");
  const std::string id = jobs[0]["id"];
  CHECK(Json::parse(running.ask(http_request("GET", "/_mayfly/jobs/" + id)).body) == jobs[0]);
  CHECK(running.ask(http_request("GET", "/_mayfly/jobs/" + id + "/log")).body == "{\"lines\":[]}\n");
}

TEST_CASE("the control API lists its calls") {
  Running running;
  const HttpAnswer answer = running.ask(http_request("GET", "/_mayfly/"));
  CHECK(answer.status == 200);
  const Json index = Json::parse(answer.body);
  CHECK(index["name"] == "Mayfly");
  CHECK(index["version"] == MAYFLY_VERSION);
  CHECK(index["account"] == "000000000000");
  CHECK(index["calls"]["GET /_mayfly/clock"] == "Get the mode and time of the account's clock");
  for (const auto& [call, about] : index["calls"].items()) {
    const std::string method = call.substr(0, call.find(' ')), path = call.substr(call.find(' ') + 1);
    INFO(call);
    if (path == "/_mayfly/events") continue;  // this call never ends
    const HttpAnswer other = running.ask(http_request("PATCH", path, json_body, "{}"));
    CHECK(other.status == 405);
    CHECK(other.headers.at("allow").find(method) != std::string::npos);
    CHECK(!about.get<std::string>().empty());
  }
}

TEST_CASE("an unknown control path gets 404 and a wrong method gets 405 with the allowed methods") {
  Running running;
  const HttpAnswer missing = running.ask(http_request("GET", "/_mayfly/nothing"));
  CHECK(missing.status == 404);
  CHECK(error_of(missing) ==
        Json{{"__type", "mayfly#NotFound"}, {"message", "Unknown path /_mayfly/nothing."}});
  const HttpAnswer wrong = running.ask(http_request("POST", "/_mayfly/faults", json_body, "{}"));
  CHECK(wrong.status == 405);
  CHECK(wrong.headers.at("allow") == "GET, PUT, DELETE");
  CHECK(error_of(wrong)["message"] == "/_mayfly/faults does not support POST, only GET, PUT, DELETE.");
}

TEST_CASE("an io thread tries to answer item operations but no other operations") {
  const auto emulator = *compat::Emulator::open({});
  const http::Router router(*emulator, {});
  const auto waits = [&](const std::string& operation) {
    http::Request request;
    request.route = {.kind = http::Route::Kind::root, .operation = compat::operation_named(operation)};
    return router.waits_as(request);
  };
  for (const char* operation :
       {"GetItem", "Scan", "PutItem", "BatchWriteItem", "TransactWriteItems", "Invent"})
    CHECK(waits(operation) == std::nullopt);
  // These operations may wait until writes to a table have finished.
  for (const char* operation : {"CreateTable", "DescribeTable", "UpdateTable", "DeleteTable", "ListTables"})
    CHECK(waits(operation) == http::Waiting::locks);
  CHECK(waits("BatchExecuteStatement") == http::Waiting::processors);
  for (const char* operation : {"SearchVectors", "RestoreTableFromBackup"})
    CHECK(waits(operation) == http::Waiting::operations);

  http::Request mapping;
  mapping.route = http::route_of("POST", "/2015-03-31/event-source-mappings/", "");
  CHECK(router.waits_as(mapping) == http::Waiting::locks);
}

TEST_CASE("the method and the path of a request determine its kind") {
  using Kind = http::Route::Kind;
  const std::tuple<const char*, const char*, Kind> cases[] = {
      {"POST", "/", Kind::root},
      {"POST", "/2015-03-31/functions/f/invocations", Kind::invocation},
      {"POST", "/2015-03-31/functions/f/invocations//", Kind::invocation},
      {"GET", "/2015-03-31/functions/f/invocations", Kind::lambda},
      {"GET", "/2017-03-31/tags/arn", Kind::lambda},
      {"GET", "/_mayfly/console", Kind::console},
      {"GET", "/_mayfly/console/time.js", Kind::console},
      {"GET", "/_mayfly/consoles", Kind::control},
      {"POST", "/_mayfly/mcp", Kind::mcp},
      {"POST", "/_mayfly/health", Kind::health},
      {"GET", "/_mayfly/", Kind::control},
      {"GET", "/_mayfly", Kind::nothing},
      {"GET", "*", Kind::nothing},
  };
  for (const auto& [method, path, kind] : cases) {
    INFO(method << " " << path);
    CHECK(http::route_of(method, path, "").kind == kind);
  }
  const http::Route head = http::route_of("HEAD", "/_mayfly/ttl/carts", "");
  REQUIRE(head.found);
  REQUIRE(head.found->call != nullptr);
  CHECK(head.found->call->name == "show_ttl");
  CHECK(head.found->parameters == std::vector<std::string>{"carts"});
}

TEST_CASE("a call that changes something requires a JSON content type and a JSON object") {
  Running running;
  for (const char* content_type :
       {"", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"}) {
    const HttpAnswer answer = running.ask(
        http_request("PUT", "/_mayfly/faults",
                     *content_type ? Headers{{"Content-Type", content_type}} : Headers{}, R"({"rules":[]})"));
    CHECK(answer.status == 415);
    CHECK(error_of(answer)["__type"] == "mayfly#UnsupportedMediaType");
  }
  CHECK(running
            .ask(http_request("PUT", "/_mayfly/faults", {{"Content-Type", "application/json; charset=utf-8"}},
                              R"({"rules":[]})"))
            .status == 200);
  for (const char* body : {"[]", "{", "1"}) {
    const HttpAnswer answer = running.ask(http_request("PUT", "/_mayfly/faults", json_body, body));
    CHECK(answer.status == 400);
    CHECK(error_of(answer)["message"] == "The body must be a JSON object.");
  }
  const HttpAnswer typo =
      running.ask(http_request("PUT", "/_mayfly/faults", json_body, R"({"rules":[],"rulez":[]})"));
  CHECK(typo.status == 400);
  CHECK(error_of(typo)["message"] == "Unknown member 'rulez'; this call accepts rules.");
}

TEST_CASE("an account must be twelve digits") {
  Running running;
  const HttpAnswer answer = running.ask(http_request("GET", "/_mayfly/faults", {{"X-Mayfly-Account", "42"}}));
  CHECK(answer.status == 400);
  CHECK(error_of(answer)["message"] == "X-Mayfly-Account must be twelve digits.");
}

TEST_CASE("an await returns the change it waits for while other requests are served") {
  for (const bool stream : {false, true}) {
    Running running;
    create_table(running, "carts", stream);
    HttpClient waiting(running.port());
    waiting.send(http_request(
        "POST", "/_mayfly/await", json_body,
        R"({"table":"carts","key":{"id":{"S":"1"}},"event":"MODIFY","by":"user","timeout_seconds":60})"));
    // The await misses changes that are made before it listens, so keep writing.
    running.put("carts", "2");
    for (int n = 0; n < 2000; ++n) running.put("carts", "1", R"(,"n":{"N":")" + std::to_string(n) + R"("})");
    const Json record = Json::parse(waiting.receive().body).at("record");
    CHECK(record["eventName"] == "MODIFY");
    CHECK(record["eventSource"] == "aws:dynamodb");
    CHECK(record["awsRegion"] == "us-east-1");
    CHECK(record["dynamodb"]["Keys"] == Json{{"id", {{"S", "1"}}}});
    CHECK(record["dynamodb"]["NewImage"]["n"].contains("N"));
    CHECK(record["dynamodb"].contains("OldImage") == !stream);  // the stream's view type is NEW_IMAGE
    CHECK(record["dynamodb"].contains("SequenceNumber") == stream);
    CHECK(!record.contains("userIdentity"));
  }
}

TEST_CASE("an await that times out reports the other changes") {
  Running running;
  create_table(running, "carts", true);
  running.put("carts", "1");
  const HttpAnswer nothing =
      running.ask(http_request("POST", "/_mayfly/await", json_body,
                               R"({"table":"carts","key":{"id":{"S":"1"}},"timeout_seconds":0})"));
  CHECK(nothing.status == 408);
  CHECK(error_of(nothing) == Json{{"__type", "mayfly#TimedOut"},
                                  {"message", R"(Timed out after 0 s: no change to carts/{"id": "1"}.)"},
                                  {"records", Json::array()}});
  const HttpAnswer other = running.ask(http_request(
      "POST", "/_mayfly/await", json_body,
      R"({"table":"carts","key":{"id":{"S":"1"}},"event":"REMOVE","since":"2020-01-01T00:00:00Z","timeout_seconds":0})"));
  CHECK(other.status == 408);
  CHECK(error_of(other)["message"] == R"(Timed out after 0 s: only other changes to carts/{"id": "1"}.)");
  CHECK(error_of(other)["records"][0]["eventName"] == "INSERT");
}

TEST_CASE("an await with the member 'since' finds earlier records of the stream") {
  Running running;
  create_table(running, "carts", true);
  running.put("carts", "2");
  running.put("carts", "1");
  const Json found = running.ok(
      "POST", "/_mayfly/await",
      R"({"table":"carts","key":{"id":{"S":"1"}},"event":"INSERT","since":"2020-01-01T00:00:00Z"})");
  CHECK(found["record"]["dynamodb"]["NewImage"] == Json{{"id", {{"S", "1"}}}});
}

TEST_CASE("an await that can never be satisfied is rejected") {
  Running running;
  create_table(running, "carts", false);
  const auto refused = [&](std::string_view body, int status) {
    const HttpAnswer answer = running.ask(http_request("POST", "/_mayfly/await", json_body, body));
    CHECK(answer.status == status);
    return error_of(answer)["message"].get<std::string>();
  };
  CHECK(refused("{}", 400) == "'table' is required and must be a string.");
  CHECK(refused(R"({"table":"carts"})", 400) ==
        R"('key' is required and must be an object, for example {"id":{"S":"1"}}.)");
  CHECK(refused(R"({"table":"none","key":{"id":{"S":"1"}}})", 404) ==
        "There is no table 'none' in account 000000000000, region us-east-1.");
  CHECK(refused(R"({"table":"carts","key":{"x":{"S":"1"}}})", 400) ==
        "The provided key element does not match the schema");
  CHECK(refused(R"({"table":"carts","key":{"id":{"S":"1"}},"event":"DELETE"})", 400) ==
        "'event' must be INSERT, MODIFY or REMOVE, got \"DELETE\".");
  CHECK(refused(R"({"table":"carts","key":{"id":{"S":"1"}},"by":"me"})", 400) ==
        "'by' must be user or service, got \"me\".");
  CHECK(refused(R"({"table":"carts","key":{"id":{"S":"1"}},"timeout_seconds":"5"})", 400) ==
        "'timeout_seconds' must be a number between 0 and 600, got \"5\".");
  CHECK(refused(R"({"table":"carts","key":{"id":{"S":"1"}},"timeout_seconds":1e9})", 400) ==
        "'timeout_seconds' must be a number between 0 and 600, got 1000000000.0.");
  CHECK(refused(R"({"table":"carts","key":{"id":{"S":"1"}},"since":"yesterday"})", 400) ==
        R"('since' must be a time, for example "2026-11-20T00:00:00Z", got "yesterday".)");
  CHECK(refused(R"({"table":"carts","key":{"id":{"S":"1"}},"since":"2020-01-01T00:00:00Z"})", 400) ==
        "'since' requires a stream, but table 'carts' has none enabled.");
}

namespace {
constexpr std::string_view long_await = R"({"table":"carts","key":{"id":{"S":"1"}},"timeout_seconds":600})";
constexpr std::string_view no_await = R"({"table":"carts","key":{"id":{"S":"1"}},"timeout_seconds":0.001})";
}  // namespace

TEST_CASE("each kind of waiting request has a limit and other kinds are unaffected", "[holds]") {
  Running running({.waiting_max = 2});
  create_table(running, "carts", true);
  std::vector<std::unique_ptr<HttpClient>> clients;
  const auto begin = [&](const std::string& request) {
    clients.push_back(std::make_unique<HttpClient>(running.port()));
    clients.back()->send(request);
  };
  const std::string await = http_request("POST", "/_mayfly/await", json_body, long_await);
  const std::string events = http_request("GET", "/_mayfly/events");
  // The request that exceeds the limit of its kind is rejected; the others keep waiting.
  for (const auto& [request, kind] : {std::pair{await, "awaits"}, {events, "event streams"}}) {
    for (int i = 0; i < 2; ++i) begin(request);
    HttpAnswer refused;
    while (refused.status != 503)
      refused = running.ask(request + http_request("GET", "/", {{"Connection", "close"}}));
    CHECK(error_of(refused) ==
          Json{{"__type", "mayfly#TooManyWaiting"},
               {"message", "Too many " + std::string(kind) +
                               " are waiting, in this account or overall (limit set by --waiting-max)."}});
  }
  running.ok("GET", "/_mayfly/faults");
  running.ok("PUT", "/_mayfly/clock", R"({"mode":"real"})");
  running.execute("ListTables", "{}");
  CHECK(running.ask(http_request("GET", "/_mayfly/health")).status == 200);
}

namespace {

// Makes an item in the table carts expire one second after the clock's time, and holds its expiry at a
// failpoint.
void arm_failpoint(Running& running) {
  create_table(running, "carts", true);
  running.ok("PUT", "/_mayfly/clock", R"({"mode":"frozen","now":"2031-01-01T00:00:00Z"})");
  running.execute(
      "UpdateTimeToLive",
      R"({"TableName":"carts","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})");
  running.put("carts", "1", R"(,"ttl":{"N":"1924992001"})");
  running.ok("PUT", "/_mayfly/failpoints", R"({"table":"carts","key":{"id":{"S":"1"}}})");
}

}  // namespace

TEST_CASE("waiting requests of one account leave slots for other accounts", "[holds]") {
  constexpr std::size_t places = 16;
  Running running({.waiting_max = places});
  arm_failpoint(running);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (std::size_t i = 0; i < places; ++i) {
    clients.push_back(std::make_unique<HttpClient>(running.port()));
    clients.back()->send(http_request("POST", "/_mayfly/clock/advance", json_body, R"({"seconds":60})"));
  }
  const compat::ServerMetrics& metrics = running.emulator->server_metrics();
  while (metrics.of(compat::Meter::refused_waiting) < 4) {}
  CHECK(metrics.of(compat::Meter::waiting_changes) == 12);
  // Other accounts can still be reset.
  for (const char* account : {"000000000001", "000000000002"}) {
    auto headers = json_body;
    headers.push_back({"X-Mayfly-Account", account});
    CHECK(running.ask(http_request("POST", "/_mayfly/reset", headers)).status == 200);
  }
  running.ok("DELETE", "/_mayfly/failpoints");
  int served = 0;
  for (const auto& client : clients) served += client->receive().status == 200 ? 1 : 0;
  CHECK(served == 12);
  running.ok("POST", "/_mayfly/reset");
  CHECK(metrics.of(compat::Meter::waiting_changes) == 0);
}

TEST_CASE("advances that wait at a failpoint leave a slot for the call that releases them") {
  Running running({.waiting_max = 1});
  arm_failpoint(running);
  HttpClient advance(running.port());
  advance.send(http_request("POST", "/_mayfly/clock/advance", json_body, R"({"seconds":60})"));
  while (running.ok("GET", "/_mayfly/failpoints")["failpoints"][0]["state"] != "waiting") {}
  CHECK(running.ask(http_request("POST", "/_mayfly/clock/advance", json_body, R"({"seconds":60})")).status ==
        503);
  running.ok("DELETE", "/_mayfly/failpoints");
  CHECK(advance.receive().status == 200);
  running.ok("POST", "/_mayfly/clock/advance", R"({"seconds":60})");
}

TEST_CASE("an event stream keeps its slot between events") {
  Running running({.waiting_max = 1});
  create_table(running, "carts", true);
  HttpClient events(running.port());
  events.send(http_request("GET", "/_mayfly/events"));
  events.read_until(": mayfly\n\n");
  for (const char* id : {"1", "2", "3"}) {
    running.put("carts", id);
    events.read_until("\n\n");
    CHECK(running.ask(http_request("GET", "/_mayfly/events")).status == 503);
  }
}

TEST_CASE("an unread metrics response holds no slot and arrives complete once it is read") {
  Running running({.waiting_max = 1});
  constexpr int tables = 2400;  // the long names make the page exceed the socket buffers
  for (int n = 0; n < tables; ++n) create_table(running, std::string(240, 't') + std::to_string(n), false);
  constexpr int receive_bytes = 64 * 1024;
  HttpClient slow(running.port(), receive_bytes);
  const std::string request = http_request("GET", "/_mayfly/metrics", {{"Connection", "close"}});
  slow.send(request);
  slow.read_until("\r\n\r\n");
  const compat::ServerMetrics& metrics = running.emulator->server_metrics();
  running.ok("GET", "/_mayfly/clock");  // the server produces the page only as the client reads it
  CHECK(metrics.of(compat::Meter::unread_bytes) < 200'000);
  const std::string page = slow.read_all();
  CHECK(page.ends_with("\r\n0\r\n\r\n"));
  const std::string last = "mayfly_stream_records_total 0\n";
  CHECK(page.find(last) == page.size() - last.size() - std::string_view("\r\n0\r\n\r\n").size());
}

TEST_CASE("an HTTP/1.0 client gets the metrics page with a Content-Length") {
  Running running;
  HttpClient client(running.port());
  client.send("GET /_mayfly/metrics HTTP/1.0\r\n\r\n");
  const HttpAnswer answer = client.receive();
  CHECK(answer.headers.contains("content-length"));
  CHECK_FALSE(answer.headers.contains("transfer-encoding"));
  CHECK(answer.body.ends_with("mayfly_stream_records_total 0\n"));
  CHECK(running.ask(http_request("GET", "/_mayfly/metrics")).headers.at("transfer-encoding") == "chunked");
}

TEST_CASE("a server answers waiting requests when it stops") {
  Running running;
  create_table(running, "carts", false);
  HttpClient await(running.port()), events(running.port());
  await.send(http_request("POST", "/_mayfly/await", json_body, long_await));
  events.send(http_request("GET", "/_mayfly/events"));
  running.execute("ListTables", "{}");
  const std::string begun = events.read_until(": mayfly\n\n");
  running.server.reset();
  const HttpAnswer answer = await.receive();
  CHECK(answer.status == 503);
  CHECK(error_of(answer)["message"] == "Canceled: the server is shutting down or the client disconnected.");
}

TEST_CASE("a waiting client that disconnects frees its slot no matter what it sent in the meantime") {
  Running running({.waiting_max = 1});
  create_table(running, "carts", false);
  // The client sends nothing, a few bytes, or more than the server reads ahead, either with the request or
  // after it.
  for (const std::size_t bytes : {0, 1, 1000, 200'000}) {
    for (const bool apart : {false, true}) {
      INFO(bytes << apart);
      const std::string more(bytes, 'x');
      {
        HttpClient gone(running.port());
        gone.send(http_request("POST", "/_mayfly/await", json_body, long_await) + (apart ? "" : more));
        if (bytes < 100'000 || apart) {
          while (running.ask(http_request("POST", "/_mayfly/await", json_body, no_await)).status != 503) {}
        }
        if (apart) gone.send(more);
        gone.finish_sending();
        while (running.ask(http_request("POST", "/_mayfly/await", json_body, no_await)).status != 408) {}
      }
    }
  }
}

TEST_CASE("requests sent while a response is pending are answered after that response") {
  Running running;
  create_table(running, "carts", true);
  HttpClient client(running.port());
  client.send(http_request("POST", "/_mayfly/await", json_body,
                           R"({"table":"carts","key":{"id":{"S":"1"}},"since":"2020-01-01T00:00:00Z",)"
                           R"("timeout_seconds":20})"));
  const std::string request = operation_request("ListTables", "{}");
  for (int i = 0; i < 100; ++i) {
    for (const char byte : request.substr(0, 5)) client.send(std::string_view(&byte, 1));
    client.send(request.substr(5));
    if (i % 25 == 0) running.ok("GET", "/_mayfly/faults");
  }
  running.put("carts", "1");
  CHECK(client.receive().status == 200);
  for (int i = 0; i < 100; ++i) CHECK(client.receive().body == R"({"TableNames":["carts"]})");
}

TEST_CASE("requests pipelined behind a waiting request are answered after that request in order") {
  Running running;
  create_table(running, "carts", false);
  HttpClient client(running.port());
  client.send(operation_request("ListTables", "{}") +
              http_request("POST", "/_mayfly/await", json_body,
                           R"({"table":"carts","key":{"id":{"S":"1"}},"timeout_seconds":0.05})") +
              http_request("GET", "/_mayfly/faults") + http_request("GET", "/"));
  CHECK(client.receive().body == R"({"TableNames":["carts"]})");
  CHECK(client.receive().status == 408);
  CHECK(client.receive().body == "{\"rules\":[]}\n");
  CHECK(client.receive().body == "healthy: dynamodb.us-east-1.amazonaws.com ");
}

TEST_CASE("events are sent as changes commit and match the requested filter") {
  Running running;
  create_table(running, "carts", true);
  create_table(running, "orders", false);
  HttpClient client(running.port());
  client.send("GET /_mayfly/events?table=carts&event=INSERT HTTP/1.1\r\nHost: localhost\r\n\r\n");
  // The first piece shows that the server listens.
  std::string seen = client.read_until(": mayfly\n\n");
  CHECK(seen.find("Content-Type: text/event-stream") != std::string::npos);
  running.put("orders", "1");
  running.put("carts", "1");
  running.put("carts", "1", R"(,"n":{"N":"1"})");
  running.put("carts", "2");
  seen = client.read_until("\"S\":\"2\"");
  CHECK(seen.find("orders") == std::string::npos);
  CHECK(seen.find("MODIFY") == std::string::npos);
  const auto data = seen.find("event: INSERT\ndata: {\"table\":\"carts\",\"record\":{\"eventID\":");
  REQUIRE(data != std::string::npos);
  CHECK(seen.find("id: ") < data);
}

TEST_CASE("a fault rule with a count makes an operation fail exactly that many times") {
  Running running;
  create_table(running, "carts", false);
  running.ok("PUT", "/_mayfly/faults",
             R"({"rules":[{"operation":"PutItem","table":"carts","fault":"throttle","count":2}]})");
  const std::string put = operation_request("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"1"}}})");
  for (int i = 0; i < 2; ++i) {
    const HttpAnswer answer = running.ask(put);
    CHECK(answer.status == 400);
    CHECK(
        answer.body ==
        R"({"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"The level of )"
        R"(configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level )"
        R"(with the UpdateTable API."})");
  }
  CHECK(running.ask(put).status == 200);
  CHECK(
      running.ok("GET", "/_mayfly/faults") ==
      Json::parse(
          R"({"rules":[{"operation":"PutItem","table":"carts","fault":"throttle","count":2,"asked":2,"struck":2}]})"));
  CHECK(running.ok("DELETE", "/_mayfly/faults") == Json::parse(R"({"rules":[]})"));
}

TEST_CASE("a fault rule's probability is seeded and each account has its own rules") {
  const auto failures = [](std::int64_t seed) {
    Running running;
    running.ok("PUT", "/_mayfly/faults",
               R"({"rules":[{"fault":"internal_server_error","probability":0.5,"seed":)" +
                   std::to_string(seed) + "}]}");
    std::string pattern;
    for (int i = 0; i < 32; ++i)
      pattern += running.ask(operation_request("ListTables", "{}")).status == 500 ? 'x' : '.';
    return pattern;
  };
  const std::string once = failures(1);
  CHECK(once.find('x') != std::string::npos);
  CHECK(once.find('.') != std::string::npos);
  CHECK(failures(1) == once);
  CHECK(failures(2) != once);

  Running running;
  CHECK(running
            .ask(http_request("PUT", "/_mayfly/faults",
                              {{"Content-Type", "application/json"}, {"X-Mayfly-Account", "000000000042"}},
                              R"({"rules":[{"fault":"throttle"}]})"))
            .status == 200);
  CHECK(running.ask(operation_request("ListTables", "{}")).status == 200);
  CHECK(running.ok("GET", "/_mayfly/faults") == Json::parse(R"({"rules":[]})"));
}

TEST_CASE("a fault rule can leave batch entries unprocessed and make transactions conflict") {
  Running running;
  create_table(running, "carts", false);
  running.ok(
      "PUT", "/_mayfly/faults",
      R"({"rules":[{"fault":"unprocessed","items":1},{"operation":"TransactWriteItems","fault":"transaction_conflict"}]})");
  const Json written = running.execute(
      "BatchWriteItem",
      R"({"RequestItems":{"carts":[{"PutRequest":{"Item":{"id":{"S":"1"}}}},{"DeleteRequest":{"Key":{"id":{"S":"2"}}}}]}})");
  CHECK(written ==
        Json::parse(R"({"UnprocessedItems":{"carts":[{"DeleteRequest":{"Key":{"id":{"S":"2"}}}}]}})"));
  const Json read = running.execute(
      "BatchGetItem", R"({"RequestItems":{"carts":{"Keys":[{"id":{"S":"1"}},{"id":{"S":"2"}}]}}})");
  CHECK(
      read ==
      Json::parse(
          R"({"Responses":{"carts":[{"id":{"S":"1"}}]},"UnprocessedKeys":{"carts":{"Keys":[{"id":{"S":"2"}}]}}})"));
  const HttpAnswer conflict = running.ask(operation_request(
      "TransactWriteItems",
      R"({"TransactItems":[{"Put":{"TableName":"carts","Item":{"id":{"S":"7"}}}},{"Put":{"TableName":"carts","Item":{"id":{"S":"8"}}}}]})"));
  CHECK(conflict.status == 400);
  CHECK(
      conflict.body ==
      R"({"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"Transaction cancelled, please )"
      R"(refer cancellation reasons for specific reasons [TransactionConflict, None]","CancellationReasons":[{"Code":)"
      R"("TransactionConflict","Message":"Transaction is ongoing for the item"},{"Code":"None"}]})");
}

TEST_CASE("reads lag under a stale_reads rule unless they are consistent or the account has settled") {
  Running running;
  create_table(running, "carts", false);
  const auto count = [&](const std::string& more = "") {
    return running.execute("Scan", R"({"TableName":"carts")" + more + "}")["Count"].get<int>();
  };
  CHECK(
      running.ok("PUT", "/_mayfly/faults",
                 R"({"rules":[{"fault":"stale_reads","table":"carts","writes":1}]})") ==
      Json::parse(
          R"({"rules":[{"table":"carts","fault":"stale_reads","writes":1,"seed":0,"asked":0,"struck":0}]})"));
  running.put("carts", "1");
  CHECK(count() == 0);
  CHECK(count(R"(,"ConsistentRead":true)") == 1);
  CHECK(count() == 1);
  running.put("carts", "2");
  CHECK(count() == 1);
  running.ok("POST", "/_mayfly/clock/advance", R"({"seconds":0,"settle":"triggers"})");
  CHECK(count() == 2);
  running.put("carts", "3");
  CHECK(count() == 2);
  CHECK(running.ok("GET", "/_mayfly/faults")["rules"][0]["struck"] == 5);
  CHECK(running.ok("DELETE", "/_mayfly/faults") == Json::parse(R"({"rules":[]})"));
  CHECK(count() == 3);
}

TEST_CASE("a latency fault delays the response to a write that is already applied", "[holds]") {
  Running running;
  create_table(running, "carts", false);
  running.ok("PUT", "/_mayfly/faults",
             R"({"rules":[{"operation":"PutItem","fault":"latency","milliseconds":600000}]})");
  HttpClient writer(running.port());
  writer.send(operation_request("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"1"}}})"));
  while (running.execute("Scan", R"({"TableName":"carts"})")["Count"] == 0) std::this_thread::yield();
}

TEST_CASE("a latency fault with 'applied' set to false delays the write itself", "[holds]") {
  Running running;
  create_table(running, "carts", false);
  running.ok(
      "PUT", "/_mayfly/faults",
      R"({"rules":[{"operation":"PutItem","fault":"latency","milliseconds":600000,"applied":false}]})");
  HttpClient writer(running.port());
  writer.send(operation_request("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"1"}}})"));
  while (running.ok("GET", "/_mayfly/faults")["rules"][0]["struck"] != 1) std::this_thread::yield();
  CHECK(running.execute("Scan", R"({"TableName":"carts"})")["Count"] == 0);
}

TEST_CASE("a failed operation is applied if its fault rule says so") {
  for (const char* fault : {"internal_server_error", "connection_closed"}) {
    for (const bool applied : {false, true}) {
      CAPTURE(fault, applied);
      Running running;
      create_table(running, "carts", false);
      const Json rule{{"operation", "PutItem"}, {"fault", fault}, {"applied", applied}, {"count", 1}};
      Json shown = rule;
      shown["asked"] = shown["struck"] = 0;
      CHECK(running.ok("PUT", "/_mayfly/faults", Json{{"rules", {rule}}}.dump()) == Json{{"rules", {shown}}});
      HttpClient writer(running.port());
      writer.send(operation_request("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"1"}}})"));
      if (fault == std::string("connection_closed")) {
        CHECK(writer.read_all().empty());
      } else {
        CHECK(writer.receive().status == 500);
      }
      CHECK(running.execute("Scan", R"({"TableName":"carts"})")["Count"] == (applied ? 1 : 0));
      running.put("carts", "1");  // the rule is used up
    }
  }
}

TEST_CASE("a connection_closed fault lets earlier responses arrive and drops later requests") {
  Running running;
  running.ok("PUT", "/_mayfly/faults",
             R"({"rules":[{"operation":"DescribeEndpoints","fault":"connection_closed"}]})");
  HttpClient client(running.port());
  client.send(operation_request("ListTables", "{}") + operation_request("DescribeEndpoints", "{}") +
              operation_request("ListTables", "{}"));
  CHECK(client.receive().body == R"({"TableNames":[]})");
  CHECK(client.read_all().empty());
}

TEST_CASE("a slow operation does not delay other requests", "[holds]") {
  Running running;
  create_table(running, "carts", false);
  running.ok("PUT", "/_mayfly/faults",
             R"({"rules":[{"operation":"ListTables","fault":"latency","milliseconds":600000}]})");
  HttpClient slow(running.port());
  slow.send(operation_request("ListTables", "{}"));
  running.put("carts", "1");
  running.server.reset();  // stopping does not wait for the slow request
}

TEST_CASE("a latency rule that is set during a request never blocks an io thread") {
  Running running;
  running.create_table("carts", false);
  http::Request request = request_of("POST", "/",
                                     {{"Host", "localhost"},
                                      {"Content-Type", "application/x-amz-json-1.0"},
                                      {"X-Amz-Target", "DynamoDB_20120810.GetItem"},
                                      {"X-Amz-Date", "20240101T000000Z"},
                                      {"Authorization",
                                       "AWS4-HMAC-SHA256 Credential=test/20240101/us-east-1/dynamodb/"
                                       "aws4_request, SignedHeaders=host, Signature=0"}},
                                     R"({"TableName":"carts","Key":{"id":{"S":"1"}}})");
  std::string known_host;
  const http::Router router(*running.emulator, {});
  const auto admitted = router.admit(request, known_host);
  REQUIRE(admitted);
  REQUIRE(!router.waits_as(request));
  running.ok("PUT", "/_mayfly/faults",
             R"({"rules":[{"operation":"GetItem","fault":"latency","milliseconds":600000}]})");
  const http::Reply reply = router.answer(*admitted, {});
  CHECK(reply.status == 200);
  CHECK(reply.body == "{}");
}

TEST_CASE("an invalid fault rule is rejected") {
  Running running;
  const auto refused = [&](const std::string& rule) {
    const HttpAnswer answer =
        running.ask(http_request("PUT", "/_mayfly/faults", json_body, R"({"rules":[)" + rule + "]}"));
    CHECK(answer.status == 400);
    return error_of(answer)["message"].get<std::string>();
  };
  CHECK(refused("1") == "'rules' must be an array of at most 100 objects, got [1].");
  const std::string faults =
      "throttle, internal_server_error, latency, connection_closed, unprocessed, transaction_conflict, "
      "stale_reads or replicated_write_conflict";
  CHECK(refused("{}") == "'fault' is required and must be " + faults + ".");
  CHECK(refused(R"({"fault":"earthquake"})") == "'fault' must be " + faults + ", got \"earthquake\".");
  CHECK(refused(R"({"fault":"throttle","applied":true})") ==
        "'applied' is allowed only when fault is internal_server_error, latency or connection_closed.");
  CHECK(refused(R"({"fault":"connection_closed","applied":1})") == "'applied' must be true or false, got 1.");
  CHECK(refused(R"({"fault":")" + std::string(100, 'x') + R"("})")
            .ends_with(", got \"" + std::string(63, 'x') + "…."));
  CHECK(refused(R"({"fault":["throttle"]})") == "'fault' must be " + faults + ", got [\"throttle\"].");
  CHECK(refused(R"({"fault":"latency","milliseconds":1.5})") ==
        "'milliseconds' must be a whole number between 1 and 600000, got 1.5.");
  CHECK(refused(R"({"fault":"throttle","operation":"Put"})") ==
        "'operation' must be an operation, for example \"PutItem\", got \"Put\".");
  CHECK(refused(R"({"fault":"latency"})") == "'milliseconds' is required when fault is \"latency\".");
  CHECK(refused(R"({"fault":"stale_reads","table":"carts"})") ==
        "'writes' or 'milliseconds' is required when fault is \"stale_reads\".");
  CHECK(refused(R"({"fault":"stale_reads","writes":0})") ==
        "'writes' must be a whole number between 1 and 1000, got 0.");
  CHECK(refused(R"({"fault":"stale_reads","writes":1001})") ==
        "'writes' must be a whole number between 1 and 1000, got 1001.");
  CHECK(refused(R"({"fault":"stale_reads","milliseconds":600001})") ==
        "'milliseconds' must be a whole number between 1 and 600000, got 600001.");
  CHECK(refused(R"({"fault":"throttle","probability":2})") ==
        "'probability' must be a number between 0 and 1, got 2.");
  CHECK(refused(R"({"fault":"throttle","cuont":2})")
            .starts_with("Unknown member 'cuont'; each of 'rules' accepts "));
}

}  // namespace mayfly::testing
