// Describes what a request changed in storage: every key that was added, changed or deleted. Golden scripts
// and tests use this to check what a request writes rather than its response.
//
//   const StoredState before = stored_state(database);
//   …
//   effects(before, stored_state(database)) ==
//       "music put Nina/Sinnerman\n"
//       "music.by_label put Philips -> Nina/Sinnerman\n"
//       "music expires put 2023-11-14T22:14:20.000Z Nina/Sinnerman\n"
//       "music records INSERT Nina/Sinnerman"
//
// The entry of an item that has a TTL attribute but never expires is printed as `music never expires put
// string Nina/Sinnerman`, and the record of a removal by the service as `music records REMOVE Nina/Sinnerman
// (ttl)`. Counters, table descriptions, clocks and other internal keys are omitted.
#pragma once

#include <map>
#include <string>

#include "engine/database.h"

namespace mayfly::testing {

using StoredState = std::map<std::string, std::string>;  // storage's raw keys and values

StoredState stored_state(const engine::Database& database);

// Lines are separated by '\n' and sorted by table. A table's items come first, then its indexes, its expiries
// and its stream.
std::string effects(const StoredState& before, const StoredState& after);

}  // namespace mayfly::testing
