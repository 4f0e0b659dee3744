// A call of the control API as its handler sees it.
//
//   Result<json::Tree> sweep(Call& call) {
//     CHECK_OK(call.body.nothing_else());
//     TRY(auto table, call.table(call.parameters[0]));
//     ...
//
// A body's members are asked for one by one. A member that nobody asked for is a mistake of the caller's, and
// the answer says so.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/control/control.h"
#include "compat/emulator.h"
#include "compat/wire/json_tree.h"

namespace mayfly::compat::control {

// 400: "fault must be throttle or latency, got "throtle".", with at most 64 bytes of the value's JSON.
Unexpected<Error> must_be(std::string_view name, std::string_view what, const json::Tree& got);
// The same of names: "real, frozen or offset".
Unexpected<Error> must_be_one_of(std::string_view name, const std::vector<std::string_view>& names,
                                 std::string_view got);

// What a value can be, by name: {{"user", Cause::user}, {"service", Cause::time_to_live}}.
template <typename Value, std::size_t count>
using Choices = std::pair<std::string_view, Value>[count];

template <typename Value, std::size_t count>
Result<std::optional<Value>> choose(std::string_view name, const std::optional<std::string>& text,
                                    const Choices<Value, count>& choices) {
  if (!text) return std::optional<Value>();
  std::vector<std::string_view> names;
  for (const auto& [each, value] : choices) {
    if (each == *text) return std::optional(value);
    names.push_back(each);
  }
  return must_be_one_of(name, names, *text);
}

// The members of a JSON object. Each getter says what is wrong with the member's type: "seconds must be a
// number, got "1"".
class Fields {
 public:
  // nullptr: there are no members. Requires: `object` outlives this.
  explicit Fields(const json::Tree* object) : object_(object) {}

  [[nodiscard]] bool empty() const;
  const json::Tree* any(std::string_view name);
  Result<std::optional<std::string>> string(std::string_view name);
  Result<std::string> required_string(std::string_view name);
  Result<std::optional<double>> number(std::string_view name, double least, double most);
  Result<std::optional<std::int64_t>> integer(std::string_view name, std::int64_t least, std::int64_t most);
  Result<std::optional<bool>> boolean(std::string_view name);
  Result<std::optional<engine::Instant>> time(std::string_view name);  // "2026-11-20T00:00:00Z"
  template <typename Value, std::size_t count>
  Result<std::optional<Value>> choice(std::string_view name, const Choices<Value, count>& choices) {
    TRY(const auto text, string(name));
    return choose(name, text, choices);
  }
  // Whether no member is left over. Requires: all getters were called.
  [[nodiscard]] Result<void> nothing_else() const;

 private:
  const json::Tree* object_;
  std::vector<std::string_view> asked_;
};

struct Call {
  Emulator& emulator;
  const engine::Scope& scope;
  std::vector<std::string> parameters;  // what stood in the path for {…}
  std::string_view query;
  Fields body;
  std::string_view body_text;
  const std::stop_token& stop;
  bool in_pieces;  // Request::in_pieces
  Answer& answer;  // what the handler returns becomes its body

  [[nodiscard]] engine::Database& database() const { return emulator.database(); }
  // Of ?name=value; nothing: it is not there.
  [[nodiscard]] std::optional<std::string> query_value(std::string_view name) const;
  Result<std::optional<std::int64_t>> query_integer(std::string_view name, std::int64_t least,
                                                    std::int64_t most) const;
  // 404 "There is no table carts in us-east-1 of account 000000000000."
  [[nodiscard]] Result<std::shared_ptr<engine::LiveTable>> table(std::string_view name) const;
  [[nodiscard]] Unexpected<Error> no_such_table(std::string_view name) const;
  // The body's member "key", {"id":{"S":"1"}}: an item that has a key's attributes. It is read as operations
  // read one, so that it is refused in DynamoDB's words.
  [[nodiscard]] Result<engine::Item> key() const;
  // The same as key_codec has it.
  [[nodiscard]] Result<std::string> item_key(const engine::Table& table) const;
};

// The answer's body; null: the handler has put another into call.answer.
using Handle = Result<json::Tree> (*)(Call& call);

// 404 and 409: what the control API refuses in words of its own.
Unexpected<Error> not_found(std::string message);
Unexpected<Error> conflict(std::string message);
// 503: the call waited, and was told to stop.
Unexpected<Error> stopped();

// "2026-11-20T00:00:00Z", a fraction of up to three digits, an offset instead of Z. Nothing: it is no time.
std::optional<engine::Instant> parse_time(std::string_view text);
// The same, without a fraction where that is 0.
std::string print_time(engine::Instant instant);
json::Tree time_or_null(std::optional<engine::Instant> instant);
json::Tree item_tree(const engine::Item& item);

}  // namespace mayfly::compat::control
