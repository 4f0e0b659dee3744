// Reads the expressions of a request on items: checks which parameters are present, rejects mixing
// expressions with legacy parameters, and parses the expressions.
//
//   CHECK_OK(check_expression_parameters(request, {"ConditionExpression"}, {"Expected"}, context.frame));
//   …                                                       // rules that precede the parsing of expressions
//   TRY(auto substitutions, read_substitutions(request, {"ConditionExpression"}, context.frame));
//   TRY(auto condition, read_condition(request, "ConditionExpression", substitutions));
//   CHECK_OK(substitutions.check_all_used());
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compat/json/json.h"
#include "compat/syntax/ast.h"
#include "compat/syntax/resolve.h"
#include "compat/wire/error.h"
#include "compat/wire/frame.h"
#include "engine/schema/table.h"

namespace mayfly::compat {

using ParameterNames = std::initializer_list<std::string_view>;

// Checks which parameters are present. Errors: "Can not use both expression and non-expression parameters in
// the same request: …", "ExpressionAttributeNames can only be specified when using expressions",
// "ExpressionAttributeValues can only be specified when …".
Result<void> check_expression_parameters(const json::Value& request, ParameterNames expressions,
                                         ParameterNames legacy, Frame frame);

// Makes the same check across the tables of BatchGetItem: ProjectionExpression for one table cannot be
// combined with AttributesToGet for another.
Result<void> check_one_projection(std::span<const json::Member> tables, Frame frame);

// Returns empty substitutions if the request has none of these expressions.
Result<expression::Substitutions> read_substitutions(const json::Value& request, ParameterNames expressions,
                                                     Frame frame);

// Parses the parameter `name` ("FilterExpression"). Returns nullopt if the request does not have it.
Result<std::optional<expression::Condition>> read_condition(const json::Value& request, std::string_view name,
                                                            expression::Substitutions& substitutions);

// Parses ProjectionExpression or AttributesToGet. Returns nullopt if the request has neither of them.
Result<std::optional<expression::Projection>> read_projection(const json::Value& request,
                                                              expression::Substitutions& substitutions);
// Rejects duplicates in AttributesToGet: "Duplicate value in attribute name: a".
Result<void> check_attributes_to_get(const json::Value& request, Frame frame);

// Return the top-level attributes of nested paths: "a" for a.b and a[0].
std::vector<std::string> nested_names(const expression::Condition& condition);
std::vector<std::string> nested_names(const expression::Projection& projection);
std::vector<std::string> nested_names(const expression::Update& update);
// Rejects nested paths that begin with a key attribute: "Key attributes must be scalars; list random access
// '[]' and map lookup '.' are not allowed: Key: a", or "IndexKey: a" for a key attribute of an index.
Result<void> check_keys_are_scalars(const engine::Table& table, const std::vector<std::string>& nested_names);

}  // namespace mayfly::compat
