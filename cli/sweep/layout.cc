#include "cli/sweep/layout.h"

#include <nlohmann/json.hpp>

#include "engine/base/whole_number.h"
#include "engine/values/number.h"

namespace mayfly::sweep {

std::int64_t window_of(std::int64_t second, std::int64_t window_seconds) {
  const std::int64_t rest = second % window_seconds;
  return second - (rest < 0 ? rest + window_seconds : rest);
}

std::string place_text(const Place& place) {
  return std::to_string(place.window) + "#" + std::to_string(place.shard);
}

std::optional<Place> parse_place(std::string_view text) {
  const auto mark = text.find('#');
  if (mark == std::string_view::npos) return std::nullopt;
  const auto window = engine::whole_number<std::int64_t>(text.substr(0, mark));
  const auto shard = engine::whole_number<int>(text.substr(mark + 1));
  if (!window || !shard || *shard < 0) return std::nullopt;
  return Place{*window, *shard};
}

std::optional<engine::Instant> due_of(std::string_view ttl) {
  const auto number = engine::Number::parse(ttl);
  const auto milliseconds = number ? number->floor_scaled(3) : std::nullopt;
  if (!milliseconds || *milliseconds >= engine::last_instant || *milliseconds < -engine::last_instant)
    return std::nullopt;
  return *milliseconds + 1;
}

Place place_of(engine::Instant due, engine::Instant now, int shard, const Layout& layout) {
  return {window_of(std::max(second_of(due), now / 1000), layout.window_seconds), shard};
}

std::string seconds_text(engine::Instant instant) {
  std::string text = std::to_string(instant / 1000);
  if (const auto rest = instant % 1000; rest != 0) text += "." + std::to_string(1000 + rest).substr(1);
  return text;
}

std::optional<std::string_view> attribute(const Tree& item, std::string_view name, std::string_view type) {
  const Tree* const value = json::member(item, name);
  return value == nullptr ? std::nullopt : json::string_member(*value, type);
}

bool same_number(std::string_view one, std::string_view other) {
  if (one == other) return true;
  const auto first = engine::Number::parse(one), second = engine::Number::parse(other);
  return first && second && *first == *second;
}

}  // namespace mayfly::sweep
