// Determines when an item that is due is deleted: immediately, as late as on AWS, or on request.
//
// `fires_at` is a pure function of the table's mode and name and of `due`, and never decreases as `due`
// grows. So the items to delete are always a prefix of the expiry index, and a change to the mode does not
// rewrite the index.
//
//   fires_at(table, due) == due                 // ExpiryMode::Kind::exact
#pragma once

#include <limits>

#include "engine/base/clock.h"
#include "engine/schema/table.h"

namespace mayfly::engine {

inline constexpr Instant never = std::numeric_limits<Instant>::max();

// Returns when an item that is due at `due` is deleted automatically; `never` if it is not deleted
// automatically.
//
// In `aws` mode, a simulated scanner passes through the table once per period, at an instant that depends on
// the seed. A period is half of delay_ms_max - delay_ms_min. An item is deleted in the first pass that begins
// at least delay_ms_min after `due`. That pass begins at most delay_ms_max after `due`.
Instant fires_at(const Table& table, Instant due);

}  // namespace mayfly::engine
