// #names and :values of one request, and which of them its expressions used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compat/error.h"
#include "compat/json.h"
#include "engine/attribute_value.h"

namespace mayfly::compat::expression {

class Substitutions {
 public:
  Substitutions() = default;
  // Reads and checks ExpressionAttributeNames and ExpressionAttributeValues: syntax of the placeholders,
  // empty maps, values. `expressions_given`: false -> "… can only be specified when using expressions".
  static Result<Substitutions> read(const json::Value& request, bool expressions_given);

  // nullptr: not defined. Marks it as used. `placeholder` has its '#' or ':'.
  const std::string* name(std::string_view placeholder);
  const engine::AttributeValue* value(std::string_view placeholder);

  // After all expressions of the request were parsed:
  // "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a, #b}"
  [[nodiscard]] Result<void> check_all_used() const;

 private:
  struct Name { std::string placeholder, name; bool used = false; };
  struct Value { std::string placeholder; engine::AttributeValue value; bool used = false; };
  std::vector<Name> names_;
  std::vector<Value> values_;
};

}  // namespace mayfly::compat::expression
