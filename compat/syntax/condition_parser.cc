// Parses conditions: ConditionExpression, FilterExpression, and the first step of KeyConditionExpression.
//
//   expression := unary ( AND unary | OR unary )*        AND binds tighter than OR, NOT tightest
//   unary      := NOT* primary
//   primary    := operand comparator operand | operand BETWEEN operand AND operand
//               | operand IN ( operand, … ) | function ( operand, … ) | ( expression )
//   operand    := path | :value | function ( operand, … ) | ( operand )
//
// A '(' can open an expression or an operand. Both are parsed as a Node, and the caller then requires one or
// the other with as_condition or as_operand.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "compat/syntax/parser.h"
#include "compat/syntax/path_set.h"
#include "compat/syntax/token_reader.h"
#include "compat/wire/base64.h"

namespace mayfly::compat::expression {
namespace {

using engine::AttributeValue;
using engine::Type;

constexpr int in_candidates_max = 100;

struct Function {
  std::string_view name;
  std::size_t operands;
};
constexpr auto functions = std::to_array<Function>({{"attribute_exists", 1},
                                                    {"attribute_not_exists", 1},
                                                    {"attribute_type", 2},
                                                    {"begins_with", 2},
                                                    {"contains", 2},
                                                    {"size", 1}});

std::string unknown_function(std::string_view name) {
  const bool of_updates = name == "if_not_exists" || name == "list_append";
  return (of_updates ? "The function is not allowed in a condition expression; function: "
                     : "Invalid function name; function: ") +
         std::string(name);
}

struct Node {
  enum class Kind : std::uint8_t { path, value, function, condition };
  Kind kind = Kind::path;
  bool parenthesized = false;
  Operand operand;                 // for a path, a value and size(…)
  ConditionPtr condition;          // for a condition and all functions except size
  std::string_view function_name;  // for a function
  std::optional<Type> type;        // the type of the operand if it is known: for values and size(…)

  [[nodiscard]] const Path* path() const {
    return kind == Kind::path ? std::get_if<Path>(&operand.value) : nullptr;
  }
  [[nodiscard]] const AttributeValue* value() const {
    const SharedValue* shared = kind == Kind::value ? constant(operand) : nullptr;
    return shared == nullptr ? nullptr : &**shared;
  }
};

Node condition_node(Condition condition) {
  Node node;
  node.kind = Node::Kind::condition;
  node.condition = std::make_unique<Condition>(std::move(condition));
  return node;
}

bool is_orderable(Type type) { return type == Type::string || type == Type::number || type == Type::binary; }

// Prints a value as in AWS's messages: "AttributeValue: {N:1}".
std::string describe(const AttributeValue& value) {
  std::string out = "AttributeValue: {" + std::string(engine::type_name(value.type())) + ":";
  if (const auto* text = value.get_if<std::string>()) out += *text;
  if (const auto* number = value.get_if<engine::Number>()) number->append_to(out);
  if (const auto* binary = value.get_if<engine::Binary>()) append_base64(out, binary->bytes);
  return out + "}";  // bounds of other types have been rejected
}

class ConditionParser : TokenReader {
 public:
  ConditionParser(std::string_view text, Substitutions& substitutions) : TokenReader(text, substitutions) {}

  Parsed<Condition> parse() {
    TRY(Node node, expression(Level::either));
    CHECK_OK(expect_end());
    TRY(ConditionPtr condition, as_condition(std::move(node)));
    CHECK_OK(first_of({&redundant_parentheses_, &too_many_operators_, &unknown_function_, &misused_function_,
                       &reserved_word_, &unusable_path_, &condition_}));
    return std::move(*condition);
  }

 private:
  enum class Level : std::uint8_t { either, conjunction, none };

  Parsed<Node> expression(Level level);
  Parsed<Node> unary();
  Parsed<Node> primary();
  Parsed<Node> operand_or_parentheses();
  Parsed<Node> operand();
  Parsed<Node> function();
  Parsed<std::vector<Node>> operand_list();
  Parsed<void> close_parentheses(Node& node);

  Parsed<Node> comparison(Node left);
  Parsed<Node> between(Node value);
  Parsed<Node> in(Node value);

  // Converts the node to a condition, or returns a syntax error at the current token.
  Parsed<ConditionPtr> as_condition(Node node);
  Operand as_operand(Node node);

  void check_function(Node& node, std::vector<Node>& operands);
  void check_distinct(std::string_view name, const Node& first, const Node& second);
  void check_orderable(std::string_view name, const Node& node);
  void check_bounds(const Node& low, const Node& high);
  void check_attribute_type(const Node& type);
  void note_operand_type(std::string_view function, std::string_view type);
  void note_misused(std::string_view function);
  // Ends a comparison or a function. Keeps only the first of its errors, in DynamoDB's order of checks.
  void finish_condition();
  Unexpected<ParseError> too_deep() const;

  Finding redundant_parentheses_, unknown_function_, misused_function_;
  Finding condition_;  // error of the first condition that has one
  Finding operand_count_, distinct_, operand_type_;
};

Unexpected<ParseError> ConditionParser::too_deep() const {
  // At this depth there are only nested parentheses or nested calls.
  if (!parentheses_match()) return Unexpected{ParseError{syntax_error(tokens_, tokens_.size() - 1)}};
  if (!unknown_function_.empty()) return Unexpected{ParseError{unknown_function_}};
  return Unexpected{ParseError{"The expression has redundant parentheses;"}};
}

Parsed<Node> ConditionParser::expression(Level level) {
  TRY(Node left, unary());
  for (;;) {
    const bool disjunction = peek().is_keyword("OR") && level == Level::either;
    if (!disjunction && !(peek().is_keyword("AND") && level != Level::none)) return left;
    TRY(ConditionPtr first, as_condition(std::move(left)));
    next();
    count_operator();
    TRY(Node right, expression(disjunction ? Level::conjunction : Level::none));
    TRY(ConditionPtr second, as_condition(std::move(right)));
    left = disjunction ? condition_node({Or{std::move(first), std::move(second)}})
                       : condition_node({And{std::move(first), std::move(second)}});
  }
}

Parsed<Node> ConditionParser::unary() {
  int negations = 0;
  while (accept_keyword("NOT")) {
    count_operator();
    ++negations;
  }
  TRY(Node node, primary());
  if (negations == 0) return node;
  TRY(ConditionPtr condition, as_condition(std::move(node)));
  while (negations-- > 0) condition = std::make_unique<Condition>(Condition{Not{std::move(condition)}});
  return condition_node(std::move(*condition));
}

Parsed<Node> ConditionParser::primary() {
  TRY(Node left, operand_or_parentheses());
  if (left.kind == Node::Kind::condition) return left;
  if (peek().kind == Token::Kind::comparator) return comparison(std::move(left));
  if (accept_keyword("BETWEEN")) return between(std::move(left));
  if (accept_keyword("IN")) return in(std::move(left));
  return left;
}

// Parses the left operand of an operator, or a condition in parentheses.
Parsed<Node> ConditionParser::operand_or_parentheses() {
  if (!accept('(')) return operand();
  if (++depth_ > expression_depth_max) return too_deep();
  TRY(Node node, expression(Level::either));
  CHECK_OK(close_parentheses(node));
  return node;
}

Parsed<Node> ConditionParser::operand() {
  if (accept('(')) {
    if (++depth_ > expression_depth_max) return too_deep();
    TRY(Node node, operand());
    CHECK_OK(close_parentheses(node));
    return node;
  }
  if (at_function()) return function();
  Node node;
  if (peek().kind == Token::Kind::value) {
    node.kind = Node::Kind::value;
    if (const SharedValue* found = value()) {
      node.operand.value = *found;
      node.type = (*found)->type();
    } else {
      node.operand.value = SharedValue();
    }
    return node;
  }
  TRY(Path found, path());
  node.operand.value = std::move(found);
  return node;
}

Parsed<void> ConditionParser::close_parentheses(Node& node) {
  CHECK_OK(expect(')'));
  --depth_;
  if (node.parenthesized) note(redundant_parentheses_, "The expression has redundant parentheses;");
  node.parenthesized = true;
  // A function in parentheses remains a function: "(size(a)) > :b" is valid, and so is
  // "(attribute_exists(a))".
  if (node.kind == Node::Kind::path && (peek().is('.') || peek().is('['))) {
    CHECK_OK(path_tail(std::get<Path>(node.operand.value)));
    node.parenthesized = false;
  }
  return {};
}

Parsed<std::vector<Node>> ConditionParser::operand_list() {
  std::vector<Node> operands;
  do {
    TRY(Node node, operand());
    operands.push_back(std::move(node));
  } while (accept(','));
  CHECK_OK(expect(')'));
  return operands;
}

Parsed<Node> ConditionParser::function() {
  Node node;
  node.kind = Node::Kind::function;
  node.function_name = next().text;
  next();  // the '('
  const bool known = std::any_of(functions.begin(), functions.end(), [&](const Function& function) {
    return function.name == node.function_name;
  });
  if (++depth_ > expression_depth_max) {
    if (!known) note(unknown_function_, unknown_function(node.function_name));
    if (known && parentheses_match()) {
      note_operand_type("size", "N");  // the only function allowed as an operand returns a number
      return Unexpected{ParseError{operand_type_}};
    }
    return too_deep();
  }
  TRY(std::vector<Node> operands, operand_list());
  --depth_;
  check_function(node, operands);
  return node;
}

Parsed<Node> ConditionParser::comparison(Node left) {
  const std::string_view text = next().text;
  count_operator();
  TRY(Node right, operand());
  const Comparator comparator = text == "="    ? Comparator::equal
                                : text == "<>" ? Comparator::not_equal
                                : text == "<"  ? Comparator::less
                                : text == "<=" ? Comparator::less_equal
                                : text == ">"  ? Comparator::greater
                                               : Comparator::greater_equal;
  check_distinct(text, left, right);
  if (comparator != Comparator::equal && comparator != Comparator::not_equal) {
    check_orderable(text, left);
    check_orderable(text, right);
  }
  Comparison comparison{comparator, as_operand(std::move(left)), as_operand(std::move(right))};
  finish_condition();
  return condition_node({std::move(comparison)});
}

Parsed<Node> ConditionParser::between(Node value) {
  count_operator();
  TRY(Node low, operand());
  if (!accept_keyword("AND")) return syntax_error_here();
  TRY(Node high, operand());
  for (const Node* node : {&value, &low, &high}) check_orderable("BETWEEN", *node);
  check_bounds(low, high);
  Between between{as_operand(std::move(value)), as_operand(std::move(low)), as_operand(std::move(high))};
  finish_condition();
  return condition_node({std::move(between)});
}

Parsed<Node> ConditionParser::in(Node value) {
  count_operator();
  CHECK_OK(expect('('));
  TRY(std::vector<Node> candidates, operand_list());
  if (candidates.size() > in_candidates_max) {
    note(operand_count_, "The IN operator is provided with too many operands; number of operands: " +
                             std::to_string(candidates.size()));
  }
  In in{as_operand(std::move(value)), {}};
  in.candidates.reserve(candidates.size());
  for (Node& candidate : candidates) in.candidates.push_back(as_operand(std::move(candidate)));
  finish_condition();
  return condition_node({std::move(in)});
}

Parsed<ConditionPtr> ConditionParser::as_condition(Node node) {
  if (node.kind == Node::Kind::path || node.kind == Node::Kind::value) return syntax_error_here();
  if (node.kind == Node::Kind::function) {
    if (node.function_name == "size") note_misused("size");
    finish_condition();
  }
  // If the function has no condition, a finding says why, and this placeholder is not used.
  if (!node.condition) node.condition = std::make_unique<Condition>(Condition{AttributeExists{}});
  return std::move(node.condition);
}

Operand ConditionParser::as_operand(Node node) {
  if (node.kind == Node::Kind::function && node.function_name != "size") note_misused(node.function_name);
  return std::move(node.operand);
}

void ConditionParser::check_function(Node& node, std::vector<Node>& operands) {
  const std::string name(node.function_name);
  for (const Node& operand : operands) {
    const bool is_function = operand.kind == Node::Kind::function;
    if (is_function && operand.function_name != "size") note_misused(operand.function_name);
  }
  const auto* function = std::find_if(functions.begin(), functions.end(),
                                      [&](const Function& known) { return known.name == name; });
  if (function == functions.end()) return note(unknown_function_, unknown_function(name));
  if (function->operands != operands.size()) {
    return note(operand_count_,
                "Incorrect number of operands for operator or function; operator or function: " + name +
                    ", number of operands: " + std::to_string(operands.size()));
  }
  if (operands.size() == 2) check_distinct(name, operands[0], operands[1]);

  const auto make = [&](auto condition) {
    node.condition = std::make_unique<Condition>(Condition{std::move(condition)});
  };
  if (name == "size") {
    const std::optional<Type> type = operands[0].type;
    if (type == Type::number || type == Type::boolean || type == Type::null) {
      note_operand_type(name, engine::type_name(*type));
    }
    node.operand.value = Operand::Size{std::make_unique<Operand>(std::move(operands[0].operand))};
    node.type = Type::number;
  } else if (name == "attribute_exists" || name == "attribute_not_exists") {
    const Path* path = operands[0].path();
    if (path == nullptr) {
      return note(operand_type_,
                  "Operator or function requires a document path; operator or function: " + name);
    }
    if (name == "attribute_exists") {
      make(AttributeExists{*path});
    } else {
      make(AttributeNotExists{*path});
    }
  } else if (name == "attribute_type") {
    check_attribute_type(operands[1]);
    const AttributeValue* value = operands[1].value();
    const std::string* wanted = value == nullptr ? nullptr : value->get_if<std::string>();
    const auto type = wanted != nullptr ? engine::type_named(*wanted) : std::nullopt;
    make(AttributeType{std::move(operands[0].operand), type.value_or(Type::string)});
  } else if (name == "begins_with") {
    for (const Node& operand : operands) {
      if (operand.type && operand.type != Type::string && operand.type != Type::binary) {
        note_operand_type(name, engine::type_name(*operand.type));
      }
    }
    make(BeginsWith{std::move(operands[0].operand), std::move(operands[1].operand)});
  } else {
    make(Contains{std::move(operands[0].operand), std::move(operands[1].operand)});
  }
}

void ConditionParser::check_attribute_type(const Node& type) {
  if (type.type != Type::string) {
    const bool known = type.type.has_value();
    return note_operand_type("attribute_type",
                             known ? engine::type_name(*type.type) : "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}");
  }
  const std::string& name = *type.value()->get_if<std::string>();
  if (engine::type_named(name)) return;
  note(operand_type_,
       "Invalid attribute type name found; type: " + name + ", valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}");
}

void ConditionParser::check_distinct(std::string_view name, const Node& first, const Node& second) {
  const Path* one = first.path();
  const Path* two = second.path();
  if (one == nullptr || two == nullptr || *one != *two) return;
  note(distinct_,
       "The first operand must be distinct from the remaining operands for this operator or function; "
       "operator: " +
           std::string(name) + ", first operand: " + expression::describe(*one));
}

void ConditionParser::check_orderable(std::string_view name, const Node& node) {
  if (node.type && !is_orderable(*node.type)) note_operand_type(name, engine::type_name(*node.type));
}

void ConditionParser::check_bounds(const Node& low, const Node& high) {
  const AttributeValue* lower = low.value();
  const AttributeValue* upper = high.value();
  if (lower == nullptr || upper == nullptr || !low.type || !high.type) return;
  const auto operands = [&] {
    return "; lower bound operand: " + describe(*lower) + ", upper bound operand: " + describe(*upper);
  };
  if (low.type != high.type) {
    note(operand_type_,
         "The BETWEEN operator requires same data type for lower and upper bounds" + operands());
  } else if (engine::compare_scalars(*lower, *upper) == std::partial_ordering::greater) {
    note(operand_type_,
         "The BETWEEN operator requires upper bound to be greater than or equal to lower bound" + operands());
  }
}

void ConditionParser::note_operand_type(std::string_view function, std::string_view type) {
  note(operand_type_, "Incorrect operand type for operator or function; operator or function: " +
                          std::string(function) + ", operand type: " + std::string(type));
}

void ConditionParser::note_misused(std::string_view function) {
  note(misused_function_, "The function is not allowed to be used this way in an expression; function: " +
                              std::string(function));
}

void ConditionParser::finish_condition() {
  for (const Finding* finding : {&undefined_, &operand_count_, &distinct_, &operand_type_}) {
    if (!finding->empty()) return note(condition_, *finding);
  }
}

}  // namespace

Result<Condition> parse_condition(std::string_view kind, std::string_view text,
                                  Substitutions& substitutions) {
  return parse_expression<ConditionParser>(kind, text, substitutions);
}

}  // namespace mayfly::compat::expression
