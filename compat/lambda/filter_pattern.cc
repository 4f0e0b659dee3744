#include "compat/lambda/filter_pattern.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compat/lambda/case_folding.h"
#include "engine/base/whole_number.h"
#include "engine/values/number.h"

namespace mayfly::compat::triggers {
namespace {

using Kind = json::Value::Kind;

// --- matchers for leaf fields

struct Text {
  enum class Where : std::uint8_t { whole, prefix, suffix };
  Where where = Where::whole;
  bool ignore_case = false;
  std::string text;  // folded if ignore_case
};
// Compares values as numbers: 42, 42.0 and 4.2e1 are equal. A number that is too large or too precise to
// compare equals only its own spelling.
struct NumberIs {
  std::string text;
  std::optional<engine::Number> number;
};
struct Literal {  // null, true, false
  Kind kind;
  bool boolean;
};
struct NumberRange {
  struct Bound {
    engine::Number number;
    bool included;
  };
  std::optional<Bound> bottom, top;
};
struct AnythingBut {
  std::vector<std::variant<Text, NumberIs>> values;
};
struct Exists {
  bool present;
  std::size_t number = 0;  // index of this `exists: false` in the whole pattern, from 0
};
// Addresses whose first `bits` bits are those of `network`. An IPv4 address has 4 bytes, and an IPv6 address
// has 16 bytes.
struct AddressRange {
  std::vector<std::uint8_t> network;
  unsigned bits;
};

using Matcher = std::variant<Text, NumberIs, Literal, NumberRange, AnythingBut, Exists, AddressRange>;

}  // namespace

struct FilterPattern::Object {
  struct Field {
    std::string name;
    std::vector<std::string> path;  // from the record's root, including `name`
    std::vector<Matcher> any_of;
  };
  std::string name;  // empty for the root
  std::vector<Field> fields;
  std::vector<Object> nested;
  std::vector<std::vector<Object>> ors;  // in each inner list, one pattern must match
  std::size_t absences = 0;              // for the root: the number of `exists: false` matchers
};

namespace {

using Object = FilterPattern::Object;

// --- addresses

std::optional<std::vector<std::uint8_t>> parse_ipv4(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  while (true) {
    const auto dot = std::min(text.find('.'), text.size());
    const auto byte = engine::whole_number<std::uint8_t>(text.substr(0, dot));
    if (!byte) return std::nullopt;
    bytes.push_back(*byte);
    if (dot == text.size()) break;
    text.remove_prefix(dot + 1);
  }
  return bytes.size() == 4 ? std::optional(bytes) : std::nullopt;
}

// Parses the groups between the colons of an IPv6 address. Returns nullopt if a group is invalid.
std::optional<std::vector<std::uint8_t>> parse_groups(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  while (!text.empty()) {
    const auto colon = std::min(text.find(':'), text.size());
    const auto group = engine::whole_number<std::uint16_t>(text.substr(0, colon), 16);
    if (!group || colon > 4) return std::nullopt;
    bytes.push_back(static_cast<std::uint8_t>(*group >> 8));
    bytes.push_back(static_cast<std::uint8_t>(*group & 255));
    if (colon + 1 == text.size()) return std::nullopt;
    text.remove_prefix(std::min(colon + 1, text.size()));
  }
  return bytes;
}

std::optional<std::vector<std::uint8_t>> parse_address(std::string_view text) {
  constexpr std::size_t ipv6_bytes = 16;
  if (text.find(':') == text.npos) return parse_ipv4(text);
  const auto gap = text.find("::");
  if (gap == text.npos) {
    auto whole = parse_groups(text);
    return whole && whole->size() == ipv6_bytes ? whole : std::nullopt;
  }
  auto head = parse_groups(text.substr(0, gap)), tail = parse_groups(text.substr(gap + 2));
  if (!head || !tail || head->size() + tail->size() >= ipv6_bytes) return std::nullopt;
  head->insert(head->end(), ipv6_bytes - head->size() - tail->size(), 0);
  head->insert(head->end(), tail->begin(), tail->end());
  return head;
}

bool contains(const AddressRange& range, std::string_view text) {
  const auto address = parse_address(text);
  if (!address || address->size() != range.network.size()) return false;
  for (unsigned bit = 0; bit < range.bits; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80 >> bit % 8);
    if ((((*address)[bit / 8] ^ range.network[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

// --- parsing. All functions return nullopt for an invalid pattern.

NumberIs number_is(const json::Value& value) {
  std::optional<engine::Number> number;
  if (auto parsed = engine::Number::parse(value.number_text())) number = *parsed;
  return {std::string(value.number_text()), number};
}

Text make_text(Text::Where where, bool ignore_case, std::string_view text) {
  return {where, ignore_case, ignore_case ? folded(text) : std::string(text)};
}

// {"prefix": "x"}, {"prefix": {"equals-ignore-case": "x"}}
std::optional<Matcher> parse_affix(Text::Where where, const json::Value& value) {
  if (value.is(Kind::string)) return make_text(where, false, value.string());
  if (value.members().size() != 1 || value.members()[0].name != "equals-ignore-case" ||
      !value.members()[0].value.is(Kind::string)) {
    return std::nullopt;
  }
  return make_text(where, true, value.members()[0].value.string());
}

// {"anything-but": {"prefix": "x"}}, {"anything-but": {"suffix": ["x", "y"]}}
std::optional<Matcher> parse_anything_but_text(const json::Value& value) {
  if (value.members().size() != 1) return std::nullopt;
  const auto& [name, wanted] = value.members()[0];
  const bool ignore_case = name == "equals-ignore-case";
  const bool prefix = name == "prefix", suffix = name == "suffix";
  if (!ignore_case && !prefix && !suffix) return std::nullopt;
  const auto where = prefix ? Text::Where::prefix : suffix ? Text::Where::suffix : Text::Where::whole;
  AnythingBut but;
  const auto texts = wanted.is(Kind::array) ? wanted.items() : std::span(&wanted, 1);
  for (const json::Value& text : texts) {
    if (!text.is(Kind::string) || (text.string().empty() && !ignore_case)) return std::nullopt;
    but.values.emplace_back(make_text(where, ignore_case, text.string()));
  }
  if (but.values.empty()) return std::nullopt;
  return but;
}

std::optional<Matcher> parse_anything_but(const json::Value& value) {
  if (value.is(Kind::object)) return parse_anything_but_text(value);
  const auto values = value.is(Kind::array) ? value.items() : std::span(&value, 1);
  AnythingBut but;
  for (const json::Value& one : values) {
    if (one.kind() != values.front().kind()) return std::nullopt;  // strings or numbers, not both
    if (one.is(Kind::string)) {
      but.values.emplace_back(make_text(Text::Where::whole, false, one.string()));
    } else if (one.is(Kind::number)) {
      but.values.emplace_back(number_is(one));
    } else {
      return std::nullopt;
    }
  }
  if (but.values.empty()) return std::nullopt;
  return but;
}

// ["=", 5], ["<", 5], [">", 0, "<=", 5]
std::optional<Matcher> parse_numeric(const json::Value& value) {
  const auto terms = value.items();
  if (terms.size() != 2 && terms.size() != 4) return std::nullopt;
  NumberRange range;
  for (std::size_t i = 0; i < terms.size(); i += 2) {
    if (!terms[i].is(Kind::string) || !terms[i + 1].is(Kind::number)) return std::nullopt;
    const std::string_view symbol = terms[i].string();
    const auto number = engine::Number::parse(terms[i + 1].number_text());
    if (!number) return std::nullopt;
    const NumberRange::Bound bound{*number, symbol == "=" || symbol == ">=" || symbol == "<="};
    const bool bottom = symbol == ">" || symbol == ">=", top = symbol == "<" || symbol == "<=";
    if (symbol == "=") {
      if (terms.size() != 2) return std::nullopt;
      range.bottom = range.top = bound;
    } else if (bottom && i == 0) {
      range.bottom = bound;
    } else if (top && (i == 2 || terms.size() == 2)) {
      range.top = bound;
    } else {
      return std::nullopt;
    }
  }
  if (terms.size() == 4 && !(range.bottom->number < range.top->number)) return std::nullopt;
  return range;
}

std::optional<Matcher> parse_cidr(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  auto network = parse_address(text.substr(0, slash));
  const auto bits = engine::whole_number<unsigned>(text.substr(slash + 1));
  if (!network || !bits || *bits >= network->size() * 8) return std::nullopt;
  return AddressRange{*std::move(network), *bits};
}

std::optional<Matcher> parse_matcher(const json::Value& value) {
  switch (value.kind()) {
    case Kind::string: return make_text(Text::Where::whole, false, value.string());
    case Kind::number: return number_is(value);
    case Kind::null:
    case Kind::boolean: return Literal{value.kind(), value.boolean()};
    case Kind::array: return std::nullopt;
    case Kind::object: break;
  }
  if (value.members().size() != 1) return std::nullopt;
  const auto& [name, operand] = value.members()[0];
  if (name == "prefix") return parse_affix(Text::Where::prefix, operand);
  if (name == "suffix") return parse_affix(Text::Where::suffix, operand);
  if (name == "anything-but") return parse_anything_but(operand);
  if (name == "numeric") return parse_numeric(operand);
  if (name == "exists" && operand.is(Kind::boolean)) return Exists{operand.boolean()};
  if (name == "equals-ignore-case" && operand.is(Kind::string)) {
    return make_text(Text::Where::whole, true, operand.string());
  }
  if (name == "cidr" && operand.is(Kind::string)) return parse_cidr(operand.string());
  return std::nullopt;
}

// Operators, and names that the pattern language reserves for future operators. Fields inside "$or" cannot
// have these names.
constexpr std::array<std::string_view, 24> reserved_in_or = {"exactly",
                                                             "equals-ignore-case",
                                                             "prefix",
                                                             "suffix",
                                                             "anything-but",
                                                             "exists",
                                                             "wildcard",
                                                             "numeric",
                                                             "cidr",
                                                             "=",
                                                             "<",
                                                             "<=",
                                                             ">",
                                                             ">=",
                                                             "regex",
                                                             "not-wildcard",
                                                             "not-equals-ignore-case",
                                                             "date-after",
                                                             "date-on-or-after",
                                                             "date-before",
                                                             "date-on-or-before",
                                                             "in-date-range",
                                                             "ip-address-in-range",
                                                             "ip-address-not-in-range"};

std::optional<Object> parse_object(const json::Value& value, const std::vector<std::string>& path,
                                   bool in_or);

std::optional<std::vector<Object>> parse_or(const json::Value& value, const std::vector<std::string>& path) {
  std::vector<Object> alternatives;
  for (const json::Value& one : value.items()) {
    auto object = parse_object(one, path, true);
    if (!object) return std::nullopt;
    alternatives.push_back(*std::move(object));
  }
  if (alternatives.size() < 2) return std::nullopt;
  return alternatives;
}

std::optional<Object> parse_object(const json::Value& value, const std::vector<std::string>& path,
                                   bool in_or) {
  Object object;
  if (value.members().empty()) return std::nullopt;  // not an object, or an empty object
  for (std::size_t i = 0; i < value.members().size(); ++i) {
    const auto& [name, wanted] = value.members()[i];
    const auto has_name = [name = name](const auto& other) { return other.name == name; };
    const auto later = value.members().subspan(i + 1);
    const bool repeated = std::any_of(later.begin(), later.end(), has_name);
    if (name == "$or") {
      auto alternatives = parse_or(wanted, path);
      if (!alternatives) return std::nullopt;
      object.ors.push_back(*std::move(alternatives));
      continue;
    }
    if (in_or && std::find(reserved_in_or.begin(), reserved_in_or.end(), name) != reserved_in_or.end()) {
      return std::nullopt;
    }
    std::vector<std::string> own_path = path;
    own_path.emplace_back(name);
    if (wanted.is(Kind::object)) {
      auto nested = parse_object(wanted, own_path, in_or);
      if (!nested) return std::nullopt;
      nested->name = name;
      if (!repeated) object.nested.push_back(*std::move(nested));
      continue;
    }
    Object::Field field{std::string(name), std::move(own_path), {}};
    for (const json::Value& one : wanted.items()) {
      auto matcher = parse_matcher(one);
      if (!matcher) return std::nullopt;
      field.any_of.push_back(*std::move(matcher));
    }
    if (field.any_of.empty()) return std::nullopt;  // not an array, or an empty array
    if (!repeated) object.fields.push_back(std::move(field));
  }
  return object;
}

// --- matching

bool equals(const Text& text, const json::Value& leaf) {
  if (!leaf.is(Kind::string)) return false;
  const std::string kept = text.ignore_case ? folded(leaf.string()) : std::string();
  const std::string_view value = text.ignore_case ? std::string_view(kept) : leaf.string();
  switch (text.where) {
    case Text::Where::whole: return value == text.text;
    case Text::Where::prefix: return value.starts_with(text.text);
    case Text::Where::suffix: return value.ends_with(text.text);
  }
  return false;
}

bool equals(const NumberIs& wanted, const json::Value& leaf) {
  if (!leaf.is(Kind::number)) return false;
  if (leaf.number_text() == wanted.text) return true;
  const auto number = engine::Number::parse(leaf.number_text());
  return number && wanted.number && *number == *wanted.number;
}

bool contains(const NumberRange& range, const json::Value& leaf) {
  if (!leaf.is(Kind::number)) return false;
  const auto number = engine::Number::parse(leaf.number_text());
  if (!number) return false;
  const auto above = [&](const NumberRange::Bound& bound) {
    return bound.number < *number || (bound.included && bound.number == *number);
  };
  const auto below = [&](const NumberRange::Bound& bound) {
    return *number < bound.number || (bound.included && bound.number == *number);
  };
  return (!range.bottom || above(*range.bottom)) && (!range.top || below(*range.top));
}

struct LeafMatches {
  const json::Value& leaf;
  bool operator()(const Text& text) const { return equals(text, leaf); }
  bool operator()(const NumberIs& number) const { return equals(number, leaf); }
  bool operator()(const Literal& literal) const {
    return leaf.is(literal.kind) && leaf.boolean() == literal.boolean;
  }
  bool operator()(const NumberRange& range) const { return contains(range, leaf); }
  // A value of another type also differs from the listed values.
  bool operator()(const AnythingBut& but) const {
    return std::none_of(but.values.begin(), but.values.end(), [&](const auto& value) {
      return std::visit([&](const auto& one) { return equals(one, leaf); }, value);
    });
  }
  bool operator()(const Exists& exists) const { return exists.present; }
  bool operator()(const AddressRange& range) const {
    return leaf.is(Kind::string) && contains(range, leaf.string());
  }
};

// Matches a pattern against a record.
class Match {
 public:
  Match(const Object& pattern, const json::Value& record, FilterWork& work)
      : pattern_(pattern), record_(record), work_(work), absent_(pattern.absences) {}

  bool run() { return object(pattern_, &record_); }

 private:
  // Like Value::member, but a null counts as a value.
  const json::Value* find(const json::Value* object, std::string_view name) {
    if (object == nullptr) return nullptr;
    const auto members = object->members();
    for (auto member = members.rbegin(); member != members.rend(); ++member) {
      if (!work_.step()) return nullptr;
      if (member->name == name) return &member->value;
    }
    return nullptr;
  }

  // For a scalar, returns visit(value). For an array, returns whether `visit` returns true for any scalar in
  // the array, however deeply the scalar is nested in arrays.
  template <class Visit>
  bool any_leaf(const json::Value& value, const Visit& visit) {
    if (!work_.step() || value.is(Kind::object)) return false;
    if (!value.is(Kind::array)) return visit(value);
    return std::any_of(value.items().begin(), value.items().end(),
                       [&](const json::Value& item) { return any_leaf(item, visit); });
  }

  bool has_leaf(const json::Value& value, std::span<const std::string> path) {
    if (path.empty()) return any_leaf(value, [](const json::Value&) { return true; });
    if (value.is(Kind::array)) {
      return work_.step() && std::any_of(value.items().begin(), value.items().end(),
                                         [&](const json::Value& item) { return has_leaf(item, path); });
    }
    const json::Value* next = find(&value, path.front());
    return next != nullptr && has_leaf(*next, path.subspan(1));
  }

  // `exists: false` concerns the whole record, so its result is the same for each object in an array.
  bool absent(const Exists& exists, const Object::Field& field) {
    std::optional<bool>& known = absent_[exists.number];
    if (!known) known = !has_leaf(record_, field.path);
    return *known;
  }

  bool leaf_matches(const json::Value& leaf, const Matcher& matcher) {
    const auto* but = std::get_if<AnythingBut>(&matcher);
    return work_.step(but == nullptr ? 1 : but->values.size()) && std::visit(LeafMatches{leaf}, matcher);
  }

  bool field(const Object::Field& field, const json::Value* value) {
    return std::any_of(field.any_of.begin(), field.any_of.end(), [&](const Matcher& matcher) {
      if (const auto* exists = std::get_if<Exists>(&matcher); exists && !exists->present)
        return absent(*exists, field);
      return value != nullptr &&
             any_leaf(*value, [&](const json::Value& leaf) { return leaf_matches(leaf, matcher); });
    });
  }

  // Collects an object. For an array, collects the objects in the array, however deeply they are nested in
  // arrays.
  void collect_objects(const json::Value& value, std::vector<const json::Value*>& out) {
    if (!work_.step()) return;
    if (value.is(Kind::object)) out.push_back(&value);
    for (const json::Value& item : value.items()) collect_objects(item, out);
  }

  bool nested(const Object& pattern, const json::Value* value) {
    std::vector<const json::Value*> objects;
    if (value != nullptr) collect_objects(*value, objects);
    if (objects.empty()) return object(pattern, nullptr);
    return std::any_of(objects.begin(), objects.end(),
                       [&](const json::Value* one) { return object(pattern, one); });
  }

  bool object(const Object& pattern, const json::Value* value) {
    if (!work_.step()) return false;
    for (const Object::Field& one : pattern.fields) {
      if (!field(one, find(value, one.name))) return false;
    }
    for (const Object& one : pattern.nested) {
      if (!nested(one, find(value, one.name))) return false;
    }
    return std::all_of(pattern.ors.begin(), pattern.ors.end(), [&](const std::vector<Object>& alternatives) {
      return std::any_of(alternatives.begin(), alternatives.end(),
                         [&](const Object& alternative) { return object(alternative, value); });
    });
  }

  const Object& pattern_;
  const json::Value& record_;
  FilterWork& work_;
  std::vector<std::optional<bool>> absent_;  // by number; nullopt: not computed yet
};

// Assigns a number to each `exists: false` of the pattern.
void number_absences(Object& object, std::size_t& count) {
  for (Object::Field& field : object.fields) {
    for (Matcher& matcher : field.any_of) {
      if (auto* exists = std::get_if<Exists>(&matcher); exists && !exists->present) exists->number = count++;
    }
  }
  for (Object& nested : object.nested) number_absences(nested, count);
  for (std::vector<Object>& alternatives : object.ors) {
    for (Object& alternative : alternatives) number_absences(alternative, count);
  }
}

}  // namespace

std::optional<FilterPattern> FilterPattern::parse(std::string_view text) {
  const auto document = json::parse(text);
  if (document == nullptr) return std::nullopt;
  auto root = parse_object(document->root(), {}, false);
  if (!root) return std::nullopt;
  number_absences(*root, root->absences);
  return FilterPattern(std::make_shared<const Object>(*std::move(root)));
}

bool FilterPattern::matches(const json::Value& record, FilterWork& work) const {
  return Match(*root_, record, work).run() && !work.stopped();
}

bool FilterWork::step(std::uint64_t count) {
  steps_ += count;
  if (steps_ - looked_at_ >= steps_between_looks) {
    looked_at_ = steps_;
    stopped_ = stopped_ || stop_.stop_requested();
  }
  return !stopped_;
}

}  // namespace mayfly::compat::triggers
