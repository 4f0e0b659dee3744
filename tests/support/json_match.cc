#include "tests/support/json_match.h"

namespace mayfly::testing {

namespace {

using nlohmann::json;

constexpr const char* further_members = "...";

bool is_variable(const json& value) {
  return value.is_string() && value.get_ref<const std::string&>().size() > 1 &&
         value.get_ref<const std::string&>()[0] == '$';
}

std::string at(const std::string& path, const std::string& what) {
  return (path.empty() ? "/" : path) + ": " + what;
}

std::string compare(const json& expected, const json& actual, Variables& variables, const std::string& path);

std::string compare_objects(const json& expected, const json& actual, Variables& variables,
                            const std::string& path) {
  for (const auto& [name, value] : expected.items()) {
    if (name == further_members) continue;
    if (!actual.contains(name)) return at(path, "no member " + name);
    if (auto found = compare(value, actual[name], variables, path + "/" + name); !found.empty()) return found;
  }
  if (expected.contains(further_members)) return {};
  for (const auto& [name, value] : actual.items()) {
    if (!expected.contains(name)) return at(path, "unexpected member " + name + ": " + value.dump());
  }
  return {};
}

std::string compare_arrays(const json& expected, const json& actual, Variables& variables,
                           const std::string& path) {
  for (std::size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) {
    if (auto found = compare(expected[i], actual[i], variables, path + "/" + std::to_string(i));
        !found.empty()) {
      return found;
    }
  }
  if (expected.size() == actual.size()) return {};
  return at(path, "expected " + std::to_string(expected.size()) + " elements: " + actual.dump());
}

std::string compare(const json& expected, const json& actual, Variables& variables, const std::string& path) {
  if (expected == "*") return {};
  if (is_variable(expected)) {
    const auto [known, first] = variables.emplace(expected.get<std::string>().substr(1), actual);
    if (first || known->second == actual) return {};
    return at(path, expected.get<std::string>() + " was " + known->second.dump() + ", is " + actual.dump());
  }
  if (expected.is_object() && actual.is_object()) return compare_objects(expected, actual, variables, path);
  if (expected.is_array() && actual.is_array()) return compare_arrays(expected, actual, variables, path);
  if (expected == actual) return {};
  return at(path, "expected " + expected.dump() + ", got " + actual.dump());
}

}  // namespace

std::string difference(const json& expected, const json& actual, Variables& variables) {
  return compare(expected, actual, variables, "");
}

json substitute(const json& request, const Variables& variables) {
  if (request.is_string()) {
    if (is_variable(request)) {
      if (const auto found = variables.find(request.get<std::string>().substr(1)); found != variables.end()) {
        return found->second;
      }
    }
    return request;
  }
  json result = request;
  if (result.is_structured()) {
    for (auto& value : result) value = substitute(value, variables);
  }
  return result;
}

}  // namespace mayfly::testing
