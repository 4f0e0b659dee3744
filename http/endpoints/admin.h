// The HTTP side of /_mayfly/…, the paths that belong to the emulator and not to DynamoDB. The calls
// themselves are in compat/control.
//
// Account and region come from X-Mayfly-Account and X-Mayfly-Region. access.h decides which requests are
// admitted. Health is served even if the control API is switched off.
//
//   GET /_mayfly/health -> {"status":"ok","version":"0.1.0"}
#pragma once

#include <stop_token>
#include <string_view>

#include "http/requests/reply.h"
#include "http/requests/request.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::http {

struct AccessRules;

Reply admin(Request& request, compat::Emulator& emulator, const AccessRules& access,
            const std::stop_token& stop);

}  // namespace mayfly::http
