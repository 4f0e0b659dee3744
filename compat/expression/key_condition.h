// KeyConditionExpression (or KeyConditions) of a Query -> partition values and bounds of the sort values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/expression/ast.h"
#include "compat/expression/resolve.h"
#include "compat/wire/error.h"
#include "engine/attribute_value.h"
#include "engine/table.h"

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
    not_indexable  // KeyConditions' NE, IN, NULL, …; match_key_schema refuses it
  };
  std::string attribute;
  Kind kind = Kind::equal;
  SharedValue low;   // the only value, except for between
  SharedValue high;  // of between
};

// Checked against a key schema: every partition attribute equal to a value of its type, sort attributes
// equal from the left, and at most one other condition on the next.
struct KeyCondition {
  std::vector<engine::AttributeValue> partition;
  std::vector<engine::AttributeValue> sort_equal;
  std::optional<KeyPredicate> sort_range;
};

// A KeyConditionExpression that parse_condition("KeyConditionExpression", …) made, as conditions joined by
// AND, each on one attribute: "Invalid operator used in KeyConditionExpression: OR". DynamoDB looks for these
// errors after it has parsed all expressions of the request and found no name or value unused.
Result<std::vector<KeyPredicate>> key_predicates(Condition condition);

// "The number of query conditions (3) exceeds …", "Query condition missed key schema element: …",
// "Attempted conditional constraint is not an indexable operation", "Query key condition not supported",
// wrong types, empty values.
Result<KeyCondition> match_key_schema(std::vector<KeyPredicate> predicates, const engine::KeySchema& schema);

}  // namespace mayfly::compat::expression
