// A control API call as its handler sees it.
//
//   Result<json::Tree> sweep(Call& call) {
//     CHECK_OK(call.body.nothing_else());
//     TRY(auto table, call.table(call.parameters[0]));
//     ...
//
// Handlers read a body's members one by one. A member that no handler read is the caller's mistake, and the
// error names it.
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

// Returns a 400: "'fault' must be throttle or latency, got "throtle".", with at most 64 bytes of the value's
// JSON.
Unexpected<Error> must_be(std::string_view name, std::string_view what, const json::Tree& got);
// The same for a value that must be one of several names: "real, frozen or offset".
Unexpected<Error> must_be_one_of(std::string_view name, const std::vector<std::string_view>& names,
                                 std::string_view got);

// The possible values by name: {{"user", Cause::user}, {"service", Cause::time_to_live}}.
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

// The members of a JSON object. Each getter checks the member's type; errors read like "'seconds' must be
// a number, got "1".".
class Fields {
 public:
  // nullptr stands for an object without members. Requires: `object` outlives this object.
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
  // Returns an error if a member was not read. Requires: all getters have been called.
  [[nodiscard]] Result<void> nothing_else() const;

 private:
  const json::Tree* object_;
  std::vector<std::string_view> asked_;
};

struct Call {
  Emulator& emulator;
  const engine::Scope& scope;
  std::vector<std::string> parameters;  // the path segments that matched {…}
  std::string_view query;
  Fields body;
  std::string_view body_text;
  const std::stop_token& stop;
  bool in_pieces;  // Request::in_pieces
  Answer& answer;  // the handler's result becomes its body

  [[nodiscard]] engine::Database& database() const { return emulator.database(); }
  // Returns the value of ?name=value, or nullopt if the query does not have it.
  [[nodiscard]] std::optional<std::string> query_value(std::string_view name) const;
  Result<std::optional<std::int64_t>> query_integer(std::string_view name, std::int64_t least,
                                                    std::int64_t most) const;
  // Error: 404 "There is no table 'carts' in account 000000000000, region us-east-1."
  [[nodiscard]] Result<std::shared_ptr<engine::LiveTable>> table(std::string_view name) const;
  [[nodiscard]] Unexpected<Error> no_such_table(std::string_view name) const;
  // Returns the body's member "key", {"id":{"S":"1"}}: an item that has the key's attributes. It is read as
  // operations read a key, so errors have DynamoDB's wording.
  [[nodiscard]] Result<engine::Item> key() const;
  // The same key, encoded by key_codec.
  [[nodiscard]] Result<std::string> item_key(const engine::Table& table) const;
};

// Returns the response body; null if the handler has put a body or events into call.answer.
using Handle = Result<json::Tree> (*)(Call& call);

// 404 and 409 for errors that DynamoDB does not have.
Unexpected<Error> not_found(std::string message);
Unexpected<Error> conflict(std::string message);
// 503: the call was told to stop while it waited.
Unexpected<Error> stopped();

// Parses "2026-11-20T00:00:00Z". Fractional seconds and an offset instead of Z are allowed. Returns nullopt
// if the text is not a time.
std::optional<engine::Instant> parse_time(std::string_view text);
// The reverse of parse_time. A fraction of zero is omitted.
std::string print_time(engine::Instant instant);
json::Tree time_or_null(std::optional<engine::Instant> instant);
json::Tree item_tree(const engine::Item& item);

}  // namespace mayfly::compat::control
