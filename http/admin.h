// /_mayfly/…: what belongs to the emulator, not to DynamoDB. The calls are compat/control's; here is their HTTP.
//
// Account and region come from X-Mayfly-Account and X-Mayfly-Region. A call that changes something must say that
// its body is application/json, and none is answered to whoever calls us by a foreign name or comes from a foreign
// page: a page in the developer's browser can then neither send one unasked nor reach one by rebinding its name.
// Health alone is everybody's.
//
//   GET /_mayfly/health -> {"status":"ok","version":"0.1.0"}
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "http/reply.h"
#include "http/request.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::http {

inline constexpr std::string_view admin_prefix = "/_mayfly/";
inline constexpr std::string_view health_path = "/_mayfly/health";

// Who may call.
struct ControlAccess {
  bool enabled = true;
  std::string listening_on;         // an address, or "localhost"
  std::vector<std::string> hosts;   // names that are ours as well
};

// Whether `host` ("localhost:8000", "[::1]") names us: loopback names and addresses, the address we listen on (any
// address, where we listen on all: names can be rebound, addresses cannot), and the names that were added.
bool is_own_host(std::string_view host, const ControlAccess& access);

Reply admin(Request& request, compat::Emulator& emulator, const ControlAccess& access, const std::stop_token& stop);

}  // namespace mayfly::http
