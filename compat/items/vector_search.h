// The nearest vectors of a vector index: an exact search, which looks at every item of the table.
//
//   const std::vector<VectorMatch> matches = search_vectors(database, live, entries, search);
//
// Vectors are 32-bit floats; distances are reckoned with doubles, and one that no float can have is the
// largest float. Of matches with equal scores those come first that a Scan reads first: AWS gives them in any
// order. Rejected: an index in memory. It would have to follow every write, restore and expiry, to save what
// docs/vectors.md says a search costs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compat/items/vector_entries.h"
#include "compat/wire/error.h"
#include "engine/attribute_value.h"
#include "engine/catalog.h"
#include "engine/database.h"
#include "engine/sight.h"

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

// How far vectors are from each other, or, of DOT_PRODUCT, how near: `distance` is a VectorIndex's.
// Requires: they have the same dimensions.
double score_of(std::string_view distance, const Vector& a, const Vector& b);

// The best first.
std::vector<VectorMatch> search_vectors(const engine::Database& database, const engine::LiveTable& live,
                                        VectorEntries& entries, const VectorSearch& search);

}  // namespace mayfly::compat
