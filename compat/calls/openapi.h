// The descriptions of calls as JSON schemas and as an OpenAPI document.
//
//   json_schema(limit)  -> {"type":"integer","minimum":1,"maximum":100,"description":"Maximum items to list"}
#pragma once

#include <span>

#include "compat/calls/description.h"
#include "compat/json/json_tree.h"

namespace mayfly::compat::control {

// Returns the OpenAPI 3.1 document that describes these calls.
json::Tree openapi(std::span<const ControlCall* const> calls);

json::Tree json_schema(const Member& member);
// Returns only the member's type: {"type":"integer"}.
json::Tree json_type(const Member& member);

}  // namespace mayfly::compat::control
