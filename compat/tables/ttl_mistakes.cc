#include "compat/tables/ttl_mistakes.h"

#include <utility>

#include "compat/json/json.h"
#include "compat/json/utf8.h"
#include "compat/wire/base64.h"
#include "engine/base/clock.h"

namespace mayfly::compat {
namespace {

constexpr std::size_t text_bytes_max = 40, key_text_bytes_max = 100;

std::string quoted(std::string_view text, std::size_t bytes_max) {
  const std::string_view beginning = whole_characters(text, bytes_max);
  std::string shown;
  json::append_escaped(shown, std::string(beginning) + (beginning.size() < text.size() ? "…" : ""));
  return shown;
}

std::string_view type_word(engine::Type type) {
  switch (type) {
    case engine::Type::string: return "a string";
    case engine::Type::number: return "a number";
    case engine::Type::binary: return "binary";
    case engine::Type::boolean: return "a boolean";
    case engine::Type::null: return "null";
    case engine::Type::string_set: return "a string set";
    case engine::Type::number_set: return "a number set";
    case engine::Type::binary_set: return "a binary set";
    case engine::Type::list: return "a list";
    case engine::Type::map: return "a map";
  }
  return {};
}

// Returns a sentence for a TTL that is too large for seconds: "It looks like milliseconds:
// 2031-01-01T00:00:00.000Z; use seconds."
std::string finer_unit(const engine::Number& value) {
  constexpr std::pair<std::string_view, std::int64_t> units[] = {
      {"milliseconds", 1}, {"microseconds", 1000}, {"nanoseconds", 1'000'000}};
  const auto count = value.floor_scaled(0);
  for (const auto& [name, of_millisecond] : units) {
    if (count && *count / of_millisecond < engine::last_instant)
      return "It looks like " + std::string(name) + ": " + engine::iso8601(*count / of_millisecond) +
             "; use seconds.";
  }
  return "It is after the year 9999; use seconds since 1970.";
}

}  // namespace

std::string_view never_name(engine::NeverReason reason) {
  switch (reason) {
    case engine::NeverReason::milliseconds: return "milliseconds";
    case engine::NeverReason::string: return "string";
    case engine::NeverReason::wrong_type: return "wrong_type";
    case engine::NeverReason::too_old: return "too_old";
  }
  return {};
}

std::string why_never(const engine::AttributeValue& ttl, engine::NeverReason reason) {
  const std::string never = ", so it never expires";
  if (const auto* text = ttl.get_if<std::string>())
    return "is a string (" + quoted(*text, text_bytes_max) + ")" + never + "; use a Number.";
  const auto* number = ttl.get_if<engine::Number>();
  if (number == nullptr) return "is " + std::string(type_word(ttl.type())) + never + "; use a Number.";
  const std::string is = "is " + number->to_string();
  if (reason == engine::NeverReason::milliseconds) return is + never + ". " + finer_unit(*number);
  if (number->negative()) return is + never + "; use seconds since 1970.";
  const auto milliseconds = number->floor_scaled(3);
  return is + (milliseconds ? " (" + engine::iso8601(*milliseconds) + ")" : "") +
         ", more than five years ago" + never + ", as on AWS.";
}

std::string plain_key(const engine::KeySchema& keys, const engine::Item& item) {
  std::string shown = "{";
  for (const engine::KeyAttribute& key : keys.all()) {
    const engine::AttributeValue* value = item.find(key.name);
    if (value == nullptr) continue;
    if (shown.size() > 1) shown += ", ";
    shown += quoted(key.name, key_text_bytes_max) + ": ";
    if (const auto* text = value->get_if<std::string>()) shown += quoted(*text, key_text_bytes_max);
    if (const auto* number = value->get_if<engine::Number>()) shown += number->to_string();
    if (const auto* bytes = value->get_if<engine::Binary>()) {
      std::string text;
      append_base64(text, bytes->bytes);
      shown += quoted(text, key_text_bytes_max);
    }
  }
  return shown + "}";
}

std::string never_warning(const engine::Table& table, const engine::Item& key, engine::NeverReason reason,
                          const engine::AttributeValue& ttl) {
  return "in table " + table.name + " of account " + table.account + " (" + table.region + "), the TTL of " +
         plain_key(table.keys, key) + " " + why_never(ttl, reason) + " GET /_mayfly/ttl/" + table.name +
         " counts further items.";
}

}  // namespace mayfly::compat
