// A table as CreateTable, DescribeTable, UpdateTable and DeleteTable answer it.
#pragma once

#include <string_view>

#include "compat/tables/changes.h"
#include "compat/wire/json.h"
#include "engine/catalog.h"
#include "engine/table.h"

namespace mayfly::compat {

// Writes one object. `counters` is the living table, or nullptr: counts are zero.
void write_table_description(json::Writer& out, const TableChange& change, const engine::LiveTable* counters,
                             engine::Instant now);

// The member "KeySchema".
void write_key_schema(json::Writer& out, const engine::KeySchema& keys);

std::string_view stream_view_name(engine::StreamView view);

}  // namespace mayfly::compat
