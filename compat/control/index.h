// Lists all calls of the control API, and looks up a request's call.
//
//   find_call("GET", "/_mayfly/ttl/carts").call->name  -> "show_ttl"; parameters {"carts"}
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compat/calls/description.h"

namespace mayfly::compat::control {

// Returns the calls in the order in which GET /_mayfly/ lists them.
std::span<const ControlCall* const> all_calls();

struct FoundCall {
  const ControlCall* call = nullptr;    // nullptr if no call has this method and path
  std::vector<std::string> parameters;  // the segments that matched names in braces, decoded
  std::string allow;                    // the methods that the path supports, if `call` is nullptr
};
FoundCall find_call(std::string_view method, std::string_view path);

}  // namespace mayfly::compat::control
