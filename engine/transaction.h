// Lock, read, stage, commit: every item write there is.
//
//   Transaction transaction(database, Cause::user);
//   auto slot = transaction.add(table, key);
//   if (!transaction.lock()) return error::table_not_found(...);   // a table was dropped meanwhile
//   if (const StoredItem* old = transaction.old_item(slot)) ...    // under the item's lock
//   transaction.put(slot, new_item);
//   transaction.commit();
//
// Commit writes ONE batch {items, index entries, expiry entries, change records, counters} and returns
// when it can be read, also in the stream. Destroying a transaction that was not committed changes nothing.
//
// What has fired by its TTL (departed.h) is met by no user's transaction: lock() deletes it first, as the
// reaper would, and an item that is written when it is due already is deleted by the commit, in a batch after
// its own.
//
// In a global table a write also gets its version, and departs for the replicas (replica_log.h); of one with
// strong consistency, the same is written to all of them in the same batch. What arrives from a replica is
// written by a Transaction, too, if no later write has been there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/attribute_value.h"
#include "engine/catalog.h"
#include "engine/change_log.h"
#include "engine/cursor.h"
#include "engine/replica_log.h"

namespace mayfly::engine {

class Database;

class Transaction {
 public:
  using Slot = std::size_t;

  // An index entry of the item whose projected content a commit changed, for consumed capacity.
  struct IndexEffect {
    IndexId index;
    std::size_t old_entry_bytes;  // projected size before; 0: no entry
    std::size_t new_entry_bytes;
    bool key_changed;  // the old entry was deleted and another inserted
  };

  Transaction(Database& database, Cause cause);
  // Of what was written elsewhere: nothing is expired that it meets.
  struct Replicated {};
  Transaction(Database& database, Replicated replicated);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // Names an item; `key` is key_codec's, of the table's key.
  // Requires: lock() was not called yet, and the item was not named before.
  Slot add(std::shared_ptr<LiveTable> table, std::string key);
  // Makes the request idempotent by its token. The token's use is committed with the writes, also if there
  // are none. `digest` says what is asked for. Requires: lock() was not called yet.
  void use_token(const Scope& scope, std::string_view token, std::string digest);
  // Locks tables (shared), items and the token, in key order, and reads the items. False: a table was
  // dropped, or `meets_another_region`.
  [[nodiscard]] bool lock();
  // An item with strong consistency is being written to in another region.
  [[nodiscard]] bool meets_another_region() const;

  [[nodiscard]] const Table& table(Slot slot) const;          // as it is while we hold its lock
  [[nodiscard]] const StoredItem* old_item(Slot slot) const;  // nullptr: no such item, or it has just expired
  // The digest that the token was used with in the last ten minutes. Whoever finds one does not commit.
  // Requires: lock() returned true.
  [[nodiscard]] const std::optional<std::string>& digest_before() const;
  void put(Slot slot, Item item);
  // The same of an item whose stored bytes are at hand; of the tree, `item` has the key attributes at least.
  void put(Slot slot, Item item, std::string stored);
  // The same of an item that is at hand as it is stored.
  void put_stored(Slot slot, const StoredItem& item);
  void remove(Slot slot);
  // Frees the trees of the item, old and new, as far as commit() does not need them: a tree can take forty
  // times the item's bytes, and a transaction has a hundred items. References to them end.
  void free_trees(Slot slot);

  // For the reaper: removes the item if it is expired now and was to expire at `due`, as its entry in the
  // expiry index says; else drops that entry, unless it is the item's own and its time is still to come.
  // True: the item will go.
  bool remove_expired(Slot slot, Instant due);
  // For the backfill: the item stays as it is, and gets the entries it lacks in indexes that are being
  // created and in the expiry index.
  void fill_entries(Slot slot);

  // For replication: the item becomes what it was made elsewhere, by a write of this version, unless there
  // was a later one here. `item`: item_codec's bytes; empty: it was deleted.
  void replicate(Slot slot, const WriteVersion& version, std::string_view item);
  // The departure, a key of storage, goes with the commit: it has arrived.
  void arrived(std::string_view departure_key);
  // The tombstone of that number is needed no more.
  void forget_tombstone(Slot slot, Sequence tombstone);

  // A thread in a hurry gives way here for the last time.
  void commit();
  // Requires: commit() returned.
  [[nodiscard]] const std::vector<IndexEffect>& index_effects(Slot slot) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly::engine
