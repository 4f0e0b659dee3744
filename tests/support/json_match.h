// Compares an answer with what a test expects of it, member by member.
//
// The expected JSON may say less than all:
//   "*"             any value
//   {"...":"*", …}  further members are allowed
//   "$name"         the first time any value, which is remembered; after that this value
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace mayfly::testing {

using Variables = std::map<std::string, nlohmann::json>;

// The first difference, in words; empty: they match.
std::string difference(const nlohmann::json& expected, const nlohmann::json& actual, Variables& variables);

// "$name", where it stands for a whole value, replaced by what was remembered.
nlohmann::json substitute(const nlohmann::json& request, const Variables& variables);

}  // namespace mayfly::testing
