#include "compat/partiql/key_reads.h"

#include <algorithm>
#include <compare>
#include <optional>
#include <string>
#include <utility>

namespace mayfly::compat::partiql {
namespace {

using engine::KeyAttribute;
using engine::KeySchema;
using expression::Comparator;
using expression::Condition;
using expression::KeyPredicate;
using expression::SharedValue;
using PredicateKind = expression::KeyPredicate::Kind;

// An alternative is a set of conditions that must all be true. nullopt stands for a condition that is not on
// a key attribute. A negated condition on a sort attribute, which no range can express, is `not_indexable`.
using Alternative = std::vector<std::optional<KeyPredicate>>;
using Alternatives = std::vector<Alternative>;

// Returns the attribute's name if the operand is a whole attribute, otherwise nullptr.
const std::string* attribute_of(const expression::Operand& operand) {
  const auto* path = std::get_if<expression::Path>(&operand.value);
  return path != nullptr && path->elements.size() == 1 ? &std::get<std::string>(path->elements.front())
                                                       : nullptr;
}

std::optional<PredicateKind> key_kind(Comparator comparator) {
  switch (comparator) {
    case Comparator::equal: return PredicateKind::equal;
    case Comparator::less: return PredicateKind::less;
    case Comparator::less_equal: return PredicateKind::less_equal;
    case Comparator::greater: return PredicateKind::greater;
    case Comparator::greater_equal: return PredicateKind::greater_equal;
    case Comparator::not_equal: break;
  }
  return std::nullopt;
}

std::size_t saturated(std::size_t count) { return std::min(count, key_reads_max + 1); }

bool names(std::span<const KeyAttribute> attributes, const std::string& name) {
  return std::any_of(attributes.begin(), attributes.end(),
                     [&](const KeyAttribute& attribute) { return attribute.name == name; });
}

// Returns the attribute if the condition is the negation of a condition with a constant, otherwise nullptr.
const std::string* negated_attribute(const Condition& condition) {
  if (const auto* comparison = std::get_if<expression::Comparison>(&condition.node)) {
    const bool differs =
        comparison->comparator == Comparator::not_equal && constant(comparison->right) != nullptr;
    return differs ? attribute_of(comparison->left) : nullptr;
  }
  const auto* negation = std::get_if<expression::Not>(&condition.node);
  if (negation == nullptr) return nullptr;
  if (const auto* in = std::get_if<expression::In>(&negation->operand->node)) return attribute_of(in->value);
  if (const auto* between = std::get_if<expression::Between>(&negation->operand->node))
    return attribute_of(between->value);
  if (const auto* begins = std::get_if<expression::BeginsWith>(&negation->operand->node))
    return attribute_of(begins->value);
  const auto* comparison = std::get_if<expression::Comparison>(&negation->operand->node);
  return comparison != nullptr && constant(comparison->right) != nullptr ? attribute_of(comparison->left)
                                                                         : nullptr;
}

class Decomposition {
 public:
  explicit Decomposition(const KeySchema& keys) : keys_(keys) {}

  // Whether the condition limits the attribute to finitely many values.
  [[nodiscard]] bool pins(const Condition& condition, const std::string& attribute) const {
    if (const auto* both = std::get_if<expression::And>(&condition.node)) {
      return pins(*both->left, attribute) || pins(*both->right, attribute);
    }
    if (const auto* either = std::get_if<expression::Or>(&condition.node)) {
      return pins(*either->left, attribute) && pins(*either->right, attribute);
    }
    const Alternatives all = of_leaf(condition);
    const auto& first = all.front().front();
    return first && first->kind == PredicateKind::equal && first->attribute == attribute;
  }

  // Returns the number of alternatives, but at most key_reads_max + 1.
  [[nodiscard]] std::size_t count(const Condition& condition) const {
    if (const auto* both = std::get_if<expression::And>(&condition.node)) {
      return saturated(count(*both->left) * count(*both->right));
    }
    if (const auto* either = std::get_if<expression::Or>(&condition.node)) {
      return names_keys(condition) ? saturated(count(*either->left) + count(*either->right)) : 1;
    }
    return saturated(of_leaf(condition).size());
  }

  [[nodiscard]] Alternatives alternatives(const Condition& condition) const {
    if (const auto* both = std::get_if<expression::And>(&condition.node)) {
      return product(alternatives(*both->left), alternatives(*both->right));
    }
    if (const auto* either = std::get_if<expression::Or>(&condition.node); either && names_keys(condition)) {
      Alternatives all = alternatives(*either->left);
      for (Alternative& other : alternatives(*either->right)) all.push_back(std::move(other));
      return all;
    }
    return of_leaf(condition);
  }

 private:
  [[nodiscard]] bool names_keys(const Condition& condition) const {
    if (const auto* both = std::get_if<expression::And>(&condition.node)) {
      return names_keys(*both->left) || names_keys(*both->right);
    }
    if (const auto* either = std::get_if<expression::Or>(&condition.node)) {
      return names_keys(*either->left) || names_keys(*either->right);
    }
    return of_leaf(condition).front().front().has_value();
  }

  static Alternatives product(Alternatives left, const Alternatives& right) {
    Alternatives all;
    const auto add = [&](Alternative joined, const Alternative& second) {
      joined.insert(joined.end(), second.begin(), second.end());
      all.push_back(std::move(joined));
    };
    for (Alternative& first : left) {
      for (std::size_t i = 0; i + 1 < right.size(); ++i) add(first, right[i]);
      add(std::move(first), right.back());  // the last use moves the value, because chains of AND can be long
    }
    return all;
  }

  [[nodiscard]] Alternatives of_leaf(const Condition& condition) const {
    if (const auto* in = std::get_if<expression::In>(&condition.node)) {
      const std::string* attribute = attribute_of(in->value);
      const bool constants =
          std::all_of(in->candidates.begin(), in->candidates.end(),
                      [](const auto& candidate) { return constant(candidate) != nullptr; });
      if (attribute == nullptr || !keys_.names(*attribute) || !constants) return {{std::nullopt}};
      Alternatives all;
      for (const auto& candidate : in->candidates) {
        all.push_back({KeyPredicate{*attribute, PredicateKind::equal, *constant(candidate), {}}});
      }
      return all;
    }
    auto predicate = key_predicate(condition);
    if (!predicate) predicate = negated_predicate(condition);
    if (predicate && !keys_.names(predicate->attribute)) predicate.reset();
    return {{std::move(predicate)}};
  }

  [[nodiscard]] std::optional<KeyPredicate> negated_predicate(const Condition& condition) const {
    const std::string* attribute = negated_attribute(condition);
    if (attribute == nullptr || !names(keys_.sort(), *attribute)) return std::nullopt;
    return KeyPredicate{*attribute, PredicateKind::not_indexable, {}, {}};
  }

  const KeySchema& keys_;
};

// Removes and returns the attribute's predicate: the first equality or, with `or_range`, the first predicate
// that a range can express. Also drops repetitions of the same equality.
std::optional<KeyPredicate> take(Alternative& conditions, const KeyAttribute& attribute,
                                 bool or_range = false) {
  const auto fits = [&](const std::optional<KeyPredicate>& condition) {
    return condition && condition->attribute == attribute.name &&
           (condition->kind == PredicateKind::equal ||
            (or_range && condition->kind != PredicateKind::not_indexable));
  };
  const auto found = std::find_if(conditions.begin(), conditions.end(), fits);
  if (found == conditions.end()) return std::nullopt;
  const KeyPredicate taken = *std::move(*found);
  conditions.erase(found);
  std::erase_if(conditions, [&](const std::optional<KeyPredicate>& other) {
    return other && other->attribute == taken.attribute && other->kind == PredicateKind::equal &&
           taken.kind == PredicateKind::equal && other->low == taken.low;
  });
  return taken;
}

// Returns nullopt if the clause requires two different values for a partition attribute. Such a clause
// becomes a Scan, which finds nothing.
std::optional<KeyRead> key_read(Alternative conditions, const KeySchema& keys) {
  KeyRead read;
  for (const KeyAttribute& attribute : keys.partition()) {
    read.predicates.push_back(*take(conditions, attribute));
    if (take(conditions, attribute)) return std::nullopt;
  }
  for (const KeyAttribute& attribute : keys.sort()) {
    auto predicate = take(conditions, attribute);
    const bool equal = predicate.has_value();
    if (!equal) predicate = take(conditions, attribute, true);
    if (predicate) read.predicates.push_back(*std::move(predicate));
    if (!equal) break;
  }
  read.filtered = !conditions.empty();
  read.negated = std::any_of(conditions.begin(), conditions.end(), [](const auto& rest) {
    return rest && rest->kind == PredicateKind::not_indexable;
  });
  return read;
}

bool have_one_partition(const KeyRead& a, const KeyRead& b, const KeySchema& keys) {
  const std::size_t partition = keys.partition().size();
  return std::equal(a.predicates.begin(), a.predicates.begin() + static_cast<std::ptrdiff_t>(partition),
                    b.predicates.begin(),
                    [](const KeyPredicate& x, const KeyPredicate& y) { return x.low == y.low; });
}

// If one of several reads of a partition has a negated condition on the sort key, replaces all of them with
// one read of the whole partition: their ranges overlap, and AWS returns their union. A read that has a
// condition on another attribute but no condition on the sort key is still rejected.
Result<std::vector<KeyRead>> united(std::vector<KeyRead> reads, const KeySchema& keys) {
  const std::size_t partition = keys.partition().size();
  std::vector<KeyRead> all;
  for (KeyRead& read : reads) {
    const auto same = [&](const KeyRead& other) { return have_one_partition(read, other, keys); };
    const bool negated = read.negated || std::any_of(reads.begin(), reads.end(), [&](const KeyRead& other) {
                           return other.negated && same(other);
                         });
    const bool several = std::count_if(reads.begin(), reads.end(), same) > 1;
    if (!negated || !several) {
      all.push_back(read);
      continue;
    }
    if (!read.negated && read.filtered && read.predicates.size() == partition)
      return overlapping_conditions();
    if (std::any_of(all.begin(), all.end(), same)) continue;
    KeyRead& whole = all.emplace_back(read);
    whole.predicates.resize(partition);
    whole.filtered = true;
  }
  return all;
}

}  // namespace

Unexpected<Error> overlapping_conditions() {
  return error::validation("Overlapping conditions with range keys are not supported in where clause");
}

std::optional<KeyPredicate> key_predicate(const Condition& condition) {
  if (const auto* comparison = std::get_if<expression::Comparison>(&condition.node)) {
    const auto kind = key_kind(comparison->comparator);
    const std::string* attribute = attribute_of(comparison->left);
    const SharedValue* value = constant(comparison->right);
    if (!kind || attribute == nullptr || value == nullptr) return std::nullopt;
    return KeyPredicate{*attribute, *kind, *value, {}};
  }
  if (const auto* between = std::get_if<expression::Between>(&condition.node)) {
    const std::string* attribute = attribute_of(between->value);
    const SharedValue* low = constant(between->low);
    const SharedValue* high = constant(between->high);
    if (attribute == nullptr || low == nullptr || high == nullptr) return std::nullopt;
    // Empty ranges and bounds that cannot be compared are left to the filter, which matches nothing.
    const auto order = engine::compare_scalars(**low, **high);
    if (order != std::partial_ordering::less && order != std::partial_ordering::equivalent)
      return std::nullopt;
    return KeyPredicate{*attribute, PredicateKind::between, *low, *high};
  }
  if (const auto* begins = std::get_if<expression::BeginsWith>(&condition.node)) {
    const std::string* attribute = attribute_of(begins->value);
    const SharedValue* prefix = constant(begins->prefix);
    if (attribute == nullptr || prefix == nullptr) return std::nullopt;
    return KeyPredicate{*attribute, PredicateKind::begins_with, *prefix, {}};
  }
  return std::nullopt;
}

Result<std::vector<KeyRead>> key_reads(const Condition& where, const KeySchema& keys) {
  const Decomposition decomposition(keys);
  const auto partition = keys.partition();
  const bool keyed = std::all_of(partition.begin(), partition.end(), [&](const KeyAttribute& attribute) {
    return decomposition.pins(where, attribute.name);
  });
  if (!keyed) return std::vector<KeyRead>();
  if (decomposition.count(where) > key_reads_max) {
    return error::validation("Too many decomposed read operations for a given query.");
  }
  std::vector<KeyRead> reads;
  for (Alternative& alternative : decomposition.alternatives(where)) {
    auto read = key_read(std::move(alternative), keys);
    if (!read) return std::vector<KeyRead>();
    reads.push_back(*std::move(read));
  }
  return united(std::move(reads), keys);
}

}  // namespace mayfly::compat::partiql
