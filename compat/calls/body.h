// The members of a JSON object, checked against their descriptions before anything reads them.
//
//   CHECK_OK(check(tree, rule_members, "This rule"));
//   const Body rule(&tree, rule_members);
//   rule.text("operation")                 // nullopt if it is missing
//   rule.choice("fault", fault_choices)    // one of the described choices
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/calls/description.h"
#include "compat/json/json_tree.h"
#include "compat/wire/error.h"
#include "engine/base/check.h"
#include "engine/base/clock.h"

namespace mayfly::compat::control {

// Returns a 400 error such as "'fault' must be throttle or latency, got "throtle"." The message quotes at
// most 64 bytes of the value's JSON.
Unexpected<Error> must_be(std::string_view name, std::string_view what, const json::Tree& got);

// Checks that `object` has all required members and no unknown ones, and that each member has its described
// type and is within its limits. The error names the first missing or invalid member in the order of the
// descriptions. If only unknown members are wrong, the error names one of them. Members that are null count
// as missing. `whole` names the object in the error about an unknown member: "this call". Requires: `object`
// is an object.
Result<void> check(const json::Tree& object, std::span<const Member> members, std::string_view whole);

// The possible values of a member by name: {{"user", Cause::user}, {"service", Cause::time_to_live}}.
template <typename Value, std::size_t count>
using Choices = std::pair<std::string_view, Value>[count];

// The names of `choices`, for a description.
template <typename Value, std::size_t count>
constexpr std::array<std::string_view, count> names_of(const Choices<Value, count>& choices) {
  std::array<std::string_view, count> names;
  for (std::size_t i = 0; i < count; ++i) names[i] = choices[i].first;
  return names;
}

class Body {
 public:
  // nullptr stands for an object without members. Requires: check() has accepted the object; both arguments
  // outlive this Body.
  Body(const json::Tree* object, std::span<const Member> members) : object_(object), members_(members) {}

  [[nodiscard]] bool empty() const;
  // Each of these functions returns nullopt or nullptr if the member is missing. Requires: the description
  // has the member.
  [[nodiscard]] const json::Tree* any(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view name) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view name) const;
  [[nodiscard]] std::optional<engine::Instant> time(std::string_view name) const;
  template <typename Value, std::size_t count>
  [[nodiscard]] std::optional<Value> choice(std::string_view name,
                                            const Choices<Value, count>& choices) const {
    const auto given = text(name);
    for (const auto& [each, value] : choices)
      if (each == given) return value;
    MAYFLY_CHECK(!given);  // check() rejects other strings
    return std::nullopt;
  }

 private:
  const json::Tree* object_;
  std::span<const Member> members_;
};

}  // namespace mayfly::compat::control
