#include "engine/expiry_index.h"

#include "engine/item_codec.h"
#include "engine/key_space.h"

namespace mayfly::engine {

namespace {
constexpr std::size_t due_offset = 1 + 4 + 8;
constexpr std::size_t item_key_offset = due_offset + 8;

std::optional<Instant> due_of_value(const AttributeValue& value) {
  const Number* seconds = value.get_if<Number>();
  if (!seconds || seconds->negative()) return std::nullopt;
  const std::optional<std::int64_t> milliseconds = seconds->floor_scaled(3);
  if (!milliseconds || *milliseconds >= last_instant) return std::nullopt;
  return *milliseconds + 1;
}

}  // namespace

std::optional<Instant> due_of(const Table& table, const Item& item) {
  if (!table.ttl) return std::nullopt;
  const AttributeValue* value = item.find(table.ttl->attribute);
  return value ? due_of_value(*value) : std::nullopt;
}

std::optional<Instant> due_of_stored(const Table& table, std::string_view stored) {
  if (!table.ttl) return std::nullopt;
  const std::optional<AttributeValue> value = stored_attribute(stored, table.ttl->attribute);
  return value ? due_of_value(*value) : std::nullopt;
}

std::string ExpiryIndex::entry_key(TableId table, Instant due, std::string_view item_key) const {
  std::string key;
  key.reserve(item_key_offset + item_key.size());
  key.push_back('X');
  append_big_endian(key, table);
  append_big_endian(key, static_cast<std::uint64_t>(window_of(due)));
  append_big_endian(key, static_cast<std::uint64_t>(due));
  key.append(item_key);
  return key;
}

bool ExpiryIndex::is_entry(std::string_view key) {
  return key.size() > item_key_offset && due_in(key) > 0 && due_in(key) <= last_instant;
}

Instant ExpiryIndex::due_in(std::string_view entry_key) {
  return static_cast<Instant>(read_big_endian<std::uint64_t>(entry_key.substr(due_offset)));
}

std::string_view ExpiryIndex::item_key_in(std::string_view entry_key) {
  return entry_key.substr(item_key_offset);
}

}  // namespace mayfly::engine
