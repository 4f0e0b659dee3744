// Percent-encoding in URLs: %3A is a colon, and in a query + is a space.
//
//   decode_path("arn%3Aaws") == "arn:aws"        decode_query("a+b%2Fc") == "a b/c"
//   query_values("tagKeys=a&tagKeys=b", "tagKeys") == {"a", "b"}
//   append_encoded(out, "a b/c", "/")   "a%20b/c"
//
// Decoding leaves malformed escapes unchanged.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::compat {

std::string decode_path(std::string_view text);
std::string decode_query(std::string_view text);

// Encodes every byte as %XX, as signatures require, except unreserved characters (RFC 3986) and the
// characters in `kept`.
void append_encoded(std::string& out, std::string_view text, std::string_view kept);

std::vector<std::string> query_values(std::string_view query, std::string_view name);
std::optional<std::string> query_value(std::string_view query,
                                       std::string_view name);  // the first, or nullopt

}  // namespace mayfly::compat
