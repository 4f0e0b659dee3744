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

#include "http/reply.h"
#include "http/request.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::http {

struct AccessRules;

inline constexpr std::string_view admin_prefix = "/_mayfly/";
inline constexpr std::string_view health_path = "/_mayfly/health";

// Ends a JSON body with a newline, so that a shell prompt starts on its own line.
void end_line(Reply& reply);

Reply admin(Request& request, compat::Emulator& emulator, const AccessRules& access,
            const std::stop_token& stop);

}  // namespace mayfly::http
