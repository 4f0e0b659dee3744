// Vector indexes in CreateTable and UpdateTable requests and in DescribeTable responses.
//
//   TRY(settings.vector_indexes, read_vector_indexes(*request.member("VectorIndexes"), table, on_demand));
//
// Requires: requests have passed shape validation. Messages come from third-party recordings of AWS, August
// 2026. Messages that were never recorded follow the messages for global indexes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compat/json/json.h"
#include "compat/settings/settings.h"
#include "compat/wire/error.h"
#include "engine/schema/table.h"

namespace mayfly::compat {

inline constexpr std::size_t vector_indexes_max = 5;   // per table
inline constexpr std::int64_t dimensions_max = 4096;   // per vector
inline constexpr std::size_t inline_filters_max = 18;  // per search schema
inline constexpr std::size_t hash_elements_max = 1;    // per search schema

// Returns the index with this name, or nullptr if there is none.
const VectorIndex* find_vector_index(const std::vector<VectorIndex>& indexes, std::string_view name);

// Returns the names in the search schemas of CreateTable's VectorIndexes.
std::vector<std::string> searched_attributes(const json::Value& list);
// Whether the index's searches may name this attribute.
bool searches(const VectorIndex& index, std::string_view attribute);
engine::Projection projection_of(const VectorIndex& index);

// "Conflicting attribute definition for 'v'. An attribute cannot be defined in AttributeDefinitions when used
// as a VectorAttribute."
Result<void> check_vectors_undefined(const json::Value& list,
                                     const std::vector<engine::KeyAttribute>& definitions);

// Reads CreateTable's VectorIndexes. Requires: `table` has its keys and its other indexes.
Result<std::vector<VectorIndex>> read_vector_indexes(const json::Value& list, const engine::Table& table,
                                                     bool on_demand);
// Reads VectorIndexUpdate's Create. `definitions` come from the request, which repeats the attributes of the
// search schema; `others` are the other indexes that the table will have.
Result<VectorIndex> read_vector_index(const json::Value& create,
                                      const std::vector<engine::KeyAttribute>& definitions,
                                      const std::vector<VectorIndex>& others);

// "Vector indexes are only supported for PAY_PER_REQUEST tables"
Unexpected<Error> vectors_need_on_demand();
// Returns the form in which messages about redefined attributes show a vector:
// "VectorIndexSchema:[VectorAttribute: key{v:L:3}]".
std::string vector_schema_text(const VectorIndex& index);

}  // namespace mayfly::compat
