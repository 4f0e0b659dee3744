#include "engine/items/expiry_view.h"

#include <algorithm>
#include <iterator>

#include "engine/schema/expiry_mode.h"
#include "engine/schema/index_entries.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/catalog.h"
#include "engine/time/account.h"
#include "engine/values/item_codec.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {
namespace {

// Walks the table's entries from its low watermark on, until `visit(due, item key)` returns false.
template <class Visit>
void walk(const Storage& storage, const ExpiryIndex& index, const LiveTable& table,
          const Storage::Snapshot& at, Visit visit) {
  const auto timer = table.account().timers().of(table.id());
  const std::string end = ExpiryIndex::never_begin(table.id());
  Storage::Iterator iterator(storage, index.position(table.id(), timer ? timer->due : 0), end, &at);
  for (iterator.seek_to_first(); iterator.valid(); iterator.next())
    if (!visit(ExpiryIndex::due_in(iterator.key()), ExpiryIndex::item_key_in(iterator.key()))) return;
}

}  // namespace

std::vector<UpcomingExpiry> ExpiryView::upcoming(const LiveTable& table, std::size_t limit) const {
  const std::shared_ptr<const Table> description = table.description();
  const Storage::Snapshot at(storage_);
  std::vector<UpcomingExpiry> upcoming;
  std::string bytes;
  walk(storage_, index_, table, at, [&](Instant due, std::string_view key) {
    if (upcoming.size() == limit) return false;
    if (storage_.get(item_key(table.id(), 0, key), bytes, &at))
      upcoming.push_back(
          {key_attributes(description->keys, decode_item(bytes)), due, fires_at(*description, due)});
    return true;
  });
  return upcoming;
}

std::vector<ExpiryWindow> ExpiryView::windows(const LiveTable& table, std::size_t limit,
                                              std::optional<Instant> window_ms) const {
  const Instant length = window_ms.value_or(index_.window_ms());
  const Storage::Snapshot at(storage_);
  std::vector<ExpiryWindow> windows;
  Instant begin = -1;
  walk(storage_, index_, table, at, [&](Instant due, std::string_view) {
    if (const Instant window = due - due % length; window != begin) {
      if (windows.size() == limit) return false;
      begin = window;
      windows.push_back({iso8601(begin) + "_" + iso8601(begin + length), 0});
    }
    ++windows.back().items;
    return true;
  });
  return windows;
}

std::vector<TtlSuspect> ExpiryView::suspects(const LiveTable& table) const {
  const std::shared_ptr<const Table> description = table.description();
  const Storage::Snapshot at(storage_);
  const Instant now = table.account().clock().now();
  std::vector<TtlSuspect> suspects;
  std::string bytes;
  for (TtlSuspect& noted : table.ttl_suspects().latest()) {
    const bool there = storage_.get(item_key(table.id(), 0, noted.key), bytes, &at);
    const auto never = there ? ttl_of_stored(*description, bytes).never_at(now) : std::nullopt;
    if (noted.never ? never != noted.never : there) continue;  // the item has been rewritten or deleted
    suspects.push_back(std::move(noted));
  }
  Storage::Iterator entries(storage_, ExpiryIndex::never_begin(table.id()),
                            prefix_end(table_prefix('X', table.id())), &at);
  for (entries.seek_to_first(); entries.valid() && suspects.size() < TtlSuspects::kept_max; entries.next()) {
    const auto reason = ExpiryIndex::never_in(entries.key());
    const std::string key(ExpiryIndex::item_key_in(entries.key()));
    const bool known = std::any_of(suspects.begin(), suspects.end(),
                                   [&](const TtlSuspect& other) { return other.key == key; });
    if (!reason || known || !storage_.get(item_key(table.id(), 0, key), bytes, &at)) continue;
    suspects.push_back({key, key_attributes(description->keys, decode_item(bytes)), reason, std::nullopt});
  }
  return suspects;
}

TtlMistakes take_ttl_mistakes(const Catalog& catalog, std::string_view account) {
  TtlMistakes mistakes;
  for (const auto& table : catalog.tables(account)) {
    const std::string name = table->description()->name;
    const NeverCounts never = table->never_expiring_items();
    for (std::size_t i = 0; i < never.size(); ++i)
      if (never[i] > 0) mistakes.never[name][i] += never[i];
    if (const std::int64_t born_due = table->expiry_stats().take_born_due())
      mistakes.born_due[name] += born_due;
    auto keys = table->ttl_suspects().take_born_due();
    if (keys.empty()) continue;
    auto& all = mistakes.born_due_keys[name];
    std::move(keys.begin(), keys.end(), std::back_inserter(all));
  }
  return mistakes;
}

ExpiryTotals ExpiryView::totals(const LiveTable& table) const {
  const Instant now = table.account().clock().now();
  const Storage::Snapshot at(storage_);
  ExpiryTotals totals{table.counter(expiry_entries).items, 0, std::nullopt};
  walk(storage_, index_, table, at, [&](Instant due, std::string_view) {
    if (!totals.next_due) totals.next_due = due;
    if (due > now) return false;
    ++totals.due;
    return true;
  });
  return totals;
}

}  // namespace mayfly::engine
