// Finds the nearest vectors in a vector index. The search is exact: it reads every item of the table.
//
//   const std::vector<VectorMatch> matches = search_vectors(database, live, entries, search);
//
// Vectors are 32-bit floats. Distances are computed in doubles and limited to the range of a float. Matches
// with equal scores are returned in the order of a Scan; on AWS their order is arbitrary.
//
// Rejected: an index in memory. It would have to follow every write, restore and expiry, only to save the
// cost of a search (see docs/vectors.md).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compat/items/vector_entries.h"
#include "compat/wire/error.h"
#include "engine/database.h"
#include "engine/tables/catalog.h"
#include "engine/values/attribute_value.h"
#include "engine/values/sight.h"

namespace mayfly::compat {

struct VectorSearch {
  Vector vector;
  std::vector<std::pair<std::string, engine::AttributeValue>> equal;  // attributes of the search schema
  std::size_t matches_max = 1;
  std::optional<engine::Sight> sight;  // items/sight.h
};

struct VectorMatch {
  double score = 0;
  std::string stored;  // the item
  Vector vector;
};

// Returns the distance between two vectors or, for DOT_PRODUCT, their similarity. `distance` is
// VectorIndex::distance. Requires: both vectors have the same dimensions.
double score_of(std::string_view distance, const Vector& a, const Vector& b);

// Returns the matches, best match first.
std::vector<VectorMatch> search_vectors(const engine::Database& database, const engine::LiveTable& live,
                                        VectorEntries& entries, const VectorSearch& search);

}  // namespace mayfly::compat
