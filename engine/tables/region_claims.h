// Tracks the writes in progress to items of global tables with strong consistency. While a writer in one
// region holds a claim on an item, writers in other regions are refused; they do not wait. Writers in one
// region share a claim, and the item's lock makes them run one after another.
//
// Thread-safe. The mutex is held for a few instructions.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "engine/base/mutex.h"
#include "engine/schema/table.h"

namespace mayfly::engine {

class RegionClaims {
 public:
  // `item` identifies the item and is the same in all regions. Returns false if a writer to another region's
  // table holds the claim.
  [[nodiscard]] bool claim(std::string_view item, TableId table) {
    const Lock lock(mutex_);
    const auto claim = claims_.try_emplace(std::string(item), Claim{table, 0}).first;
    if (claim->second.table != table) return false;
    ++claim->second.writers;
    return true;
  }
  // Requires: the caller's claim() returned true.
  void release(std::string_view item) {
    const Lock lock(mutex_);
    const auto claim = claims_.find(item);
    if (--claim->second.writers == 0) claims_.erase(claim);
  }

 private:
  struct Claim {
    TableId table;
    int writers;
  };
  Mutex mutex_;
  std::map<std::string, Claim, std::less<>> claims_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
