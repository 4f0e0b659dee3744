#include "compat/calls/clock_setting.h"

#include <charconv>
#include <system_error>

namespace mayfly::compat::control {

std::optional<engine::ClockSetting> parse_clock_setting(std::string_view text) {
  using Mode = engine::ClockSetting::Mode;
  if (text == "real") return engine::ClockSetting{};
  if (text == "frozen") return engine::ClockSetting{Mode::frozen};
  if (text == "offset") return engine::ClockSetting{Mode::offset};
  constexpr std::string_view rate = "rate=";
  if (!text.starts_with(rate)) return std::nullopt;
  engine::ClockSetting setting{Mode::rate};
  const char* const end = text.data() + text.size();
  const auto [read_to, failure] = std::from_chars(text.data() + rate.size(), end, setting.rate);
  const bool is_rate = setting.rate >= clock_rate_min && setting.rate <= clock_rate_max;  // false for NaN
  if (failure != std::errc{} || read_to != end || !is_rate) return std::nullopt;
  return setting;
}

}  // namespace mayfly::compat::control
