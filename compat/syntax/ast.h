// The tree that all expressions are lowered to: DynamoDB's own, the legacy API's and PartiQL's. One evaluator
// (evaluate.h) runs it.
//
// Resolving an expression replaces its placeholders: the tree has names and values, no '#' or ':'
// placeholders.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/values/attribute_value.h"

namespace mayfly::compat::expression {

// A document path, a.b[3].c: a name, then names and list positions.
struct Path {
  using Element = std::variant<std::string, std::uint32_t>;
  std::vector<Element> elements;  // the first is a name
  friend bool operator==(const Path&, const Path&) = default;
};

// A constant of an expression. Copies share one value: an expression can use a placeholder 300 times, and its
// value can be as large as a request.
class SharedValue {
 public:
  SharedValue() = default;  // NULL
  SharedValue(engine::AttributeValue value)
      : value_(std::make_shared<const engine::AttributeValue>(std::move(value))) {}

  const engine::AttributeValue& operator*() const { return value_ ? *value_ : null(); }
  const engine::AttributeValue* operator->() const { return &**this; }
  friend bool operator==(const SharedValue& a, const SharedValue& b) { return *a == *b; }

 private:
  static const engine::AttributeValue& null() {
    static const auto* const value = new engine::AttributeValue;
    return *value;
  }
  std::shared_ptr<const engine::AttributeValue> value_;
};

// A value to compare: a path, a constant, or size(path).
struct Operand {
  struct Size {
    std::unique_ptr<Operand> of;
  };
  std::variant<Path, SharedValue, Size> value;
};
// The operand's value if it is a constant, or nullptr if it depends on the item.
inline const SharedValue* constant(const Operand& operand) {
  return std::get_if<SharedValue>(&operand.value);
}

enum class Comparator : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

struct Condition;
using ConditionPtr = std::unique_ptr<Condition>;

struct Comparison {
  Comparator comparator;
  Operand left, right;
};
struct Between {
  Operand value, low, high;
};
struct In {
  Operand value;
  std::vector<Operand> candidates;
};
struct AttributeExists {
  Path path;
};
struct AttributeNotExists {
  Path path;
};
struct AttributeType {
  Operand path;
  engine::Type type;
};
struct BeginsWith {
  Operand value, prefix;
};
struct Contains {
  Operand container, element;
};
struct And {
  ConditionPtr left, right;
};
struct Or {
  ConditionPtr left, right;
};
struct Not {
  ConditionPtr operand;
};

struct Condition {
  std::variant<Comparison, Between, In, AttributeExists, AttributeNotExists, AttributeType, BeginsWith,
               Contains, And, Or, Not>
      node;
};

// SET's right-hand sides: operand, operand ± operand, if_not_exists(path, …), list_append(…, …).
struct UpdateValue {
  struct Constant {
    SharedValue value;
  };
  struct Reference {
    Path path;
  };
  struct IfNotExists {
    Path path;
    std::unique_ptr<UpdateValue> otherwise;
  };
  struct ListAppend {
    std::unique_ptr<UpdateValue> first, second;
  };
  struct Arithmetic {
    bool subtract;
    std::unique_ptr<UpdateValue> left, right;
  };
  std::variant<Constant, Reference, IfNotExists, ListAppend, Arithmetic> node;
};

struct SetAction {
  Path path;
  UpdateValue value;
};
struct RemoveAction {
  Path path;
};
struct AddAction {
  Path path;
  SharedValue value;
};
struct DeleteAction {
  Path path;
  SharedValue value;
};

struct Update {
  std::vector<SetAction> sets;
  std::vector<RemoveAction> removes;
  std::vector<AddAction> adds;
  std::vector<DeleteAction> deletes;
  bool legacy = false;  // AttributeUpdates: ADD also appends to lists; type errors are worded differently
};

using Projection = std::vector<Path>;  // empty: everything

}  // namespace mayfly::compat::expression
