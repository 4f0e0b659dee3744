// Compares a response with the JSON that a test expects.
//
// The expected JSON can contain placeholders:
//   "*"             any value
//   {"...":"*", …}  further members are allowed
//   "$name"         at first any value, which is stored; afterward only the stored value
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace mayfly::testing {

using Variables = std::map<std::string, nlohmann::json>;

// Describes the first difference, or returns an empty string if there is none.
std::string difference(const nlohmann::json& expected, const nlohmann::json& actual, Variables& variables);

// Replaces values "$name" with the stored values.
nlohmann::json substitute(const nlohmann::json& request, const Variables& variables);

}  // namespace mayfly::testing
