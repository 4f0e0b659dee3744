#include "engine/items/departed.h"

#include "engine/items/failpoints.h"
#include "engine/schema/expiry_mode.h"
#include "engine/tables/catalog.h"
#include "engine/time/account.h"
#include "engine/time/expiry_index.h"

namespace mayfly::engine {

bool has_fired(const Table& table, std::string_view stored, Instant now) {
  const std::optional<Instant> due = due_of_stored(table, stored);
  return due && is_expired(*due, now) && fires_at(table, *due) <= now;
}

Departed::Departed(const Failpoints& failpoints, const LiveTable& table)
    : live_(table), described_(table.described()), failpoints_(failpoints) {
  if (!table.expires()) return;
  table_ = table.description();
  now_ = table.account().clock().now();
}

Departed::Departed(const Failpoints& failpoints, const LiveTable& table, Instant now)
    : live_(table), described_(table.described()), failpoints_(failpoints), now_(now) {
  if (table.expires()) table_ = table.description();
}

bool Departed::is_current() const { return live_.described() == described_; }

bool Departed::looks(std::string_view item_key, std::string_view stored) const {
  return has_fired(*table_, stored, now_) && !(failpoints_.any() && failpoints_.keeps(live_, item_key));
}

}  // namespace mayfly::engine
