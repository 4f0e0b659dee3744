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

}  // namespace

std::uint64_t operands_of(const Condition& condition) { return Operands::of(condition); }

}  // namespace mayfly::compat::expression
