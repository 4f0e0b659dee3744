// When an item that is due is deleted: at once, as late as AWS does, or when told.
//
// `fires_at` is a pure function of the table's mode and name and of `due`, and never decreases with `due`: so
// what is deleted together is a prefix of the expiry index, and a change of mode rewrites nothing.
//
//   fires_at(table, due) == due                 // ExpiryMode::Kind::exact
#pragma once

#include <limits>

#include "engine/clock.h"
#include "engine/table.h"

namespace mayfly::engine {

inline constexpr Instant never = std::numeric_limits<Instant>::max();

// When an item that is due at `due` is deleted by itself; `never`: it is not.
//
// In `aws` mode a scanner passes through the table at instants drawn from the seed, at most half the span of
// the delays apart; an item goes in the first pass that finds it due for delay_ms_min, and is late by no more
// than delay_ms_max.
Instant fires_at(const Table& table, Instant due);

}  // namespace mayfly::engine
