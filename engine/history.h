// What tables were: old versions of their items, points that a backup holds on to, and instants to go back
// to.
//
// A table whose past is wanted writes, in the very batch that changes an item, what the item was until then.
// So nothing is copied until something changes, and a write costs one more put:
//
//   'O' table:u32be key number:u64be   at:i64le 0x00, or at:i64le 0x01 item: until the commit of this number,
//                                      which was made at `at` by the account's clock, the item was not there,
//                                      or was this
//   'P' point:u32be                    a point: points.h
//
// Numbers are the sequence numbers that stream records get (committer.h): they rise with each commit and are
// never given twice, by a restore of a snapshot neither. The state after number N is, for each key, its first
// version with a number beyond N, or else the item as it is now; the state at the end of instant t likewise,
// by `at`. No encoded key is the beginning of another, so a key's versions lie together, in order, and what
// was is read as one walk over two ranges, in the order of the keys.
//
//   if (const auto point = history.take_point(table)) {           // a backup
//     HistoryCursor then(database, *point);                       // history_cursor.h; years later, too
//     while (then.next()) use(then.key(), then.item());
//   }
//   history.hold_instant(table, instant)                          // a restore to it begins
//   history.keep(table, 35);                                      // recovery is on
//   HistoryCursor at(database, *table, instant);                  // between restorable()'s
//
// A version is of use if a point lies between it and the version before it, or an instant that can be gone
// back to. The others go, in steps, by themselves (history_trimmer.h). Who reads stands on a snapshot of
// storage and loses nothing to that.
//
// What is kept for the sake of instants has a bound for all tables together (DatabaseOptions::
// history_bytes_max): beyond it the oldest instants are given up, in whichever table they are. What a point
// needs is never given up; when points alone exceed the bound no other is taken.
//
// Points and versions are the account's state: a snapshot's restore brings both back as they were, a reset
// erases them. A table with points outlives its end as far as they need it: its items stay where they lie,
// named by no catalog.
//
// Rejected: a copy for each backup, which costs a table's size at once, and says nothing of the instants
// between two; a log by number, which has to be read from the instant on to its end, and whose older half
// nobody can drop while a backup stands before it; RocksDB's snapshots, which end with the process; the
// change records of streams, which are trimmed after a day, and which a table without a stream has none of.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/clock.h"
#include "engine/expected.h"
#include "engine/points.h"
#include "engine/table.h"

namespace mayfly::engine {

class Database;
class LiveTable;

inline constexpr Instant day_ms = Instant{24} * 3600 * 1000;

// Why there is no point.
enum class PointRefusal : std::uint8_t {
  dropped,  // the table is
  no_room,  // what points need is as much as it may be (history_bytes_max), or memory is at its bound
};

// The first instant whose end can be gone back to.
Instant earliest_of(const Recovery& recovery, Instant now);

class History {
 public:
  // `database` outlives it.
  explicit History(Database& database);

  // --- recovery. From the first call on the table's versions are kept, for so many days of the account's
  // clock; a further one changes the days only. False: the table is dropped.
  bool keep(const std::shared_ptr<LiveTable>& table, std::int64_t days);
  // Recovery ends, and with it what no point needs. Whoever keeps anew begins anew.
  void forget(const std::shared_ptr<LiveTable>& table);
  // The instants whose end can be gone back to: both ends are among them. `latest` is now.
  struct Restorable {
    Instant earliest;
    Instant latest;
  };
  // Nothing: recovery is off. `earliest` never falls while recovery stays on.
  [[nodiscard]] std::optional<Restorable> restorable(const LiveTable& table) const;

  // --- points. One is taken between two writes of the table, and costs nothing but its description.
  Expected<Point, PointRefusal> take_point(const std::shared_ptr<LiveTable>& table);
  // What a job reads until it ends, whatever becomes of its source meanwhile: the state at the end of an
  // instant, or that of a point. `dropped`, or nothing: it cannot be gone back to, or there is no such point.
  Expected<Point, PointRefusal> hold_instant(const std::shared_ptr<LiveTable>& table, Instant at);
  std::optional<Point> hold_point(PointId id);
  // Drops the table as Database::drop_table does. With `last`, and room or none, a point of it is taken in
  // the same batch: nobody writes between the two. False: somebody else has dropped it, and there is no
  // point.
  bool drop_table(const std::shared_ptr<LiveTable>& table, std::optional<Point>* last);
  [[nodiscard]] std::optional<Point> find_point(PointId id) const;
  bool drop_point(PointId id);                                              // false: there is no such point
  [[nodiscard]] std::vector<Point> points(std::string_view account) const;  // by id

  // --- what it takes, of all accounts
  struct Footprint {
    std::int64_t versions = 0;
    std::int64_t bytes = 0;  // of their keys and values
  };
  [[nodiscard]] Footprint footprint() const;
  [[nodiscard]] std::uint64_t bytes_max() const;

 private:
  Expected<Point, PointRefusal> take(const std::shared_ptr<LiveTable>& table, std::optional<Instant> at);

  Database& database_;
};

}  // namespace mayfly::engine
