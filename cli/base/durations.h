// Parses durations that users type.
#pragma once

#include <optional>
#include <string>

namespace mayfly::cli {

// Converts "90", "90s", "15m", "48h", "2d" or "1h30m" to seconds, as the text of a JSON number. Returns
// nullopt if the string is not a duration.
std::optional<std::string> seconds_of(const std::string& duration);

}  // namespace mayfly::cli
