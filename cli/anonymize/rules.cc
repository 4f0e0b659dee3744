#include "cli/anonymize/rules.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "compat/calls/body.h"
#include "compat/json/json_tree.h"
#include "compat/json/utf8.h"

namespace mayfly::transfer {
namespace {

using compat::control::Body;
using compat::control::Given;
using compat::control::Member;
using ValueKind = compat::control::Kind;
using json::Tree;

constexpr std::string_view action_names[] = {"keep", "drop", "hash", "fake", "shift"};
constexpr std::int64_t seconds_max = 10'000'000'000;  // about three hundred years
constexpr std::int64_t number_max = 1'000'000'000'000'000;

// The members that a rule can have depend on its action and, if the action is "fake", also on its kind.
constexpr Member table{"table"}, path{"path", ValueKind::text, "", Given::always},
    action_member{"action", ValueKind::text, "", Given::always}, after{"after"},
    kind_member{"kind", ValueKind::text, "", Given::always};
constexpr Member plain_members[] = {table, path, action_member};
constexpr Member hash_members[] = {table, path, action_member, after};
constexpr Member shift_members[] = {
    table, path, action_member,
    Member{"seconds", ValueKind::whole, "", Given::always}.within(-seconds_max, seconds_max)};
constexpr Member fake_members[] = {table, path, action_member, kind_member, after};
constexpr Member number_members[] = {table,
                                     path,
                                     action_member,
                                     kind_member,
                                     Member{"min", ValueKind::whole}.within(-number_max, number_max),
                                     Member{"max", ValueKind::whole}.within(-number_max, number_max),
                                     after};
constexpr Member date_members[] = {
    table, path, action_member, kind_member, {"from", ValueKind::time}, {"to", ValueKind::time}, after};
constexpr Member file_members[] = {{"default"}, {"rules", ValueKind::any}};

// Quotes text from the file for a message.
std::string shown(std::string_view text) {
  constexpr std::size_t bytes_max = 64;
  const auto cut = compat::whole_characters(text, bytes_max);
  return "'" + std::string(cut) + (cut.size() < text.size() ? "…'" : "'");
}

// Without this check, the last of several members with the same name would take effect. So a rule with the
// two actions keep and drop could let through a value that the rule was written to remove.
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

std::span<const Member> members_of(Action action, FakeKind kind) {
  switch (action) {
    case Action::keep:
    case Action::drop: return plain_members;
    case Action::hash: return hash_members;
    case Action::shift: return shift_members;
    case Action::fake: break;
  }
  return kind == FakeKind::number ? std::span<const Member>(number_members)
         : kind == FakeKind::date ? std::span<const Member>(date_members)
                                  : std::span<const Member>(fake_members);
}

compat::Result<void> read_limits(const Body& body, Rule& rule) {
  if (rule.fake.kind == FakeKind::number) {
    const auto least = body.whole("min"), most = body.whole("max");
    if (!least || !most || *least > *most)
      return compat::error::validation("a fake number needs 'min' and 'max', and min must not exceed max");
    rule.fake.least = *least;
    rule.fake.most = *most;
  }
  if (rule.fake.kind == FakeKind::date) {
    const auto least = body.time("from"), most = body.time("to");
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
  Rule rule;
  if (const auto action = json::string_member(tree, "action")) {
    const auto known = action_named(*action);
    if (!known)
      return compat::error::validation("unknown action " + shown(*action) +
                                       "; use keep, drop, hash, fake or shift");
    rule.action = *known;
  }
  if (const auto kind = json::string_member(tree, "kind"); kind && rule.action == Action::fake) {
    const auto known = fake_kind_named(*kind);
    if (!known) {
      return compat::error::validation("unknown kind " + shown(*kind) +
                                       "; use name, first_name, last_name, email, phone, address, uuid, ip, "
                                       "text, date or number");
    }
    rule.fake.kind = *known;
  }
  const auto members = members_of(rule.action, rule.fake.kind);
  CHECK_OK(check(tree, members, "this rule"));
  const Body body(&tree, members);
  if (auto table_name = body.text("table")) rule.table = *std::move(table_name);
  rule.path = *body.text("path");
  auto steps = parse_path(rule.path);
  if (!steps) return compat::error::validation(steps.error());
  rule.steps = *std::move(steps);
  if (rule.action == Action::fake) CHECK_OK(read_limits(body, rule));
  if (rule.action == Action::hash || rule.action == Action::fake)
    rule.after = body.text("after").value_or("");
  if (rule.action == Action::shift) rule.shift_seconds = *body.whole("seconds");
  return rule;
}

// Parses one step in brackets. `at` must be after the opening bracket, and is moved past the closing bracket.
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

}  // namespace

std::string_view name_of(Action action) { return action_names[static_cast<std::size_t>(action)]; }

Expected<std::vector<PathStep>, std::string> parse_path(std::string_view text) {
  const Unexpected wrong{shown(text) +
                         " is not a valid path; valid paths look like address.street, lines[*].sku or "
                         "**.password"};
  std::vector<PathStep> steps;
  for (std::size_t at = 0; at < text.size() || steps.empty();) {
    std::string name;
    bool is_plain = true;  // the step contains no backslash
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
    // `**.**` means the same as `**`. If each `**` were a separate step, many long rules would cost tens of
    // milliseconds per value.
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
  Rules rules;
  const auto otherwise = json::string_member(*tree, "default");
  std::optional<Action> known;
  if (otherwise) known = action_named(*otherwise);
  if (!known || *known == Action::fake || *known == Action::shift) {
    return Unexpected{
        std::string("\"default\" is required and must be keep, hash or drop; it applies to values without a "
                    "rule")};
  }
  rules.otherwise = *known;
  const Tree* list = json::member(*tree, "rules");
  if (list != nullptr && !list->is_array()) return Unexpected{std::string("\"rules\" must be an array")};
  if (const auto fits = check(*tree, file_members, "the file"); !fits)
    return Unexpected{fits.error().message};
  if (list == nullptr) return rules;
  if (list->size() > rules_max) return Unexpected{std::string("more than 1000 rules")};
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const Tree& one : *list) {
    const std::string where = "rule " + std::to_string(rules.rules.size() + 1) + ": ";
    if (!one.is_object()) return Unexpected{where + "not a JSON object"};
    auto rule = read_rule(one);
    if (!rule) return Unexpected{where + rule.error().message};
    // A second rule for the same table and path would never be used, so it is an error.
    const auto [first, is_new] = places.try_emplace({rule->table, rule->path}, rules.rules.size() + 1);
    if (!is_new) return Unexpected{where + "same table and path as rule " + std::to_string(first->second)};
    rules.rules.push_back(*std::move(rule));
  }
  return rules;
}

}  // namespace mayfly::transfer
