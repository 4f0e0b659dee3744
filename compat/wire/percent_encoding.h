// Percent-encoded parts of URLs: %3A is a colon, and in a query + is a space.
//
//   decode_path("arn%3Aaws") == "arn:aws"        decode_query("a+b%2Fc") == "a b/c"
//   query_values("tagKeys=a&tagKeys=b", "tagKeys") == {"a", "b"}
//
// What is no escape stays as it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::compat {

std::string decode_path(std::string_view text);
std::string decode_query(std::string_view text);

std::vector<std::string> query_values(std::string_view query, std::string_view name);
std::optional<std::string> query_value(std::string_view query,
                                       std::string_view name);  // the first; nothing: none

}  // namespace mayfly::compat
