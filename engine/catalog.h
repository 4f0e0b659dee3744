// Name -> table, per account and region; and the streams that were ever enabled and are still readable.
//
// A LiveTable is one table from its creation to its deletion. Its description is immutable and swapped
// whole, while no write is under way (writers hold the table's gate shared, a change holds it alone), so
// that a write sees one set of indexes from its first read to its commit.
//
// A change is written to storage before it is seen in memory: a StorageFault leaves the catalog as it was.
//
//   auto table = catalog.create(description, tables_max);   // nullptr: taken, or there are as many
//   auto found = catalog.find({"000000000000", "us-east-1"}, "carts");
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/clock.h"
#include "engine/documents.h"
#include "engine/expected.h"
#include "engine/expiry_index.h"
#include "engine/expiry_stats.h"
#include "engine/lock_table.h"
#include "engine/mutex.h"
#include "engine/points.h"
#include "engine/shards.h"
#include "engine/storage.h"
#include "engine/stream_directory.h"
#include "engine/table.h"
#include "engine/ttl_suspects.h"
#include "engine/watermark.h"

namespace mayfly::engine {

class Account;
class Accounts;
class Batch;
class BeforeImages;
class Random;

// In storage, table:u32le stream:u32le: the ids that are given next.
inline constexpr std::string_view next_ids_key = "Mnext-ids";
inline constexpr std::size_t next_ids_bytes = sizeof(TableId) + sizeof(StreamId);

// What DescribeTable counts. Counts are exact, and committed with the writes that they count.
struct Counter {
  std::atomic<std::int64_t> items{0};
  std::atomic<std::int64_t> bytes{0};
};

class LiveTable {
 public:
  // `storage` counts its memory.
  LiveTable(std::shared_ptr<const Table> table, Account& account, const Storage& storage);

  [[nodiscard]] TableId id() const { return id_; }
  [[nodiscard]] Account& account() const { return account_; }
  [[nodiscard]] ExpiryStats& expiry_stats() const { return expiry_stats_; }
  [[nodiscard]] TtlSuspects& ttl_suspects() const { return ttl_suspects_; }
  [[nodiscard]] std::shared_ptr<const Table> description() const;
  // Another number with each description: who reads items by one looks that it is the same behind it.
  [[nodiscard]] std::uint64_t described() const { return described_.load(std::memory_order_acquire); }
  [[nodiscard]] bool dropped() const { return dropped_.load(); }
  // Whether an item of it may go by itself: it has TTL, and a mode that is not manual.
  [[nodiscard]] bool expires() const { return expires_.load(std::memory_order_acquire); }
  // Whether what was read of the table (index 0) or of one of its indexes until now was all there. False: it
  // is dropped, and its items or entries may have been gone before. Waits for whoever is just about that.
  [[nodiscard]] bool still_has(IndexId index) const;
  // Who wants to know what the table's items were (history.h): nobody; points, of each item what it was when
  // the latest of them was taken; or whoever goes back to an instant, all that it ever was.
  // Requires of both: a transaction holds the table.
  enum class Past : std::uint8_t { unwanted, points, instants };
  [[nodiscard]] Past past() const { return past_.load(std::memory_order_relaxed); }
  [[nodiscard]] VersionNumber latest_point() const { return latest_point_.load(std::memory_order_relaxed); }
  // Items and bytes of the table (index 0) or of one of its indexes.
  [[nodiscard]] Counter& counter(IndexId index) const;
  // Of its items, index 0's; a table that never had any has no counter of them.
  [[nodiscard]] VersionCount version_count() const;
  // Items that have a TTL and never expire.
  [[nodiscard]] NeverCounts never_expiring_items() const;
  template <class Visit>
  void each_counter(Visit visit) const {
    const Lock lock(mutex_);
    for (const auto& [index, counter] : counters_) visit(index, counter);
  }

 private:
  friend class Catalog;
  friend class Transaction;

  void describe(std::shared_ptr<const Table> description);
  void forget_never_expiring();

  const TableId id_;
  Account& account_;
  mutable ExpiryStats expiry_stats_;
  mutable TtlSuspects ttl_suspects_;
  mutable Gate gate_;                       // lock_table.h has the order
  std::atomic<bool> dropped_{false};        // changes while the gate is held alone
  std::atomic<bool> erasing_{false};        // what the description still has; while the gate is held alone
  std::atomic<bool> kept_{false};           // a snapshot has the table; changes while the gate is held alone
  std::atomic<Past> past_{Past::unwanted};  // changes while the gate is held alone
  std::atomic<VersionNumber> latest_point_{0};
  mutable Mutex mutex_;  // for a few instructions; the two below change while the gate is held alone
  std::shared_ptr<const Table> description_ GUARDED_BY(mutex_);
  Storage::Holding held_ GUARDED_BY(mutex_);
  std::atomic<bool> expires_;  // follows from the description
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
  // Loads what storage holds. A new stream begins with `stream_shards` shards.
  Catalog(Storage& storage, Accounts& accounts, BeforeImages& images, Points& points,
          const Watermark& watermark, Random& random, std::uint32_t stream_shards);

  std::shared_ptr<LiveTable> create(Table table, std::size_t tables_max);
  [[nodiscard]] std::shared_ptr<LiveTable> find(const Scope& scope, std::string_view name) const;
  [[nodiscard]] std::shared_ptr<LiveTable> find(TableId table) const;
  [[nodiscard]] std::vector<std::string> names(const Scope& scope, std::string_view start_after,
                                               std::size_t limit) const;
  [[nodiscard]] std::vector<std::shared_ptr<LiveTable>> tables() const;
  [[nodiscard]] std::vector<std::shared_ptr<LiveTable>> tables(std::string_view account) const;  // by id

  // Edits a copy of the description while nobody writes to the table. Gives new indexes and a new stream
  // their ids, marks what has to be backfilled, erases what removed indexes and a removed TTL left, closes a
  // removed stream. Nothing: the table was dropped.
  std::shared_ptr<const Table> update(LiveTable& table, const std::function<void(Table&)>& change);
  // The same of a table and its replicas at once: all of it, or nothing, after a crash too. `change` is given
  // copies of the descriptions, by id; it edits them, adds those that are to be made (without an id) and
  // takes away those that are to be dropped. The tables that are there then are replicas of each other, but
  // for those whose `replicas` it clears: each of these is alone from now on, with all that it has. A new one
  // has a UUID of its own, and is a copy of the others' items, unless they have strong consistency. False: it
  // changes nothing after all. What points and snapshots need of what is dropped stays where it lies.
  using ChangeTogether = std::function<bool(std::vector<Table>& tables)>;
  struct Together {
    std::vector<std::shared_ptr<LiveTable>> tables;    // that are there now, by id
    std::vector<std::shared_ptr<const Table>> before;  // of each, what it was; nothing: it is new
    std::vector<std::shared_ptr<LiveTable>> dropped;
    std::vector<Point> points;  // that those left
  };
  // Which of the tables that are dropped leave a point of what they were in the end (points.h).
  enum class Leaving : std::uint8_t { nothing, point, point_if_recoverable };
  // What is to be known of those points, written with them; nothing: nothing is.
  using Describe = std::function<Document(const Point& point)>;
  enum class Refusal : std::uint8_t { dropped, unchanged, name_taken, too_many };
  Expected<Together, Refusal> update_together(LiveTable& table, const ChangeTogether& change,
                                              std::size_t tables_max, Leaving leaving,
                                              const Describe& describe);

  // --- what tables were (history.h)
  // Calls `look` while nobody writes to the table, and nothing in the catalog changes. False: it is dropped.
  bool hold(LiveTable& table, const std::function<void()>& look);
  // Calls `look` while nothing in the catalog changes.
  void hold_changes(const std::function<void()>& look);
  // The table as it is now. Requires: nobody writes to it.
  [[nodiscard]] Point point_of(const LiveTable& table) const;
  // Says to writers who wants to know what the table's items were, by its description and its points.
  // Requires: nobody writes to it, or nobody knows it yet.
  void settle_past(LiveTable& table) const;

  // --- a whole account (snapshots.h)
  // Calls `look` while nobody writes to a table of the account, changes one, or makes a table in any account.
  using Tables = std::vector<std::shared_ptr<LiveTable>>;
  void hold_still(std::string_view account, const std::function<void(const Tables&)>& look);
  // What a snapshot has, and its account from now on instead of what it had.
  struct Replacement {
    std::vector<Table> tables;
    std::vector<Stream> streams;
  };
  // Replaces an account's tables and streams while nobody writes to them. `stage` returns what the account
  // has from now on, and adds the changes of the data and of the counters to the batch that changes the
  // descriptions. `settle` is called when the batch is written, before anybody sees the new tables.
  using StageReplacement = std::function<Replacement(const Tables& old_tables,
                                                     const std::vector<Stream>& old_streams, Batch& batch)>;
  void replace(Account& account, const StageReplacement& stage, const std::function<void()>& settle);
  // Says whether a snapshot of the account has the table, so that its changes are kept from now on.
  // Requires: nobody writes to the table.
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
  // Closes a shard of the table's stream, without a number each that is open, and opens the children, while
  // nobody writes to the table: all in one change of the description.
  Expected<std::vector<Shard>, ReshardRefusal> reshard(LiveTable& table, std::optional<ShardNumber> shard,
                                                       Resharding how);
  // Notes in the batch what was trimmed, writes the batch, and then lets readers know. Nothing happens if the
  // account's timeline, in which that was found out, is over. Several may trim a stream at once.
  // Requires: `trimmed` is in the order of numbers.
  struct TrimmedShard {
    ShardNumber shard;
    std::uint64_t oldest_sequence;  // records before it are gone
    bool forgotten;                 // the shard with them
  };
  void trim_stream(StreamId stream, const std::vector<TrimmedShard>& trimmed, Batch& batch,
                   std::uint64_t timeline);
  void forget_stream(StreamId stream, Batch& batch, std::uint64_t timeline);
  // Erases the items, entries, old versions and counters of a table that neither the catalog nor a snapshot
  // nor a point has.
  void erase_data(Batch& batch, TableId table) const;
  // Erases of a table that neither the catalog nor a snapshot has what no point needs.
  void erase_unneeded(Batch& batch, TableId table) const;

 private:
  struct NameLess {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a < b; }
  };
  using Names = std::map<std::string, std::shared_ptr<LiveTable>, NameLess>;

  [[nodiscard]] std::size_t count(const Scope& scope) const;
  void load() REQUIRES(changes_, mutex_);             // or nobody else knows of it yet
  std::shared_ptr<LiveTable> make_live(Table table);  // with its counters from storage

  // A change that is staged in a batch, for when that is written. (catalog.cc)
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
  [[nodiscard]] Table edited(const LiveTable& live) const;  // a copy, to be edited
  Drop stage_drop(LiveTable& live, Batch& batch, Leaving leaving, PointId staged);
  void settle(const Drop& drop);
  [[nodiscard]] std::vector<std::shared_ptr<LiveTable>> together_with(const LiveTable& table) const;  // by id
  Expected<Together, Refusal> change_held(const std::vector<std::shared_ptr<LiveTable>>& held,
                                          const ChangeTogether& change, std::size_t tables_max,
                                          Leaving leaving, const Describe& describe) REQUIRES(changes_);
  Stream make_stream(const Table& table, StreamView view, StreamId id) const;
  void erase_all_but_past(Batch& batch, TableId table, VersionCount count) const;
  void leave_past(TableId table) const;  // of a table that points have and no catalog

  Storage& storage_;
  Accounts& accounts_;
  BeforeImages& images_;
  Points& points_;
  const Watermark& watermark_;
  Random& random_;
  const std::uint32_t stream_shards_;
  Mutex changes_;  // one change of the catalog at a time; taken after a table's gate
  TableId next_table_ GUARDED_BY(changes_) = 1;
  StreamId next_stream_ GUARDED_BY(changes_) = 1;
  mutable SharedMutex mutex_;  // for a few instructions
  std::map<Scope, Names> tables_ GUARDED_BY(mutex_);
  std::map<TableId, std::shared_ptr<LiveTable>> by_id_ GUARDED_BY(mutex_);
  StreamDirectory streams_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
