// What a request left in storage: every key that came, changed or went, in words. For golden scripts and
// tests whose point is what is written, not what is answered.
//
//   const StoredState before = stored_state(database);
//   …
//   effects(before, stored_state(database)) ==
//       "music put Nina/Sinnerman\n"
//       "music.by_label put Philips -> Nina/Sinnerman\n"
//       "music expires put 2023-11-14T22:14:20.000Z Nina/Sinnerman\n"
//       "music records INSERT Nina/Sinnerman"
//
// An item that has a TTL and never expires: `music never expires put string Nina/Sinnerman`.
//
// A removal that is the service's says so: `music records REMOVE Nina/Sinnerman (ttl)`. Counts,
// descriptions of tables, clocks and what is kept for other purposes are left out.
#pragma once

#include <map>
#include <string>

#include "engine/database.h"

namespace mayfly::testing {

using StoredState = std::map<std::string, std::string>;  // storage's keys and values, as they are

StoredState stored_state(const engine::Database& database);

// In the order of names: a table, its indexes, what expires, its stream. Lines are separated by '\n'.
std::string effects(const StoredState& before, const StoredState& after);

}  // namespace mayfly::testing
