#include "compat/partiql/request.h"

#include <utility>

#include "compat/partiql/parser.h"
#include "compat/wire/attribute_value_json.h"

namespace mayfly::compat::partiql {
Result<std::vector<engine::AttributeValue>> read_parameters(const json::Value& request) {
  std::vector<engine::AttributeValue> parameters;
  const json::Value* given = request.member("Parameters");
  if (given == nullptr) return parameters;
  for (const json::Value& parameter : given->items()) {
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
