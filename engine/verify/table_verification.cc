#include "engine/verify/table_verification.h"

#include <algorithm>
#include <utility>

#include "engine/schema/index_entries.h"
#include "engine/schema/readable_key.h"
#include "engine/storage/key_space.h"
#include "engine/tables/replica_log.h"
#include "engine/values/checked_item.h"
#include "engine/values/item_size.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {

TableVerification::TableVerification(const KeyView& keys, const Table& table, std::string name,
                                     const ExpiryIndex& expiry, Instant now, Counters counters,
                                     Findings& findings)
    : keys_(keys),
      table_(table),
      name_(std::move(name)),
      expiry_(expiry),
      now_(now),
      counters_(std::move(counters)),
      findings_(findings) {}

void TableVerification::run() {
  counts_[0];
  counts_[expiry_entries];
  for (const NeverReason reason : never_reasons) counts_[never_counter(reason)];
  for (const Index& index : table_.indexes) counts_[index.id];

  const std::string items = item_key(table_.id, 0, {});
  for (KeyView::Walk walk(keys_, items, prefix_end(items)); walk.valid(); walk.next()) {
    findings_.pass(findings_.checked.items);
    check_item(walk.key().substr(items.size()), walk.value());
  }
  for (const Index& index : table_.indexes) check_index(index);
  check_gone_indexes();
  check_expiry_index();

  // The right counts are not known yet: a misplaced item will have entries once it has been moved to
  // its own key.
  if (undecoded_ > 0 || misplaced_ > 0) return;
  check_counter(0, "its items");
  for (const Index& index : table_.indexes) check_counter(index.id, "the entries of its index " + index.name);
  check_counter(expiry_entries, "its items that will expire");
  for (const NeverReason reason : never_reasons)
    check_counter(never_counter(reason), "its items that never expire");
}

// --- from an item to its entries

void TableVerification::check_item(std::string_view key, std::string_view stored) {
  const std::string stored_key = item_key(table_.id, 0, key);
  const auto item = checked_item(stored);
  if (!item) {
    ++undecoded_;
    return found("an item that cannot be decoded",
                 "the item " + readable_key(table_.keys, key) + " cannot be decoded: " + item.error(), {},
                 keys_.holding(stored_key));
  }
  const std::string own_key = table_key(table_.keys, *item);
  if (own_key != key) {
    ++misplaced_;
    Batch mend;
    if (const std::string right = item_key(table_.id, 0, own_key); !own_key.empty() && !keys_.has(right)) {
      keys_.put(mend, right, stored);
      keys_.erase(mend, stored_key);
    }
    return found("an item under the wrong key",
                 "the item stored under the key " + readable_key(table_.keys, key) + " has " +
                     (own_key.empty() ? "no key" : "the key " + readable_key(table_.keys, own_key)),
                 std::move(mend), keys_.holding(stored_key));
  }
  const std::size_t size = item_size(*item);
  if (size > item_bytes_max)
    found("an item that is too large",
          "the item " + readable_key(table_.keys, key) + " has " + std::to_string(size) + " bytes (limit " +
              std::to_string(item_bytes_max) + ")",
          {}, keys_.holding(stored_key));
  counts_[0].items += 1;
  counts_[0].bytes += static_cast<std::int64_t>(size);
  check_indexes(key, *item);
  check_expiry(key, *item);
}

void TableVerification::check_indexes(std::string_view key, const Item& item) {
  std::string pointed_to;
  for (const Index& index : table_.indexes) {
    const std::string entry = index_entry_key(table_, index, item);
    if (entry.empty()) continue;
    const std::string stored_key = item_key(table_.id, index.id, entry);
    const bool there = keys_.get(stored_key, pointed_to);
    if (!there && index.state == Index::State::creating) continue;
    there_[index.id] += there ? 1 : 0;
    counts_[index.id].items += 1;
    counts_[index.id].bytes += static_cast<std::int64_t>(projected_size(table_, index, item));
    if (there && pointed_to == key) continue;
    const std::string what = "index " + index.name;
    const std::string whose = readable_key(table_.keys, key);
    if (there)
      found("an index entry that points elsewhere",
            what + " has an entry for the item " + whose + " that does not point to it",
            putting(stored_key, key));
    else
      found("a missing index entry", what + " has no entry for the item " + whose, putting(stored_key, key));
  }
}

void TableVerification::check_expiry(std::string_view key, const Item& item) {
  const TtlValue ttl = ttl_of(table_, item);
  if ((!ttl.due && !ttl.never) || !expires_here_by(key)) return;
  if (!ttl.due) return check_never(key, ttl, false);
  const std::optional<Instant> due = ttl.due;
  const std::string entry = expiry_.entry_key(table_.id, *due, key);
  const bool there = keys_.has(entry);
  there_[expiry_entries] += there ? 1 : 0;
  check_never(key, ttl, there);
  // An item that was already too old when it was written has no expiry entry; an item that became too old
  // later has an entry until the next sweep.
  const bool may_lack = table_.ttl->backfilling || is_too_old(*due, now_);
  if (!there && may_lack) return;
  counts_[expiry_entries].items += 1;
  if (!there)
    found("a missing expiry entry",
          "the item " + readable_key(table_.keys, key) + " expires at " + iso8601(*due) +
              " but has no expiry entry",
          putting(entry, {}));
}

// Checks the entry of an item that never expires. An item that became too old has such an entry only after it
// has been swept.
void TableVerification::check_never(std::string_view key, const TtlValue& ttl, bool has_expiry_entry) {
  const auto reason = ttl.never_at(now_);
  if (!reason) return;
  const std::string entry = ExpiryIndex::never_key(table_.id, *reason, key);
  const bool there = keys_.has(entry);
  there_[expiry_entries] += there ? 1 : 0;
  const bool may_lack = table_.ttl->backfilling || !table_.ttl->lists_never || has_expiry_entry;
  if (!there && may_lack) return;
  counts_[never_counter(*reason)].items += 1;
  if (!there)
    found("a missing expiry entry",
          "the item " + readable_key(table_.keys, key) + " never expires but has no entry with the reason",
          putting(entry, {}));
}

// In a global table, each item expires in exactly one region.
bool TableVerification::expires_here_by(std::string_view key) const {
  std::string value;
  if (!table_.replicates() || !keys_.get(write_version_key(table_.id, key), value)) return true;
  return expires_here(table_, decode_version(value).value_or(WriteVersion{}).origin);
}

// --- from an entry to its item

TableVerification::Owner TableVerification::find_item(std::string_view key, Item& item) const {
  std::string stored;
  if (!keys_.get(item_key(table_.id, 0, key), stored)) return Owner::missing;
  auto decoded = checked_item(stored);
  if (!decoded) return Owner::unknown;
  item = *std::move(decoded);
  return table_key(table_.keys, item) == key ? Owner::there : Owner::missing;
}

void TableVerification::check_index(const Index& index) {
  const std::string prefix = item_key(table_.id, index.id, {});
  std::uint64_t count = 0;
  for (KeyView::Walk walk(keys_, prefix, prefix_end(prefix)); walk.valid(); walk.next(), ++count)
    findings_.pass(findings_.checked.index_entries);
  if (count == there_[index.id]) return;
  for (KeyView::Walk walk(keys_, prefix, prefix_end(prefix)); walk.valid(); walk.next())
    check_index_entry(index, walk.key().substr(prefix.size()), walk.value());
}

void TableVerification::check_index_entry(const Index& index, std::string_view entry,
                                          std::string_view item_key_) {
  Item item;
  const Owner owner = find_item(item_key_, item);
  if (owner == Owner::unknown) return;
  if (owner == Owner::there && index_entry_key(table_, index, item) == entry) return;
  found("a leftover index entry",
        "index " + index.name + " has an entry " + readable_entry(table_, index, entry) +
            (owner == Owner::missing ? " for a missing item" : " that does not match the values of its item"),
        erasing(item_key(table_.id, index.id, entry)));
}

// Finds the entries that a removed index has left behind.
void TableVerification::check_gone_indexes() {
  std::vector<IndexId> ids{0};
  for (const Index& index : table_.indexes) ids.push_back(index.id);
  std::sort(ids.begin(), ids.end());
  const std::string end = prefix_end(table_prefix('I', table_.id));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string lower = prefix_end(item_key(table_.id, ids[i], {}));
    const std::string upper = i + 1 < ids.size() ? item_key(table_.id, ids[i + 1], {}) : end;
    for (KeyView::Walk walk(keys_, lower, upper); walk.valid(); walk.next())
      found("a leftover index entry",
            "found an entry of an index that the table does not have: " + hexadecimal(walk.key()),
            erasing(walk.key()));
  }
}

void TableVerification::check_expiry_index() {
  const std::string prefix = table_prefix('X', table_.id);
  std::uint64_t count = 0;
  for (KeyView::Walk walk(keys_, prefix, prefix_end(prefix)); walk.valid(); walk.next(), ++count)
    findings_.pass(findings_.checked.expiry_entries);
  if (count == there_[expiry_entries]) return;
  for (KeyView::Walk walk(keys_, prefix, prefix_end(prefix)); walk.valid(); walk.next())
    check_expiry_entry(walk.key());
}

void TableVerification::check_expiry_entry(std::string_view stored_key) {
  const auto left_over = [&](const std::string& what) {
    found("a leftover expiry entry", what, erasing(stored_key));
  };
  if (const auto reason = ExpiryIndex::never_in(stored_key)) {
    const std::string_view key = ExpiryIndex::item_key_in(stored_key);
    Item item;
    const Owner owner = find_item(key, item);
    if (owner == Owner::unknown) return;
    const bool never = owner == Owner::there && ttl_of(table_, item).never_at(now_) == reason;
    if (never && expires_here_by(key) && ExpiryIndex::never_key(table_.id, *reason, key) == stored_key)
      return;
    return left_over("the expiry index says that the item " + readable_key(table_.keys, key) +
                     " never expires, but " +
                     (owner == Owner::missing ? "the item is missing" : "its TTL says otherwise"));
  }
  if (!ExpiryIndex::is_entry(stored_key))
    return left_over("malformed expiry entry: " + hexadecimal(stored_key));
  const Instant due = ExpiryIndex::due_in(stored_key);
  const std::string_view key = ExpiryIndex::item_key_in(stored_key);
  Item item;
  const Owner owner = find_item(key, item);
  if (owner == Owner::unknown) return;
  const bool due_then = owner == Owner::there && due_of(table_, item) == due && expires_here_by(key);
  if (due_then && expiry_.entry_key(table_.id, due, key) == stored_key) return;
  left_over("found an expiry entry of the item " + readable_key(table_.keys, key) +
            (owner == Owner::missing ? ", which is missing"
             : due_then              ? " in the wrong window"
                                     : ", which expires at another time"));
}

// --- counters

void TableVerification::check_counter(IndexId index, const std::string& what) {
  std::string key = counters_.key_prefix;
  append_big_endian(key, index);
  std::optional<Counts> present;
  if (counters_.present) present = counters_.present(index);
  engine::check_counter(keys_, key, present, counts_[index], name_ + ": the counter of " + what, findings_);
}

// --- reporting

void TableVerification::found(std::string_view kind, const std::string& what, Batch mend,
                              std::vector<std::string> keys) {
  findings_.add({kind, name_ + ": " + what, std::move(mend), std::move(keys)});
}

Batch TableVerification::putting(std::string_view key, std::string_view value) const {
  Batch batch;
  keys_.put(batch, key, value);
  return batch;
}

Batch TableVerification::erasing(std::string_view key) const {
  Batch batch;
  keys_.erase(batch, key);
  return batch;
}

}  // namespace mayfly::engine
