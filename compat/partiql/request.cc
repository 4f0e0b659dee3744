#include "compat/partiql/request.h"

#include <utility>

#include "compat/partiql/number_limits.h"
#include "compat/partiql/parser.h"
#include "compat/wire/attribute_value_json.h"

namespace mayfly::compat::partiql {
namespace {

// Of an attribute value, those that it holds included. What is no number's text is left to who reads it.
Result<void> check_numbers(const json::Value& value) {
  const auto check = [](const json::Value& text) -> Result<void> {
    if (text.is(json::Value::Kind::string)) CHECK_OK(read_java_number(text.string()));
    return {};
  };
  for (const json::Member& member : value.members()) {
    if (member.name == "N") CHECK_OK(check(member.value));
    if (member.name == "NS") {
      for (const json::Value& text : member.value.items()) CHECK_OK(check(text));
    }
    if (member.name == "L") {
      for (const json::Value& element : member.value.items()) CHECK_OK(check_numbers(element));
    }
    if (member.name == "M") {
      for (const json::Member& inner : member.value.members()) CHECK_OK(check_numbers(inner.value));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<engine::AttributeValue>> read_parameters(const json::Value& request) {
  std::vector<engine::AttributeValue> parameters;
  const json::Value* given = request.member("Parameters");
  if (given == nullptr) return parameters;
  for (const json::Value& parameter : given->items()) {
    CHECK_OK(check_numbers(parameter));
    TRY(auto value, read_attribute_value(parameter));
    parameters.push_back(std::move(value));
  }
  return parameters;
}

Result<Statement> read_statement(const json::Value& request) {
  TRY(auto parameters, read_parameters(request));
  return parse(request.member("Statement")->string(), std::move(parameters));
}

}  // namespace mayfly::compat::partiql
