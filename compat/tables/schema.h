// Converts CreateTable and UpdateTable requests to engine::Table, and checks their rules.
//
// Requires: requests have passed shape validation. For members that existed in 2018, messages and their order
// were recorded by dynalite; later members follow AWS's documentation and Alternator's tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/context.h"
#include "compat/json/json.h"
#include "compat/wire/error.h"
#include "engine/schema/table.h"

namespace mayfly::compat {

inline constexpr std::size_t local_indexes_max = 5;
inline constexpr std::size_t global_indexes_max = 20;
inline constexpr std::size_t projected_attributes_max = 100;  // for all indexes of a table together
inline constexpr std::size_t index_key_attributes_max = 4;    // for partition keys, and again for sort keys

// Converts a CreateTable request to a table. The result has no ids and no times except its creation time.
Result<engine::Table> read_new_table(const Context& context, const json::Value& request);

// Reads AttributeDefinitions in order. A duplicate name is an error.
Result<std::vector<engine::KeyAttribute>> read_attribute_definitions(const json::Value& list);

struct IndexMode {
  bool on_demand;
  bool creating_table;
};
// Reads one element of GlobalSecondaryIndexes, or the Create member of a GlobalSecondaryIndexUpdate.
Result<engine::Index> read_global_index(const json::Value& index,
                                        const std::vector<engine::KeyAttribute>& definitions, IndexMode mode);

// Checks the KeySchema of a local or global index, independently of its table: HASH first, no duplicate name,
// …
Result<void> check_index_keys(const json::Value& index, engine::Index::Kind kind);

// Checks that all indexes of the table together name at most projected_attributes_max projected attributes.
Result<void> check_projected_attributes(const engine::Table& table);

// Reads StreamSpecification. Returns nullopt if it disables the stream. `creating` selects CreateTable's
// messages.
Result<std::optional<engine::StreamView>> read_stream_view(const json::Value& specification, bool creating);

}  // namespace mayfly::compat
