#include "engine/items/write_stages.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "engine/schema/expiry_mode.h"
#include "engine/schema/index_entries.h"
#include "engine/schema/shards.h"
#include "engine/storage/key_space.h"
#include "engine/tables/replica_log.h"
#include "engine/values/item_codec.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {

void stage_item(const WriteStage& stage) {
  const ItemChange& item = stage.item;
  Batch& batch = stage.staged.batch;
  const bool puts = item.puts();
  const std::string stored_key = item_key(stage.table.id, 0, item.key);
  // Make room for the item and for its old version.
  batch.make_room(2, 2 * stored_key.size() + item.new_item.bytes().size() + item.old_item.bytes().size());
  if (puts) {
    batch.put(stored_key, item.new_item.bytes());
    if (item.exists) batch.note_replaced(item.old_item.bytes().size());
  } else {
    batch.erase(stored_key, item.exists ? item.old_item.bytes().size() : 0);
  }
  stage.staged.count(stage.live, 0, (puts ? 1 : 0) - (item.exists ? 1 : 0),
                     (puts ? static_cast<std::int64_t>(item.new_item.size()) : 0) -
                         (item.exists ? static_cast<std::int64_t>(item.old_item.size()) : 0));
}

void stage_version(const WriteStage& stage) {
  const LiveTable& live = stage.live;
  const ItemChange& item = stage.item;
  if (live.past() == LiveTable::Past::points) {
    // One version after the latest point is enough for all points.
    Storage::Iterator later(stage.storage, version_key(live.id(), item.key, live.latest_point() + 1),
                            version_key(live.id(), item.key, std::numeric_limits<VersionNumber>::max()));
    later.seek_to_first();
    if (later.valid()) return;
  }
  StagedWrite::Version& version =
      stage.staged.versions.emplace_back(StagedWrite::Version{live.id(), item.key, std::nullopt});
  if (item.exists) version.item = item.old_item.bytes();
  stage.staged.count(live, old_versions, 1, static_cast<std::int64_t>(version.bytes()));
}

void stage_indexes(const WriteStage& stage) {
  const Table& table = stage.table;
  ItemChange& item = stage.item;
  const Item* const old_item = item.exists ? &item.old_item.item() : nullptr;
  const Item* const new_item = item.puts() ? &item.new_item.item() : nullptr;
  for (const IndexChange& change : index_changes(table, old_item, new_item)) {
    const IndexId id = change.index->id;
    bool had_entry = !change.old_key.empty();
    if (had_entry && change.index->state == Index::State::creating) {
      // The backfill may not have reached this item yet. In that case, the counter does not include the
      // item's entry.
      std::string unused;
      had_entry = stage.storage.get(item_key(table.id, id, change.old_key), unused);
    }
    if (change.key_changed() || !had_entry) {
      if (had_entry) stage.staged.batch.erase(item_key(table.id, id, change.old_key));
      if (!change.new_key.empty()) stage.staged.batch.put(item_key(table.id, id, change.new_key), item.key);
    }
    const std::int64_t old_bytes = had_entry ? static_cast<std::int64_t>(change.old_bytes) : 0;
    stage.staged.count(stage.live, id, (change.new_key.empty() ? 0 : 1) - (had_entry ? 1 : 0),
                       static_cast<std::int64_t>(change.new_bytes) - old_bytes);
    item.effects.push_back({id, change.old_bytes, change.new_bytes, change.key_changed()});
  }
}

// --- expiry

namespace {

bool is_stored(const WriteStage& stage, const std::string& key) {
  std::string unused;
  return stage.storage.get(key, unused);
}

void put_due(const WriteStage& stage, Instant due) {
  const Table& table = stage.table;
  stage.staged.batch.put(stage.expiry.entry_key(table.id, due, stage.item.key), {});
  stage.staged.count(stage.live, expiry_entries, 1, 0);
  stage.timers.push_back({table.id, due, fires_at(table, due)});
}

void erase_due(const WriteStage& stage, Instant due) {
  const std::string entry = stage.expiry.entry_key(stage.table.id, due, stage.item.key);
  // The entry may be missing for one of three reasons: a write that overtook the reaper has erased it, the
  // item was already too old when it was written, or the backfill has not reached the item yet.
  const bool surely = stage.item.write != ItemChange::Write::forget_expiry && !stage.table.ttl->backfilling &&
                      !is_too_old(due, stage.now());
  if (!surely && !is_stored(stage, entry)) return;
  stage.staged.batch.erase(entry);
  stage.staged.count(stage.live, expiry_entries, -1, 0);
}

void put_never(const WriteStage& stage, NeverReason reason) {
  stage.staged.batch.put(ExpiryIndex::never_key(stage.table.id, reason, stage.item.key), {});
  stage.staged.count(stage.live, never_counter(reason), 1, 0);
  stage.item.never = reason;
}

// `surely` is false if the entry may be missing: the item became too old after it was written, or the
// backfill has not reached the item yet.
void erase_never(const WriteStage& stage, NeverReason reason, bool surely) {
  const std::string entry = ExpiryIndex::never_key(stage.table.id, reason, stage.item.key);
  if (!surely && !is_stored(stage, entry)) return;
  stage.staged.batch.erase(entry);
  stage.staged.count(stage.live, never_counter(reason), -1, 0);
}

}  // namespace

TtlValue old_ttl(const ItemChange& item, const Table& table) {
  return item.entry_due ? TtlValue{.due = item.entry_due, .never = std::nullopt}
                        : ttl_of_stored(table, item.old_item.bytes());
}

void stage_expiry(const WriteStage& stage) {
  const Table& table = stage.table;
  const ItemChange& item = stage.item;
  // In a global table, an item that expires in another region has no entry here.
  const bool was_ours = expires_here(table, item.version.origin);
  const bool is_ours = !item.arrives || expires_here(table, item.arrives->origin);
  TtlValue before, after;
  if (item.exists && was_ours) before = old_ttl(item, table);
  if (item.puts() && is_ours) after = ttl_of_stored(table, item.new_item.bytes());
  if (before == after) return;
  const Instant now = stage.now();
  if (before.due) erase_due(stage, *before.due);
  if (const auto never = before.never_at(now))
    erase_never(stage, *never, before.never && table.ttl->lists_never && !table.ttl->backfilling);
  if (const auto never = after.never_at(now)) return put_never(stage, *never);
  if (after.due) put_due(stage, *after.due);
}

// Erases the expiry entry by which the reaper found the item. Either the entry is stale, or the item has
// become too old to expire and is now listed as never expiring.
void stage_forgotten_expiry(const WriteStage& stage) {
  const Table& table = stage.table;
  const ItemChange& item = stage.item;
  erase_due(stage, *item.entry_due);
  if (!item.exists || !expires_here(table, item.version.origin)) return;
  const TtlValue ttl = ttl_of_stored(table, item.old_item.bytes());
  if (ttl.due != item.entry_due || !is_too_old(*ttl.due, stage.now())) return;
  if (!is_stored(stage, ExpiryIndex::never_key(table.id, NeverReason::too_old, item.key)))
    put_never(stage, NeverReason::too_old);
}

void stage_missing_entries(const WriteStage& stage) {
  const Table& table = stage.table;
  const ItemChange& item = stage.item;
  for (const Index& index : table.indexes) {
    if (index.state != Index::State::creating) continue;
    const std::string entry = index_entry_key(table, index, item.old_item.item());
    if (entry.empty()) continue;
    const std::string stored_key = item_key(table.id, index.id, entry);
    if (is_stored(stage, stored_key)) continue;
    stage.staged.batch.put(stored_key, item.key);
    stage.staged.count(stage.live, index.id, 1,
                       static_cast<std::int64_t>(projected_size(table, index, item.old_item.item())));
  }
  if (!table.ttl || !expires_here(table, item.version.origin)) return;
  const TtlValue ttl = ttl_of_stored(table, item.old_item.bytes());
  if (ttl.due) {
    if (is_stored(stage, stage.expiry.entry_key(table.id, *ttl.due, item.key))) return;
    if (!is_too_old(*ttl.due, stage.now())) {
      if (table.ttl->backfilling) put_due(stage, *ttl.due);
      return;
    }
  }
  const auto never = ttl.never_at(stage.now());
  if (!never || is_stored(stage, ExpiryIndex::never_key(table.id, *never, item.key))) return;
  put_never(stage, *never);
}

// --- records and replicas

Cause cause_of(const ItemChange& item, const Table& table, Cause cause) {
  return expires_here(table, item.version.origin) ? cause : Cause::user;
}

void stage_record(const WriteStage& stage) {
  const Table& table = stage.table;
  ItemChange& item = stage.item;
  const bool puts = item.puts();
  const StoredItem& with_keys = puts ? item.new_item : item.old_item;
  item.record = stage.staged.records.size();
  const Stream& stream = *table.stream;
  stage.staged.records.push_back(
      {stream.id, stream.open_shard(partition_hash(item.key)).number,
       encode_record(cause_of(item, table, stage.cause), stream.view, key_attributes(table.keys, with_keys),
                     item.exists ? item.old_item.bytes() : std::string_view{},
                     puts ? item.new_item.bytes() : std::string_view{})});
}

void stage_replicas(const WriteStage& stage) {
  const Table& table = stage.table;
  const ItemChange& item = stage.item;
  if (!item.changes() && !item.arrives) return;
  Batch& batch = stage.staged.batch;
  // The version number is assigned by the commit. Until then the batch contains only the key of the version,
  // so that snapshots save an image of that key.
  batch.put(write_version_key(table.id, item.key), {});
  if (item.version.gone()) batch.erase(tombstone_key(table.id, item.version.tombstone, item.key));
  ReplicaWrite& write = stage.staged.replica_writes.emplace_back();
  write.table = table.id;
  write.key = item.key;
  write.record = item.record;
  const bool gone = item.arrives ? item.arrives->gone() : item.write == ItemChange::Write::remove;
  if (!gone) write.item = item.new_item.bytes();
  if (item.arrives) {
    write.version = item.arrives->number;
    write.origin = item.arrives->origin;
    return;
  }
  write.origin = table.id;
  if (stage.cause == Cause::time_to_live) {
    write.version = WriteVersion::of_expiry(item.version.number);
    if (!expires_here(table, item.version.origin)) return;  // the other region notifies the replicas
  }
  for (const Replica& replica : table.replicas) write.to.push_back(replica.table);
}

}  // namespace mayfly::engine
