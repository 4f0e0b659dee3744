// Shared by the engine's tests: a database, a clock that the test moves, and tables to write to.
//
//   World world;                                           // in memory, at 2024-05-01T00:00:00Z
//   auto carts = world.create(simple_table("carts"));
//   world.put(carts, {{"id", "a"}, {"ttl", number("1714521610")}});
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/background/history.h"
#include "engine/background/snapshots.h"
#include "engine/database.h"
#include "engine/items/transaction.h"
#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

using namespace engine;

inline constexpr Instant start_ms = 1'714'521'600'000;  // 2024-05-01T00:00:00Z
inline constexpr std::int64_t start_seconds = start_ms / 1000;
inline constexpr Instant minute_ms = 60'000, hour_ms = 60 * minute_ms;  // day_ms is in history.h
inline constexpr std::string_view account = "000000000000", other_account = "000000000042";

AttributeValue number(std::string_view text);
AttributeValue number(std::int64_t value);

// Partition key "id", a string.
Table simple_table(std::string name);
// Partition key "id" and sort key "at", a number.
Table sorted_table(std::string name);
// A global index with one string attribute as its key.
Index global_index(std::string name, std::string attribute,
                   Projection::Kind projection = Projection::Kind::all);
// A local index with the partition key "id" and a string attribute as sort key.
Index local_index(std::string name, std::string attribute);
Stream stream_of(StreamView view);

std::string key_of(const Table& table, const Item& item);

// Returns the first error that a verification of the whole database finds, or an empty string. If `dropped`
// is given, the data that a snapshot keeps of that dropped table is also verified.
std::string inconsistency(Database& database, const LiveTable* dropped = nullptr);

class World {
 public:
  // Uses a ManualClock unless `options.clock` is set.
  explicit World(DatabaseOptions options = {.reap = false});

  Database& database() { return *database_; }
  ManualClock& clock() { return *clock_; }  // the host's clock
  Instant now() { return database_->accounts().of(account).now(); }
  // Returns the number of expired items.
  std::int64_t advance(Instant to, bool age_streams = false) {
    return database_->time_travel().advance(account, to, age_streams).expired;
  }
  TimerQueue& timers();
  // Wakes the reaper for every account. Call this after setting the host's clock, which does not wake the
  // reaper.
  void wake_reaper();
  // Closes and reopens the database, in the same directory and at the same time.
  void reopen();
  void close() { database_.reset(); }

  std::shared_ptr<LiveTable> create(Table table) { return database_->tables().create(std::move(table)); }
  std::shared_ptr<LiveTable> find(std::string_view name);
  void put(const std::shared_ptr<LiveTable>& table, Item item);
  void remove(const std::shared_ptr<LiveTable>& table, const Item& key);
  std::optional<Item> get(const std::shared_ptr<LiveTable>& table, const Item& key);
  // All items, in the cursor's order.
  std::vector<Item> all(const std::shared_ptr<LiveTable>& table, IndexId index = 0);
  // The records of all shards, by sequence number.
  std::vector<ChangeRecord> records(StreamId stream, Sequence from = 0);
  // Sets the TTL attribute.
  void enable_ttl(const std::shared_ptr<LiveTable>& table, const std::string& attribute = "ttl");

  // Does the same as the function inconsistency() outside this class. If `table` has been dropped, also
  // verifies the table's remaining data.
  std::string inconsistency(const std::shared_ptr<LiveTable>& table);

 private:
  DatabaseOptions options_;
  std::shared_ptr<ManualClock> clock_;
  std::unique_ptr<Database> database_;
};

}  // namespace mayfly::testing
