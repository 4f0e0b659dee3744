// Functions on a table's schema that indexes of all kinds use.
#pragma once

#include <string_view>
#include <vector>

#include "compat/json/json.h"
#include "compat/wire/error.h"
#include "engine/schema/table.h"

namespace mayfly::compat {

// Reads an index's Projection. Errors: "ProjectionType is INCLUDE, but NonKeyAttributes is not specified", …
Result<engine::Projection> read_projection(const json::Value& projection);
// Returns the definition with this name, or nullptr if there is none.
const engine::KeyAttribute* find_definition(const std::vector<engine::KeyAttribute>& definitions,
                                            std::string_view name);

}  // namespace mayfly::compat
