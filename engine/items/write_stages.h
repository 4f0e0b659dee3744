// The stages of a write: one function for each effect that the commit of an item has.
//
// A stage reads the item's change. If it must know which entries exist, it also reads storage. It adds its
// effect to the staged write, and records in the change what it has staged, for the caller. Stages lock
// nothing and commit nothing.
#pragma once

#include <vector>

#include "engine/base/clock.h"
#include "engine/items/item_change.h"
#include "engine/schema/table.h"
#include "engine/storage/storage.h"
#include "engine/tables/catalog.h"
#include "engine/tables/change_log.h"
#include "engine/tables/committer.h"
#include "engine/time/account.h"
#include "engine/time/expiry_index.h"
#include "engine/time/timer_queue.h"

namespace mayfly::engine {

struct WriteStage {
  const Storage& storage;
  const ExpiryIndex& expiry;
  const Table& table;
  const LiveTable& live;
  Cause cause;  // the transaction's cause
  ItemChange& item;
  StagedWrite& staged;
  std::vector<TimerQueue::Timer>& timers;  // to be set after the commit

  [[nodiscard]] Instant now() const { return live.account().clock().now(); }
};

// All stages require that the item's lock is held.
void stage_item(const WriteStage& stage);     // the item and the table's counter
void stage_indexes(const WriteStage& stage);  // entries of secondary indexes
void stage_expiry(const WriteStage& stage);   // the entry in the expiry index
void stage_record(const WriteStage& stage);   // the stream record
void stage_version(const WriteStage& stage);  // the old version, for later reads of the past
// Stages the item's version in a global table, and a write in flight ("departure") to every other replica.
void stage_replicas(const WriteStage& stage);

// For an item that stays as it is: erases its stale expiry entry, or adds the entries that it lacks.
void stage_forgotten_expiry(const WriteStage& stage);
void stage_missing_entries(const WriteStage& stage);

// The cause of the item's change, for records and listeners. TTL is the cause only in the region where the
// item expires. In other regions the deletion counts as a replicated write. This is true even if a
// transaction there reads the fired item and deletes it before the replicated deletion arrives.
Cause cause_of(const ItemChange& item, const Table& table, Cause cause);

// Returns the TTL that the item had before the change. The item's expiry entry contains this TTL.
TtlValue old_ttl(const ItemChange& item, const Table& table);

}  // namespace mayfly::engine
