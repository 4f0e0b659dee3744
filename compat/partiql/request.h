// What a statement in a request looks like: its text and its parameters.
#pragma once

#include <vector>

#include "compat/partiql/statement.h"
#include "compat/wire/error.h"
#include "compat/wire/json.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat::partiql {

inline constexpr Shape statement_shape = string_shape(1, 8192);
inline constexpr Shape parameters_shape = list_of(shapes::attribute_value, 1);

// A request's Parameters, none if it has no such member. They are looked at before the statement is.
Result<std::vector<engine::AttributeValue>> read_parameters(const json::Value& request);
// A request's Statement, with its Parameters filled in.
Result<Statement> read_statement(const json::Value& request);

}  // namespace mayfly::compat::partiql
