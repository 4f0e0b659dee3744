// The parameters that expressions replaced, lowered to the same tree: Expected, QueryFilter, ScanFilter,
// KeyConditions, AttributeUpdates, ConditionalOperator.
//
//   {"Expected":{"a":{"Value":{"N":"1"}}, "b":{"Exists":false}}}   ->   a = :1 AND attribute_not_exists(b)
//
// Types and enums were checked by the request's shape; here are the rules between members, in DynamoDB's
// words and order, those of the operation's frame.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compat/expression/ast.h"
#include "compat/expression/key_condition.h"
#include "compat/wire/error.h"
#include "compat/wire/frame.h"
#include "compat/wire/json.h"

namespace mayfly::compat::expression {

// Nothing: there is no Expected, or an empty one. Heeds ConditionalOperator:
// "ConditionalOperator cannot be used without Filter or Expected".
Result<std::optional<Condition>> read_expected(const json::Value& request, Frame frame);

// The same of `member`, "QueryFilter" or "ScanFilter".
Result<std::optional<Condition>> read_filter(const json::Value& request, std::string_view member,
                                             Frame frame);

// KeyConditions, the value of that member.
Result<std::vector<KeyPredicate>> read_key_conditions(const json::Value& key_conditions, Frame frame);

// AttributeUpdates, the value of that member. The update is marked `legacy`: ADD also appends to lists, and
// what does not fit is a "Type mismatch for attribute to update".
Result<Update> read_attribute_updates(const json::Value& attribute_updates, Frame frame);

}  // namespace mayfly::compat::expression
