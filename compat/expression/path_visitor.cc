#include "compat/expression/path_visitor.h"

namespace mayfly::compat::expression {

namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

void visit_operand(const Operand& operand, const PathVisitor& visit) {
  std::visit(Overloaded{
                 [&](const Path& path) { visit(path); },
                 [](const SharedValue&) {},
                 [&](const Operand::Size& size) { visit_operand(*size.of, visit); },
             },
             operand.value);
}

void visit_value(const UpdateValue& value, const PathVisitor& visit) {
  std::visit(Overloaded{
                 [](const UpdateValue::Constant&) {},
                 [&](const UpdateValue::Reference& node) { visit(node.path); },
                 [&](const UpdateValue::IfNotExists& node) {
                   visit(node.path);
                   visit_value(*node.otherwise, visit);
                 },
                 [&](const UpdateValue::ListAppend& node) {
                   visit_value(*node.first, visit);
                   visit_value(*node.second, visit);
                 },
                 [&](const UpdateValue::Arithmetic& node) {
                   visit_value(*node.left, visit);
                   visit_value(*node.right, visit);
                 },
             },
             value.node);
}

}  // namespace

void for_each_path(const Condition& condition, const PathVisitor& visit) {
  std::visit(Overloaded{
                 [&](const Comparison& node) {
                   visit_operand(node.left, visit);
                   visit_operand(node.right, visit);
                 },
                 [&](const Between& node) {
                   visit_operand(node.value, visit);
                   visit_operand(node.low, visit);
                   visit_operand(node.high, visit);
                 },
                 [&](const In& node) {
                   visit_operand(node.value, visit);
                   for (const Operand& candidate : node.candidates) visit_operand(candidate, visit);
                 },
                 [&](const AttributeExists& node) { visit(node.path); },
                 [&](const AttributeNotExists& node) { visit(node.path); },
                 [&](const AttributeType& node) { visit_operand(node.path, visit); },
                 [&](const BeginsWith& node) {
                   visit_operand(node.value, visit);
                   visit_operand(node.prefix, visit);
                 },
                 [&](const Contains& node) {
                   visit_operand(node.container, visit);
                   visit_operand(node.element, visit);
                 },
                 [&](const And& node) {
                   for_each_path(*node.left, visit);
                   for_each_path(*node.right, visit);
                 },
                 [&](const Or& node) {
                   for_each_path(*node.left, visit);
                   for_each_path(*node.right, visit);
                 },
                 [&](const Not& node) { for_each_path(*node.operand, visit); },
             },
             condition.node);
}

void for_each_path_outside_or(const Condition& condition, const PathVisitor& visit) {
  if (std::holds_alternative<Or>(condition.node)) return;
  if (const auto* both = std::get_if<And>(&condition.node)) {
    for_each_path_outside_or(*both->left, visit);
    for_each_path_outside_or(*both->right, visit);
  } else if (const auto* negation = std::get_if<Not>(&condition.node)) {
    for_each_path_outside_or(*negation->operand, visit);
  } else {
    for_each_path(condition, visit);
  }
}

void for_each_path(const Update& update, const PathVisitor& visit) {
  for (const SetAction& action : update.sets) {
    visit(action.path);
    visit_value(action.value, visit);
  }
  for (const RemoveAction& action : update.removes) visit(action.path);
  for (const AddAction& action : update.adds) visit(action.path);
  for (const DeleteAction& action : update.deletes) visit(action.path);
}

}  // namespace mayfly::compat::expression
