// Parses an expression into the tree of ast.h and resolves its placeholders. `kind` names the expression in
// messages: "ConditionExpression", "FilterExpression", "ProjectionExpression", "UpdateExpression",
// "KeyConditionExpression".
//
// Checks, in DynamoDB's order: empty text, text longer than 4 KB, syntax, reserved words, undefined
// placeholders, operand types ("Incorrect operand type for operator or function; …"), the limit of 300
// operators, overlapping paths.
#pragma once

#include <string_view>

#include "compat/syntax/ast.h"
#include "compat/syntax/resolve.h"
#include "compat/wire/error.h"

namespace mayfly::compat::expression {

inline constexpr std::size_t expression_bytes_max = 4096;
inline constexpr int operators_max = 300;

Result<Condition> parse_condition(std::string_view kind, std::string_view text, Substitutions& substitutions);
Result<Projection> parse_projection(std::string_view text, Substitutions& substitutions);
Result<Update> parse_update(std::string_view text, Substitutions& substitutions);

}  // namespace mayfly::compat::expression
