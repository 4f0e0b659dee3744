#include "tests/support/effects.h"

#include <string_view>
#include <utility>

#include "engine/base/clock.h"
#include "engine/database.h"
#include "engine/schema/index_entries.h"
#include "engine/schema/table.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/change_log.h"
#include "engine/values/item_codec.h"

namespace mayfly::testing {
namespace {

using engine::Item;
using engine::Table;

std::string printed(const engine::AttributeValue& value) {
  if (const auto* text = value.get_if<std::string>()) return *text;
  if (const auto* number = value.get_if<engine::Number>()) return number->to_string();
  std::string hex;
  for (const char byte : value.get_if<engine::Binary>()->bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    hex += digits[static_cast<unsigned char>(byte) >> 4];
    hex += digits[static_cast<unsigned char>(byte) & 15];
  }
  return hex;
}

// Returns the item's key, such as "Nina/Sinnerman".
std::string printed(const engine::KeySchema& keys, const Item& item) {
  std::string text;
  for (const engine::KeyAttribute& key : keys.all()) {
    if (!text.empty()) text += '/';
    text += printed(*item.find(key.name));
  }
  return text;
}

class Effects {
 public:
  Effects(const StoredState& before, const StoredState& after) : before_(before), after_(after) {
    for (const StoredState* state : {&before, &after}) {
      for (const auto& [key, value] : *state) {
        if (key[0] != 'T') continue;
        Table table = engine::table_from_item(engine::decode_item(value));
        if (table.stream) streams_.insert_or_assign(table.stream->id, table.id);
        tables_.insert_or_assign(table.id, std::move(table));
      }
    }
  }

  std::string text() {
    for (const auto& [key, value] : before_)
      if (!after_.contains(key)) add(before_, key, value, "erase");
    for (const auto& [key, value] : after_) {
      const auto found = before_.find(key);
      if (found == before_.end() || found->second != value) add(after_, key, value, "put");
    }
    std::string text;
    for (const auto& [place, line] : lines_) text += (text.empty() ? "" : "\n") + line;
    return text;
  }

 private:
  enum class Place : char { items, indexes, expiries, records };

  void add_line(const Table& table, Place place, const std::string& line) {
    lines_.emplace(std::pair(table.name, place), table.name + line);
  }

  // `state` is the state that contains the key.
  void add(const StoredState& state, std::string_view key, std::string_view value, const std::string& verb) {
    const char kind = key[0];
    if (kind == 'S') return add_record(key, value, verb);
    if (kind != 'I' && kind != 'X') return;
    const auto found = tables_.find(engine::read_big_endian<std::uint32_t>(key.substr(1)));
    if (found == tables_.end()) return;
    const Table& table = found->second;
    if (kind == 'X') return add_expiry(state, table, key, verb);
    const std::string index = index_name(table, key);
    if (index.empty()) {
      return add_line(table, Place::items,
                      " " + verb + " " + printed(table.keys, engine::decode_item(value)));
    }
    const Item item = item_of(state, table, value);
    add_line(table, Place::indexes,
             index + " " + verb + " " + printed(table.find_index(index.substr(1))->keys, item) + " -> " +
                 printed(table.keys, item));
  }

  void add_expiry(const StoredState& state, const Table& table, std::string_view key,
                  const std::string& verb) {
    const auto due = engine::read_big_endian<std::uint64_t>(key.substr(1 + 4 + 8));
    if (const auto never = engine::ExpiryIndex::never_in(key)) {
      constexpr std::string_view reasons[] = {"milliseconds", "string", "wrong_type", "too_old"};
      const Item item = item_of(state, table, engine::ExpiryIndex::item_key_in(key));
      return add_line(table, Place::expiries,
                      " never expires " + verb + " " + std::string(reasons[engine::never_place(*never)]) +
                          " " + printed(table.keys, item));
    }
    add_line(table, Place::expiries,
             " expires " + verb + " " + engine::iso8601(static_cast<engine::Instant>(due)) + " " +
                 printed(table.keys, item_of(state, table, key.substr(1 + 4 + 8 + 8))));
  }

  void add_record(std::string_view key, std::string_view value, const std::string& verb) {
    const auto found = streams_.find(engine::read_big_endian<std::uint32_t>(key.substr(1)));
    if (found == streams_.end()) return;
    const Table& table = tables_.at(found->second);
    const auto record = engine::decode_record(engine::record_sequence(key), value);
    constexpr std::string_view kinds[] = {"INSERT", "MODIFY", "REMOVE"};
    std::string line = " records " + std::string(kinds[static_cast<std::size_t>(record.kind)]) + " " +
                       printed(table.keys, record.keys);
    if (record.cause == engine::Cause::time_to_live) line += " (ttl)";
    if (verb == "erase") line = " trims" + line;
    add_line(table, Place::records, line);
  }

  // Returns ".by_label", or empty for the table itself.
  static std::string index_name(const Table& table, std::string_view key) {
    const auto id = engine::read_big_endian<std::uint16_t>(key.substr(1 + 4));
    for (const engine::Index& index : table.indexes)
      if (index.id == id) return "." + index.name;
    return {};
  }

  static Item item_of(const StoredState& state, const Table& table, std::string_view key) {
    return engine::decode_item(state.at(engine::item_key(table.id, 0, key)));
  }

  const StoredState& before_;
  const StoredState& after_;
  std::map<engine::TableId, Table> tables_;
  std::map<engine::StreamId, engine::TableId> streams_;
  std::multimap<std::pair<std::string, Place>, std::string> lines_;
};

}  // namespace

StoredState stored_state(const engine::Database& database) {
  StoredState state;
  engine::Storage::Iterator all(database.storage(), "", "\xff");
  for (all.seek_to_first(); all.valid(); all.next()) state.emplace(all.key(), all.value());
  return state;
}

std::string effects(const StoredState& before, const StoredState& after) {
  return Effects(before, after).text();
}

}  // namespace mayfly::testing
