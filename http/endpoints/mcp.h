// /_mayfly/mcp: the Model Context Protocol over streamable HTTP. compat/mcp handles the messages; this file
// handles headers and statuses.
//
// Each request is answered with one JSON object, and no state is kept between requests: there is no session
// and no event stream, both of which are optional in the two supported revisions. POST is therefore the only
// method. The account and region of the tools come from the headers of the control API, or from the URL, for
// clients that cannot set headers:
//
//   POST /_mayfly/mcp?account=000000000042&region=eu-west-1&read-only=true
#pragma once

#include <stop_token>

#include "engine/tables/catalog.h"
#include "http/requests/reply.h"
#include "http/requests/request.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::http {

// `scope` is from the headers. `read_only` applies regardless of what the URL says.
Reply mcp(Request& request, compat::Emulator& emulator, engine::Scope scope, bool read_only,
          const std::stop_token& stop);

}  // namespace mayfly::http
