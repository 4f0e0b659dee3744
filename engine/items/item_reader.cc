#include "engine/items/item_reader.h"

#include <string>
#include <utility>

#include "engine/base/interleaving.h"
#include "engine/base/thread_local.h"
#include "engine/items/departed.h"
#include "engine/items/recent_writes.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/catalog.h"
#include "engine/time/account.h"

namespace mayfly::engine {

std::optional<StoredItem> ItemReader::get(const LiveTable& table, std::string_view key) const {
  THREAD_LOCAL std::string stored_key;
  stored_key.clear();
  append_item_key(stored_key, table.id(), 0, key);
  std::string bytes;
  bool departed = false;
  std::uint64_t described = 0;
  do {
    described = table.described();
    if (!storage_.get(stored_key, bytes)) return std::nullopt;
    departed = table.expires() && Departed(failpoints_, table).has(key, bytes);
  } while (table.described() != described);
  return departed ? std::nullopt : std::optional(StoredItem(std::move(bytes)));
}

std::optional<StoredItem> ItemReader::get(const LiveTable& table, std::string_view key,
                                          const Sight& sight) const {
  if (!recent_writes_.any()) return get(table, key);
  const Commit horizon = recent_writes_.horizon(table, sight);
  interleave("horizon moved");
  std::optional<StoredItem> stored = get(table, key);
  interleave("item read");
  const auto unseen = recent_writes_.unseen(table, sight, horizon, key);
  if (!unseen) return stored;
  if (unseen->before.empty() || Departed(failpoints_, table).has(key, unseen->before)) return std::nullopt;
  return StoredItem(unseen->before);
}

std::vector<std::optional<StoredItem>> ItemReader::get_together(std::span<const ItemName> names) const {
  std::vector<std::optional<StoredItem>> items;
  items.reserve(names.size());
  if (names.empty()) return items;
  // All items are read from one state, with one description of each table, at one instant.
  const auto described = [&] {
    std::uint64_t sum = 0;  // described() only increases, so the sum changes if any description changes
    for (const ItemName& name : names) sum += name.table->described();
    return sum;
  };
  std::uint64_t before = 0;
  do {
    items.clear();
    before = described();
    const Storage::Snapshot snapshot(storage_);
    const Instant now = names.front().table->account().clock().now();
    for (const ItemName& name : names) {
      std::string bytes;
      const bool found = storage_.get(item_key(name.table->id(), 0, name.key), bytes, &snapshot) &&
                         !Departed(failpoints_, *name.table, now).has(name.key, bytes);
      items.push_back(found ? std::optional<StoredItem>(StoredItem(std::move(bytes))) : std::nullopt);
    }
  } while (described() != before);
  if (recent_writes_.any()) {
    const LiveTable* last = nullptr;
    for (const ItemName& name : names)
      if (std::exchange(last, name.table) != name.table)
        static_cast<void>(recent_writes_.unseen(*name.table, Sight{}, RecentWrites::sees_all));
  }
  return items;
}

}  // namespace mayfly::engine
