// A table as CreateTable, DescribeTable, UpdateTable and DeleteTable answer it.
#pragma once

#include <string_view>

#include "compat/json.h"
#include "engine/catalog.h"
#include "engine/table.h"

namespace mayfly::compat {

// AWS makes and changes tables in the background: an answer says what has begun. Here all is done by the
// time it is given, so that the next DescribeTable says `active`.
enum class TableStatus { creating, updating, deleting, active };

// Writes one object. `counters` is the living table, or nullptr: counts are zero.
void write_table_description(json::Writer& out, const engine::Table& table, const engine::LiveTable* counters,
                             TableStatus status, engine::Instant now);

std::string_view stream_view_name(engine::StreamView view);

}  // namespace mayfly::compat
