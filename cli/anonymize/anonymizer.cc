#include "cli/anonymize/anonymizer.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/values/item_size.h"

namespace mayfly::transfer {
namespace {

using engine::AttributeValue;
using engine::Number;
using engine::Type;

// A rule, and how many steps of its path have matched on the way from the item's root to the current value.
struct Standing {
  std::size_t rule = 0;  // index among the table's rules
  std::size_t step = 0;  // the next step to match
  friend auto operator<=>(const Standing&, const Standing&) = default;
};
using Standings = std::vector<Standing>;

// One step deeper into an item: to a named attribute or map member, or to a list element.
struct Way {
  std::string_view name{};
  std::size_t index = 0;
  bool is_element = false;
};

bool fits(const PathStep& step, const Way& way) {
  switch (step.kind) {
    case PathStep::Kind::name: return !way.is_element && step.name == way.name;
    case PathStep::Kind::any_name: return !way.is_element;
    case PathStep::Kind::element: return way.is_element && step.index == way.index;
    case PathStep::Kind::any_element: return way.is_element;
    case PathStep::Kind::any_way: return true;
  }
  return false;
}

// Adds `one` to `standings`. If the next step of `one` is `**`, also adds a standing that has passed this
// step, because `**` also matches zero steps.
void add_standing(Standings& standings, std::span<const Rule* const> rules, Standing one) {
  const auto& steps = rules[one.rule]->steps;
  for (;; ++one.step) {
    standings.push_back(one);
    if (one.step == steps.size() || steps[one.step].kind != PathStep::Kind::any_way) return;
  }
}

Standings at_root(std::span<const Rule* const> rules) {
  Standings standings;
  for (std::size_t rule = 0; rule < rules.size(); ++rule) add_standing(standings, rules, {rule, 0});
  return standings;
}

Standings stepped(const Standings& from, std::span<const Rule* const> rules, const Way& way) {
  Standings to;
  for (const Standing& one : from) {
    const auto& steps = rules[one.rule]->steps;
    if (one.step == steps.size() || !fits(steps[one.step], way)) continue;
    if (steps[one.step].kind == PathStep::Kind::any_way) {
      add_standing(to, rules, one);
    } else {
      add_standing(to, rules, {one.rule, one.step + 1});
    }
  }
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
  return to;
}

// Returns the rule whose path ends at the current value, or nullptr. If several paths end there, returns the
// rule that comes first in the file.
const Rule* ending_in(const Standings& standings, std::span<const Rule* const> rules) {
  for (const Standing& one : standings)
    if (one.step == rules[one.rule]->steps.size()) return rules[one.rule];
  return nullptr;
}

std::string label(const Rule& rule) {
  std::string text = rule.path + " (" + std::string(name_of(rule.action));
  if (rule.action == Action::fake) text += " " + std::string(name_of(rule.fake.kind));
  return text + ")";
}

// Shifts a time in seconds since 1970. Treats a number with 12 or more digits as a time in milliseconds.
// Returns nullopt if the shifted time is not a valid number; the caller then leaves the value unchanged.
std::optional<Number> shifted(const Number& value, std::int64_t seconds) {
  constexpr int digits_of_milliseconds = 12;
  const bool in_milliseconds = !value.is_zero() && value.magnitude() + 1 >= digits_of_milliseconds;
  auto sum = Number::add(value, Number(in_milliseconds ? seconds * 1000 : seconds));
  if (!sum) return std::nullopt;
  return *sum;
}

}  // namespace

struct Anonymizer::Walk {
  const Anonymizer& anonymizer;
  std::map<std::string, std::uint64_t>& counts;
  std::string_view top{};  // the current top-level attribute of the item

  void count(const Rule* rule, Action action) {
    const std::string where = anonymizer.shape_.table + ": ";
    if (rule != nullptr) {
      ++counts[where + label(*rule)];
      return;
    }
    const std::string own = where + std::string(top) + " (default " + std::string(name_of(action)) + ")";
    if (counts.size() < counted_names_max || counts.contains(own))
      ++counts[own];
    else
      ++counts[where + "others (default " + std::string(name_of(action)) + ")"];
  }

  // --- scalars: each function returns whether it changed the value

  bool change_text(std::string& text, const Rule* rule, Action action) const {
    std::string kept;
    if (rule != nullptr && !rule->after.empty()) {
      const auto found = text.find(rule->after);
      if (found != std::string::npos) kept = text.substr(0, found + rule->after.size());
    }
    const std::string_view rest = std::string_view(text).substr(kept.size());
    if (rest.empty()) return false;
    std::optional<std::string> fake;
    if (action == Action::fake) fake = fake_text(*anonymizer.hash_, rule->fake, rest);
    text = kept + (fake ? *fake : anonymizer.hash_->text(rest));
    return true;
  }
  bool change_number(Number& number, const Rule* rule, Action action) const {
    std::optional<Number> other;
    if (action == Action::fake) other = fake_number(*anonymizer.hash_, rule->fake, number);
    number = other ? *other : anonymizer.hash_->number(number);
    return true;
  }
  bool change_binary(engine::Binary& binary) const {
    if (binary.bytes.empty()) return false;
    binary = anonymizer.hash_->binary(binary);
    return true;
  }

  template <class T, class Change>
  bool change_set(engine::Set<T>& set, const Change& change) const {
    std::vector<T> members = set.members();
    bool any = false;
    for (T& one : members) any = change(one) || any;
    engine::Set<T>::make(std::move(members), set);  // merges members that have become equal
    return any;
  }

  bool change_leaf(AttributeValue& value, const Rule* rule, Action action) const {
    if (action == Action::shift) {
      auto* const number = value.get_if<Number>();
      const auto sum = number != nullptr ? shifted(*number, rule->shift_seconds) : std::nullopt;
      if (sum) *number = *sum;
      return sum.has_value();
    }
    switch (value.type()) {
      case Type::string: return change_text(*value.get_if<std::string>(), rule, action);
      case Type::number: return change_number(*value.get_if<Number>(), rule, action);
      case Type::binary: return change_binary(*value.get_if<engine::Binary>());
      case Type::string_set:
        return change_set(*value.get_if<engine::StringSet>(),
                          [&](std::string& one) { return change_text(one, rule, action); });
      case Type::number_set:
        return change_set(*value.get_if<engine::NumberSet>(),
                          [&](Number& one) { return change_number(one, rule, action); });
      case Type::binary_set:
        return change_set(*value.get_if<engine::BinarySet>(),
                          [&](engine::Binary& one) { return change_binary(one); });
      default: return false;
    }
  }

  // --- recursion: each function returns false if the caller must remove the value

  bool visit(AttributeValue& value, const Standings& standings, const Rule* rule) {
    const std::span<const Rule* const> rules = anonymizer.own_;
    if (const Rule* const own = ending_in(standings, rules)) rule = own;
    const Action action = rule != nullptr ? rule->action : anonymizer.rules_->otherwise;
    if (rule != nullptr && action == Action::drop) {
      count(rule, action);
      return false;
    }
    if (auto* const map = value.get_if<engine::Map>()) return visit_map(*map, standings, rule);
    if (auto* const list = value.get_if<engine::List>()) return visit_list(*list, standings, rule);
    if (action == Action::drop) {
      count(rule, action);
      return false;
    }
    if (action != Action::keep && change_leaf(value, rule, action)) count(rule, action);
    return true;
  }
  bool visit_map(engine::Map& map, const Standings& standings, const Rule* rule) {
    std::vector<std::string> gone;
    for (engine::Attribute& one : map)
      if (!visit(one.value, stepped(standings, anonymizer.own_, {.name = one.name}), rule))
        gone.push_back(one.name);
    erase(map, gone);
    return gone.empty() || !map.empty();
  }
  bool visit_list(engine::List& list, const Standings& standings, const Rule* rule) {
    engine::List kept;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (visit(list[i], stepped(standings, anonymizer.own_, {.index = i, .is_element = true}), rule))
        kept.push_back(std::move(list[i]));
    const bool stays = kept.size() == list.size() || !kept.empty();
    list = std::move(kept);
    return stays;
  }
  static void erase(engine::Map& map, const std::vector<std::string>& gone) {
    map.change({}, {gone.begin(), gone.end()});
  }
};

Expected<Anonymizer, std::string> Anonymizer::for_table(const Rules& rules, const KeyedHash& hash,
                                                        TableShape shape) {
  Anonymizer anonymizer(rules, hash, std::move(shape));
  for (const Rule& rule : rules.rules)
    if (matches(rule.table, anonymizer.shape_.table)) anonymizer.own_.push_back(&rule);
  CHECK_OK(anonymizer.check());
  return anonymizer;
}

Expected<void, std::string> Anonymizer::check() const {
  const Standings root = at_root(own_);
  const auto rule_of = [&](const std::string& attribute) {
    return ending_in(stepped(root, own_, {.name = attribute}), own_);
  };
  for (const std::string& key : shape_.keys) {
    const std::string where = shape_.table + ": key attribute " + key + " ";
    const Rule* const rule = rule_of(key);
    if ((rule != nullptr ? rule->action : rules_->otherwise) == Action::drop) {
      return Unexpected{where + (rule != nullptr ? "cannot be dropped; hash or keep it"
                                                 : "would be dropped by default; add a rule that hashes or "
                                                   "keeps it")};
    }
    if (rule != nullptr && rule->action == Action::fake && !is_unique(rule->fake.kind)) {
      return Unexpected{
          where + "cannot be a fake " + std::string(name_of(rule->fake.kind)) +
          ", because two items could get the same fake value; hash it, or use the kind email or uuid"};
    }
  }
  if (const Rule* const rule = shape_.ttl.empty() ? nullptr : rule_of(shape_.ttl)) {
    const bool is_a_time = rule->action == Action::keep || rule->action == Action::drop ||
                           rule->action == Action::shift ||
                           (rule->action == Action::fake &&
                            (rule->fake.kind == FakeKind::date || rule->fake.kind == FakeKind::number));
    if (!is_a_time) {
      return Unexpected{shape_.table + ": " + shape_.ttl +
                        " is the TTL attribute, so it must remain a time; keep, drop or shift it, or use a "
                        "fake date"};
    }
  }
  return {};
}

Expected<void, std::string> Anonymizer::change(engine::Item& item, Changes& changes) const {
  Walk walk{*this, changes.counts};
  const Standings root = at_root(own_);
  std::vector<std::string> gone;
  for (engine::Attribute& one : item) {
    walk.top = one.name;
    const Standings standings = stepped(root, own_, {.name = one.name});
    if (one.name == shape_.ttl && ending_in(standings, own_) == nullptr) continue;
    if (!walk.visit(one.value, standings, nullptr)) gone.push_back(one.name);
  }
  Walk::erase(item, gone);
  if (engine::item_size(item) > engine::item_bytes_max)
    return Unexpected{shape_.table + ": anonymization made an item larger than 400 KB"};
  return {};
}

}  // namespace mayfly::transfer
