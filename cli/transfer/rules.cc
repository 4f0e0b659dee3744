#include "cli/transfer/rules.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "compat/control/call.h"
#include "compat/wire/json_tree.h"
#include "compat/wire/utf8.h"

namespace mayfly::transfer {
namespace {

using compat::control::Fields;
using json::Tree;

constexpr std::string_view action_names[] = {"keep", "drop", "hash", "fake", "shift"};
constexpr std::int64_t seconds_max = 10'000'000'000;  // about three hundred years
constexpr std::int64_t number_max = 1'000'000'000'000'000;

// Quotes text from the file for a message.
std::string shown(std::string_view text) {
  constexpr std::size_t bytes_max = 64;
  const auto cut = compat::whole_characters(text, bytes_max);
  return "'" + std::string(cut) + (cut.size() < text.size() ? "…'" : "'");
}

// The parser keeps repeated members, and the last one counts. A rule that says both keep and drop could let
// through what it was written to remove.
std::optional<std::string> repeated_member(const Tree& object) {
  std::set<std::string_view> names;
  for (const auto& member : object.items())
    if (!names.insert(member.key()).second) return "duplicate member " + shown(member.key());
  return std::nullopt;
}

std::optional<Action> action_named(std::string_view name) {
  const auto* const found = std::find(std::begin(action_names), std::end(action_names), name);
  if (found == std::end(action_names)) return std::nullopt;
  return static_cast<Action>(found - std::begin(action_names));
}

compat::Result<void> read_fake(Fields& fields, Rule& rule) {
  TRY(const auto kind, fields.required_string("kind"));
  const auto known = fake_kind_named(kind);
  if (!known) {
    return compat::error::validation("unknown kind " + shown(kind) +
                                     "; use name, first_name, last_name, email, phone, address, uuid, ip, "
                                     "text, date or number");
  }
  rule.fake.kind = *known;
  if (*known == FakeKind::number) {
    TRY(const auto least, fields.integer("min", -number_max, number_max));
    TRY(const auto most, fields.integer("max", -number_max, number_max));
    if (!least || !most || *least > *most)
      return compat::error::validation("a fake number needs 'min' and 'max', and min must not exceed max");
    rule.fake.least = *least;
    rule.fake.most = *most;
  }
  if (*known == FakeKind::date) {
    TRY(const auto least, fields.time("from"));
    TRY(const auto most, fields.time("to"));
    if (!least || !most || *least > *most)
      return compat::error::validation(
          "a fake date needs 'from' and 'to', such as 2020-01-01T00:00:00Z, and from must not be after to");
    rule.fake.least = *least;
    rule.fake.most = *most;
  }
  return {};
}

compat::Result<Rule> read_rule(const Tree& tree) {
  if (auto repeated = repeated_member(tree)) return compat::error::validation(*std::move(repeated));
  Fields fields(&tree);
  Rule rule;
  TRY(const auto table, fields.string("table"));
  if (table) rule.table = *table;
  TRY(rule.path, fields.required_string("path"));
  auto steps = parse_path(rule.path);
  if (!steps) return compat::error::validation(steps.error());
  rule.steps = *std::move(steps);
  TRY(const auto action, fields.required_string("action"));
  const auto known = action_named(action);
  if (!known)
    return compat::error::validation("unknown action " + shown(action) +
                                     "; use keep, drop, hash, fake or shift");
  rule.action = *known;
  if (rule.action == Action::fake) CHECK_OK(read_fake(fields, rule));
  if (rule.action == Action::hash || rule.action == Action::fake) {
    TRY(const auto after, fields.string("after"));
    if (after) rule.after = *after;
  }
  if (rule.action == Action::shift) {
    TRY(const auto seconds, fields.integer("seconds", -seconds_max, seconds_max));
    if (!seconds) return compat::error::validation("a shift needs 'seconds'");
    rule.shift_seconds = *seconds;
  }
  CHECK_OK(fields.nothing_else());
  return rule;
}

// Parses one step in brackets. `at` is after the opening bracket, and moves past the closing one.
std::optional<PathStep> element_at(std::string_view text, std::size_t& at) {
  const auto end = text.find(']', at);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view inside = text.substr(at, end - at);
  at = end + 1;
  if (inside == "*") return PathStep{.kind = PathStep::Kind::any_element};
  std::size_t index = 0;
  const auto [stop, failure] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
  if (failure != std::errc{} || stop != inside.data() + inside.size()) return std::nullopt;
  return PathStep{.kind = PathStep::Kind::element, .index = index};
}

// Fields words its messages for requests, whose body the object would be.
std::string of_a_file(const std::string& message) {
  for (const std::string_view request : {"The body", "This call"})
    if (message.starts_with(request)) return "it" + message.substr(request.size());
  return message;
}

}  // namespace

std::string_view name_of(Action action) { return action_names[static_cast<std::size_t>(action)]; }

Expected<std::vector<PathStep>, std::string> parse_path(std::string_view text) {
  const Unexpected wrong{shown(text) +
                         " is not a valid path; valid paths look like address.street, lines[*].sku or "
                         "**.password"};
  std::vector<PathStep> steps;
  for (std::size_t at = 0; at < text.size() || steps.empty();) {
    std::string name;
    bool is_plain = true;  // without a backslash
    for (; at < text.size() && text[at] != '.' && text[at] != '['; ++at) {
      if (text[at] == '\\') {
        is_plain = false;
        if (++at == text.size()) return wrong;
      }
      name += text[at];
    }
    if (name.empty()) return wrong;
    using Kind = PathStep::Kind;
    const Kind kind = is_plain && name == "*"    ? Kind::any_name
                      : is_plain && name == "**" ? Kind::any_way
                                                 : Kind::name;
    // `**.**` means `**`. With a step for each, many long rules would cost tens of milliseconds per value.
    if (kind != Kind::any_way || steps.empty() || steps.back().kind != Kind::any_way)
      steps.push_back({.kind = kind, .name = std::move(name)});
    while (at < text.size() && text[at] == '[') {
      const auto element = element_at(text, ++at);
      if (!element) return wrong;
      steps.push_back(*element);
    }
    if (at < text.size() && (text[at] != '.' || ++at == text.size())) return wrong;
  }
  if (steps.size() > Rules::steps_max) return Unexpected{shown(text) + " has more than 40 steps"};
  if (steps.back().kind == PathStep::Kind::any_way)
    return Unexpected{shown(text) + " ends with **; add a name after it"};
  return steps;
}

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t at = 0, in_name = 0;
  std::size_t star = std::string_view::npos, after_star = 0;
  while (in_name < name.size()) {
    if (at < pattern.size() && (pattern[at] == '?' || (pattern[at] != '*' && pattern[at] == name[in_name]))) {
      ++at, ++in_name;
    } else if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      after_star = in_name;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_name = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

Expected<Rules, std::string> Rules::parse(std::string_view text) {
  const auto tree = json::parse_tree(text);
  if (!tree || !tree->is_object()) return Unexpected{std::string("not a JSON object")};
  if (auto repeated = repeated_member(*tree)) return Unexpected{*std::move(repeated)};
  Fields fields(&*tree);
  Rules rules;
  const auto otherwise = fields.string("default");
  std::optional<Action> known;
  if (otherwise && *otherwise) known = action_named(**otherwise);
  if (!known || *known == Action::fake || *known == Action::shift) {
    return Unexpected{
        std::string("\"default\" is required and must be keep, hash or drop; it applies to values without a "
                    "rule")};
  }
  rules.otherwise = *known;
  const Tree* list = fields.any("rules");
  if (list != nullptr && !list->is_array()) return Unexpected{std::string("\"rules\" must be an array")};
  if (const auto rest = fields.nothing_else(); !rest) return Unexpected{of_a_file(rest.error().message)};
  if (list == nullptr) return rules;
  if (list->size() > rules_max) return Unexpected{std::string("more than 1000 rules")};
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const Tree& one : *list) {
    const std::string where = "rule " + std::to_string(rules.rules.size() + 1) + ": ";
    if (!one.is_object()) return Unexpected{where + "not a JSON object"};
    auto rule = read_rule(one);
    if (!rule) return Unexpected{where + of_a_file(rule.error().message)};
    // The second rule would never be used.
    const auto [first, is_new] = places.try_emplace({rule->table, rule->path}, rules.rules.size() + 1);
    if (!is_new) return Unexpected{where + "same table and path as rule " + std::to_string(first->second)};
    rules.rules.push_back(*std::move(rule));
  }
  return rules;
}

}  // namespace mayfly::transfer
