#include "compat/expression/evaluate.h"

#include <algorithm>
#include <compare>

#include "compat/expression/part_search.h"
#include "compat/wire/java_string.h"

namespace mayfly::compat::expression {
namespace {

using engine::AttributeValue;
using engine::Item;
using engine::Number;

// A value of the item or of the expression, or a computed value.
class Resolved {
 public:
  Resolved(const Operand& operand, const Item& item) {
    if (const auto* path = std::get_if<Path>(&operand.value)) {
      value_ = find(*path, item);
    } else if (const SharedValue* value = constant(operand)) {
      value_ = &**value;
    } else {
      const Resolved of(*std::get<Operand::Size>(operand.value).of, item);
      if (of) measure(*of);
    }
  }
  Resolved(const Resolved&) = delete;
  Resolved& operator=(const Resolved&) = delete;

  explicit operator bool() const { return value_ != nullptr; }
  const AttributeValue& operator*() const { return *value_; }

 private:
  void measure(const AttributeValue& value);

  const AttributeValue* value_ = nullptr;
  AttributeValue computed_;
};

struct Measure {
  using Count = std::optional<std::size_t>;
  Count operator()(const std::string& text) const { return static_cast<std::size_t>(java_length(text)); }
  Count operator()(const engine::Binary& binary) const { return binary.bytes.size(); }
  Count operator()(const engine::StringSet& set) const { return set.size(); }
  Count operator()(const engine::NumberSet& set) const { return set.size(); }
  Count operator()(const engine::BinarySet& set) const { return set.size(); }
  Count operator()(const engine::List& list) const { return list.size(); }
  Count operator()(const engine::Map& map) const { return map.size(); }
  Count operator()(const Number&) const { return std::nullopt; }
  Count operator()(bool) const { return std::nullopt; }
  Count operator()(engine::Null) const { return std::nullopt; }
};

void Resolved::measure(const AttributeValue& value) {
  const auto count = std::visit(Measure{}, value.variant());
  if (!count) return;
  computed_ = Number(static_cast<std::int64_t>(*count));
  value_ = &computed_;
}

bool begins_with(const AttributeValue& value, const AttributeValue& prefix) {
  if (const auto* text = value.get_if<std::string>()) {
    const auto* start = prefix.get_if<std::string>();
    return start != nullptr && text->starts_with(*start);
  }
  if (const auto* binary = value.get_if<engine::Binary>()) {
    const auto* start = prefix.get_if<engine::Binary>();
    return start != nullptr && binary->bytes.starts_with(start->bytes);
  }
  return false;
}

template <class T>
bool set_contains(const engine::Set<T>& set, const AttributeValue& element) {
  const T* member = element.get_if<T>();
  return member != nullptr && set.contains(*member);
}

struct ContainsElement {
  const AttributeValue& element;
  bool operator()(const std::string& text) const {
    const auto* part = element.get_if<std::string>();
    return part != nullptr && has_part(text, *part);
  }
  bool operator()(const engine::Binary& binary) const {
    const auto* part = element.get_if<engine::Binary>();
    return part != nullptr && has_part(binary.bytes, part->bytes);
  }
  bool operator()(const engine::StringSet& set) const { return set_contains(set, element); }
  bool operator()(const engine::NumberSet& set) const { return set_contains(set, element); }
  bool operator()(const engine::BinarySet& set) const { return set_contains(set, element); }
  bool operator()(const engine::List& list) const {
    return std::find(list.begin(), list.end(), element) != list.end();
  }
  bool operator()(const engine::Map&) const { return false; }
  bool operator()(const Number&) const { return false; }
  bool operator()(bool) const { return false; }
  bool operator()(engine::Null) const { return false; }
};

struct Evaluate {
  const Item& item;

  bool operator()(const Comparison& comparison) const {
    const Resolved left(comparison.left, item), right(comparison.right, item);
    // A missing value differs from every value, including another missing value.
    if (!left || !right) return comparison.comparator == Comparator::not_equal;
    switch (comparison.comparator) {
      case Comparator::equal: return *left == *right;
      case Comparator::not_equal: return !(*left == *right);
      case Comparator::less: return engine::compare_scalars(*left, *right) < 0;
      case Comparator::less_equal: return engine::compare_scalars(*left, *right) <= 0;
      case Comparator::greater: return engine::compare_scalars(*left, *right) > 0;
      case Comparator::greater_equal: return engine::compare_scalars(*left, *right) >= 0;
    }
    return false;
  }
  bool operator()(const Between& between) const {
    const Resolved value(between.value, item), low(between.low, item), high(between.high, item);
    return value && low && high && engine::compare_scalars(*low, *value) <= 0 &&
           engine::compare_scalars(*value, *high) <= 0;
  }
  bool operator()(const In& in) const {
    const Resolved value(in.value, item);
    return value && std::any_of(in.candidates.begin(), in.candidates.end(), [&](const Operand& operand) {
             const Resolved candidate(operand, item);
             return candidate && *candidate == *value;
           });
  }
  bool operator()(const AttributeExists& exists) const { return find(exists.path, item) != nullptr; }
  bool operator()(const AttributeNotExists& exists) const { return find(exists.path, item) == nullptr; }
  bool operator()(const AttributeType& type) const {
    const Resolved value(type.path, item);
    return value && (*value).type() == type.type;
  }
  bool operator()(const BeginsWith& begins) const {
    const Resolved value(begins.value, item), prefix(begins.prefix, item);
    return value && prefix && begins_with(*value, *prefix);
  }
  bool operator()(const Contains& contains) const {
    const Resolved container(contains.container, item), element(contains.element, item);
    return container && element && std::visit(ContainsElement{*element}, (*container).variant());
  }
  bool operator()(const And& both) const { return evaluate(*both.left, item) && evaluate(*both.right, item); }
  bool operator()(const Or& either) const {
    return evaluate(*either.left, item) || evaluate(*either.right, item);
  }
  bool operator()(const Not& negation) const { return !evaluate(*negation.operand, item); }
};

}  // namespace

bool evaluate(const Condition& condition, const Item& item) {
  return std::visit(Evaluate{item}, condition.node);
}

const AttributeValue* find(const Path& path, const Item& item) {
  return find_prefix(path, path.elements.size(), item);
}

const AttributeValue* find_prefix(const Path& path, std::size_t length, const Item& item) {
  if (length == 0) return nullptr;
  const AttributeValue* value = item.find(std::get<std::string>(path.elements.front()));
  for (std::size_t i = 1; i < length && value != nullptr; ++i) {
    if (const auto* name = std::get_if<std::string>(&path.elements[i])) {
      const auto* map = value->get_if<engine::Map>();
      value = map == nullptr ? nullptr : map->find(*name);
    } else {
      const std::uint32_t index = std::get<std::uint32_t>(path.elements[i]);
      const auto* list = value->get_if<engine::List>();
      value = list == nullptr || index >= list->size() ? nullptr : &(*list)[index];
    }
  }
  return value;
}

}  // namespace mayfly::compat::expression
