// The items of a table as they were, in key order: at a point, or at the end of an instant.
//
//   HistoryCursor then(database, point);
//   while (then.next()) use(then.key(), then.item());
//   if (then.gone()) …                              // somebody dropped the point before this was made
//
// It stands on a snapshot of storage from its making on: nothing that happens later changes what it shows, be
// the point dropped or the table. Like Cursor it shows no item that had fired by its TTL: by that instant, by
// the TTL of the point's description, or of the table's present one if that was on by then.
//
// One thread's. Ends before the database.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/clock.h"
#include "engine/cursor.h"
#include "engine/points.h"

namespace mayfly::engine {

class Database;
class LiveTable;

class HistoryCursor {
 public:
  HistoryCursor(const Database& database, const Point& point);
  // Requires: `at` is not later than the account's now. What is earlier than can be gone back to is gone().
  HistoryCursor(const Database& database, const LiveTable& table, Instant at);
  ~HistoryCursor();
  HistoryCursor(HistoryCursor&&) noexcept;
  HistoryCursor& operator=(HistoryCursor&&) noexcept;

  // There was nothing to stand on when it was made: the point had been dropped, the table too, or recovery
  // was off or had given up the instant. next() is false from the beginning.
  [[nodiscard]] bool gone() const;
  // False: at the end.
  bool next();
  [[nodiscard]] std::string_view key() const;  // encoded, without table; valid until next()
  [[nodiscard]] const StoredItem& item() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Each key of a table that was written after the end of the instant `from` and up to the end of `to`, in key
// order: what it was at `from`, what it was at `to`, and when it was last written between them. An item that
// fell due between them was written (erased) when it did, though its reaper came later. An item that came and
// went has neither image; one that was written and is the same as before has both.
//
//   HistoryChanges changes(database, table, from, to);
//   while (changes.next()) use(changes.key(), changes.old_image(), changes.new_image(), changes.written());
class HistoryChanges {
 public:
  // Requires: from <= to, and `to` is not later than the account's now.
  HistoryChanges(const Database& database, const LiveTable& table, Instant from, Instant to);
  ~HistoryChanges();
  HistoryChanges(HistoryChanges&&) noexcept;
  HistoryChanges& operator=(HistoryChanges&&) noexcept;

  [[nodiscard]] bool gone() const;  // as HistoryCursor's
  bool next();
  [[nodiscard]] std::string_view key() const;         // until next(), as the images
  [[nodiscard]] const StoredItem* old_image() const;  // nullptr: it was not there
  [[nodiscard]] const StoredItem* new_image() const;
  [[nodiscard]] Instant written() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly::engine
