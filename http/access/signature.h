// AWS Signature Version 4: the canonical form of a request, and its signature.
//
// Signing (the commands) and checking (sigv4.h) share this code. The rules are AWS's, from "Create a signed
// AWS API request" in the IAM guide; tests/http has AWS's published examples. Paths are canonicalized as for
// every service but S3: dot segments and double slashes are removed, and the path is encoded once more. Paths
// of S3 are signed as they are sent.
//
//   const std::string canonical = canonical_request({.method = "POST", .path = "/", .headers = headers,
//                                                    .signed_headers = {"host", "x-amz-date"},
//                                                    .payload_hash = engine::hex(sha256(body))});
//   signature_of(string_to_sign(date, scope, canonical), secret, scope)     // 64 hex digits
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "http/requests/header_text.h"

namespace mayfly::http {

inline constexpr std::string_view signature_algorithm = "AWS4-HMAC-SHA256";
inline constexpr std::string_view scope_terminator = "aws4_request";

struct SignedParts {
  std::string_view method, path;  // as sent
  std::string_view query{};       // as sent, "" or "a=1&b=2"; X-Amz-Signature is ignored
  const std::vector<HeaderLine>& headers;
  const std::vector<std::string>& signed_headers;  // as signed_names() returns them
  std::string_view payload_hash;
  bool path_as_sent = false;  // for S3
};
std::string canonical_request(const SignedParts& parts);

// Returns the names in lower case, sorted and without duplicates.
std::vector<std::string> signed_names(std::vector<std::string> names);

// The scope in which a signature is valid.
struct CredentialScope {
  std::string_view date, region, service;  // "20240101", "eu-west-1", "dynamodb"
};
std::string scope_text(const CredentialScope& scope);  // "20240101/eu-west-1/dynamodb/aws4_request"

std::string string_to_sign(std::string_view date, const CredentialScope& scope, std::string_view canonical);
std::string signature_of(std::string_view to_sign, std::string_view secret, const CredentialScope& scope);

// Dates in ISO 8601's basic format: "20240101T000000Z". Parsing returns nullopt for any other string.
std::string basic_date(engine::Instant instant);
std::optional<engine::Instant> parse_basic_date(std::string_view text);

}  // namespace mayfly::http
