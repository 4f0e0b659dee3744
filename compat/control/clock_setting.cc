#include "compat/control/clock_setting.h"

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
  if (failure != std::errc{} || read_to != end || !(setting.rate >= 0.001 && setting.rate <= 1'000'000))
    return std::nullopt;
  return setting;
}

}  // namespace mayfly::compat::control
