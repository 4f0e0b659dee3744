// The engine, whole: owns storage, catalog, change log, clocks and the reaper.
//
// Thread-safe. Storage's failures are thrown as StorageFault (storage.h).
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
  std::shared_ptr<Clock> clock;    // what accounts' clocks go by; empty: the host's
  std::shared_ptr<Random> random;  // of ids; empty: the system's
  ClockDefaults account_clocks;    // how they begin
  ExpiryMode expiry;               // of new tables
  std::int64_t expiry_window_ms = 60'000;
  std::uint32_t stream_shards = 1;  // of a new stream
  bool reap = true;                 // false: nothing expires unless a clock is moved, or one asks for it
  std::size_t backfill_at_once_max = 10'000;     // items that update_table fills in before it returns
  std::function<void(std::string_view)> report;  // told of storage that fails, and of its end: storage.h
  // Told of what somebody who watches would like to know: what has expired, in sums. By any thread.
  std::function<void(std::string_view)> notice;
  // Told of the first item of a table whose TTL can never expire it, for each reason. `key`: its key
  // attributes; `ttl`: its TTL attribute. By the writer's thread, which holds the item's lock.
  std::function<void(const Table& table, const Item& key, NeverReason reason, const AttributeValue& ttl)>
      never_expires;
  std::function<bool()> write_fails;                     // for tests: storage.h
  MakeScheduler make_scheduler = make_thread_scheduler;  // of what runs by itself
  rocksdb::Env* env = nullptr;                           // files and memory; nullptr: the host's
  std::uint64_t memory_bytes_max = 0;                    // storage.h
  bool is_process = false;                               // storage.h
  // Of old versions of items, in all tables together; in memory at most a quarter of what there may be of
  // all.
  std::uint64_t history_bytes_max = std::uint64_t{1} << 30;
};

using SnapshotId = std::uint32_t;  // never reused
inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

// What moving a clock brought about.
struct Advanced {
  Instant now = 0;
  std::int64_t expired = 0;
  Deletions tables;
  std::optional<Instant> next_expiry;  // nothing: nothing fires by itself any more
};

enum class ClockRefusal : std::uint8_t {
  has_tables,               // an earlier time would leave items and records from the future
  beyond_the_last_instant,  // clocks end with the year 9999
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
  // The time by which streams and their readers age: now(), less what was jumped over.
  [[nodiscard]] Instant stream_now(std::string_view account) const;
  [[nodiscard]] ClockSetting clock_setting(std::string_view account) const;
  // time_travel.h has what these promise.
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
  // How far off the account's clock is from then; nothing: it stands, and gets there only if it is moved.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> real_time_until(std::string_view account,
                                                                        Instant instant) const;
  // Who wants to know that somebody moved a clock: time_travel.h. An empty listener ends it.
  void listen_to_clocks(const void* owner, std::function<void(std::string_view account)> listener);
  // Deletes what fires now, in every account; returns how many.
  std::int64_t reap_due();
  // Deletes what is due in the table, whatever its expiry mode; returns how many.
  std::int64_t sweep(const std::shared_ptr<LiveTable>& table, const std::stop_token& stop = {});

  // Held while a request is answered: a restore or a reset of the account comes before it or after it, never
  // between.
  [[nodiscard]] std::shared_lock<Gate> begin_request(std::string_view account) const;
  // Whether each commit waits for the disk.
  [[nodiscard]] bool syncs() const;

  // --- a whole account (snapshots.h)
  SnapshotId take_snapshot(std::string_view account);
  // Nothing: the account has as many as it may.
  std::optional<SnapshotId> take_snapshot(std::string_view account, std::size_t snapshots_max);
  [[nodiscard]] std::vector<SnapshotId> list_snapshots(std::string_view account) const;
  // False: the account has no such snapshot. A restore takes tables, streams and clock back to it.
  [[nodiscard]] bool restore_snapshot(std::string_view account, SnapshotId id);
  [[nodiscard]] bool drop_snapshot(std::string_view account, SnapshotId id);
  // No tables, streams or snapshots, and the clock as it begins.
  void reset(std::string_view account);

  // --- tables. `create` fills in ids, a UUID where there is none, and creation times; nullptr: the name is
  // taken, or the account has as many in the region as it may.
  std::shared_ptr<LiveTable> create_table(Table table, std::size_t tables_max = no_limit);
  [[nodiscard]] std::shared_ptr<LiveTable> find_table(const Scope& scope, std::string_view name) const;
  // Sorted names after `start_after`, at most `limit`.
  [[nodiscard]] std::vector<std::string> list_tables(const Scope& scope, std::string_view start_after,
                                                     std::size_t limit) const;
  // Replaces a description while no write is under way: `change` edits a copy. Fills in ids of new indexes
  // and streams, drops the entries of removed indexes, starts backfills (new global indexes, TTL switched
  // on); the first items are filled before this returns, a large table's rest in the background.
  // Returns the new description, or nothing if the table was dropped.
  std::shared_ptr<const Table> update_table(const std::shared_ptr<LiveTable>& table,
                                            const std::function<void(Table&)>& change);
  // Calls `look` while nobody writes to the table, and nobody changes it or a replica of it. False: it is
  // dropped.
  bool hold_table(const std::shared_ptr<LiveTable>& table, const std::function<void()>& look);
  bool drop_table(const std::shared_ptr<LiveTable>& table);  // false: somebody else did
  // The same of a table and its replicas: what Catalog::update_together says, and what follows from it.
  Expected<Catalog::Together, Catalog::Refusal> update_together(
      const std::shared_ptr<LiveTable>& table, const Catalog::ChangeTogether& change,
      std::size_t tables_max = no_limit, Catalog::Leaving leaving = Catalog::Leaving::nothing,
      const Catalog::Describe& describe = {});

  // --- items
  [[nodiscard]] std::optional<StoredItem> get(const LiveTable& table, std::string_view key) const;
  [[nodiscard]] std::optional<StoredItem> get(const LiveTable& table, std::string_view key,
                                              const Sight& sight) const;
  // All of them as they were at one instant: none shows a commit that another does not. From then on reads of
  // their tables see no older state (recent_writes.h).
  struct ItemName {
    const LiveTable* table;
    std::string_view key;
  };
  [[nodiscard]] std::vector<std::optional<StoredItem>> get_together(std::span<const ItemName> names) const;

  // --- streams: enabled ones, and closed ones for 24 h
  [[nodiscard]] std::vector<Stream> list_streams(const Scope& scope) const;  // sorted by table name, label
  [[nodiscard]] std::optional<Stream> find_stream(const Scope& scope, std::string_view table_name,
                                                  std::string_view label) const;
  // The stream as it is now, without a copy: a change of its shards makes another object. nullptr if it was
  // forgotten.
  [[nodiscard]] std::shared_ptr<const Stream> share_stream(StreamId stream) const;
  // The stream's shards that have a record numbered `from` or later, by number. Takes a lookup for each shard
  // with records, and none for the others.
  [[nodiscard]] std::vector<ShardNumber> shards_with_records(StreamId stream, Sequence from) const;
  // Records of a shard from `from` on, in order, at most `limit` and `bytes_max` of them. Who reads parents
  // to their end before their children sees each item's records in order, and each record once.
  using StreamPage = engine::StreamPage;
  [[nodiscard]] StreamPage read_stream(StreamId stream, ShardNumber shard, Sequence from, std::size_t limit,
                                       std::size_t bytes_max) const;
  // Of what runs by itself on the floors above: DatabaseOptions::make_scheduler's.
  [[nodiscard]] std::shared_ptr<Scheduler> make_scheduler(std::size_t threads_max) const;
  [[nodiscard]] Random& random() const;      // of ids: DatabaseOptions::random
  [[nodiscard]] Sequence published() const;  // the watermark: last sequence readable
  // The same, once every listener has been told of all records up to it. Waits for a commit under way.
  [[nodiscard]] Sequence told() const;
  // First not trimmed; of a shard that was forgotten the next that will be given.
  [[nodiscard]] Sequence oldest_sequence(StreamId stream, ShardNumber shard) const;
  // Closes an open shard of the table's stream, without a number all of them, between two writes. One child
  // goes on with a shard's hashes, or two with half of them each. Returns the children.
  Expected<std::vector<Shard>, ReshardRefusal> reshard(const std::shared_ptr<LiveTable>& table,
                                                       std::optional<ShardNumber> shard, Resharding how);
  // Every item write as it is committed, of tables with a stream and without: change_feed.h.
  [[nodiscard]] ChangeFeed::Subscription subscribe(ChangeFeed::Listener listener);

  // Why nothing can be written at present, and how often storage has failed: storage.h.
  [[nodiscard]] std::string storage_failure() const;
  [[nodiscard]] std::uint64_t storage_faults() const;
  // In memory: whether there is room for more, which is for who adds something to ask (storage.h).
  [[nodiscard]] bool has_room() const;
  [[nodiscard]] std::uint64_t memory_bytes() const;
  [[nodiscard]] std::uint64_t memory_bytes_max() const;

  // What a global table's tables have on their way to each other.
  [[nodiscard]] Replication& replication() const;
  // Returns when all that the account has on its way and that may arrive by now has. It takes the account's
  // requests for a slice at a time; within a request (begin_request) call settle_replicas_in_request.
  void settle_replicas(std::string_view account, const std::stop_token& stop = {});
  void settle_replicas_in_request(std::string_view account);
  // Where expiries stop, if a test says so: failpoints.h.
  [[nodiscard]] Failpoints& failpoints() const;
  // Of which tables reads may see an older state: recent_writes.h.
  [[nodiscard]] RecentWrites& recent_writes() const;
  // What other floors keep here: documents.h.
  [[nodiscard]] Documents& documents() const;
  // What tables were: history.h.
  [[nodiscard]] History& history() const;

  // Whether anybody is told by `notice` (DatabaseOptions::notice).
  [[nodiscard]] bool watched() const;
  void notice(std::string_view sentence) const;

  struct Parts;  // parts.h: storage and the rest, for engine's own files
  Parts& parts() const { return *parts_; }

 private:
  explicit Database(std::unique_ptr<Parts> parts);
  void changed(const std::shared_ptr<LiveTable>& table, const Table& before, const Table& after);
  std::unique_ptr<Parts> parts_;
};

}  // namespace mayfly::engine
