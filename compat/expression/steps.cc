#include "compat/expression/steps.h"

#include <variant>

namespace mayfly::compat::expression {
namespace {

using engine::AttributeValue;

constexpr std::size_t step_bytes = 16;

struct StepsOf {
  std::uint64_t operator()(const std::string& text) const { return 1 + text.size() / step_bytes; }
  std::uint64_t operator()(const engine::Binary& binary) const {
    return 1 + binary.bytes.size() / step_bytes;
  }
  std::uint64_t operator()(const engine::Number&) const { return 1; }
  std::uint64_t operator()(bool) const { return 1; }
  std::uint64_t operator()(engine::Null) const { return 1; }
  template <class T>
  std::uint64_t operator()(const engine::Set<T>& set) const {
    std::uint64_t steps = 1;
    for (const T& member : set.members()) steps += (*this)(member);
    return steps;
  }
  std::uint64_t operator()(const engine::List& list) const {
    std::uint64_t steps = 1;
    for (const AttributeValue& element : list) steps += of(element);
    return steps;
  }
  std::uint64_t operator()(const engine::Map& map) const {
    std::uint64_t steps = 1;
    for (const auto& [name, member] : map) steps += name.size() / step_bytes + of(member);
    return steps;
  }
  static std::uint64_t of(const AttributeValue& value) { return std::visit(StepsOf{}, value.variant()); }
};

struct WorkOf {
  Work work;

  void add(const Operand& operand) {
    ++work.operands;
    if (const SharedValue* value = constant(operand)) work.constants += steps_of(**value);
  }
  void operator()(const Comparison& comparison) {
    add(comparison.left);
    add(comparison.right);
  }
  void operator()(const Between& between) {
    add(between.value);
    add(between.low);
    add(between.high);
  }
  void operator()(const In& in) {
    add(in.value);
    for (const Operand& candidate : in.candidates) add(candidate);
  }
  void operator()(const AttributeExists&) { ++work.operands; }
  void operator()(const AttributeNotExists&) { ++work.operands; }
  void operator()(const AttributeType&) { ++work.operands; }
  void operator()(const BeginsWith& begins) {
    add(begins.value);
    add(begins.prefix);
  }
  void operator()(const Contains& contains) {
    add(contains.container);
    add(contains.element);
  }
  void operator()(const And& both) {
    of(*both.left);
    of(*both.right);
  }
  void operator()(const Or& either) {
    of(*either.left);
    of(*either.right);
  }
  void operator()(const Not& negation) { of(*negation.operand); }
  void of(const Condition& condition) { std::visit(*this, condition.node); }
};

}  // namespace

std::uint64_t steps_of(const AttributeValue& value) { return StepsOf::of(value); }
std::uint64_t steps_of(const engine::Item& item) { return StepsOf{}(item); }

Work work_of(const Condition& condition) {
  WorkOf visitor;
  visitor.of(condition);
  return visitor.work;
}

Work work_of(const Update& update) {
  Work work{.operands = 1};
  for (const DeleteAction& action : update.deletes) work.constants += steps_of(*action.value);
  return work;
}

}  // namespace mayfly::compat::expression
