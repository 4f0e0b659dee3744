#include "engine/tables/lock_table.h"

#include <algorithm>
#include <functional>

#include "engine/base/check.h"
#include "engine/base/hurry.h"
#include "engine/base/splitmix.h"

namespace mayfly::engine {

LockTable::Stripe LockTable::stripe_of(TableId table, std::string_view key) {
  const std::size_t hash = std::hash<std::string_view>{}(key) ^ (table * splitmix_step);
  return static_cast<Stripe>((hash ^ (hash >> 32)) % stripe_count);
}

// held_ lists the locked stripes. The thread safety analysis cannot follow this.
void ItemLocks::take(LockTable& table, std::vector<LockTable::Stripe> stripes) NO_THREAD_SAFETY_ANALYSIS {
  MAYFLY_CHECK(held_.empty());
  std::sort(stripes.begin(), stripes.end());
  stripes.erase(std::unique(stripes.begin(), stripes.end()), stripes.end());
  table_ = &table;
  held_.reserve(stripes.size());
  for (const LockTable::Stripe stripe : stripes) {
    lock_in_hurry(table_->stripes_[stripe]);
    held_.push_back(stripe);
  }
}

void ItemLocks::release() NO_THREAD_SAFETY_ANALYSIS {
  for (const LockTable::Stripe stripe : held_) table_->stripes_[stripe].unlock();
  held_.clear();
}

}  // namespace mayfly::engine
