#include "compat/calls/times.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "engine/base/text.h"

namespace mayfly::compat::control {
namespace {

// Takes exactly `count` digits.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
  int value = 0;
  if (text.size() < count) return std::nullopt;
  for (const char c : text.substr(0, count)) {
    if (!engine::is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<engine::Instant> parse_time(std::string_view text) {
  using namespace std::chrono;
  const auto y = take_digits(text, 4);
  if (!y || !take(text, '-')) return std::nullopt;
  const auto m = take_digits(text, 2);
  if (!m || !take(text, '-')) return std::nullopt;
  const auto d = take_digits(text, 2);
  if (!d || !(take(text, 'T') || take(text, ' '))) return std::nullopt;
  const auto hour = take_digits(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  int second = 0, fraction = 0;
  if (take(text, ':')) {
    const auto digits = take_digits(text, 2);
    if (!digits || *digits > 59) return std::nullopt;
    second = *digits;
    if (take(text, '.')) {
      int scale = 100;
      if (text.empty() || !engine::is_digit(text[0])) return std::nullopt;
      for (; !text.empty() && engine::is_digit(text[0]); text.remove_prefix(1), scale /= 10)
        fraction += (text[0] - '0') * scale;
    }
  }
  minutes offset{0};
  if (!take(text, 'Z')) {
    const bool west = text.starts_with('-');
    if (!take(text, '+') && !take(text, '-')) return std::nullopt;
    const auto hours_east = take_digits(text, 2);
    take(text, ':');
    const auto minutes_east = take_digits(text, 2);
    if (!hours_east || !minutes_east || *hours_east > 23 || *minutes_east > 59) return std::nullopt;
    offset = hours(*hours_east) + minutes(*minutes_east);
    if (west) offset = -offset;
  }
  const year_month_day date{year(*y), month(static_cast<unsigned>(*m)), day(static_cast<unsigned>(*d))};
  if (!text.empty() || !date.ok() || *y < 1970) return std::nullopt;
  const auto time =
      sys_days(date) + hours(*hour) + minutes(*minute) + seconds(second) + milliseconds(fraction) - offset;
  const engine::Instant instant = duration_cast<milliseconds>(time.time_since_epoch()).count();
  return instant < 0 ? std::nullopt : std::optional(instant);
}

std::string print_time(engine::Instant instant) {
  std::string text = engine::iso8601(instant);
  if (text.ends_with(".000Z")) text.replace(text.size() - 5, 5, "Z");
  return text;
}

json::Tree time_or_null(std::optional<engine::Instant> instant) {
  return instant ? json::Tree(print_time(*instant)) : json::Tree();
}

}  // namespace mayfly::compat::control
