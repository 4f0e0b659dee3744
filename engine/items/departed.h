// Departed tells which items readers must treat as deleted: an item departs at the instant at which it fires
// (expiry_mode.h), even if the reaper has not deleted it yet.
//
//   const Departed departed(failpoints, table);            // at the current instant
//   if (departed.has(item_key, stored)) continue;          // this reader skips the item
//
// The answer is computed from the stored item, by the same rules that the reaper follows. It is therefore
// correct even for items that are not in the expiry index yet. Readers skip departed items. A transaction
// deletes a departed item before its caller can see the item.
//
// A reader checks after the read that the table's description is still the same (is_current). Otherwise, if
// TTL were switched on or off during the read, the result would mix items from before and after the change.
//
// An item that a failpoint keeps has not departed. In the modes `aws` and `manual`, an item that is due is
// present until it fires.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/schema/table.h"

namespace mayfly::engine {

class Failpoints;
class LiveTable;

// Whether the item has a TTL that is not too old to expire it, and fires at `now` or earlier.
bool has_fired(const Table& table, std::string_view stored, Instant now);

class Departed {
 public:
  // Answers for the current instant, or for an instant that the reader has chosen. Requires: the arguments
  // outlive this object.
  Departed(const Failpoints& failpoints, const LiveTable& table);
  Departed(const Failpoints& failpoints, const LiveTable& table, Instant now);
  // Whether the table still has the same description. If not, everything that was read since this object was
  // constructed must be read again.
  [[nodiscard]] bool is_current() const;

  [[nodiscard]] bool has(std::string_view item_key, std::string_view stored) const {
    return table_ != nullptr && looks(item_key, stored);
  }

 private:
  [[nodiscard]] bool looks(std::string_view item_key, std::string_view stored) const;

  const LiveTable& live_;
  std::uint64_t described_;  // read before table_
  const Failpoints& failpoints_;
  std::shared_ptr<const Table> table_;  // nullptr if no item of the table ever fires
  Instant now_ = 0;
};

}  // namespace mayfly::engine
