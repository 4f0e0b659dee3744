// Times as people write them.
//
//   parse_time("2031-01-01T00:00:00Z")  -> 1924992000000
//   print_time(1924992000000)           -> "2031-01-01T00:00:00Z"
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compat/json/json_tree.h"
#include "engine/base/clock.h"

namespace mayfly::compat::control {

// Fractional seconds and an offset instead of Z are allowed. Returns nullopt if the string is not a time.
std::optional<engine::Instant> parse_time(std::string_view text);
// The reverse of parse_time. A fraction of zero is omitted.
std::string print_time(engine::Instant instant);
json::Tree time_or_null(std::optional<engine::Instant> instant);

}  // namespace mayfly::compat::control
