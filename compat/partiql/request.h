// Reads a statement of a request: its text and its parameters.
#pragma once

#include <vector>

#include "compat/json/json.h"
#include "compat/partiql/statement.h"
#include "compat/wire/error.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat::partiql {

inline constexpr Shape statement_shape = string_shape(1, 8192);
inline constexpr Shape parameters_shape = list_of(shapes::attribute_value, 1);

// Reads a request's Parameters; empty if the member is absent. Parameters are checked before the statement.
Result<std::vector<engine::AttributeValue>> read_parameters(const json::Value& request);
// Reads a request's Statement and fills in its Parameters.
Result<Statement> read_statement(const json::Value& request);

}  // namespace mayfly::compat::partiql
