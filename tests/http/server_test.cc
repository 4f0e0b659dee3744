#include "http/connections/server.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <vector>

#include "compat/emulator.h"
#include "engine/background/snapshots.h"
#include "engine/base/stopwatch.h"
#include "http/base/crc32.h"
#include "http/base/held_bytes.h"
#include "http/requests/compression.h"
#include "http/requests/reply.h"
#include "http/requests/request.h"
#include "os/sockets.h"
#include "tests/support/http_client.h"
#include "tests/support/running.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

constexpr std::string_view list_tables_answer = R"({"TableNames":[]})";

// Checks the headers that every response has.
void check_common(const HttpAnswer& answer) {
  REQUIRE(answer.status != 0);
  const std::string& id = answer.headers.at("x-amzn-requestid");
  CHECK(id.size() == 52);
  CHECK(id.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == std::string::npos);
  CHECK(answer.headers.at("x-amz-crc32") == std::to_string(http::crc32(answer.body)));
  CHECK(answer.headers.at("server") == "Server");
  CHECK(answer.headers.at("date").size() == 29);
}

void check_error(const HttpAnswer& answer, std::string_view body) {
  check_common(answer);
  CHECK(answer.status == 400);
  CHECK(answer.body == body);
}

std::string chunked(std::string_view body, std::size_t chunk_bytes) {
  std::string out;
  char size[20];
  for (std::size_t at = 0; at < body.size(); at += chunk_bytes) {
    const std::string_view chunk = body.substr(at, chunk_bytes);
    std::snprintf(size, sizeof size, "%zx\r\n", chunk.size());
    out += size;
    out += chunk;
    out += "\r\n";
  }
  return out + "0\r\n\r\n";
}

// Returns a CreateTable request. If the server executes it by mistake, ListTables shows the table.
std::string table_request(const std::string& name) {
  return R"({"TableName":")" + name +
         R"(","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id",)"
         R"("KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"})";
}

// The size of the receive buffer of a client that does not read.
constexpr int small_receive_bytes = 256 * 1024;

// A table of items that one BatchGetItem returns. The response exceeds what the kernel buffers for a client
// that does not read.
struct BigItems {
  static constexpr int count = 40;
  static constexpr std::size_t item_bytes = 390'000, answer_bytes = count * item_bytes;
  explicit BigItems(Running& running) {
    const auto execute = [&](const std::string& operation, const std::string& body) {
      REQUIRE(running.emulator->execute({"000000000000", "us-east-1"}, "DynamoDB_20120810." + operation, body)
                  .status == 200);
    };
    execute("CreateTable", table_request("big"));
    for (int i = 0; i < count; ++i) {
      const std::string item = R"({"id":{"S":")" + std::to_string(i) + R"("},"text":{"S":")" +
                               std::string(item_bytes, 'x') + R"("}})";
      execute("PutItem", R"({"TableName":"big","Item":)" + item + "}");
    }
  }
  [[nodiscard]] std::string request() const {
    std::string keys;
    for (int i = 0; i < count; ++i)
      keys += (i == 0 ? "" : ",") + (R"({"id":{"S":")" + std::to_string(i) + R"("}})");
    return operation_request("BatchGetItem", R"({"RequestItems":{"big":{"Keys":[)" + keys + "]}}}",
                             {{"Connection", "close"}});
  }
};

}  // namespace

TEST_CASE("GET / reports that the server is healthy and names the server's region as DynamoDB does") {
  Running running;
  const HttpAnswer answer = running.ask(http_request("GET", "/"));
  check_common(answer);
  CHECK(answer.status == 200);
  CHECK(answer.body == "healthy: dynamodb.us-east-1.amazonaws.com ");
  CHECK(answer.headers.at("content-length") == "42");
  CHECK(answer.headers.at("x-amz-crc32") == "3128867991");
}

TEST_CASE("GET / returns a page without scripts to a browser") {
  Running running;
  const HttpAnswer answer = running.ask(http_request("GET", "/", {{"Sec-Fetch-Site", "none"}}));
  CHECK(answer.status == 200);
  CHECK(answer.headers.at("content-type") == "text/html; charset=utf-8");
  CHECK(answer.headers.at("content-security-policy") == "default-src 'none'");
  for (const std::string path : {"/_mayfly/", "/_mayfly/console"})
    CHECK(answer.body.find("<a href=\"" + path + "\">") != std::string::npos);
  // A request that a script sends gets the plain-text response.
  CHECK(
      running
          .ask(http_request("GET", "/", {{"Sec-Fetch-Site", "same-origin"}, {"Origin", "http://127.0.0.1"}}))
          .body == "healthy: dynamodb.us-east-1.amazonaws.com ");
}

TEST_CASE("HEAD / returns GET's headers without a body and keeps the connection open") {
  Running running;
  HttpClient client(running.port());
  client.send(http_request("HEAD", "/") + http_request("GET", "/"));
  const HttpAnswer head = client.receive(true);
  CHECK(head.status == 200);
  CHECK(head.headers.at("content-length") == "42");
  CHECK(client.receive().body == "healthy: dynamodb.us-east-1.amazonaws.com ");
}

TEST_CASE("a request that is not an operation gets 404 and UnknownOperationException in XML") {
  Running running;
  for (const std::string& request :
       {http_request("PUT", "/"), http_request("DELETE", "/"), http_request("OPTIONS", "/"),
        http_request("GET", "/abc"),
        http_request("POST", "/abc", {{"Content-Type", "application/x-amz-json-1.0"}}, "{}"),
        http_request("GET", "//"), http_request("POST", "/", {}, "hi"),
        http_request("POST", "/", {{"Content-Type", "whatever"}}, "hi"),
        http_request("POST", "/", {{"Content-Type", "application/x-amz-json-1.1"}}, "{}"),
        http_request("POST", "/", {{"Content-Type", "application/jsonasdf"}}, "{}")}) {
    INFO(request);
    const HttpAnswer answer = running.ask(request);
    check_common(answer);
    CHECK(answer.status == 404);
    CHECK(answer.body == "<UnknownOperationException/>\n");
    CHECK(answer.headers.at("x-amz-crc32") == "3552371480");
  }
}

TEST_CASE("GET /_mayfly/health returns ok") {
  Running running;
  const HttpAnswer answer = running.ask(http_request("GET", "/_mayfly/health"));
  CHECK(answer.status == 200);
  CHECK(answer.body.starts_with(R"({"status":"ok","version":")"));
}

TEST_CASE("errors are reported in DynamoDB's order from malformed JSON to a missing signature") {
  Running running;
  const std::string serialization = R"({"__type":"com.amazon.coral.service#SerializationException"})";
  const std::string unknown = R"({"__type":"com.amazon.coral.service#UnknownOperationException"})";
  const std::string missing = R"({"__type":"com.amazon.coral.service#MissingAuthenticationTokenException",)"
                              R"("message":"Request is missing Authentication Token"})";
  const std::pair<std::string, std::string> target = {"X-Amz-Target", "DynamoDB_20120810.ListTables"};

  for (const std::string type : {"application/json", "application/x-amz-json-1.0"}) {
    HttpAnswer answer = running.ask(http_request("POST", "/", {{"Content-Type", type}}, "hi"));
    check_error(answer, serialization);
    CHECK(answer.headers.at("content-type") == type);
    answer = running.ask(http_request("POST", "/", {{"Content-Type", type}, target}, "hi"));
    check_error(answer, serialization);
    answer = running.ask(http_request("POST", "/", {{"Content-Type", " " + type + " ; asfd"}}, "{}"));
    check_error(answer, unknown);
    CHECK(answer.headers.at("content-type") == type);
    answer = running.ask(http_request("POST", "/", {{"Content-Type", type}, target}, "{}"));
    check_error(answer, missing);
  }
  check_error(running.ask(http_request("POST", "/")), unknown);
  check_error(running.ask(http_request("POST", "/", {{"X-Amz-Target", "whatever"}})), unknown);
  check_error(running.ask(http_request("POST", "/", {{"X-Amz-Target", "DynamoDB_20120810.ListTable"}})),
              unknown);
  check_error(running.ask(http_request("POST", "/", {target})), missing);
  check_error(running.ask(operation_request("ListTables", "")), serialization);
}

TEST_CASE("the response to a signed request has the request's content type") {
  Running running;
  const HttpAnswer answer = running.ask(operation_request("ListTables", "{}"));
  check_common(answer);
  CHECK(answer.status == 200);
  CHECK(answer.headers.at("content-type") == "application/x-amz-json-1.0");
  CHECK(answer.headers.at("connection") == "keep-alive");
  CHECK(answer.body == list_tables_answer);
}

TEST_CASE("a connection serves successive requests and answers pipelined ones in order") {
  Running running;
  HttpClient client(running.port());
  for (int i = 0; i < 3; ++i) {
    client.send(operation_request("ListTables", "{}"));
    CHECK(client.receive().body == list_tables_answer);
  }
  std::string pipelined;
  for (int i = 0; i < 200; ++i) {
    pipelined += http_request("GET", "/") + operation_request("ListTables", "{}") +
                 operation_request("ListTables", "no JSON");
  }
  client.send(pipelined);
  for (int i = 0; i < 200; ++i) {
    CHECK(client.receive().body == "healthy: dynamodb.us-east-1.amazonaws.com ");
    CHECK(client.receive().body == list_tables_answer);
    CHECK(client.receive().status == 400);
  }
}

TEST_CASE("responses larger than the socket buffer arrive complete and in order") {
  constexpr int items = 10, requests = 300;  // 12 MB of responses: more than the kernel buffers
  Running running;
  const auto execute = [&](const std::string& operation, const std::string& body) {
    REQUIRE(running.emulator->execute({"000000000000", "us-east-1"}, "DynamoDB_20120810." + operation, body)
                .status == 200);
  };
  const auto item = [](int i) {
    return R"({"id":{"S":")" + std::to_string(i) + R"("},"text":{"S":")" +
           std::string(static_cast<std::size_t>(40'000 + i), static_cast<char>('a' + i)) + R"("}})";
  };
  execute("CreateTable", table_request("long"));
  for (int i = 0; i < items; ++i) execute("PutItem", R"({"TableName":"long","Item":)" + item(i) + "}");

  HttpClient client(running.port(), small_receive_bytes);
  for (int n = 0; n < requests; ++n)
    client.send(operation_request(
        "GetItem", R"({"TableName":"long","Key":{"id":{"S":")" + std::to_string(n % items) + R"("}}})"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // let the server fill the buffers
  for (int n = 0; n < requests; ++n) {
    const HttpAnswer answer = client.receive();
    check_common(answer);
    REQUIRE(answer.body == R"({"Item":)" + item(n % items) + "}");
  }
}

TEST_CASE("a chunked body can arrive split into any three pieces even if it is empty") {
  Running running;
  for (const std::string& body :
       {std::string("0\r\n\r\n"), std::string("2\r\n{}\r\n0\r\n\r\n"), std::string("0;x=y\r\nA: b\r\n\r\n"),
        std::string("1\r\n{\r\n1;x\r\n}\r\n00\r\nTrailer: 1\r\n\r\n")}) {
    const std::string request = operation_request("ListTables", body, {{"Transfer-Encoding", "chunked"}});
    const std::size_t head = request.size() - body.size();
    for (std::size_t first = head - 1; first < request.size(); ++first) {
      for (std::size_t second = first; second < request.size(); ++second) {
        INFO(body << " " << first - head << " " << second - head);
        HttpClient client(running.port());
        const std::string_view bytes = request;
        const std::size_t ends[] = {first, second, bytes.size()};
        std::size_t at = 0;
        for (const std::size_t end : ends) {
          client.send(bytes.substr(at, end - at));
          at = end;
          // This response shows that the server has parsed the previous piece.
          CHECK(running.ask(http_request("GET", "/")).status == 200);
        }
        const HttpAnswer answer = client.receive();
        CHECK(answer.status == (body[0] == '0' ? 400 : 200));
        if (body[0] != '0') CHECK(answer.body == list_tables_answer);
        client.send(http_request("GET", "/"));  // no bytes of the body are left over
        CHECK(client.receive().status == 200);
      }
    }
  }
}

TEST_CASE("an invalid region name is rejected wherever it appears") {
  Running running;
  const std::string what = "up to 64 letters, digits, '-', '_' and '.'.";
  const auto message = [](const HttpAnswer& answer) {
    return nlohmann::json::parse(answer.body)["message"].get<std::string>();
  };
  for (const std::string& region : {std::string("a/b"), std::string("a b"), std::string(65, 'a')}) {
    const HttpAnswer header = running.ask(http_request("GET", "/_mayfly/ttl", {{"X-Mayfly-Region", region}}));
    CHECK(header.status == 400);
    CHECK(message(header) == "X-Mayfly-Region must be " + what);
  }
  for (const std::string region : {"a%0d%0aX:", "a%00b", "a%2fb", ""}) {
    const HttpAnswer query = running.ask(
        http_request("POST", "/_mayfly/mcp?region=" + region, {{"Content-Type", "application/json"}}, "{}"));
    CHECK(query.status == 400);
    CHECK(message(query) == "'region' must be " + what);
  }
}

TEST_CASE("with shared regions all regions have the same tables") {
  const auto list_from = [](Running& running, const std::string& region) {
    return running
        .ask(http_request("POST", "/",
                          {{"Content-Type", "application/x-amz-json-1.0"},
                           {"X-Amz-Target", "DynamoDB_20120810.ListTables"},
                           {"X-Amz-Date", "20310101T000000Z"},
                           {"Authorization", "AWS4-HMAC-SHA256 Credential=test/20310101/" + region +
                                                 "/dynamodb/aws4_request, SignedHeaders=host, Signature=0"}},
                          "{}"))
        .body;
  };
  const auto shown_in = [](Running& running, const std::string& region) {
    return running.ask(http_request("GET", "/_mayfly/ttl/carts", {{"X-Mayfly-Region", region}})).status;
  };
  for (const bool shared : {false, true}) {
    compat::EmulatorOptions options;
    options.shared_regions = shared;
    Running running({}, std::move(options));
    running.create_table("carts", false);
    CHECK(list_from(running, "us-east-1") == R"({"TableNames":["carts"]})");
    CHECK(list_from(running, "localhost") ==
          (shared ? R"({"TableNames":["carts"]})" : R"({"TableNames":[]})"));
    CHECK(shown_in(running, "eu-west-1") == (shared ? 200 : 404));
  }
}

TEST_CASE("a body can arrive split into any three pieces") {
  Running running;
  const std::string body = "{ \"Limit\": 5 }";
  const std::string request = operation_request("ListTables", body);
  const std::size_t head = request.size() - body.size();
  for (std::size_t first = head - 1; first <= request.size(); ++first) {
    for (std::size_t second = first; second <= request.size(); ++second) {
      INFO(first - head << " " << second - head);
      HttpClient client(running.port());
      // The last piece also contains the next request.
      const std::string both = request + http_request("GET", "/");
      const std::size_t ends[] = {first, second, both.size()};
      std::size_t at = 0;
      for (const std::size_t end : ends) {
        client.send(std::string_view(both).substr(at, end - at));
        at = end;
        CHECK(running.ask(http_request("GET", "/")).status == 200);  // the server has parsed this piece
      }
      CHECK(client.receive().body == list_tables_answer);
      CHECK(client.receive().body.starts_with("healthy"));
    }
  }
}

// The fast comparison of header names ignores bit 0x20, so a name with a control character could match by
// mistake.
TEST_CASE("a header name with a control character is rejected") {
  Running running;
  const auto answered = [&](const std::string& name) {
    HttpClient client(running.port());
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n" + name + ": DynamoDB_20120810.ListTables\r\n\r\n");
    return client.receive().status;
  };
  CHECK(answered("X-Amz-Target") == 200);
  for (const char* name : {"X\rAmz-Target", "X-Amz\rTarget", "x-amz\x0dtarget", "Content\rLength"})
    CHECK(answered(name) == 400);
}

TEST_CASE("a request can arrive byte by byte and be followed by the end of the connection") {
  Running running;
  HttpClient client(running.port());
  const std::string request = operation_request("ListTables", "{}");
  for (const char byte : request) client.send(std::string_view(&byte, 1));
  client.finish_sending();
  CHECK(client.receive().body == list_tables_answer);
  CHECK(client.closed_by_server());
}

// The hostile client found this bug: after the second read of the end of input, the server was not notified
// of the end again, and the connection stayed open.
TEST_CASE("a connection that is half-closed after waiting requests gets all responses and is then closed") {
  Running running;
  HttpClient client(running.port());
  const std::string waits = running.request("POST", "/_mayfly/clock/advance", R"({"seconds":1})");
  client.send(waits + waits + waits);
  client.finish_sending();
  for (int i = 0; i < 3; ++i) CHECK(client.receive().status == 200);
  CHECK(client.closed_by_server());
}

// The hostile client found this bug, which crashed the server: discarded bytes were read into freed memory.
// AddressSanitizer and Valgrind detect it.
TEST_CASE("input that follows a waiting request and then a malformed request is discarded") {
  Running running;
  HttpClient client(running.port());
  client.send(running.request("POST", "/_mayfly/clock/advance", R"({"seconds":1})") + "no HTTP\r\n\r\n");
  CHECK(client.receive().status == 200);
  CHECK(client.receive().status == 400);
  for (int i = 0; i < 8; ++i) {
    client.send(std::string(4096, 'x'));
    CHECK(running.ask(http_request("GET", "/")).status == 200);  // the server has read these bytes
  }
  client.finish_sending();
  CHECK(client.closed_by_server());
}

TEST_CASE("Connection: close and HTTP/1.0 end the connection after the response") {
  Running running;
  for (const std::string& request :
       {std::string("GET / HTTP/1.0\r\n\r\n"), http_request("GET", "/", {{"Connection", "close"}})}) {
    HttpClient client(running.port());
    client.send(request);
    const HttpAnswer answer = client.receive();
    CHECK(answer.status == 200);
    CHECK(answer.headers.at("connection") == "close");
    CHECK(client.closed_by_server());
  }
}

TEST_CASE("Expect: 100-continue is answered before the body arrives") {
  Running running;
  HttpClient client(running.port());
  const std::string request = operation_request("ListTables", "{}", {{"Expect", "100-continue"}});
  client.send(request.substr(0, request.size() - 2));
  CHECK(client.receive().status == 100);
  client.send("{}");
  CHECK(client.receive().body == list_tables_answer);
  // If the body arrives with the request, there is no 100 response.
  client.send(request);
  CHECK(client.receive().status == 200);
}

TEST_CASE("request bodies can be chunked") {
  Running running;
  for (const std::size_t chunk_bytes : {1, 7, 4096}) {
    const std::string body = "{" + std::string(20'000, ' ') + "}";
    const HttpAnswer answer = running.ask(
        operation_request("ListTables", chunked(body, chunk_bytes), {{"Transfer-Encoding", "chunked"}}));
    check_common(answer);
    CHECK(answer.body == list_tables_answer);
  }
}

TEST_CASE("compressed requests are accepted and malformed compressed requests get 500 and change nothing") {
  Running running;
  const std::string body = table_request("compressed");
  for (const std::string& broken : {body, std::string(), http::compress(body, http::Encoding::gzip) + "junk",
                                    http::compress(body, http::Encoding::gzip).substr(1)}) {
    const HttpAnswer answer =
        running.ask(operation_request("CreateTable", broken, {{"Content-Encoding", "gzip"}}));
    check_common(answer);
    CHECK(answer.status == 500);
  }
  CHECK(running.ask(operation_request("CreateTable", body, {{"Content-Encoding", "garbage"}})).status == 500);
  CHECK(running.ask(operation_request("ListTables", "{}")).body == list_tables_answer);

  CHECK(running
            .ask(operation_request("ListTables", http::compress("{}", http::Encoding::gzip),
                                   {{"Content-Encoding", "gzip"}}))
            .body == list_tables_answer);
  CHECK(running
            .ask(operation_request("ListTables", http::compress("{}", http::Encoding::deflate),
                                   {{"Content-Encoding", "DEFLATE"}}))
            .body == list_tables_answer);
}

TEST_CASE("a response of 4 KB or more is compressed on request and its checksum covers the bytes sent") {
  Running running;
  REQUIRE(running.ask(operation_request("CreateTable", table_request("long"))).status == 200);
  const std::string item = R"({"id":{"S":"1"},"text":{"S":")" + std::string(5000, 'x') + R"("}})";
  REQUIRE(running.ask(operation_request("PutItem", R"({"TableName":"long","Item":)" + item + "}")).status ==
          200);
  const std::string get = R"({"TableName":"long","Key":{"id":{"S":"1"}}})";
  const HttpAnswer plain = running.ask(operation_request("GetItem", get));
  check_common(plain);
  CHECK(plain.body == R"({"Item":)" + item + "}");
  CHECK(plain.headers.count("content-encoding") == 0);
  for (const http::Encoding encoding : {http::Encoding::gzip, http::Encoding::deflate}) {
    const std::string encoding_name(http::name_of(encoding));
    const HttpAnswer answer =
        running.ask(operation_request("GetItem", get, {{"Accept-Encoding", encoding_name}}));
    check_common(answer);
    CHECK(answer.status == plain.status);
    CHECK(answer.headers.at("content-encoding") == encoding_name);
    std::string content;
    REQUIRE(!http::decompress(answer.body, encoding, 1 << 20, content));
    CHECK(content == plain.body);
  }
  const HttpAnswer small = running.ask(operation_request("ListTables", "{}", {{"Accept-Encoding", "gzip"}}));
  CHECK(small.body == R"({"TableNames":["long"]})");
}

TEST_CASE("a body of 16 MB is accepted and a longer body gets 413 however it is sent") {
  Running running;
  const std::string largest = "{" + std::string(http::body_bytes_max - 2, ' ') + "}";
  CHECK(running.ask(operation_request("ListTables", largest)).body == list_tables_answer);

  const std::string too_long = largest + " ";
  for (const std::string& request :
       {operation_request("ListTables", too_long),
        operation_request("ListTables", chunked(too_long, 1 << 20), {{"Transfer-Encoding", "chunked"}}),
        operation_request("ListTables", "",
                          {{"Content-Length", "99999999999"}, {"Expect", "100-continue"}})}) {
    HttpClient client(running.port());
    client.send(request);
    const HttpAnswer answer = client.receive();
    check_common(answer);
    CHECK(answer.status == 413);
    CHECK(answer.headers.at("transfer-encoding") == "chunked");
    CHECK(answer.body.empty());
    client.finish_sending();
    CHECK(client.closed_by_server());
  }
  const HttpAnswer bomb = running.ask(operation_request(
      "ListTables", http::compress(too_long, http::Encoding::gzip), {{"Content-Encoding", "gzip"}}));
  check_common(bomb);
  CHECK(bomb.status == 413);
}

TEST_CASE("a request line or headers over 16 KB get 400 even if they trickle in") {
  Running running;
  const std::string long_text(17'000, 'x');
  const std::string line = http_request("GET", "/" + long_text);
  const std::string header = http_request("GET", "/", {{"X-Long", long_text}});
  const std::string headers =
      http_request("GET", "/", {{"header1", std::string(8192, 'x')}, {"header2", std::string(8192, 'y')}});
  for (const std::string& request : {line, header, headers}) {
    for (const std::size_t piece_bytes : {request.size(), std::size_t{1000}}) {
      HttpClient client(running.port());
      for (std::size_t at = 0; at < request.size(); at += piece_bytes) {
        client.send(std::string_view(request).substr(at, piece_bytes));
      }
      const HttpAnswer answer = client.receive();
      check_common(answer);
      CHECK(answer.status == 400);
      CHECK(answer.body == "The request line and headers are longer than 16 KB.\n");
    }
  }
}

TEST_CASE("a truncated body is never executed") {
  Running running;
  const std::string request = operation_request("CreateTable", table_request("cut"));
  const std::string in_chunks =
      operation_request("CreateTable", chunked(table_request("cut"), 10), {{"Transfer-Encoding", "chunked"}});
  for (const std::string& whole : {request, in_chunks}) {
    HttpClient client(running.port());
    client.send(std::string_view(whole).substr(0, whole.size() - 1));
    client.finish_sending();
    CHECK(client.closed_by_server());
  }
  CHECK(running.ask(operation_request("ListTables", "{}")).body == list_tables_answer);
}

TEST_CASE("a malformed HTTP request gets 400 and the connection is closed") {
  Running running;
  for (const std::string_view request :
       {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 TLS, say\r\n\r\n", "GET / HTTP/2.0\r\n\r\n",
        "GET\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        // These requests delimit the body in conflicting, repeated or unknown ways.
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
        "chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\t\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n 2\r\n\r\n{}",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: gzip\r\n\r\n{}",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2, 2\r\n\r\n{}",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +2\r\n\r\n{}",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x2\r\n\r\n{}",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length : 2\r\n\r\n{}",
        "POST / HTTP/1.1\nHost: x\nContent-Length: 2\n\n{}"}) {
    INFO(request);
    HttpClient client(running.port());
    client.send(request);
    client.finish_sending();
    const HttpAnswer answer = client.receive();
    check_common(answer);
    CHECK(answer.status == 400);
    CHECK(answer.headers.at("connection") == "close");
    CHECK(client.closed_by_server());
  }
}

TEST_CASE("no input crashes the server", "[holds]") {
  Running running;
  const unsigned seed = GENERATE(1u, 2u, 3u);
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::string good =
      operation_request("CreateTable", table_request("fuzz"), {{"Accept-Encoding", "gzip"}}) +
      operation_request("ListTables", chunked("{}", 1), {{"Transfer-Encoding", "chunked"}}) +
      http_request("GET", "/?X-Amz-Algorithm=a&X-Amz-Credential=%2F%2");
  for (int round = 0; round < 300; ++round) {
    std::string bytes = good;
    for (int change = static_cast<int>(random() % 8); change >= 0 && !bytes.empty(); --change) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0: bytes[at] = static_cast<char>(random()); break;
        case 1: bytes.erase(at, random() % 40); break;
        case 2: {
          const std::size_t count = random() % 40;
          bytes.insert(at, count, static_cast<char>(random()));
          break;
        }
        default: bytes.resize(at + 1);
      }
    }
    HttpClient client(running.port());
    client.send(bytes);
    if (random() % 4 == 0) {
      client.reset();
    } else {
      client.finish_sending();
      while (client.receive().status != 0) {}
    }
  }
  CHECK(running.ask(http_request("GET", "/")).status == 200);
}

TEST_CASE("any number of io threads can serve many connections at once") {
  const unsigned threads = GENERATE(1u, 3u);
  http::ServerSettings settings;
  settings.threads = threads;
  settings.shares_port = GENERATE(false, os::can_share_ports);
  Running running(settings);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(std::make_unique<HttpClient>(running.port()));
  for (int round = 0; round < 3; ++round) {
    for (auto& client : clients) client->send(operation_request("ListTables", "{}"));
    for (auto& client : clients) CHECK(client->receive().body == list_tables_answer);
  }
}

TEST_CASE("connections beyond the limit wait until others close") {
  http::ServerSettings settings;
  settings.connections_max = 1;
  Running running(settings);
  auto first = std::make_unique<HttpClient>(running.port());
  first->send(http_request("GET", "/"));
  CHECK(first->receive().status == 200);
  HttpClient second(running.port());
  second.send(http_request("GET", "/"));
  first->send(http_request("GET", "/"));
  CHECK(first->receive().status == 200);
  first.reset();
  CHECK(second.receive().status == 200);
}

TEST_CASE("connections beyond the limit of several io threads wait until others close") {
  http::ServerSettings settings;
  settings.threads = 2;
  settings.connections_max = 6;
  settings.shares_port = false;  // the system may give each thread any number of connections
  Running running(settings);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<HttpClient>(running.port()));
    clients.back()->send(http_request("GET", "/"));
    CHECK(clients.back()->receive().status == 200);
  }
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<HttpClient>(running.port()));
    clients.back()->send(http_request("GET", "/"));
  }
  clients.erase(clients.begin(), clients.begin() + 6);
  for (auto& client : clients) CHECK(client->receive().status == 200);
}

TEST_CASE("clients that connect and disconnect at the same time are all answered by several io threads") {
  http::ServerSettings settings;
  settings.threads = 3;
  settings.connections_max = 9;
  settings.shares_port = GENERATE(false, os::can_share_ports);
  Running running(settings);
  std::atomic<int> answered = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) answered += running.ask(http_request("GET", "/")).status == 200;
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(answered == 200);
}

TEST_CASE("a connection that is idle or stalled within a request is closed") {
  http::ServerSettings settings;
  settings.idle_max = settings.stalled_max = settings.tick = std::chrono::milliseconds(20);
  Running running(settings);
  HttpClient idle(running.port());
  HttpClient stuck(running.port());
  stuck.send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n{");
  CHECK(idle.closed_by_server());
  CHECK(stuck.closed_by_server());
}

TEST_CASE("a request that trickles in is rejected after its time limit without delaying other requests",
          "[holds]") {
  http::ServerSettings settings;
  settings.request_max = std::chrono::milliseconds(200);
  settings.tick = std::chrono::milliseconds(20);
  Running running(settings);
  for (const char* begin :
       {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n", "GET / HTTP/1.1\r\nX-Y: "}) {
    INFO(begin);
    HttpClient client(running.port());
    HttpClient other(running.port());
    const std::string other_request = operation_request("ListTables", "{}");
    client.send(begin);
    const std::jthread trickle([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        client.send("x");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    const HttpAnswer answer = client.receive();
    check_common(answer);
    CHECK(answer.status == 408);
    CHECK(answer.body ==
          "The request took longer than 0 s to arrive (limit set by --request-seconds-max).\n");
    CHECK(answer.headers.at("connection") == "close");
    // The limit applies to each request, not to the connection.
    const std::string_view request = other_request;
    for (const engine::Stopwatch stopwatch; stopwatch.elapsed() < 2 * settings.request_max;) {
      other.send(request.substr(0, request.size() / 2));
      CHECK(running.ask(http_request("GET", "/")).status == 200);
      other.send(request.substr(request.size() / 2));
      CHECK(other.receive().body == list_tables_answer);
    }
  }
  CHECK(running.ask(http_request("GET", "/_mayfly/metrics"))
            .body.find("\nmayfly_connections_closed_total{why=\"request_seconds\"} 2\n") !=
        std::string::npos);
}

TEST_CASE("a client that reads a response too slowly is disconnected") {
  http::ServerSettings settings;
  settings.request_max = std::chrono::milliseconds(200);
  settings.tick = std::chrono::milliseconds(20);
  settings.connections_max = 1;
  Running running(settings);
  const BigItems items(running);
  HttpClient slow(running.port(), small_receive_bytes);
  slow.send(items.request());
  slow.read_until("\r\n");
  HttpClient next(running.port());
  next.send(http_request("GET", "/_mayfly/metrics"));
  const std::string metrics = next.receive().body;  // the limit is one connection, so the slow one is closed
  CHECK(metrics.find("\nmayfly_connections_closed_total{why=\"request_seconds\"} 1\n") != std::string::npos);
  CHECK(slow.drain() < BigItems::answer_bytes);
}

TEST_CASE("a client that does not read its response is disconnected") {
  http::ServerSettings settings;
  settings.stalled_max = settings.tick = std::chrono::milliseconds(20);
  settings.connections_max = 1;
  Running running(settings);
  {
    const BigItems items(running);
    HttpClient stuck(running.port(), small_receive_bytes);
    stuck.send(items.request());
    stuck.read_until("\r\n");
    HttpClient next(running.port());
    next.send(http_request("GET", "/"));
    CHECK(next.receive().status == 200);  // the limit is one connection, so the stuck one is closed
    CHECK(stuck.drain() < BigItems::answer_bytes);
  }
}

TEST_CASE("unread responses have a memory limit and clients that read get their responses", "[holds]") {
  http::ServerSettings settings;
  settings.unread_bytes_max = 120'000'000;  // fits two responses per thread, including spare capacity
  settings.threads = GENERATE(1u, 2u);
  settings.shares_port = GENERATE(false, os::can_share_ports);
  Running running(settings);
  const BigItems items(running);
  std::vector<std::unique_ptr<HttpClient>> stuck;
  for (int i = 0; i < 12; ++i) {
    stuck.push_back(std::make_unique<HttpClient>(running.port(), small_receive_bytes));
    stuck.back()->send(items.request());
    stuck.back()->read_until("\r\n");  // the response has begun
    HttpClient reader(running.port());
    reader.send(items.request());
    CHECK(reader.receive().body.size() >= BigItems::answer_bytes);
  }
  std::size_t whole = 0;
  for (const auto& client : stuck) whole += client->drain() >= BigItems::answer_bytes ? 1 : 0;
  CHECK(whole >= 1);
  CHECK(whole <= settings.unread_bytes_max / BigItems::answer_bytes);
}

TEST_CASE("when large uploads exceed their shared memory limit the longest-running upload is rejected",
          "[holds]") {
  http::ServerSettings settings;
  settings.request_bytes_max = 40'000'000;
  Running running(settings);
  const std::string large =
      operation_request("ListTables", "{" + std::string(http::body_bytes_max - 2, ' ') + "}");
  const auto without_its_end = std::string_view(large).substr(0, large.size() - 1);
  std::vector<std::unique_ptr<HttpClient>> stuck;
  for (int i = 0; i < 10; ++i) {
    stuck.push_back(std::make_unique<HttpClient>(running.port()));
    stuck.back()->send(without_its_end);
    CHECK(running.ask(large).body == list_tables_answer);  // complete requests are still served
    CHECK(running.emulator->server_metrics().of(compat::Meter::request_bytes) <= 40'000'000);
  }
  std::size_t refused = 0;
  for (const auto& client : stuck) {
    client->send("}");
    const HttpAnswer answer = client->receive();
    if (answer.status == 200) continue;
    ++refused;
    check_common(answer);
    CHECK(answer.status == 503);
    CHECK(answer.body ==
          R"({"__type":"mayfly#TooManyWaiting","message":"The requests in flight exceed the memory )"
          R"(limit (set by --request-bytes-max)."})");
    CHECK(answer.headers.at("connection") == "close");
  }
  CHECK(refused >= 8);
  CHECK(refused < 10);
  CHECK(running.emulator->server_metrics().of(compat::Meter::refused_bytes) ==
        static_cast<std::int64_t>(refused));
  CHECK(running.ask(http_request("GET", "/_mayfly/metrics")).body.find("\nmayfly_request_bytes 0\n") !=
        std::string::npos);
}

TEST_CASE("large waiting requests count against the memory limit at their maximum possible decompressed size",
          "[holds]") {
  http::ServerSettings settings;
  settings.request_bytes_max = 40'000'000;
  Running running(settings);
  const HttpAnswer set = running.ask(http_request(
      "PUT", "/_mayfly/faults", {{"Content-Type", "application/json"}},
      R"({"rules":[{"operation":"DescribeEndpoints","fault":"latency","milliseconds":60000}]})"));
  REQUIRE(set.status == 200);
  const std::string body = "{" + std::string(1'000'000, ' ') + "}";
  const std::string request = operation_request(
      "DescribeEndpoints", http::compress(body, http::Encoding::gzip), {{"Content-Encoding", "gzip"}});
  constexpr int sent = 60;
  std::vector<std::unique_ptr<HttpClient>> waiting;
  for (int i = 0; i < sent; ++i) {
    waiting.push_back(std::make_unique<HttpClient>(running.port()));
    waiting.back()->send(request);
  }
  using compat::Meter;
  const compat::ServerMetrics& metrics = running.emulator->server_metrics();
  while (metrics.of(Meter::waiting_operations) + metrics.of(Meter::refused_bytes) < sent)
    std::this_thread::yield();
  CHECK(metrics.of(Meter::refused_bytes) > 10);
  CHECK(metrics.of(Meter::waiting_operations) > 4);  // each request may decompress to about 5 MB
  const HttpAnswer answer = waiting.back()->receive();
  CHECK(answer.status == 503);
  CHECK(answer.body.find("--request-bytes-max") != std::string::npos);
  CHECK(metrics.of(Meter::request_bytes) <= 40'000'000);
  CHECK(running.ask(operation_request("ListTables", "{}")).body == list_tables_answer);
}

TEST_CASE("the connection whose unread response has stalled longest is closed first") {
  std::vector<http::HeldBytes::Share> shares(4);
  std::vector<std::size_t> closed;
  http::HeldBytes* all = nullptr;
  compat::ServerMetrics metrics;
  http::HeldBytes answers(100, metrics, compat::Meter::unread_bytes, [&] {
    std::size_t oldest = shares.size();
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (shares[i].bytes > 0 && (oldest == shares.size() || shares[i].moved < shares[oldest].moved))
        oldest = i;
    }
    if (oldest == shares.size()) return false;
    closed.push_back(oldest);
    all->release(shares[oldest]);
    return true;
  });
  all = &answers;
  answers.hold(shares[0], 40);
  answers.hold(shares[1], 40);
  answers.moved(shares[0]);
  answers.hold(shares[2], 40);
  CHECK(closed == std::vector<std::size_t>{1});
  answers.release(shares[0]);
  answers.hold(shares[1], 60);
  CHECK(closed.size() == 1);
  answers.hold(shares[3], 101);  // exceeds the limit on its own
  CHECK(closed == std::vector<std::size_t>{1, 2, 1, 3});
  answers.hold(shares[0], 100);
  CHECK(closed.size() == 4);
  CHECK(metrics.of(compat::Meter::unread_bytes) == 100);
}

TEST_CASE("a port in use and an invalid host are reported clearly") {
  Running running;
  http::ServerSettings settings;
  settings.port = running.port();
  const std::string taken =
      "cannot listen on 127.0.0.1:" + std::to_string(settings.port) + ": the port is taken";
  for (const unsigned threads : {1u, 2u}) {
    settings.threads = threads;
    const auto second = http::Server::start(*running.emulator, settings);
    REQUIRE(!second);
    CHECK(second.error() == taken);
  }
  settings.host = "example.com";
  const auto nowhere = http::Server::start(*running.emulator, settings);
  REQUIRE(!nowhere);
  CHECK(nowhere.error() == "host 'example.com' is neither an IP address nor localhost");
}

namespace {

// Returns whether the machine has the address ::1. On a machine without it, servers listen on 127.0.0.1 only.
bool has_ipv6() {
  TestEmulator emulator;
  return http::Server::start(emulator.emulator(), {.host = "::1"}).has_value();
}

}  // namespace

TEST_CASE("a server listens on 127.0.0.1 and ::1 on the same port") {
  const bool shares_port = GENERATE(false, os::can_share_ports);
  for (const char* host : {"", "localhost"}) {
    for (const unsigned threads : {1u, 3u}) {
      http::ServerSettings settings;
      if (host[0] != '\0') settings.host = host;
      settings.threads = threads;
      settings.shares_port = shares_port;
      Running running(settings);
      CHECK(running.server->url() == "http://127.0.0.1:" + std::to_string(running.port()));
      CHECK(running.ask(http_request("GET", "/")).status == 200);
      if (!has_ipv6()) continue;
      for (int i = 0; i < 6; ++i) {
        const auto client = HttpClient::to_ipv6(running.port());
        client->send("GET / HTTP/1.1\r\nHost: [::1]:" + std::to_string(running.port()) + "\r\n\r\n");
        CHECK(client->receive().status == 200);
      }
    }
  }
}

TEST_CASE("a server with an explicit address listens only there") {
  Running running({.host = "127.0.0.1"});
  CHECK(running.ask(http_request("GET", "/")).status == 200);
  CHECK_THROWS(HttpClient::to_ipv6(running.port()));
  if (!has_ipv6()) return;
  Running six({.host = "::1"});
  CHECK(six.server->url() == "http://[::1]:" + std::to_string(six.port()));
  CHECK(HttpClient::to_ipv6(six.port()));
  CHECK_THROWS(HttpClient(six.port()));
}

TEST_CASE("a port in use on ::1 is reported and 127.0.0.1 alone can still be used") {
  if (!has_ipv6()) return;
  Running six({.host = "::1"});
  for (const unsigned threads : {1u, 3u}) {
    const auto refused = http::Server::start(*six.emulator, {.port = six.port(), .threads = threads});
    REQUIRE(!refused);
    CHECK(refused.error() == "cannot listen on [::1]:" + std::to_string(six.port()) + ": the port is taken");
    CHECK(http::Server::start(*six.emulator, {.host = "127.0.0.1", .port = six.port(), .threads = threads}));
  }
}

TEST_CASE("IPv4 and IPv6 connections share one limit") {
  if (!has_ipv6()) return;
  http::ServerSettings settings;
  settings.connections_max = 1;
  Running running(settings);
  const std::string request = http_request("GET", "/");
  auto first = std::make_unique<HttpClient>(running.port());
  first->send(request);
  CHECK(first->receive().status == 200);
  const auto second = HttpClient::to_ipv6(running.port());
  second->send(request);
  for (int i = 0; i < 10; ++i) {
    first->send(request);
    CHECK(first->receive().status == 200);
  }
  CHECK(running.emulator->server_metrics().of(compat::Meter::connections) == 1);
  first.reset();
  CHECK(second->receive().status == 200);
  HttpClient third(running.port());
  third.send(request);
  second->send(request);
  CHECK(second->receive().status == 200);
  second->reset();
  CHECK(third.receive().status == 200);
}

TEST_CASE("dates are printed in HTTP's format") {
  CHECK(http::http_date(0) == "Thu, 01 Jan 1970 00:00:00 GMT");
  CHECK(http::http_date(1658266020999) == "Tue, 19 Jul 2022 21:27:00 GMT");
  CHECK(http::http_date(1709164799000) == "Wed, 28 Feb 2024 23:59:59 GMT");
}

}  // namespace mayfly::testing
