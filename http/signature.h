// AWS Signature Version 4, the calculation: what of a request is signed, in which form, and the signature.
//
// The same for who signs (the commands) and for who checks (sigv4.h). The rules are AWS's, "Create a signed
// AWS API request" in the guide of IAM; AWS's published examples of them are in tests/http. Paths are those
// of every service but S3: without dot segments and doubled slashes, and encoded once more than they are
// sent; S3's are signed as they are sent.
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

#include "engine/clock.h"

namespace mayfly::http {

inline constexpr std::string_view signature_algorithm = "AWS4-HMAC-SHA256";
inline constexpr std::string_view scope_terminator = "aws4_request";

struct HeaderLine {
  std::string name, value;
};

struct SignedParts {
  std::string_view method, path;  // as they are sent
  std::string_view query{};       // as it is sent, "" or "a=1&b=2"; X-Amz-Signature is left out of it
  const std::vector<HeaderLine>& headers;
  const std::vector<std::string>& signed_headers;  // as signed_names makes them
  std::string_view payload_hash;
  bool path_as_sent = false;  // S3's
};
std::string canonical_request(const SignedParts& parts);

// In lower case, sorted, each once; and in one text, "host;x-amz-date".
std::vector<std::string> signed_names(std::vector<std::string> names);
std::string joined(const std::vector<std::string>& names);

// Where and when a signature is good for.
struct CredentialScope {
  std::string_view date, region, service;  // "20240101", "eu-west-1", "dynamodb"
};
std::string scope_text(const CredentialScope& scope);  // "20240101/eu-west-1/dynamodb/aws4_request"

std::string string_to_sign(std::string_view date, const CredentialScope& scope, std::string_view canonical);
std::string signature_of(std::string_view to_sign, std::string_view secret, const CredentialScope& scope);

// ISO 8601's basic form: "20240101T000000Z". Nothing: the text is none.
std::string basic_date(engine::Instant instant);
std::optional<engine::Instant> parse_basic_date(std::string_view text);

}  // namespace mayfly::http
