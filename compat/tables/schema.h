// CreateTable's and UpdateTable's rules <-> engine::Table.
//
// Requests have passed their shapes. Messages and their order were measured by dynalite for what existed in
// 2018; later members follow AWS's documentation and Alternator's tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/context.h"
#include "compat/wire/error.h"
#include "compat/wire/json.h"
#include "engine/table.h"

namespace mayfly::compat {

inline constexpr std::size_t local_indexes_max = 5;
inline constexpr std::size_t global_indexes_max = 20;
inline constexpr std::size_t projected_attributes_max = 100;  // of all indexes of a table together
inline constexpr std::size_t index_key_attributes_max = 4;    // partition and sort, each

// A CreateTable request as a table that lacks only ids, and times other than its own creation.
Result<engine::Table> read_new_table(const Context& context, const json::Value& request);

// What a definition list says, in its order; a name given twice is an error.
Result<std::vector<engine::KeyAttribute>> read_attribute_definitions(const json::Value& list);

// One element of GlobalSecondaryIndexes, or GlobalSecondaryIndexUpdate's Create.
struct IndexMode {
  bool on_demand;
  bool creating_table;
};
Result<engine::Index> read_global_index(const json::Value& index,
                                        const std::vector<engine::KeyAttribute>& definitions, IndexMode mode);

// The KeySchema of a local or a global index, without its table: HASH first, no name twice, …
Result<void> check_index_keys(const json::Value& index, engine::Index::Kind kind);

// "ProjectionType is INCLUDE, but NonKeyAttributes is not specified", …
Result<engine::Projection> read_projection(const json::Value& projection);
// The definition of this name; nullptr: there is none.
const engine::KeyAttribute* find_definition(const std::vector<engine::KeyAttribute>& definitions,
                                            std::string_view name);

// Of all indexes of a table together.
Result<void> check_projected_attributes(const engine::Table& table);

// StreamSpecification: nothing if it says that there is to be none. CreateTable has words of its own.
Result<std::optional<engine::StreamView>> read_stream_view(const json::Value& specification, bool creating);
// "Invalid table-class parameter provided. …"
Result<std::string> read_table_class(std::string_view name);

}  // namespace mayfly::compat
