// Writes table descriptions for CreateTable, DescribeTable, UpdateTable and DeleteTable.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "compat/json/json.h"
#include "compat/settings/settings.h"
#include "compat/tables/changes.h"
#include "engine/schema/table.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat {

// The size of a table's vector index. The engine does not count its items and bytes.
struct VectorIndexSize {
  std::int64_t items = 0;
  std::int64_t bytes = 0;
};
struct VectorSizes {
  std::map<std::string, VectorIndexSize> indexes;  // by name
  std::optional<std::int64_t> table_bytes;         // TableSizeBytes; nullopt: use the engine's count
};

// Writes one object. `counters` is the live table, or nullptr to write zero counts. Vector indexes that
// `vectors` does not contain also get zero counts.
void write_table_description(json::Writer& out, const TableChange& change, const engine::LiveTable* counters,
                             engine::Instant now, const VectorSizes& vectors = {});

// Members that descriptions of tables and indexes share with descriptions of backups: "KeySchema",
// "Projection" and the constant members of a vector index.
void write_key_schema(json::Writer& out, const engine::KeySchema& keys);
void write_projection(json::Writer& out, const engine::Projection& projection);
void write_vector_index_info(json::Writer& out, const VectorIndex& index);

std::string_view stream_view_name(engine::StreamView view);

}  // namespace mayfly::compat
