// Shows how many items never expire because their TTL is unusable, for responses of the control API
// (ttl_calls.cc): {"milliseconds":3,"string":1}.
#pragma once

#include "compat/json/json_tree.h"
#include "engine/time/expiry_index.h"

namespace mayfly::compat::control {

json::Tree show_never(const engine::NeverCounts& counts);  // an empty object if there are none

}  // namespace mayfly::compat::control
