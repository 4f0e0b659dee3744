// How a clock begins, in one word, as options say it.
//
//   parse_clock_setting("rate=60")  -> sixty times as fast as the host's
//   parse_clock_setting("stopped")  -> nothing: it is none; clock_settings says what there is
#pragma once

#include <optional>
#include <string_view>

#include "engine/clock.h"

namespace mayfly::compat::control {

inline constexpr std::string_view clock_settings = "must be real, frozen, offset or rate=60";
std::optional<engine::ClockSetting> parse_clock_setting(std::string_view text);

}  // namespace mayfly::compat::control
