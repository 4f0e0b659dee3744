// Compares and trims the names and values of headers.
#pragma once

#include <string>
#include <string_view>

namespace mayfly::http {

struct HeaderLine {
  std::string name, value;
};

bool equals_ignoring_case(std::string_view a, std::string_view b);
// Like equals_ignoring_case, but compares eight bytes at a time.
// Requires: `sent` has no control characters, and `name` consists of lowercase letters, digits and '-'. ORing
// with 0x20 lowercases letters, leaves the other characters of `name` unchanged, and maps only control
// characters onto those.
bool is_named(std::string_view sent, std::string_view name);
std::string lower_case(std::string_view text);
std::string_view trim(std::string_view text);  // strips spaces and tabs from both ends

}  // namespace mayfly::http
