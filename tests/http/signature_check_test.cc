// Tests which requests a server with --require-signature accepts and rejects, and its error messages.
#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/base/hex.h"
#include "http/access/signature.h"
#include "http/access/sigv4.h"
#include "http/base/sha256.h"
#include "http/requests/compression.h"
#include "tests/support/running.h"
#include "tests/support/signed_request.h"

namespace mayfly::testing {

using http::Request;
using Json = nlohmann::json;

namespace {

constexpr engine::Instant noon = 1'704'110'400'000;  // 2024-01-01T12:00:00Z
constexpr engine::Instant minute = 60'000;

const http::Keys keys(Signing().key);
const http::Keys keys_with_token(http::Key{"AKIDEXAMPLE", Signing().key.secret, "t0ken"});

std::string signed_at(engine::Instant now, const http::Keys& known, const Request& request,
                      std::string_view service = "dynamodb") {
  const auto scope =
      http::authenticate(request, "us-east-1", {.service = service, .keys = &known, .now = now});
  if (scope) return "taken, " + scope->account + " " + scope->region;
  return std::string(compat::error_name(scope.error().kind)) + ": " + scope.error().message;
}
std::string outcome(const Request& request) { return signed_at(noon, keys, request); }

Signing at(engine::Instant now) { return {.now = now}; }

// Returns a signed request in whose Authorization header `what` is replaced with `by`.
Request rewritten(const std::string& what, const std::string& by, const Signing& signing = at(noon)) {
  Request request = signed_request(signing);
  for (http::HeaderLine& header : request.all_headers) {
    if (header.name != "Authorization") continue;
    const auto place = header.value.find(what);
    REQUIRE(place != std::string::npos);
    header.value.replace(place, what.size(), by);
    request.set(http::Header::authorization, header.value);
  }
  return request;
}

Request with_header(const std::string& name, const std::string& value) {
  Request request = signed_request(at(noon));
  Headers headers;
  bool there = false;
  for (const http::HeaderLine& header : request.all_headers) {
    const bool same = header.name == name;
    there = there || same;
    headers.emplace_back(header.name, same ? value : header.value);
  }
  if (!there) headers.emplace_back(name, value);
  return request_of(request.method, request.target, headers, request.body);
}

const std::string taken = "taken, 000000000000 us-east-1";
const std::string mismatch =
    "InvalidSignatureException: The request signature we calculated does not match the signature you "
    "provided. "
    "Check your AWS Secret Access Key and signing method. Consult the service documentation for details.";
const std::string invalid_token =
    "UnrecognizedClientException: The security token included in the request is invalid";

}  // namespace

TEST_CASE("a request signed with a known key is accepted for its account and region") {
  CHECK(outcome(signed_request(at(noon))) == taken);
  CHECK(signed_at(noon, http::Keys(http::Key{"000000000042", "s"}),
                  signed_request({.key = {"000000000042", "s"}, .region = "eu-west-1", .now = noon})) ==
        "taken, 000000000042 eu-west-1");
  // The same request can be sent repeatedly: AWS does not remember signatures either.
  const Request again = signed_request(at(noon));
  CHECK(outcome(again) == taken);
  CHECK(outcome(again) == taken);
}

TEST_CASE("an unknown key and a wrong secret each get AWS's error") {
  CHECK(outcome(signed_request({.key = {"AKIDOTHER", Signing().key.secret}, .now = noon})) ==
        invalid_token + ".");
  CHECK(
      outcome(signed_request({.key = {"AKIDEXAMPLE", "other"}, .now = noon})) ==
      mismatch +
          "\n\nThe Canonical String for this request should have been\n'POST\n/\n\ncontent-type:application/"
          "x-amz-json-1.0\nhost:127.0.0.1:8000\nx-amz-date:20240101T120000Z\nx-amz-target:DynamoDB_20120810."
          "ListTables\n\ncontent-type;host;x-amz-date;x-amz-"
          "target\n44136fa355b3678a1146ad16f7e8649e94fb4fc21f"
          "e77e8310c060f61caaff8a'\n\nThe String-to-Sign should have "
          "been\n'AWS4-HMAC-SHA256\n20240101T120000Z\n"
          "20240101/us-east-1/dynamodb/"
          "aws4_request\n02131e47fc3170107f4bbaabe03d652d69488b52e9de96dfb0ea956e01c0c98e'\n");
}

TEST_CASE("any change after signing invalidates the signature") {
  Request request = signed_request(at(noon));
  const auto changed = [&](const std::function<void(Request&)>& change) {
    Request other = request;
    change(other);
    return outcome(other).starts_with(mismatch);
  };
  CHECK(changed([](Request& r) { r.body = "{ }"; }));
  CHECK(changed([](Request& r) { r.body.clear(); }));
  CHECK(changed([](Request& r) { r.method = "PUT"; }));
  CHECK(changed([](Request& r) { r.target = "/_mayfly/reset"; }));
  CHECK(changed([](Request& r) { r.target = "/?a=1"; }));
  CHECK(outcome(with_header("Host", "127.0.0.1:8001")).starts_with(mismatch));
  CHECK(outcome(with_header("X-Amz-Target", "DynamoDB_20120810.DeleteTable")).starts_with(mismatch));
  CHECK(outcome(with_header("Content-Type", "application/json")).starts_with(mismatch));
  // Add a second header with the name of a signed header.
  request.all_headers.push_back({"x-amz-target", "DynamoDB_20120810.DeleteTable"});
  CHECK(outcome(request).starts_with(mismatch));
  for (const char* hash :
       {"UNSIGNED-PAYLOAD", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}) {
    CHECK(outcome(signed_request({.headers = {{"X-Amz-Content-Sha256", hash}}, .now = noon}))
              .starts_with(mismatch));
  }
  CHECK(outcome(signed_request(
            {.headers = {{"X-Amz-Content-Sha256", engine::hex(http::sha256("{}"))}}, .now = noon})) == taken);
  CHECK(outcome(rewritten("Signature=", "Signature=0")).starts_with(mismatch));
}

TEST_CASE("changes that proxies make to headers do not invalidate the signature") {
  const Request request = signed_request({.headers = {{"Meerkat", "Hello world"}}, .now = noon});
  Headers headers;
  for (const http::HeaderLine& header : request.all_headers) {
    std::string name = header.name, value = header.value;
    name[0] = static_cast<char>(name[0] ^ 0x20);
    if (name == "meerkat") value = "\t  Hello \t   world ";
    headers.insert(headers.begin(), {name, value});
  }
  headers.emplace_back("Via", "1.1 somebody");
  CHECK(outcome(request_of("POST", "/", headers, "{}")) == taken);
}

TEST_CASE("a date may differ from the host's clock by up to fifteen minutes") {
  CHECK(outcome(signed_request(at(noon - 15 * minute))) == taken);
  CHECK(outcome(signed_request(at(noon + 15 * minute))) == taken);
  CHECK(outcome(signed_request(at(noon - 15 * minute - 1000))) ==
        "InvalidSignatureException: Signature expired: 20240101T114459Z is now earlier than 20240101T114500Z "
        "(20240101T120000Z - 15 min.)");
  CHECK(outcome(signed_request(at(noon + 15 * minute + 1000))) ==
        "InvalidSignatureException: Signature not yet current: 20240101T121501Z is still later than "
        "20240101T121500Z (20240101T120000Z + 15 min.)");
  CHECK(outcome(with_header("X-Amz-Date", "201")) ==
        "IncompleteSignatureException: Date must be in ISO-8601 'basic format'. Got '201'. See "
        "http://en.wikipedia.org/wiki/ISO_8601");
}

TEST_CASE("the error names a required header that is not signed") {
  const std::string rest = " must be a 'SignedHeader' in the AWS Authorization.";
  CHECK(outcome(rewritten(";host", "")) == "InvalidSignatureException: 'Host' or ':authority'" + rest);
  CHECK(outcome(rewritten(";x-amz-target", "")) == "InvalidSignatureException: 'X-Amz-Target'" + rest);
  CHECK(outcome(rewritten(";x-amz-date", "")) == "InvalidSignatureException: 'X-Amz-Date'" + rest);
  CHECK(outcome(with_header("X-Mayfly-Account", "000000000042")) ==
        "InvalidSignatureException: 'X-Mayfly-Account'" + rest);
  CHECK(outcome(with_header("User-Agent", "anybody")) == taken);
}

TEST_CASE("one message names every part of the scope that does not match the request") {
  CHECK(outcome(rewritten("20240101/us-east-1/dynamodb/aws4_request", "20230609/\"c/d/e")) ==
        "InvalidSignatureException: Credential should be scoped to a valid region, not '\"c'. Credential "
        "should be "
        "scoped to correct service: 'dynamodb'. Credential should be scoped with a valid terminator: "
        "'aws4_request', not 'e'. Date in Credential scope does not match YYYYMMDD from ISO-8601 version of "
        "date "
        "from HTTP: '20230609' != '20240101', from '20240101T120000Z'.");
  CHECK(signed_at(noon, keys, signed_request(at(noon)), "lambda") ==
        "InvalidSignatureException: Credential should be scoped to correct service: 'lambda'. ");
  CHECK(outcome(rewritten("/us-east-1/", "/us-west-1/")).starts_with(mismatch));
}

TEST_CASE("a request must include the session token of its key") {
  const auto sent = [](const std::string& token, const http::Keys& known) {
    return signed_at(noon, known,
                     signed_request({.key = {"AKIDEXAMPLE", Signing().key.secret, token}, .now = noon}));
  };
  CHECK(sent("t0ken", keys_with_token) == taken);
  CHECK(sent("", keys_with_token) == invalid_token);
  CHECK(sent("token", keys_with_token) == invalid_token);
  CHECK(sent("t0ken", keys) == invalid_token);
  // The error shows what was signed but not the token.
  const std::string refused = signed_at(
      noon, keys_with_token, signed_request({.key = {"AKIDEXAMPLE", "other", "t0ken"}, .now = noon}));
  CHECK(refused.starts_with(mismatch));
  CHECK(refused.find("x-amz-security-token:...\n") != std::string::npos);
  CHECK(refused.find("t0ken") == std::string::npos);
}

TEST_CASE("signature checks run in DynamoDB's order from the date to the signature") {
  Signing other{.key = {"AKIDOTHER", "other"}, .now = noon - 60 * minute};
  CHECK(outcome(rewritten("SignedHeaders=content-type;host;", "SignedHeaders=", other))
            .find("Signature expired") != std::string::npos);
  other.now = noon;
  CHECK(outcome(rewritten(";host", "", other)).find("'Host'") != std::string::npos);
  CHECK(outcome(rewritten("AWS4-HMAC-SHA256 Credential=AKIDOTHER/", "AWS4-X Credential=", other))
            .find("Unsupported AWS 'algorithm'") != std::string::npos);
  CHECK(outcome(rewritten("AKIDOTHER/", "", other)).find("exactly 5 slash-delimited") != std::string::npos);
  CHECK(outcome(rewritten("/dynamodb/", "/s3/", other)).find("correct service") != std::string::npos);
  CHECK(outcome(signed_request(other)) == invalid_token + ".");
}

TEST_CASE("a presigned request is valid from fifteen minutes before its date until it expires") {
  // Makes a presigned request. Its signature is computed like a signature in a header, and also covers the
  // query parameters.
  const auto presigned = [](const std::string& expires, const std::string& token = "") {
    std::string query =
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20240101%2Fus-east-1%2Fdynamodb%"
        "2Faws4_request&X-Amz-Date=20240101T120000Z&X-Amz-SignedHeaders=host%3Bx-amz-target";
    if (!expires.empty()) query += "&X-Amz-Expires=" + expires;
    if (!token.empty()) query += "&X-Amz-Security-Token=" + token;
    const Headers headers = {{"Host", "127.0.0.1:8000"}, {"X-Amz-Target", "DynamoDB_20120810.ListTables"}};
    Request request = request_of("POST", "/?" + query, headers, "{}");
    const http::CredentialScope scope{"20240101", "us-east-1", "dynamodb"};
    const std::string canonical = http::canonical_request({.method = "POST",
                                                           .path = "/",
                                                           .query = query,
                                                           .headers = request.all_headers,
                                                           .signed_headers = {"host", "x-amz-target"},
                                                           .payload_hash = engine::hex(http::sha256("{}"))});
    request.target +=
        "&X-Amz-Signature=" + http::signature_of(http::string_to_sign("20240101T120000Z", scope, canonical),
                                                 Signing().key.secret, scope);
    return request;
  };
  CHECK(signed_at(noon, keys, presigned("")) == taken);
  CHECK(signed_at(noon + 15 * minute, keys, presigned("")) == taken);
  CHECK(signed_at(noon + 60 * minute, keys, presigned("3600")) == taken);
  CHECK(signed_at(noon - 15 * minute, keys, presigned("3600")) == taken);
  CHECK(signed_at(noon + 60 * minute + 1000, keys, presigned("3600")) ==
        "InvalidSignatureException: Signature expired: 20240101T120000Z is now earlier than 20240101T120001Z "
        "(20240101T130001Z - 60 min.)");
  CHECK(signed_at(noon + 91'000, keys, presigned("90")) ==
        "InvalidSignatureException: Signature expired: 20240101T120000Z is now earlier than 20240101T120001Z "
        "(20240101T120131Z - 90 sec.)");
  Request respelled = presigned("90");  // the signature does not depend on the percent-encoding
  respelled.target.replace(respelled.target.find("X-Amz-Expires"), 13, "X-Amz-%45xpires");
  CHECK(signed_at(noon, keys, respelled) == taken);
  CHECK(signed_at(noon + 91'000, keys, respelled) == signed_at(noon + 91'000, keys, presigned("90")));
  CHECK(signed_at(noon - 15 * minute - 1000, keys, presigned("3600")).find("Signature not yet current") !=
        std::string::npos);
  CHECK(outcome(presigned("soon")) == "InvalidSignatureException: X-Amz-Expires should be a number");
  CHECK(outcome(presigned("-1")) == "InvalidSignatureException: X-Amz-Expires must be non-negative");
  CHECK(outcome(presigned("604801")) ==
        "InvalidSignatureException: X-Amz-Expires must be less than a week (in seconds); that is, the given "
        "X-Amz-Expires must be less than 604800 seconds");
  CHECK(signed_at(noon, keys_with_token, presigned("", "t0ken")) == taken);
  CHECK(signed_at(noon, keys_with_token, presigned("")) == invalid_token);
  CHECK(signed_at(noon, keys, presigned("", "t0ken")) == invalid_token);
  Request longer = presigned("90");
  longer.target.replace(longer.target.find("Expires=90"), 10, "Expires=99");
  CHECK(outcome(longer).starts_with(mismatch));
}

TEST_CASE("the signature check survives any Authorization header and rejects invalid ones", "[holds]") {
  const auto seed = GENERATE(range(1u, 9u));
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::string whole = signed_request(at(noon)).all_headers.back().value;
  const std::string letters = "AWS4-HMAC-SHA256,= ;/\t\"%\x80\xff" + std::string(1, '\0');
  // AWS accepts additional separators between parameters, and capitals in header names.
  const auto meaning = [](std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == ',' || c == '\t'; });
    const auto names = text.find("SignedHeaders=");
    return names == std::string::npos ? text : text.substr(0, names) + http::lower_case(text.substr(names));
  };
  const auto check = [&](const std::string& text) {
    const bool was_taken = outcome(rewritten(whole, text)).starts_with("taken");
    INFO(text);
    CHECK((!was_taken || meaning(text) == meaning(whole)));
  };
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) check(whole.substr(0, bytes));
  for (const std::size_t bytes : {1, 100, 1000, 16 * 1024}) {
    for (const char c : letters) {
      for (const std::string& head : {std::string(), std::string("AWS4-HMAC-SHA256 Credential="),
                                      whole.substr(0, whole.find("Signature=")), whole})
        check(head + std::string(bytes, c));
    }
  }
  for (int i = 0; i < 300; ++i) {
    std::string text = whole;
    for (int changes = 0; changes <= i % 4; ++changes)
      text[random() % text.size()] = letters[random() % letters.size()];
    check(text);
  }
}

TEST_CASE("with --require-signature only the health check needs no signature") {
  Running server({.access = {.keys = std::make_shared<http::Keys>(Signing().key)}});
  const auto host_now = [] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(engine::host_time().time_since_epoch())
        .count();
  };
  const auto signed_call = [&](Signing signing) {
    signing.now = host_now();
    return server.ask(signed_bytes(signing));
  };
  CHECK(server.ask(http_request("GET", "/")).status == 200);
  CHECK(server.ask(http_request("GET", "/_mayfly/health")).status == 200);
  for (const char* path : {"/_mayfly/clock", "/_mayfly/metrics", "/_mayfly/ttl", "/_mayfly/nothing"}) {
    INFO(path);
    const HttpAnswer answer = server.ask(http_request("GET", path));
    CHECK(answer.status == 403);
    CHECK(answer.headers.at("x-amzn-errortype") == "MissingAuthenticationTokenException");
    CHECK(Json::parse(answer.body)["message"] == "Request is missing Authentication Token");
  }
  CHECK(server.ask(http_request("GET", "/2015-03-31/event-source-mappings/")).status == 403);
  CHECK(server.ask(operation_request("ListTables", "{}")).body.find("Signature expired") !=
        std::string::npos);

  CHECK(signed_call({}).body == R"({"TableNames":[]})");
  CHECK(signed_call({.method = "GET", .target = "/_mayfly/clock", .headers = {}, .body = ""}).status == 200);
  const HttpAnswer freeze = signed_call({.method = "PUT",
                                         .target = "/_mayfly/clock",
                                         .headers = {{"X-Mayfly-Account", "000000000042"}},
                                         .body = R"({"mode":"frozen","now":"2031-01-01T00:00:00Z"})"});
  CHECK(freeze.status == 200);
  // The account's clock is in 2031, but signatures are checked against the host's clock.
  CHECK(signed_call({}).status == 200);
  CHECK(signed_call({.method = "GET", .target = "/_mayfly/metrics?x=%20b&a=c+d", .headers = {}, .body = ""})
            .status == 200);
  const HttpAnswer other = signed_call({.key = {"AKIDEXAMPLE", "other"},
                                        .method = "GET",
                                        .target = "/_mayfly/clock",
                                        .headers = {},
                                        .body = ""});
  CHECK(other.status == 403);
  CHECK(other.headers.at("x-amzn-errortype") == "InvalidSignatureException");
}

TEST_CASE("a compressed body is signed as sent and decompressed only after the signature is verified") {
  Running server({.access = {.keys = std::make_shared<http::Keys>(Signing().key)}});
  const std::string body = http::compress(R"({"Limit":1})", http::Encoding::gzip);
  Signing signing{.headers = {{"X-Amz-Target", "DynamoDB_20120810.ListTables"}, {"Content-Encoding", "gzip"}},
                  .body = body};
  signing.now =
      std::chrono::duration_cast<std::chrono::milliseconds>(engine::host_time().time_since_epoch()).count();
  CHECK(server.ask(signed_bytes(signing)).body == R"({"TableNames":[]})");
  signing.key.secret = "other";
  const HttpAnswer refused = server.ask(signed_bytes(signing));
  CHECK(Json::parse(refused.body)["__type"] == "com.amazon.coral.service#InvalidSignatureException");
  // The body is not parsed: an invalid signature is reported first.
  signing.body = "no JSON, and no gzip either";
  signing.headers[0].second = "Nonsense.Nonsense";
  CHECK(server.ask(signed_bytes(signing)).body.find("InvalidSignatureException") != std::string::npos);
}

}  // namespace mayfly::testing
