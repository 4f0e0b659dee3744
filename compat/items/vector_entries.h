// What a vector index holds of items: which it has, their vectors as 32-bit floats, and what it projects.
//
// An index is sparse: an item without the vector, without its HASH attribute, or with one that does not fit
// (from before there was the index) is not in it. Nothing of it is stored; everything here is read from the
// items.
//
//   VectorEntries entries(table, index);
//   while (cursor.next())
//     if (const auto* vector = entries.vector_of(cursor.item().bytes())) …
//
// Rules: "Vector indexes" in AWS's developer guide; figures and messages as others recorded them on AWS in
// August 2026.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/tables/description.h"
#include "compat/tables/settings.h"
#include "compat/wire/error.h"
#include "engine/attribute_value.h"
#include "engine/catalog.h"
#include "engine/database.h"
#include "engine/table.h"

namespace mayfly::compat {

using Vector = std::vector<float>;

// The nearest 32-bit float; nothing beyond the largest ones.
std::optional<float> to_float(const engine::Number& number);
// The vector as an index gives it back: numbers of the floats.
engine::AttributeValue to_value(const Vector& vector);

// Refuses an item that a vector index of the table cannot take:
//   "… Invalid size for parameter v, Expected: 3, Actual: 2. IndexName: i"
//   "… Invalid type for parameter v[1], Expected: 32-bit floating point number, Actual: S. IndexName: i"
//   "… Attribute 'tenant' type mismatch. Expected: S, Actual: N. IndexName: i"
// Attributes that are not there are as good as right. `updated`: UpdateItem words an empty HASH differently.
Result<void> check_vectors(const engine::Table& table, const engine::Item& item, bool updated);

class VectorEntries {
 public:
  VectorEntries(const engine::Table& table, VectorIndex index);

  // The vector of a stored item; nullptr: the index does not have the item. Valid until the next call.
  const Vector* vector_of(std::string_view stored);
  // Whether the index has this attribute of its items, beside the vector.
  [[nodiscard]] bool projects(std::string_view name) const;
  // What it has of an item, beside the vector.
  [[nodiscard]] engine::Item projected(const engine::Item& item) const;
  // The size of the entry of a stored item that it has: four bytes for each dimension, and the rest by
  // DynamoDB's count.
  [[nodiscard]] std::size_t bytes_of(std::string_view stored) const;

  [[nodiscard]] const VectorIndex& index() const { return index_; }

 private:
  struct Searched {
    std::string name;
    engine::ScalarType type;
    bool hash;
  };
  [[nodiscard]] bool fits(std::string_view stored) const;  // its search schema does

  VectorIndex index_;
  engine::Projection projection_;
  engine::KeySchema keys_;  // the table's
  std::vector<Searched> searched_;
  Vector vector_;
};

// How much its vector indexes hold of a table, and how its size differs: each item is looked at.
VectorSizes vector_sizes(const engine::Database& database, const engine::LiveTable& live);

// How many bytes more a stored item has for write units and TableSizeBytes than for reads and the limit of
// 400 KB: there, an attribute that a vector index reads has its name's bytes and four for each dimension.
// Measured on AWS, October 2026. Mostly negative. An empty text stands for no item.
std::int64_t vector_difference(const engine::Table& table, std::string_view stored);

// By the names of indexes: what a write costs them (capacity.h). Those whose entry stays as it is are left
// out.
using VectorWrites = std::vector<std::pair<std::string, double>>;
// An empty text stands for no item.
VectorWrites vector_writes(const engine::Table& table, std::string_view old_stored,
                           std::string_view new_stored);

}  // namespace mayfly::compat
