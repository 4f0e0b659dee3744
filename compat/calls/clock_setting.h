// Parses a clock's initial setting as it is written in command-line options.
//
//   parse_clock_setting("rate=60")  -> sixty times as fast as the host's clock
//   parse_clock_setting("stopped")  -> nullopt; the error message is clock_settings
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/clock.h"

namespace mayfly::compat::control {

inline constexpr double clock_rate_min = 0.001, clock_rate_max = 1'000'000;

inline constexpr std::string_view clock_settings = "must be real, frozen, offset or rate=60";
std::optional<engine::ClockSetting> parse_clock_setting(std::string_view text);

}  // namespace mayfly::compat::control
