// What has fired is gone for everybody from its first millisecond on, though its deletion may still be on its
// way.
//
//   const Departed departed(database, table);              // as of now
//   if (departed.has(item_key, stored)) continue;          // not for this reader
//
// It is computed from the item as it is stored, by the rules that the reaper deletes by, so it holds for
// items that no index knows yet. Readers pass over what has departed; a transaction that meets such an item
// expires it first. What is read stands between two looks at the description: were TTL switched on or off
// between the two, one read would show what was written before that and what was written after it. What a
// failpoint keeps has not departed. In the modes `aws` and `manual` an item that is due is there until it
// fires.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/clock.h"
#include "engine/table.h"

namespace mayfly::engine {

class Database;
class Failpoints;
class LiveTable;

// Whether the item is due, not too old to expire, and fires by now.
bool has_fired(const Table& table, std::string_view stored, Instant now);

class Departed {
 public:
  // Both outlive it. As of now, or of an instant that the reader has taken.
  Departed(const Database& database, const LiveTable& table);
  Departed(const Database& database, const LiveTable& table, Instant now);
  // Whether the table is described as it was. Else what has been read since then is to be read again.
  [[nodiscard]] bool is_current() const;

  [[nodiscard]] bool has(std::string_view item_key, std::string_view stored) const {
    return table_ != nullptr && looks(item_key, stored);
  }

 private:
  [[nodiscard]] bool looks(std::string_view item_key, std::string_view stored) const;

  const LiveTable& live_;
  std::uint64_t described_;  // before table_ was looked at
  const Failpoints& failpoints_;
  std::shared_ptr<const Table> table_;  // empty: nothing of it ever fires
  Instant now_ = 0;
};

}  // namespace mayfly::engine
