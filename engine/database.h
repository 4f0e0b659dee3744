// The engine as a whole. A Database constructs the parts of the engine, connects them and gives
// access to them.
//
//   auto database = Database::open({.directory = "data"});
//   auto carts = (*database)->tables().create(description);
//   Transaction transaction((*database)->write_path(), Cause::user);
//
// Thread-safe. Failures of storage are thrown as StorageFault (storage_fault.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/background/table_lifecycle.h"
#include "engine/background/time_travel.h"
#include "engine/base/clock.h"
#include "engine/base/expected.h"
#include "engine/base/random.h"
#include "engine/items/item_reader.h"
#include "engine/items/write_path.h"
#include "engine/schema/table.h"
#include "engine/storage/storage_health.h"
#include "engine/tables/catalog.h"
#include "engine/tables/change_feed.h"
#include "engine/tables/change_log.h"
#include "engine/time/account.h"
#include "engine/time/expiry_index.h"

namespace mayfly::engine {

struct DatabaseOptions {
  std::string directory;           // empty: the database is in memory
  bool fsync = false;              // true: acknowledged writes survive a power cut, not only kill -9
  std::shared_ptr<Clock> clock;    // the accounts' clocks derive from it; nullptr: the host's clock
  std::shared_ptr<Random> random;  // the source of ids; nullptr: the system's random numbers
  ClockDefaults account_clocks;    // how new accounts' clocks start
  ExpiryMode expiry;               // the expiry mode of new tables
  std::int64_t expiry_window_ms = 60'000;
  std::uint32_t stream_shards = 1;            // the number of shards of a new stream
  bool reap = true;                           // false: items expire only when a clock is moved, or on request
  std::size_t backfill_at_once_max = 10'000;  // items that update_table backfills before it returns
  std::function<void(std::string_view)> report;  // called when storage fails or recovers (storage.h)
  // Receives messages for the operator, such as the number of expired items. It can be called on any thread.
  std::function<void(std::string_view)> notice;
  // Called once per table and reason, for the first item whose TTL can never expire it. `key` has the
  // item's key attributes; `ttl` is its TTL attribute. It is called on the writer's thread, which holds
  // the item's lock.
  std::function<void(const Table& table, const Item& key, NeverReason reason, const AttributeValue& ttl)>
      never_expires;
  std::function<bool()> write_fails;                     // for tests (StorageOptions)
  MakeScheduler make_scheduler = make_thread_scheduler;  // for background tasks
  rocksdb::Env* env = nullptr;                           // provides files and memory; nullptr: the host's
  std::uint64_t memory_bytes_max = 0;                    // see StorageOptions
  bool is_process = false;                               // see StorageOptions
  // The maximum size of old versions of items, for all tables together. In an in-memory database, a quarter
  // of the memory limit is a second upper bound for this size.
  std::uint64_t history_bytes_max = std::uint64_t{1} << 30;
};

class Documents;
class ExpiryView;
class Failpoints;
class History;
class HistorySize;
class HistoryTrimmer;
class Points;
class Reaper;
class RecentWrites;
class Replication;
class Snapshots;
class StreamTrimmer;

class Database {
 public:
  // The error is a human-readable sentence, for example "… is in use by another process".
  static Expected<std::unique_ptr<Database>, std::string> open(DatabaseOptions options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // The options in use. `clock` and `random` are never nullptr: open() replaces nullptr with the default.
  [[nodiscard]] const DatabaseOptions& options() const;
  [[nodiscard]] const StorageHealth& health() const;

  // --- accounts
  [[nodiscard]] Accounts& accounts() const;
  [[nodiscard]] TimeTravel& time_travel() const;  // moves the accounts' clocks
  [[nodiscard]] Snapshots& snapshots() const;     // snapshots of an account's whole state
  [[nodiscard]] Documents& documents() const;     // documents that the layers above store

  // --- tables
  [[nodiscard]] const Catalog& catalog() const;  // finds tables; tables() changes them
  [[nodiscard]] TableLifecycle& tables() const;
  [[nodiscard]] Replication& replication() const;  // between the replicas of a global table
  [[nodiscard]] History& history() const;          // earlier states of tables
  [[nodiscard]] const HistorySize& history_size() const;

  // --- items
  [[nodiscard]] const ItemReader& reader() const;
  [[nodiscard]] const WritePath& write_path() const;  // the parts that transactions use to write
  [[nodiscard]] RecentWrites& recent_writes() const;  // lets tests make reads see an older state
  [[nodiscard]] Reaper& reaper() const;
  [[nodiscard]] ExpiryView& expiries() const;
  [[nodiscard]] Failpoints& failpoints() const;  // the points at which tests stop expiries

  // --- streams
  [[nodiscard]] const ChangeLog& change_log() const;
  [[nodiscard]] ChangeFeed& change_feed() const;
  [[nodiscard]] const Watermark& watermark() const;  // the number of the last readable record

  // --- parts that only the engine's tests use
  [[nodiscard]] Storage& storage() const;
  [[nodiscard]] Catalog& catalog_itself() const;
  [[nodiscard]] Points& points() const;
  [[nodiscard]] BeforeImages& before_images() const;
  [[nodiscard]] StreamTrimmer& stream_trimmer() const;
  [[nodiscard]] HistoryTrimmer& history_trimmer() const;

 private:
  struct Parts;
  explicit Database(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace mayfly::engine
