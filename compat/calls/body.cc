#include "compat/calls/body.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compat/calls/times.h"
#include "engine/base/text.h"

namespace mayfly::compat::control {
namespace {

constexpr std::size_t got_bytes_max = 64;

// Prints a limit without an exponent: 600000, not 6e+05.
std::string print(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr;
  return {text, end};
}

bool has_limits(const Member& member) { return member.least != member.most; }

// Describes the values that a member can have, for an error: "a whole number between 1 and 100".
std::string wanted(const Member& member) {
  const std::string limits =
      has_limits(member) ? " between " + print(member.least) + " and " + print(member.most) : std::string();
  switch (member.kind) {
    case Kind::text:
      if (!member.choices.empty()) return engine::alternatives(member.choices);
      if (!has_limits(member)) return "a string";
      return "a string of " + (member.least > 0 ? print(member.least) + " to " : std::string("at most ")) +
             print(member.most) + " bytes";
    case Kind::time: return R"(a time, for example "2026-11-20T00:00:00Z")";
    case Kind::moment: return R"(a time, for example "2026-11-20T00:00:00Z", or "next-expiry")";
    case Kind::number:
    case Kind::seconds: return "a number" + limits;
    case Kind::whole: return "a whole number" + limits;
    case Kind::flag: return "true or false";
    case Kind::key: return R"(an object, for example {"id":{"S":"1"}})";
    case Kind::range: return "an array of a minimum and a maximum, two whole numbers" + limits;
    case Kind::list:
      return "an array of " + (has_limits(member) ? "at most " + print(member.most) + " " : std::string()) +
             "objects";
    case Kind::image:
    case Kind::object:
    case Kind::map: return "an object";
    case Kind::any: break;
  }
  return "a value";
}

bool is_within(const Member& member, double value) {
  return !has_limits(member) || (value >= member.least && value <= member.most);
}
bool is_whole(const Member& member, const json::Tree& value) {
  return value.is_number() && value.get<double>() == std::floor(value.get<double>()) &&
         is_within(member, value.get<double>());
}

bool fits(const Member& member, const json::Tree& value) {
  switch (member.kind) {
    case Kind::text:
      return value.is_string() &&
             is_within(member, static_cast<double>(value.get_ref<const std::string&>().size())) &&
             (member.choices.empty() || std::find(member.choices.begin(), member.choices.end(),
                                                  value.get<std::string>()) != member.choices.end());
    case Kind::time: return value.is_string() && parse_time(value.get<std::string>());
    case Kind::moment:
      return value.is_string() && (value == "next-expiry" || parse_time(value.get<std::string>()));
    case Kind::number:
    case Kind::seconds: return value.is_number() && is_within(member, value.get<double>());
    case Kind::whole: return is_whole(member, value);
    case Kind::flag: return value.is_boolean();
    case Kind::range:
      return value.is_array() && value.size() == 2 && is_whole(member, value[0]) &&
             is_whole(member, value[1]) && value[0].get<double>() <= value[1].get<double>();
    case Kind::list:
      return value.is_array() &&
             (!has_limits(member) || value.size() <= static_cast<std::size_t>(member.most)) &&
             std::all_of(value.begin(), value.end(), [](const json::Tree& each) { return each.is_object(); });
    case Kind::key:
    case Kind::image:
    case Kind::object:
    case Kind::map: return value.is_object();
    case Kind::any: break;
  }
  return true;
}

}  // namespace

Unexpected<Error> must_be(std::string_view name, std::string_view what, const json::Tree& got) {
  return error::validation("'" + std::string(name) + "' must be " + std::string(what) + ", got " +
                           json::print_beginning(got, got_bytes_max) + ".");
}

Result<void> check(const json::Tree& object, std::span<const Member> members, std::string_view whole) {
  for (const Member& member : members) {
    const json::Tree* value = json::member(object, member.name);
    const bool is_missing =
        value == nullptr || (value->is_string() && value->get_ref<const std::string&>().empty());
    if (is_missing && member.given == Given::always)
      return error::validation("'" + std::string(member.name) + "' is required and must be " +
                               wanted(member) + ".");
    if (value == nullptr) continue;
    if (!fits(member, *value)) return must_be(member.name, wanted(member), *value);
    if (member.kind == Kind::list)
      for (const json::Tree& each : *value)
        CHECK_OK(check(each, member.members, "each of '" + std::string(member.name) + "'"));
    if (member.kind == Kind::object)
      CHECK_OK(check(*value, member.members, "'" + std::string(member.name) + "'"));
  }
  for (const auto& given : object.items()) {
    if (std::any_of(members.begin(), members.end(),
                    [&](const Member& member) { return member.name == given.key(); }))
      continue;
    const std::string known = engine::joined(members, ", ", &Member::name);
    return error::validation("Unknown member '" + given.key() + "'; " + std::string(whole) +
                             (known.empty() ? " has no members." : " accepts " + known + "."));
  }
  return {};
}

bool Body::empty() const { return object_ == nullptr || object_->empty(); }

const json::Tree* Body::any(std::string_view name) const {
  MAYFLY_CHECK(std::any_of(members_.begin(), members_.end(),
                           [&](const Member& member) { return member.name == name; }));
  return object_ == nullptr ? nullptr : json::member(*object_, name);
}

std::optional<std::string> Body::text(std::string_view name) const {
  const json::Tree* value = any(name);
  return value == nullptr ? std::nullopt : std::optional(value->get<std::string>());
}

std::optional<double> Body::number(std::string_view name) const {
  const json::Tree* value = any(name);
  return value == nullptr ? std::nullopt : std::optional(value->get<double>());
}

std::optional<std::int64_t> Body::whole(std::string_view name) const {
  const auto value = number(name);
  return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

std::optional<bool> Body::flag(std::string_view name) const {
  const json::Tree* value = any(name);
  return value == nullptr ? std::nullopt : std::optional(value->get<bool>());
}

std::optional<engine::Instant> Body::time(std::string_view name) const {
  const auto value = text(name);
  return value ? parse_time(*value) : std::nullopt;
}

}  // namespace mayfly::compat::control
