#include "compat/partiql/request.h"

#include <vector>

#include "compat/attribute_value_json.h"
#include "compat/partiql/parser.h"

namespace mayfly::compat::partiql {

Result<Statement> read_statement(const json::Value& request) {
  std::vector<engine::AttributeValue> parameters;
  if (const json::Value* given = request.member("Parameters")) {
    for (const json::Value& parameter : given->items()) {
      TRY(auto value, read_attribute_value(parameter));
      parameters.push_back(std::move(value));
    }
  }
  return parse(request.member("Statement")->string(), std::move(parameters));
}

}  // namespace mayfly::compat::partiql
