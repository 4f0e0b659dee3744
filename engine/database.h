// The engine as a whole: owns storage, the catalog, the change log, the clocks and the reaper.
//
// Thread-safe. Failures of storage are thrown as StorageFault (storage.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "engine/account.h"
#include "engine/catalog.h"
#include "engine/change_feed.h"
#include "engine/change_log.h"
#include "engine/clock.h"
#include "engine/cursor.h"
#include "engine/expected.h"
#include "engine/expiry_index.h"
#include "engine/gate.h"
#include "engine/random.h"
#include "engine/shards.h"
#include "engine/sight.h"
#include "engine/table.h"

namespace mayfly::engine {

struct DatabaseOptions {
  std::string directory;           // empty: in memory
  bool fsync = false;              // an acknowledged write survives a power cut, not only kill -9
  std::shared_ptr<Clock> clock;    // base of the accounts' clocks; empty: the host's
  std::shared_ptr<Random> random;  // for ids; empty: the system's
  ClockDefaults account_clocks;    // how new accounts' clocks start
  ExpiryMode expiry;               // of new tables
  std::int64_t expiry_window_ms = 60'000;
  std::uint32_t stream_shards = 1;            // of a new stream
  bool reap = true;                           // false: items expire only when a clock is moved, or on request
  std::size_t backfill_at_once_max = 10'000;  // items that update_table backfills before it returns
  std::function<void(std::string_view)> report;  // told when storage fails and recovers: storage.h
  // Told what an operator may want to know: sums of expired items. Called on any thread.
  std::function<void(std::string_view)> notice;
  // Told of the first item of a table whose TTL can never expire it, once for each reason. `key` has the
  // item's key attributes; `ttl` is its TTL attribute. Called on the writer's thread, which holds the item's
  // lock.
  std::function<void(const Table& table, const Item& key, NeverReason reason, const AttributeValue& ttl)>
      never_expires;
  std::function<bool()> write_fails;                     // for tests: storage.h
  MakeScheduler make_scheduler = make_thread_scheduler;  // for background tasks
  rocksdb::Env* env = nullptr;                           // files and memory; nullptr: the host's
  std::uint64_t memory_bytes_max = 0;                    // storage.h
  bool is_process = false;                               // storage.h
  // Limit for old versions of items, for all tables together. In memory, they also take at most a quarter of
  // the memory limit.
  std::uint64_t history_bytes_max = std::uint64_t{1} << 30;
};

using SnapshotId = std::uint32_t;  // never reused
inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

// The result of moving a clock.
struct Advanced {
  Instant now = 0;
  std::int64_t expired = 0;
  Deletions tables;
  std::optional<Instant> next_expiry;  // nullopt: no further automatic expiry
};

enum class ClockRefusal : std::uint8_t {
  has_tables,               // an earlier time would leave items and records from the future
  beyond_the_last_instant,  // clocks end in the year 9999
};

class Failpoints;
class Documents;
class History;
class RecentWrites;
class Replication;

class Database {
 public:
  // The error is a sentence for people: "… is in use by another process".
  static Expected<std::unique_ptr<Database>, std::string> open(DatabaseOptions options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // --- time
  [[nodiscard]] Instant now(std::string_view account) const;
  // The time by which streams and their readers age: now(), less the time that was jumped over.
  [[nodiscard]] Instant stream_now(std::string_view account) const;
  [[nodiscard]] ClockSetting clock_setting(std::string_view account) const;
  // See time_travel.h for the guarantees of these functions.
  Advanced advance(std::string_view account, Instant to, bool age_streams = false,
                   const std::stop_token& stop = {});
  Expected<Advanced, ClockRefusal> advance_by(std::string_view account, std::chrono::milliseconds by,
                                              bool age_streams = false, const std::stop_token& stop = {});
  Advanced advance_to_next_expiry(std::string_view account, bool age_streams = false,
                                  const std::stop_token& stop = {});
  Expected<Advanced, ClockRefusal> set_clock(std::string_view account, ClockSetting setting,
                                             std::optional<Instant> now, bool age_streams = false,
                                             const std::stop_token& stop = {});
  [[nodiscard]] std::optional<Instant> next_expiry(std::string_view account);
  // The real time until the account's clock reaches `instant`; nullopt if the clock is stopped and reaches it
  // only by being moved.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> real_time_until(std::string_view account,
                                                                        Instant instant) const;
  // Sets the listener of `owner`, which is told whenever the clock of an account is moved (time_travel.h). An
  // empty listener removes it.
  void listen_to_clocks(const void* owner, std::function<void(std::string_view account)> listener);
  // Deletes all items that fire now, in every account. Returns how many.
  std::int64_t reap_due();
  // Deletes all items that are due in the table, whatever its expiry mode. Returns how many.
  std::int64_t sweep(const std::shared_ptr<LiveTable>& table, const std::stop_token& stop = {});

  // Held while a request is served: a restore or a reset of the account happens before it or after it, never
  // during it.
  [[nodiscard]] std::shared_lock<Gate> begin_request(std::string_view account) const;
  // Whether each commit waits for the disk.
  [[nodiscard]] bool syncs() const;

  // --- a whole account (snapshots.h)
  SnapshotId take_snapshot(std::string_view account);
  // nullopt if the account already has `snapshots_max` snapshots.
  std::optional<SnapshotId> take_snapshot(std::string_view account, std::size_t snapshots_max);
  [[nodiscard]] std::vector<SnapshotId> list_snapshots(std::string_view account) const;
  // restore_snapshot returns tables, streams and clock to their state in the snapshot. Both functions return
  // false if the account has no such snapshot.
  [[nodiscard]] bool restore_snapshot(std::string_view account, SnapshotId id);
  [[nodiscard]] bool drop_snapshot(std::string_view account, SnapshotId id);
  // Removes all tables, streams and snapshots of the account, and restarts its clock.
  void reset(std::string_view account);

  // --- tables
  // Fills in ids, the creation time and, if it is missing, the UUID. nullptr if the name is taken, or if the
  // account already has `tables_max` tables in the region.
  std::shared_ptr<LiveTable> create_table(Table table, std::size_t tables_max = no_limit);
  [[nodiscard]] std::shared_ptr<LiveTable> find_table(const Scope& scope, std::string_view name) const;
  // Sorted names after `start_after`, at most `limit`.
  [[nodiscard]] std::vector<std::string> list_tables(const Scope& scope, std::string_view start_after,
                                                     std::size_t limit) const;
  // Replaces a table's description while no write is in progress: `change` edits a copy. Gives ids to new
  // indexes and streams, drops the entries of removed indexes, and starts backfills (for new global indexes,
  // and when TTL is switched on). The first items are backfilled before this returns; in a large table, the
  // rest follow in the background. Returns the new description, or nullptr if the table was dropped.
  std::shared_ptr<const Table> update_table(const std::shared_ptr<LiveTable>& table,
                                            const std::function<void(Table&)>& change);
  // Calls `look` while no thread writes to the table, and no thread changes the table or a replica of it.
  // Returns false, without the call, if the table was dropped.
  bool hold_table(const std::shared_ptr<LiveTable>& table, const std::function<void()>& look);
  bool drop_table(const std::shared_ptr<LiveTable>& table);  // false: another caller did
  // Like update_table, for a table and its replicas: does what Catalog::update_together describes, and starts
  // the backfills, trimming and replication that the change requires.
  Expected<Catalog::Together, Catalog::Refusal> update_together(
      const std::shared_ptr<LiveTable>& table, const Catalog::ChangeTogether& change,
      std::size_t tables_max = no_limit, Catalog::Leaving leaving = Catalog::Leaving::nothing,
      const Catalog::Describe& describe = {});

  // --- items
  [[nodiscard]] std::optional<StoredItem> get(const LiveTable& table, std::string_view key) const;
  [[nodiscard]] std::optional<StoredItem> get(const LiveTable& table, std::string_view key,
                                              const Sight& sight) const;
  // The items as they were at one instant: either all of them show a commit, or none does. From then on,
  // reads of their tables see no older state (recent_writes.h).
  struct ItemName {
    const LiveTable* table;
    std::string_view key;
  };
  [[nodiscard]] std::vector<std::optional<StoredItem>> get_together(std::span<const ItemName> names) const;

  // --- streams: enabled ones, and closed ones for 24 hours
  [[nodiscard]] std::vector<Stream> list_streams(const Scope& scope) const;  // sorted by table name, label
  [[nodiscard]] std::optional<Stream> find_stream(const Scope& scope, std::string_view table_name,
                                                  std::string_view label) const;
  // The stream as it is now, without a copy. A change of its shards makes a new object. nullptr if the stream
  // was forgotten.
  [[nodiscard]] std::shared_ptr<const Stream> share_stream(StreamId stream) const;
  // The stream's shards that have a record numbered `from` or later, ordered by number. Costs a lookup for
  // each shard that has records, and nothing for the others.
  [[nodiscard]] std::vector<ShardNumber> shards_with_records(StreamId stream, Sequence from) const;
  // The records of a shard starting at `from`, in order: at most `limit` records and `bytes_max` bytes, but
  // at least one record if there is one. A reader that reads parents to their end before their children sees
  // each item's records in order, and each record once.
  using StreamPage = engine::StreamPage;
  [[nodiscard]] StreamPage read_stream(StreamId stream, ShardNumber shard, Sequence from, std::size_t limit,
                                       std::size_t bytes_max) const;
  // A scheduler for background tasks of the layers above, made by DatabaseOptions::make_scheduler.
  [[nodiscard]] std::shared_ptr<Scheduler> make_scheduler(std::size_t threads_max) const;
  [[nodiscard]] Random& random() const;      // for ids: DatabaseOptions::random
  [[nodiscard]] Sequence published() const;  // the watermark: the last readable record
  // Like published(), once every listener has been told of all records up to it. Waits for a commit in
  // progress.
  [[nodiscard]] Sequence told() const;
  // The first sequence number that is not trimmed; for a forgotten shard, the next number that will be given.
  [[nodiscard]] Sequence oldest_sequence(StreamId stream, ShardNumber shard) const;
  // Closes an open shard of the table's stream, or all of its open shards if `shard` is nullopt, between two
  // writes. A closed shard continues in one child with the same hashes, or in two children with half of them
  // each. Returns the children.
  Expected<std::vector<Shard>, ReshardRefusal> reshard(const std::shared_ptr<LiveTable>& table,
                                                       std::optional<ShardNumber> shard, Resharding how);
  // Calls `listener` for every item write as it is committed, in tables with and without a stream:
  // change_feed.h.
  [[nodiscard]] ChangeFeed::Subscription subscribe(ChangeFeed::Listener listener);

  // Why nothing can be written at present (empty: writes work), and how often storage has failed: storage.h.
  [[nodiscard]] std::string storage_failure() const;
  [[nodiscard]] std::uint64_t storage_faults() const;
  // In memory: whether there is room for more data. Callers that add something must check (storage.h).
  [[nodiscard]] bool has_room() const;
  [[nodiscard]] std::uint64_t memory_bytes() const;
  [[nodiscard]] std::uint64_t memory_bytes_max() const;

  // Replication between the tables of a global table.
  [[nodiscard]] Replication& replication() const;
  // Waits until every replicated write of the account that can arrive by now has arrived. Holds the account's
  // requests (begin_request) for one slice of the work at a time. A caller that is within a request calls
  // settle_replicas_in_request.
  void settle_replicas(std::string_view account, const std::stop_token& stop = {});
  void settle_replicas_in_request(std::string_view account);
  // The points at which tests stop expiries: failpoints.h.
  [[nodiscard]] Failpoints& failpoints() const;
  // The tables of which reads may see an older state: recent_writes.h.
  [[nodiscard]] RecentWrites& recent_writes() const;
  // Documents of the layers above: documents.h.
  [[nodiscard]] Documents& documents() const;
  // Earlier states of tables: history.h.
  [[nodiscard]] History& history() const;

  // Whether DatabaseOptions::notice is set.
  [[nodiscard]] bool watched() const;
  void notice(std::string_view sentence) const;

  struct Parts;  // parts.h: storage and the other parts, for the engine's files
  Parts& parts() const { return *parts_; }

 private:
  explicit Database(std::unique_ptr<Parts> parts);
  void changed(const std::shared_ptr<LiveTable>& table, const Table& before, const Table& after);
  std::unique_ptr<Parts> parts_;
};

}  // namespace mayfly::engine
