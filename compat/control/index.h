// All calls of the control API, and how a request finds its call.
//
//   find_call("GET", "/_mayfly/ttl/carts").call->name  -> "show_ttl"; parameters {"carts"}
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compat/calls/description.h"

namespace mayfly::compat::control {

// In the order in which they are listed.
std::span<const ControlCall* const> all_calls();

struct FoundCall {
  const ControlCall* call = nullptr;    // nullptr if no call has this method and path
  std::vector<std::string> parameters;  // the segments that matched names in braces, decoded
  std::string allow;                    // without a call: the methods that the path supports
};
FoundCall find_call(std::string_view method, std::string_view path);

}  // namespace mayfly::compat::control
