// /_mayfly/…: what belongs to the emulator, not to DynamoDB.
//
//   GET /_mayfly/health -> {"status":"ok","version":"0.1.0"}
#pragma once

#include <optional>
#include <string_view>

#include "http/reply.h"
#include "http/request.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::http {

inline constexpr std::string_view admin_prefix = "/_mayfly/";

// Empty: there is nothing at this path.
std::optional<Reply> admin(const Request& request, compat::Emulator& emulator);

}  // namespace mayfly::http
