// Checks requests signed for S3 against other implementations: the first expected signature is an example in
// S3's API reference ("Signature calculations for the Authorization header"), and the others come from
// botocore.
#include "http/outbound/signer.h"

#include <catch2/catch.hpp>

namespace mayfly::testing {

namespace {

constexpr engine::Instant may_24 = 1'369'353'600'000;  // 2013-05-24T00:00:00Z
const http::Key key{.id = "AKIAIOSFODNN7EXAMPLE", .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};

std::string header_of(const http::ClientRequest& request, std::string_view name) {
  for (const auto& [sent, value] : request.headers)
    if (sent == name) return value;
  return "";
}

std::string authorization_of(http::ClientRequest request, std::string_view body, const std::string& server,
                             const std::string& region) {
  http::sign(request, body, *compat::outbound::Url::parse(server), key, {"s3", region}, may_24);
  CHECK(header_of(request, "X-Amz-Content-Sha256").size() == 64);
  return header_of(request, "Authorization");
}

}  // namespace

TEST_CASE("S3 requests are signed with their body's hash and the exact path that is sent") {
  CHECK(authorization_of({.method = "GET", .path = "/test.txt", .headers = {{"Range", "bytes=0-9"}}}, "",
                         "http://examplebucket.s3.amazonaws.com", "us-east-1") ==
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  CHECK(authorization_of({.method = "PUT", .path = "/exports/a%20b/c%2Bd"}, "{}", "http://s3.test:9000",
                         "eu-west-1")
            .ends_with("Signature=41c6c3f664cc702804d594d174e0315250d9f88522343dca587616d40add01fc"));
  CHECK(authorization_of({.method = "GET", .path = "/exports/a//b?prefix=p%20q&list-type=2"}, "",
                         "http://s3.test:9000", "eu-west-1")
            .ends_with("Signature=d6f86dfcfb4417bfcd6de51d571b7ef5d33541c75c4fb01cd2c2fd177b4db642"));
}

}  // namespace mayfly::testing
