#include "compat/expression/steps.h"

#include <variant>

namespace mayfly::compat::expression {
namespace {

struct Operands {
  std::uint64_t operator()(const Comparison&) const { return 2; }
  std::uint64_t operator()(const Between&) const { return 3; }
  std::uint64_t operator()(const In& in) const { return 1 + in.candidates.size(); }
  std::uint64_t operator()(const AttributeExists&) const { return 1; }
  std::uint64_t operator()(const AttributeNotExists&) const { return 1; }
  std::uint64_t operator()(const AttributeType&) const { return 1; }
  std::uint64_t operator()(const BeginsWith&) const { return 2; }
  std::uint64_t operator()(const Contains&) const { return 2; }
  std::uint64_t operator()(const And& both) const { return of(*both.left) + of(*both.right); }
  std::uint64_t operator()(const Or& either) const { return of(*either.left) + of(*either.right); }
  std::uint64_t operator()(const Not& negation) const { return of(*negation.operand); }
  static std::uint64_t of(const Condition& condition) { return std::visit(Operands{}, condition.node); }
};

struct UpdateOperands {
  std::uint64_t operator()(const UpdateValue::Constant&) const { return 0; }
  std::uint64_t operator()(const UpdateValue::Reference&) const { return 1; }
  std::uint64_t operator()(const UpdateValue::IfNotExists& choice) const { return 1 + of(*choice.otherwise); }
  std::uint64_t operator()(const UpdateValue::ListAppend& append) const {
    return of(*append.first) + of(*append.second);
  }
  std::uint64_t operator()(const UpdateValue::Arithmetic& sum) const {
    return of(*sum.left) + of(*sum.right);
  }
  static std::uint64_t of(const UpdateValue& value) { return std::visit(UpdateOperands{}, value.node); }
};

}  // namespace

std::uint64_t operands_of(const Condition& condition) { return Operands::of(condition); }

std::uint64_t operands_of(const Update& update) {
  std::uint64_t operands = 0;
  for (const SetAction& set : update.sets) operands += std::visit(UpdateOperands{}, set.value.node);
  return operands;
}

}  // namespace mayfly::compat::expression
