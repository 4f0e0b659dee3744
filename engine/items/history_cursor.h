// Reads the items of a table in a past state, in key order. The state is either that of a point or the state
// at the end of an instant.
//
//   HistoryCursor then(reader, point);
//   while (then.next()) use(then.key(), then.item());
//   if (then.gone()) …                       // the point was dropped before the cursor was constructed
//
// A cursor takes a snapshot of storage when it is constructed, and reads that snapshot. Later changes do not
// affect it, even if the point or the table is dropped. Like Cursor, it skips items that had already fired.
// For a point, the TTL settings are those in the point's description; for an instant, they are the table's
// current settings if TTL was already enabled at that instant.
//
// Not thread-safe. Must be destroyed before the database.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/tables/points.h"
#include "engine/values/stored_item.h"

namespace mayfly::engine {

class ItemReader;
class LiveTable;

class HistoryCursor {
 public:
  HistoryCursor(const ItemReader& reader, const Point& point);
  // Requires: `at` is not later than the account's current time. If `at` is too early to be restored, the
  // cursor is gone().
  HistoryCursor(const ItemReader& reader, const LiveTable& table, Instant at);
  ~HistoryCursor();
  HistoryCursor(HistoryCursor&&) noexcept;
  HistoryCursor& operator=(HistoryCursor&&) noexcept;

  // True if the state could not be read when the cursor was constructed: the point was dropped or, for an
  // instant, the table was dropped, recovery was off, or the instant had been given up. In that case, the
  // first call to next() returns false.
  [[nodiscard]] bool gone() const;
  // Returns false at the end.
  bool next();
  [[nodiscard]] std::string_view key() const;  // encoded, without the table's id; valid until next()
  [[nodiscard]] const StoredItem& item() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads those keys of a table that were written after the end of instant `from` and up to the end of instant
// `to`, in key order. For each key, returns its item at `from`, its item at `to`, and the time of its last
// write between these instants.
//
// An item that expired between these instants counts as erased at its expiry, even if the reaper deleted it
// later. A key whose item was created and erased between them has no old and no new image. A key that was
// written but has the same item as before has both images.
//
//   HistoryChanges changes(reader, table, from, to);
//   while (changes.next()) use(changes.key(), changes.old_image(), changes.new_image(), changes.written());
class HistoryChanges {
 public:
  // Requires: from <= to, and `to` is not later than the account's current time.
  HistoryChanges(const ItemReader& reader, const LiveTable& table, Instant from, Instant to);
  ~HistoryChanges();
  HistoryChanges(HistoryChanges&&) noexcept;
  HistoryChanges& operator=(HistoryChanges&&) noexcept;

  [[nodiscard]] bool gone() const;  // see HistoryCursor::gone()
  bool next();
  [[nodiscard]] std::string_view key() const;         // valid until next(), like the images
  [[nodiscard]] const StoredItem* old_image() const;  // nullptr if there was no item
  [[nodiscard]] const StoredItem* new_image() const;
  [[nodiscard]] Instant written() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly::engine
