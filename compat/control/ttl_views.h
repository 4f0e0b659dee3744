// How answers of the control API show items that have a TTL and never expire: {"milliseconds":3,"string":1}
// (ttl_calls.cc).
#pragma once

#include "compat/wire/json_tree.h"
#include "engine/expiry_index.h"

namespace mayfly::compat::control {

json::Tree show_never(const engine::NeverCounts& counts);  // an empty object: there are none

}  // namespace mayfly::compat::control
