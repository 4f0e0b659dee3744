// /_mayfly/mcp: the Model Context Protocol over streamable HTTP. What messages mean is compat/mcp's; here are
// its headers and statuses.
//
// Each request is answered with one JSON object, and nothing is remembered from one to the next: no session,
// no stream of events, which both revisions leave to the server. So only POST is there. Account and region of
// the tools come from the headers of the control API, or from the address, for clients that cannot be told of
// headers:
//
//   POST /_mayfly/mcp?account=000000000042&region=eu-west-1&read-only=true
#pragma once

#include <stop_token>
#include <string_view>

#include "engine/catalog.h"
#include "http/reply.h"
#include "http/request.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::http {

inline constexpr std::string_view mcp_path = "/_mayfly/mcp";

// `scope`: what the headers say. `read_only`: whatever the address says.
Reply mcp(Request& request, compat::Emulator& emulator, engine::Scope scope, bool read_only,
          const std::stop_token& stop);

}  // namespace mayfly::http
