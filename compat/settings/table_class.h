// The storage class of a table.
#pragma once

#include <string_view>

#include "compat/json/json.h"
#include "compat/settings/settings.h"
#include "compat/wire/error.h"

namespace mayfly::compat {

// Error: "Invalid table-class parameter provided. …"
Result<void> check_table_class(std::string_view name);

// Writes the member `name` ("TableClassSummary" or "ReplicaTableClassSummary") if the class was ever set.
void write_table_class(json::Writer& out, std::string_view name, const TableSettings& settings);

}  // namespace mayfly::compat
