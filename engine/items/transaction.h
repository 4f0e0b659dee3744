// A transaction that locks, reads, stages and commits. Every write to an item goes through this class.
//
//   Transaction transaction(path, Cause::user);
//   auto slot = transaction.add(table, key);
//   if (!transaction.lock()) return error::table_not_found(...);   // the table has been dropped
//   if (const StoredItem* old = transaction.old_item(slot)) ...    // under the item's lock
//   transaction.put(slot, new_item);
//   transaction.commit();
//
// commit() writes ONE batch {items, index entries, expiry entries, change records, counters} and returns when
// readers of the tables and of the stream can see the batch. Destroying a transaction that was not committed
// changes nothing.
//
// A user's transaction never sees an item that has fired by its TTL (departed.h): lock() deletes such an item
// first, as the reaper would. If the TTL of an item has already passed when the item is written, commit()
// deletes the item in a second batch.
//
// In a global table, a write also gets a version and is queued for the replicas (replica_log.h). In a global
// table with strong consistency, the same batch writes to all replicas. A Transaction also applies the writes
// that arrive from replicas, unless this region has already made a later write.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/items/item_change.h"
#include "engine/tables/catalog.h"
#include "engine/tables/change_log.h"
#include "engine/tables/replica_log.h"
#include "engine/values/attribute_value.h"
#include "engine/values/stored_item.h"

namespace mayfly::engine {

struct WritePath;

class Transaction {
 public:
  using Slot = std::size_t;

  using IndexEffect = engine::IndexEffect;

  Transaction(const WritePath& path, Cause cause);
  // Constructs a transaction for writes that another region made. It does not expire the items it reads.
  struct Replicated {};
  Transaction(const WritePath& path, Replicated replicated);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // Adds an item to the transaction. `key` is the item's encoded table key (key_codec.h).
  // Requires: lock() has not been called, and the item has not been added before.
  Slot add(std::shared_ptr<LiveTable> table, std::string key);
  // Makes the request idempotent by its token. The use of the token is committed with the writes, even if
  // there are no writes. `digest` identifies the content of the request.
  // Requires: lock() has not been called.
  void use_token(const Scope& scope, std::string_view token, std::string digest);
  // Locks tables (shared), items and the token, in key order, and reads the items. Returns false if a table
  // was dropped or if meets_another_region() is true.
  [[nodiscard]] bool lock();
  // Whether another region is writing to one of the items, in a table with strong consistency.
  [[nodiscard]] bool meets_another_region() const;

  [[nodiscard]] const Table& table(Slot slot) const;          // valid while the table's lock is held
  [[nodiscard]] const StoredItem* old_item(Slot slot) const;  // nullptr: it does not exist or has expired
  // The digest with which the token was used in the last ten minutes; nullopt if it was not used. If there is
  // a digest, the caller must not commit.
  // Requires: lock() returned true.
  [[nodiscard]] const std::optional<std::string>& digest_before() const;
  void put(Slot slot, Item item);
  void put_stored(Slot slot, StoredItem item);
  void remove(Slot slot);
  // Frees the decoded attributes of the old and the new item, unless commit() needs them. The attributes can
  // take forty times the item's bytes, and a transaction can have a hundred items. Invalidates references to
  // the attributes.
  void free_trees(Slot slot);

  // For the reaper: removes the item if it is expired now and its TTL is still `due`, the instant in its
  // entry in the expiry index. Otherwise erases that entry, unless it is the item's current entry and is not
  // due yet. Returns true if the item will be removed.
  bool remove_expired(Slot slot, Instant due);
  // For the backfill: leaves the item as it is and adds its missing entries in indexes that are being created
  // and in the expiry index.
  void fill_entries(Slot slot);

  // For replication: applies a write that another region made with this version, unless this region has made
  // a later write. `item` is encoded by item_codec; it is empty if the item was deleted.
  void replicate(Slot slot, const WriteVersion& version, std::string_view item);
  // Erases the departure with this storage key as part of the commit, because its write has arrived.
  void arrived(std::string_view departure_key);
  // Deletes the item's tombstone, which has this number and is no longer needed.
  void forget_tombstone(Slot slot, Sequence tombstone);

  // Commits the writes. In a Hurry (hurry.h), throws NotNow without writing anything if their cost exceeds
  // the budget.
  void commit();
  // Requires: commit() has returned.
  [[nodiscard]] const std::vector<IndexEffect>& index_effects(Slot slot) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly::engine
