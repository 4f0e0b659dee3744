#include "http/access/sigv4.h"

#include <catch2/catch.hpp>

#include "http/requests/request.h"

namespace mayfly::testing {

using http::Header;

namespace {

constexpr http::SignatureRules header_only{.by = http::SignedBy::header};
constexpr std::string_view coral = "com.amazon.coral.service#";

http::Request signed_by_header(std::string_view authorization, std::string_view date = "20240101T000000Z") {
  http::Request request;
  request.target = "/";
  if (!authorization.empty()) request.set(Header::authorization, authorization);
  if (!date.empty()) request.set(Header::x_amz_date, date);
  return request;
}

http::Request signed_by_query(std::string_view target) {
  http::Request request;
  request.target = target;
  return request;
}

std::string type_of(const http::Request& request) {
  const auto scope = http::authenticate(request, "us-east-1", {});
  REQUIRE(!scope);
  const compat::Error::Kind kind = scope.error().kind;
  REQUIRE(compat::error_status(kind) == 400);
  REQUIRE(compat::error_type(kind).starts_with(coral));
  return std::string(compat::error_name(kind));
}

std::string message_of(const http::Request& request) {
  const auto scope = http::authenticate(request, "us-east-1", {});
  REQUIRE(!scope);
  return scope.error().message;
}

engine::Scope scope_of(const http::Request& request) {
  const auto scope = http::authenticate(request, "us-east-1", {});
  REQUIRE(scope);
  return *scope;
}

}  // namespace

TEST_CASE("the region comes from the credential scope and the default account is 000000000000") {
  const auto scope = scope_of(
      signed_by_header("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20240101/eu-west-1/dynamodb/aws4_request, "
                       "SignedHeaders=host;x-amz-date, Signature=abc"));
  CHECK(scope.account == "000000000000");
  CHECK(scope.region == "eu-west-1");
}

TEST_CASE("an access key id of exactly twelve digits is the account") {
  CHECK(http::account_of("000000000042") == "000000000042");
  CHECK(http::account_of("00000000042") == "000000000000");
  CHECK(http::account_of("0000000000042") == "000000000000");
  CHECK(http::account_of("00000000004x") == "000000000000");
  CHECK(http::account_of("") == "000000000000");
  CHECK(scope_of(signed_by_header("AWS4-HMAC-SHA256 Credential=000000000042/1/r/dynamodb/aws4_request,"
                                  "SignedHeaders=host,Signature=0"))
            .account == "000000000042");
}

TEST_CASE("spaces and commas both separate the parts of the Authorization header") {
  for (const std::string_view separator : {",", " ", ", ", " , "}) {
    const std::string s(separator);
    const auto request = signed_by_header("AWS4-HMAC-SHA256 Credential=a/b/c/dynamodb/aws4_request" + s +
                                          "SignedHeaders=host" + s + "Signature=0");
    CHECK(scope_of(request).region == "c");
  }
}

TEST_CASE("account and region are read from a presigned query whether or not it is percent-encoded") {
  for (const std::string_view credential : {"000000000042%2F20240101%2Fap-south-1%2Fdynamodb%2Faws4_request",
                                            "000000000042/20240101/ap-south-1/dynamodb/aws4_request"}) {
    const auto scope = scope_of(
        signed_by_query("/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" + std::string(credential) +
                        "&X-Amz-Date=20240101T000000Z&X-Amz-SignedHeaders=host"
                        "&X-Amz-Signature=0"));
    CHECK(scope.account == "000000000042");
    CHECK(scope.region == "ap-south-1");
  }
}

TEST_CASE("a scope without a region means the server's default region") {
  CHECK(scope_of(signed_by_header(
                     "AWS4-HMAC-SHA256 Credential=a/b//dynamodb/aws4_request,SignedHeaders=h,Signature=0"))
            .region == "us-east-1");
}

TEST_CASE("a missing or foreign Authorization header counts as a missing token") {
  for (const std::string_view authorization : {"", "AWS4", "X", "Bearer abc"}) {
    CHECK(type_of(signed_by_header(authorization)) == "MissingAuthenticationTokenException");
    CHECK(message_of(signed_by_header(authorization)) == "Request is missing Authentication Token");
  }
  CHECK(
      type_of(signed_by_query("/?X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-SignedHeaders=c&X-Amz-Date=d")) ==
      "MissingAuthenticationTokenException");
}

TEST_CASE("a request signed in both the header and the query is rejected") {
  auto request = signed_by_header("X");
  request.target = "/?X-Amz-Algorithm";
  CHECK(type_of(request) == "InvalidSignatureException");
  CHECK(message_of(request) ==
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.");
}

TEST_CASE("the error names every missing part of an Authorization header and quotes the header") {
  CHECK(type_of(signed_by_header("AWS4-", "")) == "IncompleteSignatureException");
  CHECK(message_of(signed_by_header("AWS4-", "")) ==
        "Authorization header requires 'Credential' parameter. "
        "Authorization header requires 'Signature' parameter. "
        "Authorization header requires 'SignedHeaders' parameter. "
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        "Authorization=AWS4-");
  CHECK(message_of(signed_by_header("AWS4- Signature=b, Credential=a")) ==
        "Authorization header requires 'SignedHeaders' parameter. Authorization=AWS4- Signature=b, "
        "Credential=a");
}

TEST_CASE("the error names every missing part of a presigned query") {
  CHECK(type_of(signed_by_query("/?X-Amz-Algorithm")) == "IncompleteSignatureException");
  CHECK(message_of(signed_by_query("/?X-Amz-Algorithm")) ==
        "AWS query-string parameters must include 'X-Amz-Algorithm'. "
        "AWS query-string parameters must include 'X-Amz-Credential'. "
        "AWS query-string parameters must include 'X-Amz-Signature'. "
        "AWS query-string parameters must include 'X-Amz-SignedHeaders'. "
        "AWS query-string parameters must include 'X-Amz-Date'. "
        "Re-examine the query-string parameters.");
  CHECK(
      message_of(signed_by_query("/?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d")) ==
      "AWS query-string parameters must include 'X-Amz-SignedHeaders'. Re-examine the query-string "
      "parameters.");
}

TEST_CASE("an unknown algorithm and a malformed credential are rejected") {
  const auto algorithm = signed_by_header("AWS4-HMAC-SHA25 Credential=a/b/c/d/e,SignedHeaders=h,Signature=0");
  CHECK(type_of(algorithm) == "IncompleteSignatureException");
  CHECK(message_of(algorithm) ==
        "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA25' (only AWS4-HMAC-SHA256 for now). ");

  const auto credential = signed_by_header("AWS4-HMAC-SHA256 Credential=a/b/c/d,SignedHeaders=h,Signature=0");
  CHECK(type_of(credential) == "IncompleteSignatureException");
  CHECK(message_of(credential) ==
        "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got "
        "'a/b/c/d'");
  CHECK(scope_of(signed_by_header("AWS4-HMAC-SHA256 Credential=a/b/c/d/e/,SignedHeaders=h,Signature=0"))
            .region == "c");

  const auto region = signed_by_header("AWS4-HMAC-SHA256 Credential=a/b/\"c/d/e,SignedHeaders=h,Signature=0");
  CHECK(type_of(region) == "InvalidSignatureException");
  CHECK(message_of(region) == "Credential should be scoped to a valid region, not '\"c'. ");
}

TEST_CASE("a presigned query is ignored where only a signature in a header is accepted") {
  const std::string query =
      "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=000000000042%2F20240101%2Feu-west-1%2Flambda%"
      "2Faws4_request"
      "&X-Amz-Date=20240101T000000Z&X-Amz-SignedHeaders=host&X-Amz-Signature=abc";
  http::Request request = signed_by_query("/2015-03-31/event-source-mappings/" + query);
  CHECK(http::authenticate(request, "us-east-1", {})->account == "000000000042");
  CHECK(http::authenticate(request, "us-east-1", header_only).error().kind ==
        compat::Error::Kind::missing_authentication_token);
  request.set(Header::x_amz_date, "20240101T000000Z");
  request.set(Header::authorization,
              "AWS4-HMAC-SHA256 Credential=000000000043/20240101/us-east-1/lambda/aws4_request, "
              "SignedHeaders=host, Signature=0");
  CHECK(http::authenticate(request, "us-east-1", header_only)->account == "000000000043");
}

}  // namespace mayfly::testing
