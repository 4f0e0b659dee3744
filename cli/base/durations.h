// Durations as people type them.
#pragma once

#include <optional>
#include <string>

namespace mayfly::cli {

// Converts "90", "90s", "15m", "48h", "2d" or "1h30m" to seconds, as the text of a JSON number. nullopt if it
// is not a duration.
std::optional<std::string> seconds_of(const std::string& duration);

}  // namespace mayfly::cli
