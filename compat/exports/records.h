// What an export reads of a table's past, in the order of its keys: items as they were at an instant, or what
// became of the keys that were written in a window.
//
//   auto records = items_at(database, table, instant);       // nullptr: it cannot be gone back to
//   while (records->next()) write(records->key(), records->new_image());
//
// They stand on a snapshot of storage from their making on (engine/history_cursor.h): neither later writes,
// nor the table's end, nor recovery's show in an export that has begun.
#pragma once

#include <memory>
#include <string_view>

#include "engine/clock.h"
#include "engine/cursor.h"
#include "engine/database.h"

namespace mayfly::compat::exports {

class Records {
 public:
  virtual ~Records() = default;
  virtual bool next() = 0;  // false: at the end
  // Until next(), as the images.
  [[nodiscard]] virtual std::string_view key() const = 0;  // encoded
  [[nodiscard]] virtual const engine::StoredItem* new_image()
      const = 0;  // nullptr: it was not there any more
  [[nodiscard]] virtual const engine::StoredItem* old_image() const = 0;  // nullptr: it was not there before
  [[nodiscard]] virtual engine::Instant written() const = 0;              // 0 of an item at an instant
};

// The state at the end of `at`. Each is a new image.
std::unique_ptr<Records> items_at(const engine::Database& database, const engine::LiveTable& table,
                                  engine::Instant at);
// What was written after the end of `from` and up to the end of `to`.
std::unique_ptr<Records> changes_between(const engine::Database& database, const engine::LiveTable& table,
                                         engine::Instant from, engine::Instant to);

}  // namespace mayfly::compat::exports
