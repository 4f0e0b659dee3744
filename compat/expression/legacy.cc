#include "compat/expression/legacy.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shape.h"
#include "engine/base/check.h"

namespace mayfly::compat::expression {
namespace {

using engine::AttributeValue;
using engine::Type;
using Values = std::vector<AttributeValue>;

enum class Takes : std::uint8_t { anything, scalars, text };  // scalars: S, N and B; text: S and B

struct Operator {
  std::string_view name;
  std::size_t values_min;
  std::size_t values_max;
  Takes takes;
  std::optional<KeyPredicate::Kind> key_kind;  // set if key conditions can use this operator
};
using Kind = KeyPredicate::Kind;
constexpr std::size_t any_number = static_cast<std::size_t>(-1);
constexpr auto operators = std::to_array<Operator>({{"EQ", 1, 1, Takes::anything, Kind::equal},
                                                    {"NE", 1, 1, Takes::anything, {}},
                                                    {"LE", 1, 1, Takes::scalars, Kind::less_equal},
                                                    {"LT", 1, 1, Takes::scalars, Kind::less},
                                                    {"GE", 1, 1, Takes::scalars, Kind::greater_equal},
                                                    {"GT", 1, 1, Takes::scalars, Kind::greater},
                                                    {"CONTAINS", 1, 1, Takes::scalars, {}},
                                                    {"NOT_CONTAINS", 1, 1, Takes::scalars, {}},
                                                    {"BEGINS_WITH", 1, 1, Takes::text, Kind::begins_with},
                                                    {"IN", 1, any_number, Takes::scalars, {}},
                                                    {"BETWEEN", 2, 2, Takes::scalars, Kind::between},
                                                    {"NULL", 0, 0, Takes::anything, {}},
                                                    {"NOT_NULL", 0, 0, Takes::anything, {}}});

const Operator& find_operator(std::string_view name) {
  const auto found = std::find_if(operators.begin(), operators.end(),
                                  [&](const Operator& known) { return known.name == name; });
  MAYFLY_CHECK(found != operators.end());  // the shape check accepts only these operators
  return found == operators.end() ? operators.front() : *found;
}

bool takes(Takes takes, Type type) {
  switch (takes) {
    case Takes::anything: return true;
    case Takes::scalars: return type == Type::string || type == Type::number || type == Type::binary;
    case Takes::text: return type == Type::string || type == Type::binary;
  }
  return false;
}

Result<Values> read_values(const json::Value* list, Frame frame) {
  Values values;
  if (list == nullptr) return values;
  values.reserve(list->items().size());
  for (const json::Value& element : list->items()) {
    TRY(AttributeValue value, read_attribute_value(element, inside(frame)));
    values.push_back(std::move(value));
  }
  return values;
}

Result<void> check_count(const Operator& used, std::size_t count) {
  if (count < used.values_min || count > used.values_max) {
    return error::invalid_parameters("Invalid number of argument(s) for the " + std::string(used.name) +
                                     " ComparisonOperator");
  }
  return {};
}

Result<void> check_values(const Operator& used, const Values& values) {
  CHECK_OK(check_count(used, values.size()));
  for (const AttributeValue& value : values) {
    if (value.type() != values.front().type()) {
      return error::invalid_parameters("AttributeValues inside AttributeValueList must be of same type");
    }
  }
  for (const AttributeValue& value : values) {
    if (!takes(used.takes, value.type())) {
      return error::invalid_parameters("ComparisonOperator " + std::string(used.name) + " is not valid for " +
                                       std::string(engine::type_name(value.type())) + " AttributeValue type");
    }
  }
  if (used.name == "BETWEEN" &&
      engine::compare_scalars(values.front(), values.back()) == std::partial_ordering::greater) {
    return error::validation(
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound");
  }
  return {};
}

Path path_of(std::string_view attribute) { return {{Path::Element(std::string(attribute))}}; }

Condition compare(Comparator comparator, Path path, AttributeValue value) {
  return {Comparison{comparator, {std::move(path)}, {std::move(value)}}};
}

// Requires: `values` has as many values as the operator takes.
Condition lower(std::string_view attribute, const Operator& used, Values values) {
  Path path = path_of(attribute);
  const std::string_view name = used.name;
  if (name == "NULL") return {AttributeNotExists{std::move(path)}};
  if (name == "NOT_NULL") return {AttributeExists{std::move(path)}};
  if (name == "NE") return compare(Comparator::not_equal, std::move(path), std::move(values.front()));
  if (name == "LE") return compare(Comparator::less_equal, std::move(path), std::move(values.front()));
  if (name == "LT") return compare(Comparator::less, std::move(path), std::move(values.front()));
  if (name == "GE") return compare(Comparator::greater_equal, std::move(path), std::move(values.front()));
  if (name == "GT") return compare(Comparator::greater, std::move(path), std::move(values.front()));
  if (name == "BETWEEN") {
    return {Between{{std::move(path)}, {std::move(values.front())}, {std::move(values.back())}}};
  }
  if (name == "BEGINS_WITH") return {BeginsWith{{std::move(path)}, {std::move(values.front())}}};
  if (name == "IN") {
    In in{{std::move(path)}, {}};
    for (AttributeValue& value : values) in.candidates.push_back({std::move(value)});
    return {std::move(in)};
  }
  if (name == "CONTAINS") return {Contains{{std::move(path)}, {std::move(values.front())}}};
  if (name == "NOT_CONTAINS") {
    // A missing attribute contains nothing, but in DynamoDB, NOT_CONTAINS does not match a missing attribute.
    auto exists = std::make_unique<Condition>(Condition{AttributeExists{path}});
    Contains contains{{std::move(path)}, {std::move(values.front())}};
    Not does_not{std::make_unique<Condition>(Condition{std::move(contains)})};
    return {And{std::move(exists), std::make_unique<Condition>(Condition{std::move(does_not)})}};
  }
  return compare(Comparator::equal, std::move(path), std::move(values.front()));
}

// Joins the conditions in halves, so that a large number of conditions does not produce a deep tree.
Condition join(std::vector<Condition>& conditions, std::size_t from, std::size_t to, bool any) {
  if (to - from == 1) return std::move(conditions[from]);
  const std::size_t middle = from + (to - from) / 2;
  auto left = std::make_unique<Condition>(join(conditions, from, middle, any));
  auto right = std::make_unique<Condition>(join(conditions, middle, to, any));
  if (any) return {Or{std::move(left), std::move(right)}};
  return {And{std::move(left), std::move(right)}};
}

Result<void> check_conditional_operator(const json::Value& request, std::size_t conditions) {
  if (request.member("ConditionalOperator") == nullptr || conditions > 1) return {};
  if (conditions == 0) {
    return error::validation("ConditionalOperator cannot be used without Filter or Expected");
  }
  return error::validation(
      "ConditionalOperator can only be used when Filter or Expected has two or more elements");
}

std::optional<Condition> joined(const json::Value& request, std::vector<Condition> conditions) {
  if (conditions.empty()) return std::nullopt;
  const json::Value* conditional_operator = request.member("ConditionalOperator");
  const bool any = conditional_operator != nullptr && conditional_operator->string() == "OR";
  return join(conditions, 0, conditions.size(), any);
}

// The entries of a map, except null ones, which count as absent.
std::vector<const json::Member*> entries(const json::Value* map) {
  std::vector<const json::Member*> out;
  if (map == nullptr) return out;
  for (const json::Member& member : map->members()) {
    if (!member.value.is(json::Value::Kind::null)) out.push_back(&member);
  }
  return out;
}

Result<Condition> read_expectation(std::string_view attribute, const json::Value& expected, Frame frame) {
  const std::string for_attribute = " for Attribute: " + std::string(attribute);
  const json::Value* list = expected.member("AttributeValueList");
  const json::Value* value = expected.member("Value");
  const json::Value* exists = expected.member("Exists");
  const json::Value* comparison = expected.member("ComparisonOperator");
  if (list != nullptr && value != nullptr) {
    return error::invalid_parameters("Value and AttributeValueList cannot be used together" + for_attribute);
  }
  if (comparison != nullptr) {
    const Operator& used = find_operator(comparison->string());
    if (exists != nullptr)
      return error::invalid_parameters("Exists and ComparisonOperator cannot be used together" +
                                       for_attribute);
    if (used.values_max > 0 && list == nullptr && value == nullptr) {
      return error::invalid_parameters("Value or AttributeValueList must be used with ComparisonOperator: " +
                                       std::string(used.name) + for_attribute);
    }
    CHECK_OK(check_count(used, list != nullptr ? list->items().size() : value != nullptr ? 1 : 0));
    TRY(Values values, read_values(list, frame));
    if (value != nullptr) {
      TRY(AttributeValue only, read_attribute_value(*value, inside(frame)));
      values.push_back(std::move(only));
    }
    CHECK_OK(check_values(used, values));
    return lower(attribute, used, std::move(values));
  }
  if (list != nullptr)
    return error::invalid_parameters("AttributeValueList can only be used with a ComparisonOperator" +
                                     for_attribute);
  const bool must_exist = exists == nullptr || boolean_of(*exists);
  if (must_exist && value == nullptr) {
    return error::invalid_parameters("Value must be provided when Exists is " +
                                     std::string(exists == nullptr ? "null" : "true") + for_attribute);
  }
  if (!must_exist && value != nullptr)
    return error::invalid_parameters("Value cannot be used when Exists is false" + for_attribute);
  if (!must_exist) return Condition{AttributeNotExists{path_of(attribute)}};
  TRY(AttributeValue wanted, read_attribute_value(*value, inside(frame)));
  return compare(Comparator::equal, path_of(attribute), std::move(wanted));
}

Result<std::optional<Condition>> expected_of(const json::Value& request, Frame frame) {
  std::vector<Condition> conditions;
  const auto expected = entries(request.member("Expected"));
  CHECK_OK(check_conditional_operator(request, expected.size()));
  for (const json::Member* entry : expected) {
    TRY(Condition condition, read_expectation(entry->name, entry->value, frame));
    conditions.push_back(std::move(condition));
  }
  return joined(request, std::move(conditions));
}

Result<std::optional<Condition>> filter_of(const json::Value& request, std::string_view member, Frame frame) {
  std::vector<Condition> conditions;
  const auto filter = entries(request.member(member));
  CHECK_OK(check_conditional_operator(request, filter.size()));
  for (const json::Member* entry : filter) {
    TRY(Values values, read_values(entry->value.member("AttributeValueList"), frame));
    const Operator& used = find_operator(entry->value.member("ComparisonOperator")->string());
    CHECK_OK(check_values(used, values));
    conditions.push_back(lower(entry->name, used, std::move(values)));
  }
  return joined(request, std::move(conditions));
}

Result<std::vector<KeyPredicate>> key_conditions_of(const json::Value& key_conditions, Frame frame) {
  std::vector<KeyPredicate> predicates;
  for (const json::Member* entry : entries(&key_conditions)) {
    TRY(Values values, read_values(entry->value.member("AttributeValueList"), frame));
    const Operator& used = find_operator(entry->value.member("ComparisonOperator")->string());
    CHECK_OK(check_values(used, values));
    KeyPredicate predicate{std::string(entry->name), used.key_kind.value_or(Kind::not_indexable), {}, {}};
    if (!values.empty()) predicate.low = values.front();
    if (predicate.kind == Kind::between) predicate.high = std::move(values.back());
    predicates.push_back(std::move(predicate));
  }
  return predicates;
}

Result<Update> updates_of(const json::Value& attribute_updates, Frame frame) {
  if (attribute_updates.member("") != nullptr) return empty_attribute_name();
  Update update;
  update.legacy = true;
  for (const json::Member* entry : entries(&attribute_updates)) {
    const json::Value* action_member = entry->value.member("Action");
    const std::string_view action = action_member == nullptr ? "PUT" : action_member->string();
    const json::Value* value_member = entry->value.member("Value");
    Path path = path_of(entry->name);
    if (value_member == nullptr) {
      if (action != "DELETE")
        return error::invalid_parameters(
            "Only DELETE action is allowed when no attribute value is specified");
      update.removes.push_back({std::move(path)});
      continue;
    }
    TRY(AttributeValue value, read_attribute_value(*value_member, inside(frame)));
    const Type type = value.type();
    const bool set = type == Type::string_set || type == Type::number_set || type == Type::binary_set;
    if (action == "DELETE") {
      if (!set) {
        return error::invalid_parameters("DELETE action with value is not supported for the type " +
                                         std::string(engine::type_name(type)));
      }
      update.deletes.push_back({std::move(path), std::move(value)});
    } else if (action == "ADD") {
      if (!set && type != Type::number && type != Type::list) {
        return error::invalid_parameters("ADD action is not supported for the type " +
                                         std::string(engine::type_name(type)));
      }
      update.adds.push_back({std::move(path), std::move(value)});
    } else {
      update.sets.push_back({std::move(path), {UpdateValue::Constant{std::move(value)}}});
    }
  }
  return update;
}

}  // namespace

Result<std::optional<Condition>> read_expected(const json::Value& request, Frame frame) {
  return in_frame(frame, expected_of(request, frame));
}

Result<std::optional<Condition>> read_filter(const json::Value& request, std::string_view member,
                                             Frame frame) {
  return in_frame(frame, filter_of(request, member, frame));
}

Result<std::vector<KeyPredicate>> read_key_conditions(const json::Value& key_conditions, Frame frame) {
  return in_frame(frame, key_conditions_of(key_conditions, frame));
}

Result<Update> read_attribute_updates(const json::Value& attribute_updates, Frame frame) {
  return in_frame(frame, updates_of(attribute_updates, frame));
}

}  // namespace mayfly::compat::expression
