// Reads a table's past for an export, in key order: items as they were at an instant, or the changes to the
// keys that were written in a window.
//
//   auto records = items_at(database, table, instant);       // nullptr: the instant cannot be restored
//   while (records->next()) write(records->key(), records->new_image());
//
// A Records object reads from a snapshot of storage (engine/items/history_cursor.h). Later writes, the
// table's deletion and the end of the table's recovery do not affect an export that has begun.
#pragma once

#include <memory>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/database.h"
#include "engine/items/cursor.h"

namespace mayfly::compat::exports {

class Records {
 public:
  virtual ~Records() = default;
  virtual bool next() = 0;  // false at the end
  // The key and the images are valid until the next call to next().
  [[nodiscard]] virtual std::string_view key() const = 0;  // encoded
  // nullptr: the item does not exist at the end of the window.
  [[nodiscard]] virtual const engine::StoredItem* new_image() const = 0;
  // nullptr: the item did not exist before.
  [[nodiscard]] virtual const engine::StoredItem* old_image() const = 0;
  [[nodiscard]] virtual engine::Instant written() const = 0;  // 0 for a record of items_at()
};

// Returns the items as of the end of `at`. Each record has only a new image.
std::unique_ptr<Records> items_at(const engine::Database& database, const engine::LiveTable& table,
                                  engine::Instant at);
// Returns the changes after the end of `from` up to the end of `to`.
std::unique_ptr<Records> changes_between(const engine::Database& database, const engine::LiveTable& table,
                                         engine::Instant from, engine::Instant to);

}  // namespace mayfly::compat::exports
