#include "compat/control/call.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compat/items/keys.h"
#include "compat/tables/lookup.h"
#include "compat/wire/attribute_value_json.h"
#include "engine/base/whole_number.h"

namespace mayfly::compat::control {
namespace {

constexpr std::size_t got_bytes_max = 64;

// Prints a limit without an exponent: 600000, not 6e+05.
std::string print(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr;
  return {text, end};
}

// Takes exactly `count` digits.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
  int value = 0;
  if (text.size() < count) return std::nullopt;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return std::nullopt;
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

// --- errors

Unexpected<Error> must_be(std::string_view name, std::string_view what, const json::Tree& got) {
  return error::validation("'" + std::string(name) + "' must be " + std::string(what) + ", got " +
                           json::print_beginning(got, got_bytes_max) + ".");
}

Unexpected<Error> must_be_one_of(std::string_view name, const std::vector<std::string_view>& names,
                                 std::string_view got) {
  std::string what;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) what += i + 1 == names.size() ? " or " : ", ";
    what += names[i];
  }
  return must_be(name, what, json::Tree(got.substr(0, got_bytes_max + 1)));
}

// --- members

bool Fields::empty() const { return object_ == nullptr || object_->empty(); }

const json::Tree* Fields::any(std::string_view name) {
  asked_.push_back(name);
  return object_ == nullptr ? nullptr : json::member(*object_, name);
}

Result<std::optional<std::string>> Fields::string(std::string_view name) {
  const json::Tree* value = any(name);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return must_be(name, "a string", *value);
  return std::optional(value->get<std::string>());
}

Result<std::string> Fields::required_string(std::string_view name) {
  TRY(auto value, string(name));
  if (!value || value->empty())
    return error::validation("'" + std::string(name) + "' is required and must be a string.");
  return *std::move(value);
}

Result<std::optional<double>> Fields::number(std::string_view name, double least, double most) {
  const json::Tree* value = any(name);
  if (value == nullptr) return std::optional<double>();
  if (!value->is_number()) return must_be(name, "a number", *value);
  const auto number = value->get<double>();
  if (number < least || number > most)
    return must_be(name, "between " + print(least) + " and " + print(most), *value);
  return std::optional(number);
}

Result<std::optional<std::int64_t>> Fields::integer(std::string_view name, std::int64_t least,
                                                    std::int64_t most) {
  TRY(const auto number, this->number(name, static_cast<double>(least), static_cast<double>(most)));
  if (!number) return std::optional<std::int64_t>();
  if (*number != std::floor(*number)) return must_be(name, "a whole number", *number);
  return std::optional(static_cast<std::int64_t>(*number));
}

Result<std::optional<bool>> Fields::boolean(std::string_view name) {
  const json::Tree* value = any(name);
  if (value == nullptr) return std::optional<bool>();
  if (!value->is_boolean()) return must_be(name, "true or false", *value);
  return std::optional(value->get<bool>());
}

Result<std::optional<engine::Instant>> Fields::time(std::string_view name) {
  TRY(const auto text, string(name));
  if (!text) return std::optional<engine::Instant>();
  const auto time = parse_time(*text);
  if (!time) return must_be(name, "a time, for example \"2026-11-20T00:00:00Z\"", *text);
  return time;
}

Result<void> Fields::nothing_else() const {
  if (object_ == nullptr) return {};
  for (const auto& member : object_->items()) {
    if (std::find(asked_.begin(), asked_.end(), member.key()) != asked_.end()) continue;
    std::string known;
    for (const std::string_view name : asked_) known += (known.empty() ? "" : ", ") + std::string(name);
    return error::validation("Unknown member '" + member.key() + "'; this call " +
                             (known.empty() ? "has no members." : "accepts " + known + "."));
  }
  return {};
}

// --- calls

Result<std::optional<std::int64_t>> Call::query_integer(std::string_view name, std::int64_t least,
                                                        std::int64_t most) const {
  const auto text = query_value(name);
  if (!text) return std::optional<std::int64_t>();
  const auto value = engine::whole_number<std::int64_t>(*text);
  if (!value || *value < least || *value > most) {
    return must_be(name, "a whole number between " + std::to_string(least) + " and " + std::to_string(most),
                   *text);
  }
  return value;
}

Result<std::shared_ptr<engine::LiveTable>> Call::table(std::string_view name) const {
  auto table = database().catalog().find(scope, name);
  if (table == nullptr) return no_such_table(name);
  return table;
}

Unexpected<Error> Call::no_such_table(std::string_view name) const {
  return not_found("There is no table '" + std::string(name) + "' in account " + scope.account + ", region " +
                   scope.region + ".");
}

Result<engine::Item> Call::key() const {
  const auto document = json::parse(body_text);
  const json::Value* key = document == nullptr ? nullptr : document->root().member("key");
  if (key == nullptr || !key->is(json::Value::Kind::object)) {
    return error::validation("'key' is required and must be an object, for example {\"id\":{\"S\":\"1\"}}.");
  }
  return read_item(*key);
}

Result<std::string> Call::item_key(const engine::Table& table) const {
  TRY(const engine::Item item, key());
  return request_key(table, item);
}

Unexpected<Error> not_found(std::string message) {
  return Unexpected{Error{.kind = Error::Kind::not_found, .message = std::move(message)}};
}

Unexpected<Error> conflict(std::string message) {
  return Unexpected{Error{.kind = Error::Kind::conflict, .message = std::move(message)}};
}

Unexpected<Error> stopped() {
  return Unexpected{Error{.kind = Error::Kind::stopped,
                          .message = "Canceled: the server is shutting down or the client disconnected."}};
}

// --- times

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
      if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
      for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1), scale /= 10)
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

json::Tree item_tree(const engine::Item& item) {
  std::string text;
  json::Writer out(text);
  write_item_object(out, item);
  return json::raw(text);
}

}  // namespace mayfly::compat::control
