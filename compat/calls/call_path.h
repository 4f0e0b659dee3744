// The path and query of a call, made from values for its members.
//
//   call_path(show_ttl, value_of)  -> "/_mayfly/ttl/my%20carts?window_seconds=60"
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "compat/calls/description.h"
#include "engine/base/expected.h"

namespace mayfly::compat::control {

// The member's value, or nullopt if the member is missing. The error is a sentence about what is wrong.
using MemberText = Expected<std::optional<std::string>, std::string>;

// Percent-encodes the values of `call.place` and `call.query`. The error is that of `value_of`, or "'table'
// is required and must be a string." if a part of the path is missing.
Expected<std::string, std::string> call_path(const ControlCall& call,
                                             const std::function<MemberText(const Member&)>& value_of);

}  // namespace mayfly::compat::control
