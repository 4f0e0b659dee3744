// A table as CreateTable, DescribeTable, UpdateTable and DeleteTable answer it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compat/json.h"
#include "engine/catalog.h"
#include "engine/table.h"

namespace mayfly::compat {

// AWS makes and changes tables in the background: an answer says what has begun. Here all is done by the
// time it is given, so that the next DescribeTable says `active`.
enum class TableStatus { creating, updating, deleting, active };

// What an answer says of single global indexes, by name: "UPDATING", "DELETING".
using IndexStatuses = std::map<std::string, std::string_view>;

// Writes one object. `counters` is the living table, or nullptr: counts are zero.
void write_table_description(json::Writer& out, const engine::Table& table, const engine::LiveTable* counters,
                             TableStatus status, engine::Instant now, const IndexStatuses& index_statuses = {});

// The member "KeySchema".
void write_key_schema(json::Writer& out, const engine::KeySchema& keys);

std::string_view stream_view_name(engine::StreamView view);

}  // namespace mayfly::compat
