#include "compat/partiql/expression_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compat/partiql/token_reader.h"
#include "compat/syntax/parser.h"
#include "compat/syntax/path_set.h"
#include "engine/base/text.h"
#include "engine/base/whole_number.h"

namespace mayfly::compat::partiql {
namespace {

using engine::AttributeValue;
using engine::Type;
using expression::Comparator;
using expression::Condition;
using expression::ConditionPtr;
using expression::Operand;
using expression::Path;
using expression::UpdateValue;
using Kind = Node::Kind;

constexpr std::size_t in_operands_max = 100;

constexpr std::pair<std::string_view, Comparator> comparators[] = {
    {"=", Comparator::equal},       {"<>", Comparator::not_equal}, {"<", Comparator::less},
    {"<=", Comparator::less_equal}, {">", Comparator::greater},    {">=", Comparator::greater_equal}};

ConditionPtr boxed(Condition condition) { return std::make_unique<Condition>(std::move(condition)); }
std::unique_ptr<UpdateValue> boxed(UpdateValue value) {
  return std::make_unique<UpdateValue>(std::move(value));
}

Condition negated_if(bool negated, Condition condition) {
  if (!negated) return condition;
  return {expression::Not{boxed(std::move(condition))}};
}

Comparator mirrored(Comparator comparator) {
  switch (comparator) {
    case Comparator::less: return Comparator::greater;
    case Comparator::less_equal: return Comparator::greater_equal;
    case Comparator::greater: return Comparator::less;
    case Comparator::greater_equal: return Comparator::less_equal;
    case Comparator::equal:
    case Comparator::not_equal: break;
  }
  return comparator;
}

const AttributeValue* constant(const UpdateValue& value) {
  const auto* node = std::get_if<UpdateValue::Constant>(&value.node);
  return node == nullptr ? nullptr : &*node->value;
}

Unexpected<Error> wrong_operand(std::string_view function, const AttributeValue& value) {
  return error::validation(
      "Incorrect operand type for operator or function; operator or function: " + std::string(function) +
      ", operand type: " + std::string(engine::type_name(value.type())));
}

Result<void> check_term(std::string_view function, const UpdateValue& term, Type type) {
  const AttributeValue* value = constant(term);
  if (value != nullptr && value->type() != type) return wrong_operand(function, *value);
  return {};
}

// Rejects a constant that cannot be ordered: only numbers, strings and binaries can be ordered.
Result<void> check_ordered(std::string_view comparator, const Operand& operand) {
  const expression::SharedValue* value = constant(operand);
  if (value == nullptr) return {};
  const Type type = (*value)->type();
  if (type == Type::string || type == Type::number || type == Type::binary) return {};
  return wrong_operand(comparator, **value);
}

Result<void> check_operands(const Node& call, std::size_t count) {
  if (call.children.size() == count) return {};
  return error::validation("Incorrect number of operands for operator or function; operator or function: " +
                           call.text + ", number of operands: " + std::to_string(call.children.size()));
}

bool is_condition(const Node& node) {
  if (node.kind == Kind::is_type) return true;
  if (node.kind == Kind::call) return node.text != "size";
  constexpr std::string_view conditions[] = {"AND", "OR", "NOT", "=",       "<>", "<",
                                             "<=",  ">",  ">=",  "BETWEEN", "IN"};
  return node.kind == Kind::operation &&
         std::find(std::begin(conditions), std::end(conditions), node.text) != std::end(conditions);
}

// Returns the error for an unrecognized function: "Unrecognized function: exists at 1:27:6".
Unexpected<Error> unrecognized_function(const Node& call) {
  return error::validation("Unrecognized function: " + call.text + call.token.place());
}

Result<Path::Element> position(const Node& node) {
  const bool negative = node.text.starts_with('-');
  const std::string digits = negative ? node.text.substr(1) : node.text;
  const bool whole = std::all_of(digits.begin(), digits.end(), engine::is_digit);
  if (!whole) return error::validation("Unexpected path component" + node.token.place());
  const auto index = engine::whole_number<std::int32_t>(digits);
  if (!index || (negative && *index != 0)) {
    return error::validation("List index is not within the allowable range; index: [" + node.text + "]" +
                             node.token.place());
  }
  return Path::Element(static_cast<std::uint32_t>(*index));
}

}  // namespace

Unexpected<Error> unsupported_operation(const Node& node) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"+", "Plus"},    {"-", "Minus"},         {"*", "Times"}, {"/", "Divide"}, {"%", "Modulo"},
      {"||", "Concat"}, {"AND", "And"},         {"OR", "Or"},   {"NOT", "Not"},  {"NEG", "Neg"},
      {"POS", "Pos"},   {"LIKE", "Like"},       {"=", "Eq"},    {"<>", "Ne"},    {"<", "Lt"},
      {"<=", "Lte"},    {"BETWEEN", "Between"}, {">", "Gt"},    {">=", "Gte"},   {"IN", "InCollection"}};
  std::string name = node.kind == Kind::is_type ? "IsType" : node.kind == Kind::call ? "Call" : node.text;
  for (const auto& [text, of_tree] : names) {
    if (node.kind == Kind::operation && node.text == text) name = of_tree;
  }
  return error::validation("Unsupported operation: " + name);
}

void ExpressionReader::count_operator() {
  if (++operators_ > expression::operators_max) too_many_operators_ = true;
}

Result<void> ExpressionReader::check_operators() const {
  if (!too_many_operators_) return {};
  return error::validation("The expression contains too many operators; operator count: " +
                           std::to_string(expression::operators_max + 1));
}

Result<Condition> ExpressionReader::condition(const Node& node) {
  count_operator();
  if (node.kind == Kind::operation) return operation(node);
  if (node.kind == Kind::is_type) return is(node);
  if (node.kind == Kind::call && node.text != "size") return function(node);
  return error::validation("WHERE clause must contain an expression that resolves to a boolean");
}

Result<Condition> ExpressionReader::operation(const Node& node) {
  if (node.text == "AND" || node.text == "OR") {
    TRY(Condition left, condition(node.children[0]));
    TRY(Condition right, condition(node.children[1]));
    if (node.text == "AND")
      return Condition{expression::And{boxed(std::move(left)), boxed(std::move(right))}};
    return Condition{expression::Or{boxed(std::move(left)), boxed(std::move(right))}};
  }
  if (node.text == "NOT") {
    TRY(Condition negated, condition(node.children[0]));
    return negated_if(true, std::move(negated));
  }
  if (node.text == "BETWEEN") return between(node);
  if (node.text == "IN") return in(node);
  return comparison(node);
}

Result<Condition> ExpressionReader::comparison(const Node& node) {
  const auto found = std::find_if(std::begin(comparators), std::end(comparators),
                                  [&](const auto& each) { return each.first == node.text; });
  if (found == std::end(comparators)) return unsupported_operation(node);
  const Comparator comparator = found->second;
  const bool for_equality = comparator == Comparator::equal || comparator == Comparator::not_equal;
  const Node& second = node.children[1];
  if (for_equality && second.kind == Kind::boolean && is_condition(node.children[0])) {
    TRY(Condition compared, condition(node.children[0]));
    return negated_if((comparator == Comparator::equal) != (second.text == "TRUE"), std::move(compared));
  }
  TRY(Operand left, operand(node.children[0]));
  TRY(Operand right, operand(second));
  if (!for_equality) {
    CHECK_OK(check_ordered(node.text, left));
    CHECK_OK(check_ordered(node.text, right));
  }
  // The attribute goes on the left, so that the search for key conditions examines only one side.
  if (constant(left) != nullptr && std::holds_alternative<Path>(right.value)) {
    return Condition{expression::Comparison{mirrored(comparator), std::move(right), std::move(left)}};
  }
  return Condition{expression::Comparison{comparator, std::move(left), std::move(right)}};
}

Result<Condition> ExpressionReader::between(const Node& node) {
  TRY(Operand value, operand(node.children[0]));
  TRY(Operand low, operand(node.children[1]));
  TRY(Operand high, operand(node.children[2]));
  for (const Operand* each : {&value, &low, &high}) CHECK_OK(check_ordered(node.text, *each));
  return negated_if(node.negated, {expression::Between{std::move(value), std::move(low), std::move(high)}});
}

Result<Condition> ExpressionReader::function(const Node& node) {
  const bool exists = node.text == "attribute_exists";
  if (exists || node.text == "attribute_not_exists") {
    CHECK_OK(check_operands(node, 1));
    TRY(Path attribute, argument_path(node));
    if (exists) return Condition{expression::AttributeExists{std::move(attribute)}};
    return Condition{expression::AttributeNotExists{std::move(attribute)}};
  }
  const bool begins_with = node.text == "begins_with";
  if (node.text == "attribute_type") return attribute_type(node);
  if (!begins_with && node.text != "contains") return unrecognized_function(node);
  CHECK_OK(check_operands(node, 2));
  TRY(Operand first, operand(node.children[0]));
  TRY(Operand second, operand(node.children[1]));
  if (!begins_with) return Condition{expression::Contains{std::move(first), std::move(second)}};
  for (const Operand* each : {&first, &second}) {
    const expression::SharedValue* value = constant(*each);
    if (value == nullptr) continue;
    const Type type = (*value)->type();
    if (type != Type::string && type != Type::binary) return wrong_operand("begins_with", **value);
  }
  return Condition{expression::BeginsWith{std::move(first), std::move(second)}};
}

Result<Path> ExpressionReader::argument_path(const Node& call) {
  const Node& argument = call.children.front();
  if (!argument.is_value()) return path(argument);
  return error::validation("Operator or function requires a document path; operator or function: " +
                           call.text);
}

Result<Condition> ExpressionReader::attribute_type(const Node& node) {
  CHECK_OK(check_operands(node, 2));
  TRY(Path attribute, argument_path(node));
  TRY(const AttributeValue wanted, value(node.children[1]));
  const auto* name = wanted.get_if<std::string>();
  if (name == nullptr) return wrong_operand("attribute_type", wanted);
  const auto type = engine::type_named(*name);
  if (!type) {
    return error::validation("Invalid attribute type name found; type: " + *name +
                             ", valid types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}");
  }
  return Condition{expression::AttributeType{{std::move(attribute)}, *type}};
}

Result<Condition> ExpressionReader::in(const Node& node) {
  TRY(Operand value, operand(node.children[0]));
  expression::In in{std::move(value), {}};
  const Node& among = node.children[1];
  if (among.kind == Kind::parameter) {  // the parameter is a list of all candidates
    TRY(const AttributeValue candidates, parameter(among));
    if (const auto* list = candidates.get_if<engine::List>()) {
      for (const AttributeValue& candidate : *list) in.candidates.push_back({candidate});
    }
  } else if (among.kind == Kind::list || among.kind == Kind::bag) {
    for (const Node& each : among.children) {
      TRY(Operand candidate, operand(each));
      in.candidates.push_back(std::move(candidate));
    }
  }
  if (in.candidates.empty()) {
    return error::validation(
        "IN operator must have a left hand argument of type Variable Reference and right hand argument of "
        "type Seq with at least one member");
  }
  if (in.candidates.size() > in_operands_max) {
    return error::validation("The IN operator is provided with too many operands; number of operands: " +
                             std::to_string(in.candidates.size()));
  }
  return negated_if(node.negated, Condition{std::move(in)});
}

// NULL is a value: a missing attribute is not NULL.
Result<Condition> ExpressionReader::is(const Node& node) {
  constexpr std::pair<std::string_view, Type> types[] = {
      {"NULL", Type::null},      {"BOOLEAN", Type::boolean}, {"BLOB", Type::binary}, {"STRING", Type::string},
      {"NUMERIC", Type::number}, {"STRUCT", Type::map},      {"TUPLE", Type::map},   {"LIST", Type::list}};
  const Node& tested = node.children.front();
  if (tested.kind != Kind::name && tested.kind != Kind::path) {
    return error::validation(
        "The left hand side argument to IS must be a Variable Reference, Literal, or Path");
  }
  TRY(Path of, path(tested));
  if (node.text == "MISSING") {
    if (node.negated) return Condition{expression::AttributeExists{std::move(of)}};
    return Condition{expression::AttributeNotExists{std::move(of)}};
  }
  for (const auto& [name, type] : types) {
    if (node.text == name)
      return negated_if(node.negated, {expression::AttributeType{{std::move(of)}, type}});
  }
  return error::validation(
      "Unsupported data type for IS operator: " + node.token.text +
      ". Supported data types are [MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]");
}

Result<Operand> ExpressionReader::operand(const Node& node) {
  if (node.kind == Kind::name || node.kind == Kind::path) {
    TRY(Path named, path(node));
    return Operand{std::move(named)};
  }
  if (node.kind == Kind::call) {
    if (node.text != "size") return unrecognized_function(node);
    CHECK_OK(check_operands(node, 1));
    count_operator();
    TRY(Path measured, argument_path(node));
    return Operand{Operand::Size{std::make_unique<Operand>(Operand{std::move(measured)})}};
  }
  if (node.kind == Kind::operation || node.kind == Kind::is_type) return unsupported_operation(node);
  TRY(AttributeValue literal, value(node));
  return Operand{std::move(literal)};
}

Result<UpdateValue> ExpressionReader::new_value(const Node& node, int depth) {
  if (depth > expression_depth_max) return malformed("Unexpected term");
  if (node.kind == Kind::operation && (node.text == "+" || node.text == "-")) {
    count_operator();
    TRY(UpdateValue left, new_value(node.children[0], depth + 1));
    CHECK_OK(check_term(node.text, left, Type::number));
    TRY(UpdateValue right, new_value(node.children[1], depth + 1));
    CHECK_OK(check_term(node.text, right, Type::number));
    return UpdateValue{
        UpdateValue::Arithmetic{node.text == "-", boxed(std::move(left)), boxed(std::move(right))}};
  }
  if (node.kind == Kind::operation || node.kind == Kind::is_type) return unsupported_operation(node);
  if (node.kind == Kind::call) {
    if (node.text != "list_append") return unrecognized_function(node);
    count_operator();
    CHECK_OK(check_operands(node, 2));
    TRY(UpdateValue first, new_value(node.children[0], depth + 1));
    TRY(UpdateValue second, new_value(node.children[1], depth + 1));
    CHECK_OK(check_term("list_append", first, Type::list));
    CHECK_OK(check_term("list_append", second, Type::list));
    return UpdateValue{UpdateValue::ListAppend{boxed(std::move(first)), boxed(std::move(second))}};
  }
  if (node.kind == Kind::name || node.kind == Kind::path) {
    TRY(Path referred, path(node));
    return UpdateValue{UpdateValue::Reference{std::move(referred)}};
  }
  TRY(AttributeValue literal, value(node));
  return UpdateValue{UpdateValue::Constant{std::move(literal)}};
}

Result<Path> ExpressionReader::path(const Node& node) {
  const Node& root = node.kind == Kind::path ? node.children.front() : node;
  if (root.kind != Kind::name) return error::validation("Unexpected path component" + root.token.place());
  Path path;
  path.elements.emplace_back(root.text);
  for (std::size_t i = 1; i < node.children.size() && node.kind == Kind::path; ++i) {
    const Node& part = node.children[i];
    if (part.kind == Kind::string) {
      path.elements.emplace_back(part.text);
    } else if (part.kind == Kind::number) {
      TRY(path.elements.emplace_back(), position(part));
    } else if (part.kind == Kind::unpivot) {
      return error::validation("Unpivot path component like a.*.b are not supported");
    } else if (part.kind == Kind::wildcard) {
      return error::validation("Wildcard path component like a[*].b are not supported");
    } else {
      return error::validation("Unexpected path component" + part.token.place());
    }
  }
  if (path.elements.size() > expression::path_elements_max) {
    return error::validation("The document path has too many nesting elements; nesting levels: " +
                             std::to_string(path.elements.size()));
  }
  return path;
}

}  // namespace mayfly::compat::partiql
