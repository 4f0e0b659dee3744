// Who is writing to which item of a global table with strong consistency at this moment: writers of two
// regions do not wait for each other there, the second is refused. Writers of one region share a claim; the
// item's lock orders them.
//
// Thread-safe; its mutex is held for a few instructions.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "engine/mutex.h"
#include "engine/table.h"

namespace mayfly::engine {

class RegionClaims {
 public:
  // `item`: the same for all regions. False: a writer of another region's table has it.
  [[nodiscard]] bool claim(std::string_view item, TableId table) {
    const Lock lock(mutex_);
    const auto claim = claims_.try_emplace(std::string(item), Claim{table, 0}).first;
    if (claim->second.table != table) return false;
    ++claim->second.writers;
    return true;
  }
  // Requires: it was claimed.
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
