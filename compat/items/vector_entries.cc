#include "compat/items/vector_entries.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "compat/items/capacity.h"
#include "compat/tables/projection.h"
#include "compat/tables/vector_indexes.h"
#include "engine/items/cursor.h"
#include "engine/values/item_codec.h"
#include "engine/values/item_size.h"

namespace mayfly::compat {
namespace {

using engine::AttributeValue;
using engine::Item;
using engine::Number;
using engine::Table;

// Reads the vector from a stored item. Returns false if the item has no vector that fits the index.
bool read_vector(std::string_view stored, const VectorIndex& index, Vector& vector) {
  engine::StoredReader in(stored);
  for (std::size_t left = in.count(); left > 0; --left) {
    const bool found = in.text() == index.attribute;
    const auto tag = in.tag();
    if (!found) {
      in.skip(tag);
      continue;
    }
    if (tag.type != engine::Type::list) return false;
    const std::size_t count = in.open();
    if (count != static_cast<std::size_t>(index.dimensions)) return false;
    vector.resize(count);
    for (float& element : vector) {
      if (in.tag().type != engine::Type::number) return false;
      const auto value = to_float(in.number());
      if (!value) return false;
      element = *value;
    }
    return true;
  }
  return false;
}

std::int64_t vector_bytes(const VectorIndex& index) { return std::int64_t{sizeof(float)} * index.dimensions; }

std::int64_t difference(const std::vector<VectorIndex>& indexes, std::string_view stored, Vector& vector) {
  std::int64_t difference = 0;
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    const VectorIndex& index = indexes[i];
    const bool is_first =
        std::none_of(indexes.begin(), indexes.begin() + static_cast<std::ptrdiff_t>(i),
                     [&](const VectorIndex& other) { return other.attribute == index.attribute; });
    if (!is_first || !read_vector(stored, index, vector)) continue;
    const auto value = *engine::stored_attribute(stored, index.attribute);
    difference += vector_bytes(index) - static_cast<std::int64_t>(engine::value_size(value));
  }
  return difference;
}

// The parts of an item's index entry that decide what a change costs.
struct Entry {
  Vector vector;
  Item rest;
  std::size_t bytes = 0;
};

std::optional<Entry> entry_of(VectorEntries& entries, std::string_view stored) {
  if (stored.empty()) return std::nullopt;
  const Vector* vector = entries.vector_of(stored);
  if (vector == nullptr) return std::nullopt;
  return Entry{*vector, entries.projected(engine::decode_item(stored)), entries.bytes_of(stored)};
}

}  // namespace

std::optional<float> to_float(const Number& number) {
  // If the significand and the power of ten are exact doubles, their product or quotient is the double that
  // is nearest to the number. The float that is nearest to this double is also nearest to the number, unless
  // the double lies halfway between two floats.
  constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  constexpr std::uint64_t exact_max = std::uint64_t{1} << 53;
  constexpr int between_bits = 53 - 24;
  const int exponent = number.exponent();
  if (number.significand() <= exact_max && std::abs(exponent) < static_cast<int>(std::size(powers))) {
    const auto whole = static_cast<double>(static_cast<std::uint64_t>(number.significand()));
    const double value = exponent < 0 ? whole / powers[-exponent] : whole * powers[exponent];
    const std::uint64_t low = std::bit_cast<std::uint64_t>(value) & ((std::uint64_t{1} << between_bits) - 1);
    if (low != std::uint64_t{1} << (between_bits - 1))
      return static_cast<float>(number.negative() ? -value : value);
  }
  std::array<char, Number::digits_max + 8> text{};
  char* end = text.data() + number.write_digits(text.data());
  *end++ = 'e';
  end = std::to_chars(end, text.data() + text.size(), exponent).ptr;
  float value = 0;
  const auto read = std::from_chars(text.data(), end, value);
  // A number that is too small for a float becomes zero. A number that is too large is rejected.
  if (read.ec == std::errc::result_out_of_range && number.magnitude() > 0) return std::nullopt;
  return number.negative() ? -value : value;
}

AttributeValue to_value(const Vector& vector) {
  engine::List list;
  list.reserve(vector.size());
  for (const float element : vector) {
    std::array<char, 64> text{};
    const char* end = std::to_chars(text.data(), text.data() + text.size(), element).ptr;
    list.emplace_back(*Number::parse({text.data(), end}));
  }
  return list;
}

VectorEntries::VectorEntries(const Table& table, VectorIndex index)
    : index_(std::move(index)), projection_(projection_of(index_)), keys_(table.keys) {
  for (const SearchElement& element : index_.search_schema) {
    if (const auto* definition = find_definition(table.attribute_definitions, element.name))
      searched_.push_back({element.name, definition->type, element.hash});
  }
}

bool VectorEntries::fits(std::string_view stored) const {
  return std::all_of(searched_.begin(), searched_.end(), [&](const Searched& searched) {
    const auto value = engine::stored_attribute(stored, searched.name);
    if (!value) return !searched.hash;
    return engine::has_type(*value, searched.type) && (!searched.hash || engine::value_size(*value) > 0);
  });
}

const Vector* VectorEntries::vector_of(std::string_view stored) {
  return read_vector(stored, index_, vector_) && fits(stored) ? &vector_ : nullptr;
}

bool VectorEntries::projects(std::string_view name) const {
  if (name == index_.attribute) return false;
  return projection_.kind == engine::Projection::Kind::all || keys_.names(name) || searches(index_, name) ||
         std::find(projection_.attributes.begin(), projection_.attributes.end(), name) !=
             projection_.attributes.end();
}

Item VectorEntries::projected(const Item& item) const {
  Item projected;
  for (const auto& [name, value] : item) {
    if (projects(name)) projected.append(name) = value;
  }
  return projected;
}

std::size_t VectorEntries::bytes_of(std::string_view stored) const {
  std::size_t bytes = index_.attribute.size() + static_cast<std::size_t>(vector_bytes(index_));
  engine::StoredReader in(stored);
  for (std::size_t left = in.count(); left > 0; --left) {
    const std::string_view name = in.text();
    in.skip(in.tag());
    if (projects(name)) bytes += name.size() + engine::value_size(*engine::stored_attribute(stored, name));
  }
  return bytes;
}

std::int64_t vector_difference(const Table& table, std::string_view stored) {
  if (stored.empty() || !has_vector_indexes(table)) return 0;
  Vector vector;
  return difference(vector_indexes_of(table), stored, vector);
}

VectorSizes vector_sizes(const engine::Database& database, const engine::LiveTable& live) {
  VectorSizes sizes;
  const auto table = live.description();
  const std::vector<VectorIndex> indexes = vector_indexes_of(*table);
  std::vector<VectorEntries> all;
  for (const VectorIndex& index : indexes) all.emplace_back(*table, index);
  if (all.empty()) return sizes;
  Vector vector;
  sizes.table_bytes = 0;
  engine::Cursor cursor(database.reader(), live, {});
  for (bool more = true; more; more = cursor.paused()) {
    while (cursor.next()) {
      const std::string_view stored = cursor.item().bytes();
      for (VectorEntries& entries : all) {
        if (entries.vector_of(stored) == nullptr) continue;
        VectorIndexSize& size = sizes.indexes[entries.index().name];
        ++size.items;
        size.bytes += static_cast<std::int64_t>(entries.bytes_of(stored));
      }
      *sizes.table_bytes +=
          static_cast<std::int64_t>(engine::stored_item_size(stored)) + difference(indexes, stored, vector);
    }
  }
  return sizes;
}

VectorWrites vector_writes(const Table& table, std::string_view old_stored, std::string_view new_stored) {
  VectorWrites writes;
  for (VectorIndex& index : vector_indexes_of(table)) {
    VectorEntries entries(table, std::move(index));
    const auto before = entry_of(entries, old_stored);
    const auto after = entry_of(entries, new_stored);
    if (!before && !after) continue;
    if (before && after && before->vector == after->vector && before->rest == after->rest) continue;
    const std::size_t bytes = std::max(before ? before->bytes : 0, after ? after->bytes : 0);
    writes.emplace_back(entries.index().name, vector_request_bytes(static_cast<double>(bytes)));
  }
  return writes;
}

}  // namespace mayfly::compat
