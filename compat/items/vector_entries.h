// The entries of a vector index: which items it contains, their vectors as 32-bit floats, and the projected
// attributes.
//
// Vector indexes are sparse. An item is not in the index if it lacks the vector or the HASH attribute, or if
// one of them does not fit the index, which is possible for items that are older than the index. The entries
// are not stored; everything here is computed from the items.
//
//   VectorEntries entries(table, index);
//   while (cursor.next())
//     if (const auto* vector = entries.vector_of(cursor.item().bytes())) …
//
// The rules come from "Vector indexes" in AWS's developer guide. The figures and messages come from
// third-party recordings of AWS in August 2026.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/settings/settings.h"
#include "compat/tables/description.h"
#include "engine/database.h"
#include "engine/schema/table.h"
#include "engine/tables/catalog.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat {

using Vector = std::vector<float>;

// Returns the nearest 32-bit float, or nullopt if the number is out of range.
std::optional<float> to_float(const engine::Number& number);
// Returns the vector as an index returns it: numbers converted from the floats.
engine::AttributeValue to_value(const Vector& vector);

class VectorEntries {
 public:
  VectorEntries(const engine::Table& table, VectorIndex index);

  // Returns the vector of a stored item, or nullptr if the item is not in the index. The vector is valid
  // until the next call.
  const Vector* vector_of(std::string_view stored);
  // Whether the index projects this attribute. Returns false for the vector itself.
  [[nodiscard]] bool projects(std::string_view name) const;
  // Returns the projected attributes of an item, without the vector.
  [[nodiscard]] engine::Item projected(const engine::Item& item) const;
  // Returns the size of a stored item's entry: four bytes per dimension for the vector, and DynamoDB's item
  // size for the rest. Requires: the item is in the index.
  [[nodiscard]] std::size_t bytes_of(std::string_view stored) const;

  [[nodiscard]] const VectorIndex& index() const { return index_; }

 private:
  struct Searched {
    std::string name;
    engine::ScalarType type;
    bool hash;
  };
  [[nodiscard]] bool fits(std::string_view stored) const;  // the item fits the search schema

  VectorIndex index_;
  engine::Projection projection_;
  engine::KeySchema keys_;  // the table's
  std::vector<Searched> searched_;
  Vector vector_;
};

// Returns the sizes of the table's vector indexes and of the table itself. Scans the whole table.
VectorSizes vector_sizes(const engine::Database& database, const engine::LiveTable& live);

// Returns the difference between an item's two sizes: the size that counts for write units and
// TableSizeBytes, minus the size that counts for reads and the 400 KB limit. In the first size, the vector
// attribute of an index counts as the bytes of its name plus four per dimension, so the difference is mostly
// negative. This was measured on AWS in October 2026. `stored`: empty if there is no item.
std::int64_t vector_difference(const engine::Table& table, std::string_view stored);

// The cost of a write by index name (capacity.h). Omits indexes whose entry does not change.
using VectorWrites = std::vector<std::pair<std::string, double>>;
// `old_stored`, `new_stored`: empty if there is no item.
VectorWrites vector_writes(const engine::Table& table, std::string_view old_stored,
                           std::string_view new_stored);

}  // namespace mayfly::compat
