// Departed tells which items have expired for readers: an item is gone for all of them from the instant at
// which it fires, even if it has not been deleted yet.
//
//   const Departed departed(failpoints, table);            // as of now
//   if (departed.has(item_key, stored)) continue;          // not for this reader
//
// The answer is computed from the stored item, by the rules by which the reaper deletes. It is therefore
// right even for items that no index has yet. Readers skip departed items. A transaction that meets one
// expires it first.
//
// A read looks at the description before and after it reads (is_current). Otherwise, if TTL were switched on
// or off during a read, the read would mix items from before and after the change.
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

// Whether the item is due, is not too old to expire, and fires at `now` or earlier.
bool has_fired(const Table& table, std::string_view stored, Instant now);

class Departed {
 public:
  // Answers as of now, or as of an instant that the reader has chosen. Requires: the arguments outlive this
  // object.
  Departed(const Failpoints& failpoints, const LiveTable& table);
  Departed(const Failpoints& failpoints, const LiveTable& table, Instant now);
  // Whether the table still has the same description. If not, everything that was read since construction
  // must be read again.
  [[nodiscard]] bool is_current() const;

  [[nodiscard]] bool has(std::string_view item_key, std::string_view stored) const {
    return table_ != nullptr && looks(item_key, stored);
  }

 private:
  [[nodiscard]] bool looks(std::string_view item_key, std::string_view stored) const;

  const LiveTable& live_;
  std::uint64_t described_;  // read before table_
  const Failpoints& failpoints_;
  std::shared_ptr<const Table> table_;  // empty: none of its items ever fires
  Instant now_ = 0;
};

}  // namespace mayfly::engine
