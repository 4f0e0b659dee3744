// /_mayfly/…: what belongs to the emulator, not to DynamoDB. The calls are compat/control's; here is their
// HTTP.
//
// Account and region come from X-Mayfly-Account and X-Mayfly-Region. Who may ask at all is access.h's; health
// alone is there also when control is switched off.
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

// Ends a body of JSON with a newline, so that a shell does not print its prompt behind it.
void end_line(Reply& reply);

Reply admin(Request& request, compat::Emulator& emulator, const AccessRules& access,
            const std::stop_token& stop);

}  // namespace mayfly::http
