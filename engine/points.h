// The points that there are: states of tables that somebody (a backup) wants to be able to read, each named
// by the number of the last commit that it has.
//
//   'P' point:u32be -> number:u64le at:i64le items:i64le bytes:i64le table     table: its description then
//
// A point by instant is the state at the end of instant `at`, without what commits after `number` changed at
// that same instant. The highest bit of its stored number is set.
//
// A point copies nothing of what the table holds (history.h). Of tables that were dropped it knows how many
// versions they have left, too, since no catalog does.
//
// Changed under the catalog's changes (lock_table.h) alone; read by anybody.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/clock.h"
#include "engine/expected.h"
#include "engine/mutex.h"
#include "engine/table.h"

namespace mayfly::engine {

class Batch;
class Storage;

using VersionNumber = std::uint64_t;  // a commit's: the sequence number of its last record, or of none
using PointId = std::uint32_t;        // never given again

struct Point {
  PointId id = 0;
  Table table;               // as it was described
  VersionNumber number = 0;  // the last commit that it has
  Instant at = 0;            // by the account's clock
  bool by_instant = false;
  std::int64_t items = 0;  // as DescribeTable would have counted them, due ones among them
  std::int64_t bytes = 0;
};

// What a key of kind 'P' and its value say; the error says what is wrong with them.
Expected<Point, std::string> decode_point(std::string_view key, std::string_view value);
std::string point_key(PointId id);
std::string point_bytes(const Point& point);

// In storage, u32le: the last id that was given.
inline constexpr std::string_view last_point_key = "Mlast-point";

// How many old versions of its items a table has, and their bytes, keys included.
struct VersionCount {
  std::int64_t versions = 0, bytes = 0;
};

class Points {
 public:
  // Loads what storage holds.
  explicit Points(const Storage& storage);

  [[nodiscard]] std::optional<Point> find(PointId id) const;
  [[nodiscard]] std::vector<Point> of(std::string_view account) const;    // by id
  [[nodiscard]] std::vector<VersionNumber> numbers(TableId table) const;  // rising
  [[nodiscard]] std::vector<Instant> instants(TableId table) const;       // of points by instant; rising
  [[nodiscard]] std::optional<VersionNumber> latest(TableId table) const;
  [[nodiscard]] bool has(TableId table) const { return latest(table).has_value(); }
  [[nodiscard]] std::vector<TableId> tables() const;
  // Whose a table with points is; empty: it has none.
  [[nodiscard]] std::string account_of(TableId table) const;
  // The last number that a point was taken at; no commit has it again.
  [[nodiscard]] VersionNumber last_number() const;

  // --- for who changes them: first in a batch, and when that is written
  // Gives the point its id. `staged`: of the point that the batch has already; 0: it has none.
  void stage(Batch& batch, Point& point, PointId staged = 0) const;
  void add(Point point);
  void remove(PointId id);
  // These are all of the account's, whose tables are about to be others.
  void replace(std::string_view account, std::vector<Point> points);

  // --- of a table that has points and was dropped
  void leave(TableId table, VersionCount count);
  [[nodiscard]] std::optional<VersionCount> left(TableId table) const;  // nothing: it was not dropped
  [[nodiscard]] VersionCount left() const;                              // of all together
  [[nodiscard]] std::vector<TableId> dropped_tables() const;

 private:
  void add_locked(Point point) REQUIRES(mutex_);
  void remove_locked(PointId id) REQUIRES(mutex_);

  const Storage& storage_;
  mutable SharedMutex mutex_;  // for a few instructions
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
