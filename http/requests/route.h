// Determines what a request is for, once, from its method, its path and X-Amz-Target. The access rules, the
// router and the log therefore agree about the request.
//
//   route_of("PUT", "/_mayfly/ttl/carts", "").kind == Route::Kind::control
//   route_of("PUT", "/_mayfly/ttl/carts", "").found->call->name == "set_ttl_mode"
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "compat/control/index.h"

namespace mayfly::http {

// All paths that belong to Mayfly and not to AWS begin with this prefix.
inline constexpr std::string_view admin_prefix = "/_mayfly/";
inline constexpr std::string_view console_path = "/_mayfly/console";

struct Route {
  enum class Kind : std::uint8_t {
    root,        // "/": DynamoDB's operations, and GET
    invocation,  // Lambda's Invoke, which waits for a function
    lambda,      // the rest of Lambda's API
    console,     // the console's files, whether or not they exist
    mcp,
    health,   // served even if the control API is switched off
    control,  // all other paths below /_mayfly/, whether or not there is such a call
    nothing,
  };
  Kind kind = Kind::nothing;
  std::optional<std::size_t> operation{};             // for root: compat::OperationNumber; nullopt: not named
  std::optional<compat::control::FoundCall> found{};  // for health and control; HEAD finds the call of GET
};

// `path`: without a query. `target`: the X-Amz-Target header.
Route route_of(std::string_view method, std::string_view path, std::string_view target);

}  // namespace mayfly::http
