// Conditions and key conditions share one grammar. A parsed condition is then checked for use in a
// Query.
#include "compat/expression/key_condition.h"

#include <algorithm>
#include <utility>

namespace mayfly::compat::expression {
namespace {

using engine::AttributeValue;
using engine::KeyAttribute;
using engine::KeySchema;
using engine::ScalarType;
using engine::Type;
using Kind = KeyPredicate::Kind;

constexpr std::string_view empty_key_value =
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
    "empty ";

Unexpected<Error> invalid_operator(std::string_view name) {
  return error::validation("Invalid operator used in KeyConditionExpression: " + std::string(name));
}

// The operands of one condition: the attribute that it tests, and the values.
class Operands {
 public:
  // Adds an operand: a value, or the only path of the condition. The path must name a whole attribute.
  Result<void> add(Operand& operand) {
    if (auto* path = std::get_if<Path>(&operand.value)) {
      if (!attribute_.empty()) {
        return error::validation(
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition");
      }
      if (path->elements.size() > 1) {
        return error::validation("KeyConditionExpressions cannot have conditions on nested attributes");
      }
      attribute_ = std::get<std::string>(std::move(path->elements.front()));
      attribute_last_ = !values_.empty();
    } else if (const SharedValue* value = constant(operand)) {
      values_.push_back(*value);
    } else {
      return error::validation("KeyConditionExpressions cannot contain nested operations");
    }
    return {};
  }

  Result<KeyPredicate> predicate(Kind kind) {
    if (attribute_.empty()) {
      return error::validation("Invalid condition in KeyConditionExpression: No key attribute specified");
    }
    KeyPredicate out{std::move(attribute_), kind, std::move(values_.front()), {}};
    if (kind == Kind::between) out.high = std::move(values_.back());
    return out;
  }

  // Whether the attribute is the last operand: true for ":v < a", false for "a > :v".
  [[nodiscard]] bool attribute_last() const { return attribute_last_; }

 private:
  std::string attribute_;
  bool attribute_last_ = false;
  std::vector<SharedValue> values_;
};

Kind mirrored(Kind kind) {
  switch (kind) {
    case Kind::less: return Kind::greater;
    case Kind::less_equal: return Kind::greater_equal;
    case Kind::greater: return Kind::less;
    case Kind::greater_equal: return Kind::less_equal;
    case Kind::equal:
    case Kind::between:
    case Kind::begins_with:
    case Kind::not_indexable: return kind;
  }
  return kind;
}

struct Collect {
  std::vector<KeyPredicate>& predicates;

  Result<void> add(Result<KeyPredicate> predicate) const {
    if (!predicate) return Unexpected{std::move(predicate).error()};
    if (std::any_of(predicates.begin(), predicates.end(),
                    [&](const KeyPredicate& other) { return other.attribute == predicate->attribute; })) {
      return error::validation(
          "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key");
    }
    predicates.push_back(*std::move(predicate));
    return {};
  }

  Result<void> operator()(Comparison& comparison) const {
    Kind kind = Kind::equal;
    switch (comparison.comparator) {
      case Comparator::equal: break;
      case Comparator::not_equal: return invalid_operator("<>");
      case Comparator::less: kind = Kind::less; break;
      case Comparator::less_equal: kind = Kind::less_equal; break;
      case Comparator::greater: kind = Kind::greater; break;
      case Comparator::greater_equal: kind = Kind::greater_equal; break;
    }
    Operands operands;
    CHECK_OK(operands.add(comparison.left));
    CHECK_OK(operands.add(comparison.right));
    return add(operands.predicate(operands.attribute_last() ? mirrored(kind) : kind));
  }
  Result<void> operator()(Between& between) const {
    if (!std::holds_alternative<Path>(between.value.value)) {
      return error::validation(
          "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its "
          "first "
          "operand");
    }
    Operands operands;
    CHECK_OK(operands.add(between.value));
    CHECK_OK(operands.add(between.low));
    CHECK_OK(operands.add(between.high));
    return add(operands.predicate(Kind::between));
  }
  Result<void> operator()(BeginsWith& begins) const {
    if (!std::holds_alternative<Path>(begins.value.value)) {
      return error::validation(
          "Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute as "
          "its "
          "first operand");
    }
    Operands operands;
    CHECK_OK(operands.add(begins.value));
    CHECK_OK(operands.add(begins.prefix));
    return add(operands.predicate(Kind::begins_with));
  }
  Result<void> operator()(And& both) const {
    CHECK_OK(std::visit(*this, both.left->node));
    return std::visit(*this, both.right->node);
  }
  Result<void> operator()(In&) const { return invalid_operator("IN"); }
  Result<void> operator()(Or&) const { return invalid_operator("OR"); }
  Result<void> operator()(Not&) const { return invalid_operator("NOT"); }
  Result<void> operator()(AttributeExists&) const { return invalid_operator("attribute_exists"); }
  Result<void> operator()(AttributeNotExists&) const { return invalid_operator("attribute_not_exists"); }
  Result<void> operator()(AttributeType&) const { return invalid_operator("attribute_type"); }
  Result<void> operator()(Contains&) const { return invalid_operator("contains"); }
};

bool is_of(const AttributeValue& value, ScalarType type) {
  switch (type) {
    case ScalarType::string: return value.type() == Type::string;
    case ScalarType::number: return value.type() == Type::number;
    case ScalarType::binary: return value.type() == Type::binary;
  }
  return false;
}

Result<void> check_type(const KeyPredicate& predicate, ScalarType type) {
  if (predicate.kind == Kind::not_indexable) {
    return error::validation("Attempted conditional constraint is not an indexable operation");
  }
  const bool matches =
      is_of(*predicate.low, type) && (predicate.kind != Kind::between || is_of(*predicate.high, type));
  if (!matches) {
    return error::validation(
        "One or more parameter values were invalid: Condition parameter type does not match schema type");
  }
  return {};
}

// Rejects an equality with an empty value, which can never be true because keys are not empty. Other
// conditions with an empty value are harmless.
Result<void> check_not_empty(const KeyPredicate& predicate) {
  const auto* text = predicate.low->get_if<std::string>();
  const auto* binary = predicate.low->get_if<engine::Binary>();
  if (predicate.kind != Kind::equal) return {};
  if (text != nullptr && text->empty()) {
    return error::validation(std::string(empty_key_value) + "string value. Key: " + predicate.attribute);
  }
  if (binary != nullptr && binary->bytes.empty()) {
    return error::validation(std::string(empty_key_value) + "binary value. Key: " + predicate.attribute);
  }
  return {};
}

KeyPredicate* find(std::vector<KeyPredicate>& predicates, std::string_view attribute) {
  const auto found = std::find_if(predicates.begin(), predicates.end(), [&](const KeyPredicate& predicate) {
    return predicate.attribute == attribute;
  });
  return found == predicates.end() ? nullptr : &*found;
}

Unexpected<Error> too_many(const std::vector<KeyPredicate>& predicates, const KeySchema& schema) {
  return error::validation("The number of query conditions (" + std::to_string(predicates.size()) +
                           ") exceeds the number of key attributes defined in the schema (" +
                           std::to_string(schema.all().size()) + ")");
}

Unexpected<Error> not_supported() { return error::validation("Query key condition not supported"); }

Result<void> check_single_keys(std::vector<KeyPredicate>& predicates, const KeySchema& schema) {
  if (predicates.size() > 2) return too_many(predicates, schema);
  if (schema.sort().empty() && predicates.size() > 1) return not_supported();
  const auto missed = [](const KeyAttribute& key) {
    return error::validation("Query condition missed key schema element: " + key.name);
  };
  const KeyAttribute& partition_key = schema.partition().front();
  const KeyPredicate* partition = find(predicates, partition_key.name);
  if (partition == nullptr) return missed(partition_key);
  CHECK_OK(check_type(*partition, partition_key.type));
  if (partition->kind != Kind::equal) return not_supported();
  if (predicates.size() == 1) return {};
  const KeyAttribute& sort_key = schema.sort().front();
  const KeyPredicate* sort = find(predicates, sort_key.name);
  if (sort == nullptr) return missed(sort_key);
  return check_type(*sort, sort_key.type);
}

// The rules come from "Multi-attribute keys" in the chapter on global secondary indexes of AWS's developer
// guide. Only two of the messages were recorded on AWS: the one about RANGE keys that lack equality
// conditions, and the one about too many conditions.
Result<void> check_multiple_keys(std::vector<KeyPredicate>& predicates, const KeySchema& schema) {
  if (predicates.size() > schema.all().size()) return too_many(predicates, schema);
  std::size_t matched = 0;
  for (const KeyAttribute& key : schema.partition()) {
    const KeyPredicate* predicate = find(predicates, key.name);
    if (predicate != nullptr) CHECK_OK(check_type(*predicate, key.type));
    if (predicate == nullptr || predicate->kind != Kind::equal) {
      return error::validation(
          "Query key condition not supported: each HASH key attribute must have an equality condition; "
          "attribute: " +
          key.name);
    }
    ++matched;
  }
  std::string without_equality;  // "b, c"
  for (const KeyAttribute& key : schema.sort()) {
    const KeyPredicate* predicate = find(predicates, key.name);
    if (predicate != nullptr) {
      if (!without_equality.empty()) {
        return error::validation(
            "RANGE key attributes " + without_equality +
            " must have equality conditions specified in the query because a condition is "
            "present on key attribute " +
            key.name);
      }
      CHECK_OK(check_type(*predicate, key.type));
      ++matched;
    }
    if (predicate == nullptr || predicate->kind != Kind::equal)
      without_equality += (without_equality.empty() ? "" : ", ") + key.name;
  }
  if (matched != predicates.size()) return not_supported();
  return {};
}

}  // namespace

Result<std::vector<KeyPredicate>> key_predicates(Condition condition) {
  std::vector<KeyPredicate> predicates;
  CHECK_OK(std::visit(Collect{predicates}, condition.node));
  return predicates;
}

Result<KeyCondition> match_key_schema(std::vector<KeyPredicate> predicates, const KeySchema& schema) {
  if (schema.partition().size() == 1 && schema.sort().size() <= 1) {
    CHECK_OK(check_single_keys(predicates, schema));
  } else {
    CHECK_OK(check_multiple_keys(predicates, schema));
  }
  KeyCondition out;
  for (const KeyPredicate& predicate : predicates) CHECK_OK(check_not_empty(predicate));
  for (const KeyAttribute& key : schema.partition()) {
    out.partition.push_back(*find(predicates, key.name)->low);
  }
  for (const KeyAttribute& key : schema.sort()) {
    KeyPredicate* predicate = find(predicates, key.name);
    if (predicate == nullptr) break;
    if (predicate->kind == Kind::equal) {
      out.sort_equal.push_back(*predicate->low);
    } else {
      out.sort_range = std::move(*predicate);
    }
  }
  return out;
}

}  // namespace mayfly::compat::expression
