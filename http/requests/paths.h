// The paths that are Mayfly's and not DynamoDB's.
#pragma once

#include <string_view>

namespace mayfly::http {

inline constexpr std::string_view admin_prefix = "/_mayfly/";
inline constexpr std::string_view health_path = "/_mayfly/health";

}  // namespace mayfly::http
