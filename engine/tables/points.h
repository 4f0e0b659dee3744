// Contains all points. A point is a state of a table that must stay readable, for example for a backup. It is
// identified by the number of the last commit that it includes.
//
//   'P' point:u32be -> number:u64le at:i64le items:i64le bytes:i64le table     table: its description
//
// A point by instant is the state at the end of instant `at`, without the changes that commits after `number`
// made at that same instant. The highest bit of its stored number is set.
//
// A point copies none of the table's data (history.h). For dropped tables, Points also contains the number of
// old versions that are left, because the catalog no longer contains these tables.
//
// Thread-safe.
// Requires: a caller that changes points holds the catalog's mutex for changes (lock_table.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/expected.h"
#include "engine/base/mutex.h"
#include "engine/schema/table.h"

namespace mayfly::engine {

class Batch;
class Storage;

using VersionNumber = std::uint64_t;  // the last sequence number that a commit uses (committer.h)
using PointId = std::uint32_t;        // never reused

struct Point {
  PointId id = 0;
  Table table;               // the table's description at that time
  VersionNumber number = 0;  // the number of the last commit that the point includes
  Instant at = 0;            // the time of the state, by the account's clock
  bool by_instant = false;
  std::int64_t items = 0;  // as DescribeTable would have counted them, including expired items
  std::int64_t bytes = 0;
};

// Decodes a key of kind 'P' and its value. The error says which part is malformed.
Expected<Point, std::string> decode_point(std::string_view key, std::string_view value);
std::string point_key(PointId id);
std::string point_bytes(const Point& point);

// The storage key of the last id that was assigned (u32le).
inline constexpr std::string_view last_point_key = "Mlast-point";

// The number of old versions of a table's items, and their size in bytes, including keys.
struct VersionCount {
  std::int64_t versions = 0, bytes = 0;
};

class Points {
 public:
  // Loads the points from storage.
  explicit Points(const Storage& storage);

  [[nodiscard]] std::optional<Point> find(PointId id) const;
  [[nodiscard]] std::vector<Point> of(std::string_view account) const;    // sorted by id
  [[nodiscard]] std::vector<VersionNumber> numbers(TableId table) const;  // ascending
  [[nodiscard]] std::vector<Instant> instants(TableId table) const;       // of points by instant; ascending
  [[nodiscard]] std::optional<VersionNumber> latest(TableId table) const;
  [[nodiscard]] bool has(TableId table) const { return latest(table).has_value(); }
  [[nodiscard]] std::vector<TableId> tables() const;
  // Returns the account of a table that has points; empty if the table has no points.
  [[nodiscard]] std::string account_of(TableId table) const;
  // Returns the highest number of all points. No later commit has this number.
  [[nodiscard]] VersionNumber last_number() const;

  // --- changes: stage() adds a point to a batch; the other calls follow once the batch is written
  // Assigns the point's id. `staged` is the id of the point that the batch already has, or 0 if it has none.
  void stage(Batch& batch, Point& point, PointId staged = 0) const;
  void add(Point point);
  void remove(PointId id);
  // Replaces all points of the account, whose tables are about to be replaced as well.
  void replace(std::string_view account, std::vector<Point> points);

  // --- dropped tables that have points
  void leave(TableId table, VersionCount count);
  [[nodiscard]] std::optional<VersionCount> left(TableId table) const;  // nullopt if it was not dropped
  [[nodiscard]] VersionCount left() const;                              // the total for all tables
  [[nodiscard]] std::vector<TableId> dropped_tables() const;

 private:
  void add_locked(Point point) REQUIRES(mutex_);
  void remove_locked(PointId id) REQUIRES(mutex_);

  const Storage& storage_;
  mutable SharedMutex mutex_;  // held for a few instructions
  struct OfTable {
    std::string account;
    std::multiset<VersionNumber> numbers;
    std::multiset<Instant> instants;  // of points by instant
  };
  std::map<PointId, Point> points_ GUARDED_BY(mutex_);
  std::map<std::string, std::set<PointId>, std::less<>> of_accounts_ GUARDED_BY(mutex_);
  std::map<TableId, OfTable> of_tables_ GUARDED_BY(mutex_);
  std::map<TableId, VersionCount> left_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
