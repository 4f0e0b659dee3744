// The history of tables: old versions of their items, points that backups use, and instants that tables can
// be restored to.
//
// If a table keeps history, the batch that changes an item also stores the item's previous state. Nothing is
// copied until an item changes, and each write costs one additional put. The stored keys and values are:
//
//   'O' table:u32be key number:u64be   at:i64le 0x00, or at:i64le 0x01 item: before the commit with
//                                      this number, made at `at` by the account's clock, the item did not
//                                      exist (0x00) or had this value (0x01)
//   'P' point:u32be                    a point: points.h
//
// Numbers are the sequence numbers of stream records (committer.h): they rise with each commit and are never
// reused, even after a snapshot restore. The state after commit N is, for each key, its first version with a
// number greater than N or, if there is none, the current item. The state at the end of instant t is found in
// the same way, with `at` instead of the number. No encoded key is a prefix of another, so the versions of a
// key are adjacent and in order, and a past state is read as one walk over two ranges, in key order.
//
//   if (const auto point = history.take_point(table)) {           // a backup
//     HistoryCursor then(reader, *point);                         // history_cursor.h; works even years later
//     while (then.next()) use(then.key(), then.item());
//   }
//   history.hold_instant(table, instant)                          // keeps the state for a restore
//   history.keep(table, 35);                                      // turns on recovery for 35 days
//   HistoryCursor at(reader, *table, instant);                    // `instant` is in restorable()
//
// A version is needed if a point, or an instant that can be restored, lies between this version and the
// previous one. The trimmer erases unneeded versions in the background, in steps (history_trimmer.h). Readers
// use a snapshot of storage and are not affected.
//
// DatabaseOptions::history_bytes_max limits the total size of the old versions of all tables. When the total
// exceeds the limit, the oldest instants are given up, whichever table they belong to: they can no longer be
// restored, and their versions are erased. Versions that a point needs are never erased; while these alone
// exceed the limit, new points are refused.
//
// Points and versions are part of the account's state: restoring a snapshot brings both back as they were,
// and a reset erases them. When a table with points is dropped, the items and versions that its points need
// stay in storage, although no catalog lists the table.
//
// Rejected:
// - a copy for each backup: it immediately costs as much space as the table, and does not cover the instants
//   between backups;
// - a log in commit order: a restore must read the log from the restored instant to the end of the log, and
//   the older half of the log cannot be dropped while an earlier backup exists;
// - RocksDB's snapshots, which end with the process;
// - the change records of streams, which are trimmed after a day, and which a table without a stream does not
//   have.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/expected.h"
#include "engine/schema/table.h"
#include "engine/tables/points.h"

namespace mayfly::engine {

class Catalog;
class HistoryTrimmer;
class LiveTable;
class SnapshotHeads;
class Storage;

// Why no point was taken.
enum class PointRefusal : std::uint8_t {
  dropped,  // the table is dropped, or the instant cannot be restored
  no_room,  // points alone exceed history_bytes_max, or the memory limit is reached
};

class History {
 public:
  // Requires: all arguments outlive this object.
  History(Storage& storage, Catalog& catalog, Points& points, const SnapshotHeads& snapshots,
          HistoryTrimmer& trimmer)
      : storage_(storage), catalog_(catalog), points_(points), snapshots_(snapshots), trimmer_(trimmer) {}

  // --- recovery
  // Keeps the table's versions from now on, for `days` days of the account's clock. If recovery is already
  // on, only changes the number of days. Returns false if the table is dropped.
  bool keep(const std::shared_ptr<LiveTable>& table, std::int64_t days);
  // Turns recovery off and discards the versions that no point needs. A later keep() starts a new history.
  void forget(const std::shared_ptr<LiveTable>& table);
  // The instants that the table can be restored to, from `earliest` to `latest`, which is the current time.
  struct Restorable {
    Instant earliest;
    Instant latest;
  };
  // nullopt if recovery is off. `earliest` never moves back while recovery stays on.
  [[nodiscard]] std::optional<Restorable> restorable(const LiveTable& table) const;

  // --- points
  // Takes a point between two writes to the table. A point takes no space beyond its description.
  Expected<Point, PointRefusal> take_point(const std::shared_ptr<LiveTable>& table);
  // hold_instant() and hold_point() take a point for a job that reads a past state, so that the state stays
  // readable even if its source is dropped in the meantime. The job drops the point when it ends.
  // hold_instant() holds the state at the end of an instant and returns `dropped` if the instant cannot be
  // restored. hold_point() holds the state of a point and returns nullopt if there is no such point.
  Expected<Point, PointRefusal> hold_instant(const std::shared_ptr<LiveTable>& table, Instant at);
  std::optional<Point> hold_point(PointId id);
  [[nodiscard]] std::optional<Point> find_point(PointId id) const;
  bool drop_point(PointId id);                                              // false if there is no such point
  [[nodiscard]] std::vector<Point> points(std::string_view account) const;  // sorted by id

 private:
  Expected<Point, PointRefusal> take(const std::shared_ptr<LiveTable>& table, std::optional<Instant> at);

  Storage& storage_;
  Catalog& catalog_;
  Points& points_;
  const SnapshotHeads& snapshots_;
  HistoryTrimmer& trimmer_;
};

}  // namespace mayfly::engine
