// Turns the KeyConditionExpression (or KeyConditions) of a Query into partition values and bounds on the sort
// values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/syntax/ast.h"
#include "compat/syntax/resolve.h"
#include "compat/wire/error.h"
#include "engine/schema/table.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat::expression {

// One condition on one key attribute.
struct KeyPredicate {
  enum class Kind : std::uint8_t {
    equal,
    less,
    less_equal,
    greater,
    greater_equal,
    between,
    begins_with,
    not_indexable  // NE, IN, NULL, … in KeyConditions; match_key_schema rejects it
  };
  std::string attribute;
  Kind kind = Kind::equal;
  SharedValue low;   // the only value, except for between
  SharedValue high;  // only for between
};

// Predicates that match a key schema: each partition attribute equals a value of its type, the first sort
// attributes also equal values, and only the next sort attribute can have a condition of another kind.
struct KeyCondition {
  std::vector<engine::AttributeValue> partition;
  std::vector<engine::AttributeValue> sort_equal;
  std::optional<KeyPredicate> sort_range;
};

// Splits a condition that parse_condition("KeyConditionExpression", …) returned into predicates joined by
// AND, each on one attribute. Error: "Invalid operator used in KeyConditionExpression: OR". DynamoDB reports
// these errors after it has parsed all expressions of the request and found no unused name or value.
Result<std::vector<KeyPredicate>> key_predicates(Condition condition);

// Matches the predicates against the key attributes. Errors: "The number of query conditions (3) exceeds …",
// "Query condition missed key schema element: …", "Attempted conditional constraint is not an indexable
// operation", "Query key condition not supported", wrong types, empty values.
Result<KeyCondition> match_key_schema(std::vector<KeyPredicate> predicates, const engine::KeySchema& schema);

}  // namespace mayfly::compat::expression
