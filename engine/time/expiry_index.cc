#include "engine/time/expiry_index.h"

#include "engine/storage/key_space.h"
#include "engine/values/item_codec.h"

namespace mayfly::engine {

namespace {
constexpr std::size_t due_offset = 1 + 4 + 8;
constexpr std::size_t item_key_offset = due_offset + 8;

constexpr std::uint64_t never_window = ~std::uint64_t{0}, never_due = never_window - 0xff;

TtlValue ttl_of_value(const AttributeValue& value) {
  const Number* seconds = value.get_if<Number>();
  if (!seconds) {
    return {.never = value.type() == Type::string ? NeverReason::string : NeverReason::wrong_type};
  }
  if (seconds->negative()) return {.never = NeverReason::too_old};
  const std::optional<std::int64_t> milliseconds = seconds->floor_scaled(3);
  if (!milliseconds || *milliseconds >= last_instant) return {.never = NeverReason::milliseconds};
  return {.due = *milliseconds + 1};
}

}  // namespace

TtlValue ttl_of(const Table& table, const Item& item) {
  if (!table.ttl) return {};
  const AttributeValue* value = item.find(table.ttl->attribute);
  return value ? ttl_of_value(*value) : TtlValue{};
}

TtlValue ttl_of_stored(const Table& table, std::string_view stored) {
  if (!table.ttl) return {};
  const std::optional<AttributeValue> value = stored_attribute(stored, table.ttl->attribute);
  return value ? ttl_of_value(*value) : TtlValue{};
}

std::optional<Instant> due_of(const Table& table, const Item& item) { return ttl_of(table, item).due; }

std::optional<Instant> due_of_stored(const Table& table, std::string_view stored) {
  return ttl_of_stored(table, stored).due;
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

std::string ExpiryIndex::never_begin(TableId table) {
  std::string key = table_prefix('X', table);
  append_big_endian(key, never_window);
  return key;
}

std::string ExpiryIndex::never_key(TableId table, NeverReason reason, std::string_view item_key) {
  std::string key = never_begin(table);
  append_big_endian(key, never_due + static_cast<std::uint64_t>(reason));
  return key.append(item_key);
}

std::optional<NeverReason> ExpiryIndex::never_in(std::string_view entry_key) {
  if (entry_key.size() <= item_key_offset) return std::nullopt;
  const auto due = read_big_endian<std::uint64_t>(entry_key.substr(due_offset));
  for (const NeverReason reason : never_reasons)
    if (due == never_due + static_cast<std::uint64_t>(reason)) return reason;
  return std::nullopt;
}

}  // namespace mayfly::engine
