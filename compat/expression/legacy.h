// Lowers the legacy parameters (Expected, QueryFilter, ScanFilter, KeyConditions, AttributeUpdates and
// ConditionalOperator) to the same tree as the expressions that replaced them.
//
//   {"Expected":{"a":{"Value":{"N":"1"}}, "b":{"Exists":false}}}   ->   a = :1 AND attribute_not_exists(b)
//
// The request's shape has already checked types and enums. The functions here check the rules between
// members, in DynamoDB's order and in the wording of the operation's frame.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compat/expression/key_condition.h"
#include "compat/json/json.h"
#include "compat/syntax/ast.h"
#include "compat/wire/error.h"
#include "compat/wire/frame.h"

namespace mayfly::compat::expression {

// Reads Expected and ConditionalOperator. Returns nullopt if Expected is absent or empty. ConditionalOperator
// without conditions is an error: "ConditionalOperator cannot be used without Filter or Expected".
Result<std::optional<Condition>> read_expected(const json::Value& request, Frame frame);

// Does the same for `member`, which is "QueryFilter" or "ScanFilter".
Result<std::optional<Condition>> read_filter(const json::Value& request, std::string_view member,
                                             Frame frame);

// Reads the value of KeyConditions.
Result<std::vector<KeyPredicate>> read_key_conditions(const json::Value& key_conditions, Frame frame);

// Reads the value of AttributeUpdates. The update is marked `legacy`: ADD also appends to lists, and a type
// error is reported as "Type mismatch for attribute to update".
Result<Update> read_attribute_updates(const json::Value& attribute_updates, Frame frame);

}  // namespace mayfly::compat::expression
