// Ordered reads of a table or an index on one snapshot, without what has fired by its TTL (departed.h); or of
// an older state, if that is what the reader shall see (sight.h).
//
//   Cursor cursor(database, table, {.index = 0, .lower = prefix, .upper = prefix_end(prefix)});
//   while (cursor.next()) use(cursor.item());
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/attribute_value.h"
#include "engine/sight.h"
#include "engine/table.h"

namespace mayfly::engine {

class Database;
class LiveTable;

// An item as it is stored; decoded when somebody needs the tree.
class StoredItem {
 public:
  StoredItem() = default;
  explicit StoredItem(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const;  // DynamoDB's byte count
  [[nodiscard]] const Item& item() const;  // decodes once
  Item take() &&;
  void assign(std::string_view bytes);  // reuses the buffer

 private:
  std::string bytes_;
  mutable bool decoded_ = false;
  mutable Item item_;
};

// Byte bounds within one table or index, made by key_codec: [lower, upper), empty upper = to its end.
// An index's entries are keyed as index_entries.h says; index_entry_key makes the position of an item.
struct KeyRange {
  IndexId index = 0;
  std::string lower;
  std::string upper;
  bool forward = true;
};

class Cursor {
 public:
  Cursor(const Database& database, const LiveTable& table, KeyRange range,
         const std::optional<Sight>& sight = std::nullopt);
  ~Cursor();
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;

  // False at the end, or after passing over departed_max items in a row that have departed: then paused()
  // says so, key() and item() are the last of them, and next() goes on. So no read takes long because a
  // reaper is behind.
  static constexpr std::size_t departed_max = 10'000;
  bool next();
  [[nodiscard]] bool paused() const;
  [[nodiscard]] const StoredItem& item() const;  // the whole item, also when an index is read
  [[nodiscard]] std::string_view key() const;    // encoded, without table and index; valid until next()

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly::engine
