// The catalog finds tables by account, region and name. It also contains the streams, including disabled
// streams that can still be read.
//
// A LiveTable represents a table from its creation to its deletion. Its description is immutable, and a
// change replaces the description as a whole while no write is in progress: writers hold the table's gate
// shared, and a change holds it exclusively. So a write sees one set of indexes from its first read to its
// commit, even if the table changes.
//
// A change is written to storage before it becomes visible in memory. A StorageFault leaves the catalog
// unchanged.
//
//   auto table = catalog.create(description, tables_max);   // nullptr: name taken, or too many tables
//   auto found = catalog.find({"000000000000", "us-east-1"}, "carts");
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/expected.h"
#include "engine/base/mutex.h"
#include "engine/base/watermark.h"
#include "engine/schema/shards.h"
#include "engine/schema/stream_directory.h"
#include "engine/schema/table.h"
#include "engine/storage/documents.h"
#include "engine/storage/storage.h"
#include "engine/tables/lock_table.h"
#include "engine/tables/points.h"
#include "engine/time/expiry_index.h"
#include "engine/time/expiry_stats.h"
#include "engine/time/ttl_suspects.h"

namespace mayfly::engine {

class Account;
class Accounts;
class Batch;
class BeforeImages;
class Random;

// The storage key of the table id and the stream id that are assigned next. Its value is table:u32le
// stream:u32le.
inline constexpr std::string_view next_ids_key = "Mnext-ids";
inline constexpr std::size_t next_ids_bytes = sizeof(TableId) + sizeof(StreamId);

// The counts that DescribeTable returns. They are exact, because they are committed together with the writes
// that they count.
struct Counter {
  std::atomic<std::int64_t> items{0};
  std::atomic<std::int64_t> bytes{0};
};

inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

class LiveTable {
 public:
  // `storage` counts the table's memory.
  LiveTable(std::shared_ptr<const Table> table, Account& account, const Storage& storage);

  [[nodiscard]] TableId id() const { return id_; }
  [[nodiscard]] Account& account() const { return account_; }
  [[nodiscard]] ExpiryStats& expiry_stats() const { return expiry_stats_; }
  [[nodiscard]] TtlSuspects& ttl_suspects() const { return ttl_suspects_; }
  [[nodiscard]] std::shared_ptr<const Table> description() const;
  // A number that changes with each description. A caller that uses a description to read items compares the
  // number before and after the read.
  [[nodiscard]] std::uint64_t described() const { return described_.load(std::memory_order_acquire); }
  [[nodiscard]] bool dropped() const { return dropped_.load(); }
  // Whether items can expire automatically: the table has TTL, and its mode is not manual.
  [[nodiscard]] bool expires() const { return expires_.load(std::memory_order_acquire); }
  // Whether everything that the caller has read until now from the table (index 0) or from one of its indexes
  // was complete. Returns false if the table or the index is dropped, because its items or entries may have
  // been erased before the read. Waits while a thread is erasing them.
  [[nodiscard]] bool still_has(IndexId index) const;
  // How much history of its items the table keeps (history.h):
  // - unwanted: nothing
  // - points: the state of each item at the latest point
  // - instants: every state of each item, so that the table can be restored to any instant
  // Requires, for past() and latest_point(): a transaction holds the table.
  enum class Past : std::uint8_t { unwanted, points, instants };
  [[nodiscard]] Past past() const { return past_.load(std::memory_order_relaxed); }
  [[nodiscard]] VersionNumber latest_point() const { return latest_point_.load(std::memory_order_relaxed); }
  // Whether a snapshot contains the table. If so, images of the table's items are saved before the items
  // change (Catalog::keep_images).
  // Requires: a transaction holds the table.
  [[nodiscard]] bool in_snapshot() const { return kept_.load(); }
  // The number and the bytes of items in the table (index 0) or of entries in one of its indexes.
  [[nodiscard]] Counter& counter(IndexId index) const;
  // The number and the bytes of old versions of items. A table that never had old versions has no counter for
  // them.
  [[nodiscard]] VersionCount version_count() const;
  // The number of items that have a TTL but never expire, by reason.
  [[nodiscard]] NeverCounts never_expiring_items() const;
  template <class Visit>
  void each_counter(Visit visit) const {
    const Lock lock(mutex_);
    for (const auto& [index, counter] : counters_) visit(index, counter);
  }

 private:
  friend class Catalog;
  friend class LockedItems;

  void describe(std::shared_ptr<const Table> description);
  void forget_never_expiring();

  const TableId id_;
  Account& account_;
  mutable ExpiryStats expiry_stats_;
  mutable TtlSuspects ttl_suspects_;
  mutable Gate gate_;  // lock order: lock_table.h
  // These five members change only while the gate is held exclusively.
  std::atomic<bool> dropped_{false};
  std::atomic<bool> erasing_{false};  // data that the description still lists is being erased
  std::atomic<bool> kept_{false};     // a snapshot contains the table
  std::atomic<Past> past_{Past::unwanted};
  std::atomic<VersionNumber> latest_point_{0};
  mutable Mutex mutex_;  // held for a few instructions
  // These two members also change only while the gate is held exclusively.
  std::shared_ptr<const Table> description_ GUARDED_BY(mutex_);
  Storage::Holding held_ GUARDED_BY(mutex_);
  std::atomic<bool> expires_;  // derived from the description
  std::atomic<std::uint64_t> described_{0};
  mutable std::map<IndexId, Counter> counters_ GUARDED_BY(mutex_);
};

struct Scope {
  std::string account;  // twelve digits
  std::string region;
  friend auto operator<=>(const Scope&, const Scope&) = default;
};

class Catalog {
 public:
  // Loads the tables and streams from storage. A new stream starts with `stream_shards` shards.
  Catalog(Storage& storage, Accounts& accounts, BeforeImages& images, Points& points,
          const Watermark& watermark, Random& random, std::uint32_t stream_shards);

  std::shared_ptr<LiveTable> create(Table table, std::size_t tables_max);
  [[nodiscard]] std::shared_ptr<LiveTable> find(const Scope& scope, std::string_view name) const;
  [[nodiscard]] std::shared_ptr<LiveTable> find(TableId table) const;
  [[nodiscard]] std::vector<std::string> names(const Scope& scope, std::string_view start_after,
                                               std::size_t limit) const;
  [[nodiscard]] std::vector<std::shared_ptr<LiveTable>> tables() const;
  [[nodiscard]] std::vector<std::shared_ptr<LiveTable>> tables(std::string_view account) const;  // by id

  // Replaces the table's description with a copy that `change` has edited, while no thread writes to the
  // table. Gives ids to new indexes and a new stream, marks what has to be backfilled, erases the entries of
  // removed indexes and of a removed TTL, and closes a removed stream. Returns nullptr if the table was
  // dropped.
  std::shared_ptr<const Table> update(LiveTable& table, const std::function<void(Table&)>& change);
  // Does the same for a table and its replicas, atomically, even if the process crashes.
  //
  // `change` gets copies of the descriptions, ordered by id. It edits them, adds the tables to create
  // (without an id) and removes the tables to drop. It returns false to change nothing.
  //
  // The resulting tables are replicas of each other, except the tables whose `replicas` were cleared by
  // `change`. Each of these tables becomes independent and keeps all its items. A new table gets its own UUID
  // and, unless the tables have strong consistency, is filled with a copy of the other tables' items. The
  // part of a dropped table's data that points or snapshots need stays in place.
  using ChangeTogether = std::function<bool(std::vector<Table>& tables)>;
  struct Together {
    std::vector<std::shared_ptr<LiveTable>> tables;    // the resulting tables, sorted by id
    std::vector<std::shared_ptr<const Table>> before;  // their old descriptions; nullptr if new
    std::vector<std::shared_ptr<LiveTable>> dropped;
    std::vector<Point> points;  // points of the last states of dropped tables
  };
  // Which of the dropped tables get a point of their last state (points.h).
  enum class Leaving : std::uint8_t { nothing, point, point_if_recoverable };
  // Returns a document about a point of a dropped table's last state. The document is written together with
  // the point. If the function is empty, no document is written.
  using Describe = std::function<Document(const Point& point)>;
  enum class Refusal : std::uint8_t { dropped, unchanged, name_taken, too_many };
  Expected<Together, Refusal> update_together(LiveTable& table, const ChangeTogether& change,
                                              std::size_t tables_max, Leaving leaving,
                                              const Describe& describe);

  // --- earlier states of tables (history.h)
  // Calls `look` while no thread writes to the table and nothing in the catalog changes. Returns false
  // without calling `look` if the table was dropped.
  bool hold(LiveTable& table, const std::function<void()>& look);
  // Calls `look` while nothing in the catalog changes.
  void hold_changes(const std::function<void()>& look);
  // Returns a point of the table's current state. Requires: no thread writes to the table.
  [[nodiscard]] Point point_of(const LiveTable& table) const;
  // Sets past() and latest_point() according to the table's description and its points.
  // Requires: no thread writes to the table, or no other thread knows it yet.
  void settle_past(LiveTable& table) const;

  // --- a whole account (snapshots.h)
  // Calls `look` while no thread writes to a table of the account, changes such a table, or creates a table
  // in any account.
  using Tables = std::vector<std::shared_ptr<LiveTable>>;
  void hold_still(std::string_view account, const std::function<void(const Tables&)>& look);
  // The tables and streams that an account has after replace().
  struct Replacement {
    std::vector<Table> tables;
    std::vector<Stream> streams;
  };
  // Replaces an account's tables and streams while no thread writes to them. `stage` returns the new tables
  // and streams, and adds the changes to data and counters to the batch that changes the descriptions.
  // `settle` is called after the batch is written and before any thread sees the new tables.
  using StageReplacement = std::function<Replacement(const Tables& old_tables,
                                                     const std::vector<Stream>& old_streams, Batch& batch)>;
  void replace(Account& account, const StageReplacement& stage, const std::function<void()>& settle);
  // Sets whether a snapshot of the account contains the table. If so, images of the table's items are saved
  // from now on, before the items change.
  // Requires: no thread writes to the table.
  static void keep_images(LiveTable& table, bool kept) { table.kept_ = kept; }

  [[nodiscard]] std::vector<Stream> streams(const Scope& scope) const;
  [[nodiscard]] std::vector<Stream> streams(std::string_view account) const;
  [[nodiscard]] bool has_streams(std::string_view account) const;
  [[nodiscard]] std::vector<Stream> streams() const;
  [[nodiscard]] std::optional<Stream> find_stream(const Scope& scope, std::string_view table_name,
                                                  std::string_view label) const;
  [[nodiscard]] std::optional<Stream> find_stream(StreamId stream) const;
  [[nodiscard]] std::shared_ptr<const Stream> share_stream(StreamId stream) const;
  [[nodiscard]] std::optional<Shard> find_shard(StreamId stream, ShardNumber shard) const;
  // Closes an open shard of the table's stream, or all of its open shards if `shard` is nullopt, and opens
  // their children. No thread writes to the table during the call, and all shards change in one new
  // description.
  Expected<std::vector<Shard>, ReshardRefusal> reshard(LiveTable& table, std::optional<ShardNumber> shard,
                                                       Resharding how);
  // Adds the trimmed shards to the batch, writes the batch, and then makes the change visible to readers.
  // Does nothing if the account is no longer in `timeline`, the timeline in which the shards were examined.
  // Several threads can trim a stream at the same time.
  // Requires: `trimmed` is ordered by shard number.
  struct TrimmedShard {
    ShardNumber shard;
    std::uint64_t oldest_sequence;  // earlier records are erased
    bool forgotten;                 // the shard itself is removed
  };
  void trim_stream(StreamId stream, const std::vector<TrimmedShard>& trimmed, Batch& batch,
                   std::uint64_t timeline);
  void forget_stream(StreamId stream, Batch& batch, std::uint64_t timeline);
  // Erases the items, entries, old versions and counters of a table.
  // Requires: the table is not in the catalog, in a snapshot or in a point.
  void erase_data(Batch& batch, TableId table) const;
  // Erases the part of a table's data that no point needs.
  // Requires: the table is not in the catalog or in a snapshot.
  void erase_unneeded(Batch& batch, TableId table) const;

 private:
  struct NameLess {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a < b; }
  };
  using Names = std::map<std::string, std::shared_ptr<LiveTable>, NameLess>;

  [[nodiscard]] std::size_t count(const Scope& scope) const;
  void load() REQUIRES(changes_, mutex_);             // called by the constructor, without the locks
  std::shared_ptr<LiveTable> make_live(Table table);  // reads the table's counters from storage

  // Changes that are staged in a batch, to be made in memory once the batch is written (see catalog.cc).
  struct Making;
  struct Update;
  struct Drop;
  struct NextIds {
    TableId table;
    StreamId stream;
  };
  Making stage_making(Table table, Batch& batch, NextIds& next);
  std::shared_ptr<LiveTable> settle(Making& making);
  Update stage_update(LiveTable& live, Table table, Batch& batch, NextIds& next);
  void settle(std::vector<Update>& updates);
  void settle_described(Update& update);
  void stage_leaving(const Table& old, Table& table, Batch& batch) const;
  [[nodiscard]] Table edited(const LiveTable& live) const;  // returns a copy to edit
  Drop stage_drop(LiveTable& live, Batch& batch, Leaving leaving, PointId staged);
  void settle(const Drop& drop);
  [[nodiscard]] std::vector<std::shared_ptr<LiveTable>> together_with(const LiveTable& table) const;  // by id
  Expected<Together, Refusal> change_held(const std::vector<std::shared_ptr<LiveTable>>& held,
                                          const ChangeTogether& change, std::size_t tables_max,
                                          Leaving leaving, const Describe& describe) REQUIRES(changes_);
  Stream make_stream(const Table& table, StreamView view, StreamId id) const;
  void erase_all_but_past(Batch& batch, TableId table, VersionCount count) const;
  void leave_past(TableId table) const;  // for a dropped table that has points

  Storage& storage_;
  Accounts& accounts_;
  BeforeImages& images_;
  Points& points_;
  const Watermark& watermark_;
  Random& random_;
  const std::uint32_t stream_shards_;
  Mutex changes_;  // serializes changes to the catalog; taken after a table's gate
  TableId next_table_ GUARDED_BY(changes_) = 1;
  StreamId next_stream_ GUARDED_BY(changes_) = 1;
  mutable SharedMutex mutex_;  // held for a few instructions
  std::map<Scope, Names> tables_ GUARDED_BY(mutex_);
  std::map<TableId, std::shared_ptr<LiveTable>> by_id_ GUARDED_BY(mutex_);
  StreamDirectory streams_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
