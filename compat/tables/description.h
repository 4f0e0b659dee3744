// A table as CreateTable, DescribeTable, UpdateTable and DeleteTable answer it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "compat/tables/changes.h"
#include "compat/tables/settings.h"
#include "compat/wire/json.h"
#include "engine/catalog.h"
#include "engine/table.h"

namespace mayfly::compat {

// What a vector index holds of its table. The engine does not count it.
struct VectorIndexSize {
  std::int64_t items = 0;
  std::int64_t bytes = 0;
};
struct VectorSizes {
  std::map<std::string, VectorIndexSize> indexes;  // by name
  std::optional<std::int64_t> table_bytes;         // TableSizeBytes; nothing: as the engine counts it
};

// Writes one object. `counters` is the living table, or nullptr: counts are zero. So are those of vector
// indexes that `vectors` does not have.
void write_table_description(json::Writer& out, const TableChange& change, const engine::LiveTable* counters,
                             engine::Instant now, const VectorSizes& vectors = {});

// Members of tables' and indexes' descriptions, which those of backups have, too: "KeySchema", "Projection",
// "OnDemandThroughput" and "SSEDescription", where there is such a thing; and those of a vector index that
// do not change.
void write_key_schema(json::Writer& out, const engine::KeySchema& keys);
void write_projection(json::Writer& out, const engine::Projection& projection);
void write_on_demand_limits(json::Writer& out, const OnDemandLimits& limits);
void write_encryption(json::Writer& out, const TableSettings& settings, bool changes = false);
void write_vector_index_info(json::Writer& out, const VectorIndex& index);

std::string_view stream_view_name(engine::StreamView view);

}  // namespace mayfly::compat
