// Tests the access rules for Host, Origin, Sec-Fetch-Site and Content-Type on every path.
#include "http/access/access.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "compat/emulator.h"
#include "http/connections/server.h"
#include "tests/support/http_client.h"
#include "tests/support/running.h"

namespace mayfly::testing {

using http::AccessRules;
using Json = nlohmann::json;

namespace {

// Sends only these headers, plus Content-Length if there is a body.
HttpAnswer exchange(const Running& running, const std::string& line, const Headers& headers,
                    const std::string& body = "") {
  std::string request = line + " HTTP/1.1\r\n";
  for (const auto& [name, value] : headers) request += name + ": " + value + "\r\n";
  if (!body.empty()) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return running.ask(request + "\r\n" + body, line.starts_with("HEAD"));
}

const std::string is_json = "application/json";
const std::string authorization =
    "AWS4-HMAC-SHA256 Credential=test/20240101/us-east-1/lambda/aws4_request, SignedHeaders=host;x-amz-date, "
    "Signature=0";
const Headers signature = {
    {"Host", "localhost"}, {"X-Amz-Date", "20240101T000000Z"}, {"Authorization", authorization}};
const std::string mappings = "/2015-03-31/event-source-mappings/";

Headers with(Headers headers, const Headers& more) {
  headers.insert(headers.end(), more.begin(), more.end());
  return headers;
}

// A request to one family of paths, and the status of the response if no access rule rejects the request.
struct Route {
  std::string line;
  Headers headers;
  std::string body;
  int status;
};
const std::vector<Route> routes = {
    {"GET /", {}, "", 200},
    {"HEAD /", {}, "", 200},
    {"POST /",
     with({signature.begin() + 1, signature.end()},
          {{"Content-Type", is_json}, {"X-Amz-Target", "DynamoDB_20120810.ListTables"}}),
     "{}", 200},
    {"GET /nothing", {}, "", 404},
    {"GET /_mayfly/health", {}, "", 200},
    {"GET /_mayfly/console", {}, "", 200},
    {"HEAD /_mayfly/console/page.js", {}, "", 200},
    {"GET /_mayfly/clock", {}, "", 200},
    {"PUT /_mayfly/clock", {{"Content-Type", is_json}}, R"({"mode":"real"})", 200},
    {"GET /_mayfly/nothing", {}, "", 404},
    {"GET " + mappings, {signature.begin() + 1, signature.end()}, "", 200},
    {"POST /2015-03-31/functions/f/invocations", {signature.begin() + 1, signature.end()}, "{}", 404},
};

void check_refused(const HttpAnswer& answer, int status, const std::string& message, bool head) {
  CHECK(answer.status == status);
  CHECK(answer.headers.count("access-control-allow-origin") == 0);
  CHECK(answer.headers.at("content-type") == is_json);
  CHECK(answer.headers.at("x-amzn-errortype") == (status == 403   ? "Forbidden"
                                                  : status == 400 ? "BadRequest"
                                                                  : "UnsupportedMediaType"));
  if (!head) CHECK(Json::parse(answer.body)["message"] == message);
}

}  // namespace

TEST_CASE("only local hosts and allowed hosts are accepted as Host") {
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:8000", "10.1.2.3:65535", "0.0.0.0:1", "[::1]", "[::1]:8000", "[fd00::1]",
        "[::ffff:127.0.0.1]:80", "localhost", "LOCALHOST:8000", "test.localhost", "a.b.localhost:8000",
        "host.docker.internal", "Host.Docker.Internal:8000", "mayfly", "mayfly:8000", "dynamodb-local_1",
        "mayfly.test:8000", "MAYFLY.test"}) {
    INFO(host);
    CHECK(http::answers_to(host, {"mayfly.test"}));
  }
  for (const char* host : {"",
                           ":8000",
                           "evil.example",
                           "evil.example:8000",
                           "localhost.evil.example",
                           "127.0.0.1.evil.example",
                           "[::1].evil.example",
                           "[::1].evil.example:8000",
                           "[::1]evil",
                           "[::1",
                           "::1",
                           "[]",
                           "[localhost]",
                           "[127.0.0.1]",
                           "[::1%25eth0]",
                           "[::1%lo]",
                           "localhost:",
                           "localhost:x",
                           "localhost:-1",
                           "localhost:+1",
                           "localhost:65536",
                           "localhost:8000:80",
                           "localhost:80 ",
                           "localhost:0x50",
                           "user@localhost",
                           "localhost@evil.example",
                           "localhost.",
                           "evil.example.",
                           ".localhost",
                           "..localhost",
                           "a..localhost",
                           "localhost/",
                           "local host",
                           "localhost,evil.example",
                           "127.1",
                           "127.0.0.01",
                           "256.0.0.1",
                           "0x7f.0.0.1",
                           "1.2.3.4.5",
                           "docker.internal",
                           "x.host.docker.internal",
                           "mayfly.test.evil.example",
                           "x.mayfly.test",
                           "mayfly.test.",
                           "evil.example#.localhost",
                           "evil.example\\.localhost",
                           "l\xc3\xb6"
                           "calhost"}) {
    INFO(host);
    CHECK_FALSE(http::answers_to(host, {"mayfly.test"}));
  }
  CHECK(http::answers_to(std::string(63, 'x'), {}));
  CHECK_FALSE(http::answers_to(std::string(64, 'x'), {}));
}

TEST_CASE("invalid access rules are rejected with a clear message") {
  const auto problem = [](AccessRules rules) { return http::problem_of(rules); };
  CHECK(problem({.hosts = {"mayfly.test"},
                 .origins = {"http://localhost:3000", "https://app.example", "capacitor://localhost", "*"}})
            .empty());
  CHECK(problem({.hosts = {"mayfly.test:8000"}}) ==
        "the allowed host 'mayfly.test:8000' is not a valid host name");
  CHECK(problem({.hosts = {"*"}}) == "the allowed host '*' is not a valid host name");
  for (const char* origin :
       {"localhost:3000", "http://localhost:3000/", "http://", "://x", "", "http://a,b"}) {
    CHECK(problem({.origins = {origin}}) ==
          "'" + std::string(origin) + "' is not an origin such as http://localhost:3000");
  }
  CHECK(problem({.origins = {"null"}}) ==
        "the origin null belongs to every sandboxed page and cannot be allowed; use * to allow all origins");
}

TEST_CASE("every path rejects a foreign Host", "[holds]") {
  Running running({.access = {.hosts = {"mayfly.test"}}});
  for (const Route& route : routes) {
    INFO(route.line);
    for (const char* host : {"localhost", "127.0.0.1:8000", "[::1]:8000", "mayfly.test", "dynamodb:8000"}) {
      CHECK(exchange(running, route.line, with({{"Host", host}}, route.headers), route.body).status ==
            route.status);
    }
    const bool head = route.line.starts_with("HEAD");
    for (const std::string host : {"evil.example", "[::1].evil.example", "localhost.", ""}) {
      check_refused(exchange(running, route.line, with({{"Host", host}}, route.headers), route.body), 403,
                    "Host '" + host +
                        "' is not allowed. Use an IP address, localhost or a name without a dot, or allow "
                        "the host with --allowed-host.",
                    head);
    }
    check_refused(
        exchange(running, route.line, with({{"Host", "localhost"}, {"Host", "evil.example"}}, route.headers),
                 route.body),
        400, "The request has more than one Host header.", head);
    for (const std::string name : {"X-Mayfly-Account", "X-Mayfly-Region"}) {
      const Headers twice = {{"Host", "localhost"}, {name, "000000000001"}, {name, "000000000001"}};
      check_refused(exchange(running, route.line, with(twice, route.headers), route.body), 400,
                    "The request has more than one " + name + " header.", head);
    }
    check_refused(exchange(running, route.line, route.headers, route.body), 400,
                  "An HTTP/1.1 request must have a Host header.", head);
  }
}

TEST_CASE("a connection re-checks Host when a later request changes it") {
  Running running;
  HttpClient client(running.server->port());
  for (const auto& [host, status] : {std::pair{"localhost:1", 200},
                                     {"localhost:1", 200},
                                     {"evil.example", 403},
                                     {"localhost:1", 200},
                                     {"localhost:11", 200},
                                     {"", 403},
                                     {"localhost:1.evil.example", 403},
                                     {"[::1]", 200}}) {
    client.send("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n");
    CHECK(client.receive().status == status);
  }
}

TEST_CASE("the authority of an absolute target replaces the Host header") {
  Running running;
  const auto ask = [&](const std::string& target, const Headers& headers) {
    return exchange(running, "GET " + target, headers);
  };
  for (const char* host : {"localhost", "evil.example", ""}) {
    for (const char* target : {"http://127.0.0.1:1/_mayfly/clock", "HTTPS://localhost/_mayfly/clock?x"})
      CHECK(ask(target, {{"Host", host}}).body.find("\"mode\"") != std::string::npos);
    for (const char* target : {"http://localhost", "http://localhost/", "http://localhost?x"})
      CHECK(ask(target, {{"Host", host}}).body.starts_with("healthy"));
    CHECK(ask("http://evil.example/", {{"Host", host}}).status == 403);
    CHECK(ask("http://user@localhost/", {{"Host", host}}).status == 403);
    CHECK(ask("http:///", {{"Host", host}}).status == 403);
    CHECK(ask("http://?x", {{"Host", host}}).status == 403);
  }
  CHECK(ask("http://localhost/_mayfly/clock", {{"Host", "localhost"}, {"Origin", "http://evil.example"}})
            .status == 403);
  check_refused(ask("http://localhost/", {}), 400, "An HTTP/1.1 request must have a Host header.", false);
  check_refused(ask("http://localhost/", {{"Host", "localhost"}, {"Host", "localhost"}}), 400,
                "The request has more than one Host header.", false);
}

TEST_CASE("a target must be a path or an http URL") {
  Running running;
  for (const char* target :
       {"evil.example:80", "?", "_mayfly/clock", "http:/localhost/", "ftp://localhost/"}) {
    check_refused(exchange(running, "GET " + std::string(target), {{"Host", "localhost"}}), 400,
                  "The request target must begin with '/', http:// or https://.", false);
  }
}

TEST_CASE("an HTTP/1.0 request may omit Host but a Host that is sent is checked") {
  Running running;
  for (const auto& [request, status] : {std::pair{"GET / HTTP/1.0\r\n\r\n", 200},
                                        {"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", 200},
                                        {"GET / HTTP/1.0\r\nHost: evil.example\r\n\r\n", 403},
                                        {"GET / HTTP/1.0\r\nOrigin: http://\r\n\r\n", 403}}) {
    HttpClient client(running.server->port());
    client.send(request);
    CHECK(client.receive().status == status);
  }
}

TEST_CASE("every path rejects requests from pages of other origins and other sites", "[holds]") {
  Running running;
  for (const Route& route : routes) {
    INFO(route.line);
    const bool head = route.line.starts_with("HEAD"), reads = head || route.line.starts_with("GET");
    const auto ask = [&](const Headers& headers) {
      return exchange(running, route.line, with(with({{"Host", "localhost:8000"}}, headers), route.headers),
                      route.body);
    };
    for (const std::string origin :
         {"http://evil.example", "http://localhost:3000", "http://localhost", "https://localhost:8000",
          "null", "", "http://localhost:8000.evil.example", "http://127.0.0.1:8000", "file://"}) {
      check_refused(
          ask({{"Origin", origin}}), 403,
          "Requests from pages of '" + origin + "' are not allowed; allow the origin with --cors-origin.",
          head);
    }
    for (const std::string site : {"cross-site", "same-site", "", "none ,same-origin"}) {
      check_refused(ask({{"Sec-Fetch-Site", site}}), 403,
                    "Requests from pages of other sites are not allowed (Sec-Fetch-Site: " + site +
                        "); allow an origin with --cors-origin.",
                    head);
      check_refused(ask({{"Origin", "http://localhost:8000"}, {"Sec-Fetch-Site", site}}), 403,
                    "Requests from pages of 'http://localhost:8000' are not allowed; allow the origin with "
                    "--cors-origin.",
                    head);
    }
    check_refused(ask({{"Origin", "http://localhost:8000"}, {"Origin", "http://localhost:8000"}}), 400,
                  "The request has more than one Origin header.", head);
    // The server accepts requests from its own pages and for URLs that a person typed into the address bar.
    CHECK(ask({{"Origin", "http://localhost:8000"}}).status == route.status);
    CHECK(ask({{"Origin", "http://localhost:8000"}, {"Sec-Fetch-Site", "same-origin"}}).status ==
          route.status);
    CHECK(ask({{"Sec-Fetch-Site", "same-origin"}}).status == route.status);
    CHECK(ask({{"Sec-Fetch-Site", "none"}}).status == (reads ? route.status : 403));
  }
}

TEST_CASE("an error quotes only the beginning of a long header") {
  Running running;
  const HttpAnswer answer = exchange(running, "GET /", {{"Host", std::string(9000, 'x')}});
  CHECK(answer.status == 403);
  CHECK(answer.body.size() < 400);
}

TEST_CASE("pages of an allowed origin can use every path and read the responses") {
  for (const std::string& rule : {std::string("http://localhost:3000"), std::string("*")}) {
    Running running({.access = {.origins = {"https://other.example", rule}}});
    for (const Route& route : routes) {
      INFO(rule << " " << route.line);
      HttpAnswer answer = exchange(running, route.line,
                                   with({{"Host", "localhost:8000"},
                                         {"Origin", "http://localhost:3000"},
                                         {"Sec-Fetch-Site", "same-site"}},
                                        route.headers),
                                   route.body);
      CHECK(answer.status == route.status);
      CHECK(answer.headers.at("access-control-allow-origin") == rule);
      CHECK(answer.headers.at("vary") == "Origin");
      CHECK(answer.headers.at("access-control-expose-headers") ==
            "x-amzn-RequestId, x-amzn-ErrorType, x-amz-crc32, Date");
      CHECK(answer.headers.count("access-control-max-age") == 0);
      // A page also sends a preflight request.
      answer = exchange(running, "OPTIONS " + route.line.substr(route.line.find(' ') + 1),
                        {{"Host", "localhost:8000"},
                         {"Origin", "http://localhost:3000"},
                         {"Access-Control-Request-Method", "POST"},
                         {"Access-Control-Request-Headers", "authorization,x-amz-target"}});
      CHECK(answer.status == 200);
      CHECK(answer.headers.at("access-control-allow-origin") == rule);
      CHECK(answer.headers.at("access-control-allow-methods") == "POST");
      CHECK(answer.headers.at("access-control-allow-headers") == "authorization,x-amz-target");
      CHECK(answer.headers.at("access-control-max-age") == "172800");
      CHECK(answer.headers.at("content-length") == "0");
      // Other origins and foreign hosts are still rejected.
      CHECK(exchange(running, route.line,
                     with({{"Host", "localhost:8000"}, {"Origin", "http://evil.example"}}, route.headers),
                     route.body)
                .status == (rule == "*" ? route.status : 403));
      CHECK(exchange(running, route.line,
                     with({{"Host", "evil.example"}, {"Origin", "http://localhost:3000"}}, route.headers),
                     route.body)
                .status == 403);
      // A request without an Origin gets no CORS headers.
      CHECK(exchange(running, route.line, with({{"Host", "localhost:8000"}}, route.headers), route.body)
                .headers.count("access-control-allow-origin") == 0);
    }
  }
}

TEST_CASE("a preflight from an origin that is not allowed gets no CORS headers") {
  Running running({.access = {.origins = {"http://localhost:3000"}}});
  for (const char* path : {"/", "/_mayfly/faults", "/2015-03-31/event-source-mappings/"}) {
    const HttpAnswer answer = exchange(running, "OPTIONS " + std::string(path),
                                       {{"Host", "localhost"},
                                        {"Origin", "http://localhost:3001"},
                                        {"Access-Control-Request-Method", "PUT"}});
    CHECK(answer.status == 403);
    for (const char* header : {"origin", "methods", "headers"}) {
      CHECK(answer.headers.count("access-control-allow-" + std::string(header)) == 0);
    }
  }
}

TEST_CASE("a request that a form can send without a preflight changes nothing on any path") {
  Running running;
  const std::string mapping =
      R"({"EventSourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/t/stream/s","FunctionName":"f"})";
  const std::string presigned =
      "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=test%2F20240101%2Fus-east-1%2Flambda%2Faws4_request"
      "&X-Amz-Date=20240101T000000Z&X-Amz-SignedHeaders=host&X-Amz-Signature=0";
  for (const char* type :
       {"", "text/plain", "text/plain;charset=UTF-8", "text/plain; application/json",
        "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx"}) {
    const Headers headers =
        *type ? Headers{{"Host", "localhost"}, {"Content-Type", type}} : Headers{{"Host", "localhost"}};
    for (const std::string& path :
         {mappings, mappings + presigned, std::string("/2015-03-31/functions/f/invocations") + presigned,
          "/2017-03-31/tags/arn" + presigned, std::string("/_mayfly/reset"), std::string("/nothing")}) {
      INFO(path << " " << type);
      check_refused(exchange(running, "POST " + path, headers, mapping), 415,
                    "Requests that change something must have Content-Type: application/json.", false);
      CHECK(exchange(running, "POST " + path, headers).status == 415);
    }
    CHECK(exchange(running, "POST /" + presigned, headers, "{}").body == "<UnknownOperationException/>\n");
    CHECK(exchange(running, "POST /" + presigned, headers).status == 400);
  }
}

TEST_CASE("Lambda routes require JSON bodies and header signatures but accept any payload type") {
  Running running;
  const auto ask = [&](const std::string& line, const Headers& more, const std::string& body = "") {
    return exchange(running, line, with(signature, more), body);
  };
  CHECK(ask("POST " + mappings, {{"Content-Type", "text/plain"}}, "{}").status == 415);
  CHECK(ask("POST " + mappings, {}, "{}").status == 415);
  CHECK(ask("POST " + mappings, {{"Content-Type", "application/json; charset=UTF-8"}}, "{}").status ==
        400);  // the body is parsed but lacks required members
  CHECK(ask("DELETE " + mappings + "1", {}).status == 404);
  // botocore sends a function's payload without a Content-Type. Other SDKs send one of these two types.
  for (const Headers& type : {Headers{}, Headers{{"Content-Type", "application/octet-stream"}},
                              Headers{{"Content-Type", "text/plain"}}}) {
    CHECK(ask("POST /2015-03-31/functions/f/invocations", type, "{}").status == 404);
  }
  const HttpAnswer presigned =
      exchange(running,
               "GET " + mappings +
                   "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=test%2F20240101%2Fus-east-1%"
                   "2Flambda%2Faws4_request"
                   "&X-Amz-Date=20240101T000000Z&X-Amz-SignedHeaders=host&X-Amz-Signature=0",
               {{"Host", "localhost"}});
  CHECK(presigned.status == 403);
  CHECK(presigned.headers.at("x-amzn-errortype") == "MissingAuthenticationTokenException");
}

TEST_CASE("with --no-control event source mappings are read-only") {
  Running running({.access = {.control = false}});
  const auto ask = [&](const std::string& line, const std::string& body = "") {
    return exchange(running, line, with(signature, {{"Content-Type", is_json}}), body);
  };
  CHECK(ask("GET " + mappings).status == 200);
  CHECK(ask("POST /2015-03-31/functions/f/invocations", "{}").status == 404);
  for (const std::string& line :
       {"POST " + mappings, "PUT " + mappings + "1", "DELETE " + mappings + "1",
        std::string("POST /2017-03-31/tags/arn"), std::string("DELETE /2017-03-31/tags/arn")}) {
    const HttpAnswer answer = ask(line, "{}");
    CHECK(answer.status == 403);
    CHECK(Json::parse(answer.body)["message"] ==
          "Event source mappings are read-only while the control API is disabled (--no-control).");
  }
  CHECK(ask("GET /_mayfly/health").status == 200);
  CHECK(ask("GET /_mayfly/clock").status == 404);
}

}  // namespace mayfly::testing
