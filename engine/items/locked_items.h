// The tables and items of a transaction, and the locks that it holds on them.
//
// Locks are taken in the order of lock_table.h: gates, then items and the token. Claims (region_claims.h),
// which never wait, are made after the gates and before the item locks. A table with strong consistency adds
// its replicas to the transaction, with a mirror of each item, because one batch writes to the table and to
// all replicas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/items/item_change.h"
#include "engine/tables/lock_table.h"

namespace mayfly::engine {

class Account;
class LiveTable;
struct WritePath;

class LockedItems {
 public:
  explicit LockedItems(const WritePath& path) : path_(path) {}
  ~LockedItems() { release(); }
  LockedItems(const LockedItems&) = delete;
  LockedItems& operator=(const LockedItems&) = delete;

  // Returns the item's index in items(). Requires: lock() has not been called, and the item has not been
  // added before.
  std::size_t add(std::shared_ptr<LiveTable> table, std::string key);
  // Adds an item of another transaction. That transaction holds the item's locks, and the item is written
  // under these locks.
  ItemChange& adopt(const LockedItems& holder, const ItemChange& item);

  enum class Outcome : std::uint8_t { locked, table_dropped, other_region_writes };
  // `token` is the name of the request's token, which is locked like an item. It is empty if the request has
  // no token.
  Outcome lock(std::string_view token);
  void release();
  // Whether lock() has succeeded and release() has not been called since.
  [[nodiscard]] bool are_held() const { return gates_held_ > 0; }

  // All tables of a transaction belong to the same account.
  [[nodiscard]] Account& account() const;
  [[nodiscard]] const Table& table_of(const ItemChange& item) const {
    return *tables_[item.table].description;
  }
  [[nodiscard]] const std::shared_ptr<const Table>& description_of(const ItemChange& item) const {
    return tables_[item.table].description;
  }
  [[nodiscard]] LiveTable& live_of(const ItemChange& item) const { return *tables_[item.table].live; }
  [[nodiscard]] const std::vector<HeldTable>& tables() const { return tables_; }
  [[nodiscard]] std::vector<ItemChange>& items() { return items_; }
  [[nodiscard]] const std::vector<ItemChange>& items() const { return items_; }

 private:
  std::size_t place_of(std::shared_ptr<LiveTable> table);  // adds the table if it is missing
  bool take_gates();                                       // returns false if a table was dropped
  bool claim_items();   // returns false if a writer in another region has claimed an item
  bool add_mirrors();   // returns false if no mirror was missing
  bool drop_mirrors();  // returns false if there were no mirrors

  const WritePath& path_;
  std::vector<HeldTable> tables_;
  std::vector<ItemChange> items_;
  std::size_t gates_held_ = 0;       // the gates of the first `gates_held_` tables are held
  std::vector<std::string> claims_;  // region_claims.h
  ItemLocks locks_;
};

}  // namespace mayfly::engine
