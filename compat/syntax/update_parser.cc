// Parses an UpdateExpression.
//
//   update  := ( SET set, … | REMOVE path, … | ADD path :value, … | DELETE path :value, … )+   each once
//   set     := path = sum
//   sum     := ( sum ) | operand | operand + operand | operand - operand        no chains, no deeper sums
//   operand := path | :value | function ( operand, … ) | ( operand )
#include <optional>
#include <utility>

#include "compat/syntax/parser.h"
#include "compat/syntax/path_set.h"
#include "compat/syntax/token_reader.h"

namespace mayfly::compat::expression {
namespace {

using engine::Type;

struct UpdateNode {
  UpdateValue value;
  std::optional<Type> type;        // for a constant
  std::string_view function_name;  // for a function
  bool is_path = false;
  bool is_sum = false;
  bool parenthesized = false;
};

// The names that ADD and DELETE use in errors for types that they do not accept.
std::string_view long_type_name(Type type) {
  switch (type) {
    case Type::string: return "STRING";
    case Type::number: return "NUMBER";
    case Type::binary: return "BINARY";
    case Type::boolean: return "BOOLEAN";
    case Type::null: return "NULL";
    case Type::list: return "LIST";
    case Type::map: return "MAP";
    case Type::string_set: return "STRING_SET";
    case Type::number_set: return "NUMBER_SET";
    case Type::binary_set: return "BINARY_SET";
  }
  return {};
}

bool is_set(Type type) {
  return type == Type::string_set || type == Type::number_set || type == Type::binary_set;
}

class UpdateParser : TokenReader {
 public:
  UpdateParser(std::string_view text, Substitutions& substitutions) : TokenReader(text, substitutions) {}

  Parsed<Update> parse() {
    do {
      CHECK_OK(section());
    } while (peek().kind != Token::Kind::end);
    CHECK_OK(first_of({&redundant_parentheses_, &too_many_operators_, &reserved_word_, &unusable_path_,
                       &unknown_function_, &misused_function_, &repeated_section_, &undefined_name_,
                       &undefined_value_, &paths_.overlap(), &paths_.conflict(), &action_operand_,
                       &function_operand_}));
    return std::move(update_);
  }

 private:
  Parsed<void> section();
  Parsed<void> set_action();
  Parsed<void> remove_action();
  Parsed<void> add_action();
  Parsed<void> delete_action();
  Parsed<SharedValue> action_operand(std::string_view action, bool takes_numbers);

  Parsed<UpdateNode> sum();
  Parsed<UpdateNode> operand();
  Parsed<UpdateNode> function();
  Parsed<void> close_parentheses(UpdateNode& node);
  void check_function(UpdateNode& node, std::vector<UpdateNode>& operands);
  void check_operand_type(std::string_view function, const UpdateNode& node, Type wanted);
  void check_section(bool& seen, std::string_view name);

  Update update_;
  PathSet paths_;
  bool seen_set_ = false, seen_remove_ = false, seen_add_ = false, seen_delete_ = false;
  Finding redundant_parentheses_, unknown_function_, misused_function_, repeated_section_;
  Finding action_operand_, function_operand_;
};

Parsed<void> UpdateParser::section() {
  Parsed<void> (UpdateParser::*action)() = nullptr;
  if (accept_keyword("SET")) {
    check_section(seen_set_, "SET");
    action = &UpdateParser::set_action;
  } else if (accept_keyword("REMOVE")) {
    check_section(seen_remove_, "REMOVE");
    action = &UpdateParser::remove_action;
  } else if (accept_keyword("ADD")) {
    check_section(seen_add_, "ADD");
    action = &UpdateParser::add_action;
  } else if (accept_keyword("DELETE")) {
    check_section(seen_delete_, "DELETE");
    action = &UpdateParser::delete_action;
  } else {
    return syntax_error_here();
  }
  do {
    CHECK_OK((this->*action)());
  } while (accept(','));
  return {};
}

void UpdateParser::check_section(bool& seen, std::string_view name) {
  if (seen) {
    note(repeated_section_,
         "The \"" + std::string(name) + "\" section can only be used once in an update expression;");
  }
  seen = true;
}

Parsed<void> UpdateParser::set_action() {
  TRY(Path target, path());
  if (peek().kind != Token::Kind::comparator || peek().text != "=") return syntax_error_here();
  next();
  TRY(UpdateNode value, sum());
  paths_.add(target);
  update_.sets.push_back({std::move(target), std::move(value.value)});
  return {};
}

Parsed<void> UpdateParser::remove_action() {
  TRY(Path target, path());
  paths_.add(target);
  update_.removes.push_back({std::move(target)});
  return {};
}

Parsed<void> UpdateParser::add_action() {
  TRY(Path target, path());
  TRY(SharedValue value, action_operand("ADD", true));
  paths_.add(target);
  update_.adds.push_back({std::move(target), std::move(value)});
  return {};
}

Parsed<void> UpdateParser::delete_action() {
  TRY(Path target, path());
  TRY(SharedValue value, action_operand("DELETE", false));
  paths_.add(target);
  update_.deletes.push_back({std::move(target), std::move(value)});
  return {};
}

Parsed<SharedValue> UpdateParser::action_operand(std::string_view action, bool takes_numbers) {
  if (peek().kind != Token::Kind::value) return syntax_error_here();
  const SharedValue* found = value();
  if (found == nullptr) return SharedValue();
  const Type type = (*found)->type();
  if (!is_set(type) && !(takes_numbers && type == Type::number)) {
    note(action_operand_, "Incorrect operand type for operator or function; operator: " +
                              std::string(action) + ", operand type: " + std::string(long_type_name(type)));
  }
  return *found;
}

Parsed<UpdateNode> UpdateParser::sum() {
  UpdateNode left;
  if (accept('(')) {
    if (++depth_ > expression_depth_max) {
      if (!parentheses_match()) return Unexpected{ParseError{syntax_error(tokens_, tokens_.size() - 1)}};
      return Unexpected{ParseError{"The expression has redundant parentheses;"}};
    }
    TRY(UpdateNode inner, sum());
    CHECK_OK(close_parentheses(inner));
    if (inner.is_sum) return inner;
    left = std::move(inner);
  } else {
    TRY(UpdateNode first, operand());
    left = std::move(first);
  }
  if (!peek().is('+') && !peek().is('-')) return left;
  const std::string_view sign = next().text;
  count_operator();
  TRY(UpdateNode right, operand());
  check_operand_type(sign, left, Type::number);
  check_operand_type(sign, right, Type::number);
  UpdateNode node;
  node.is_sum = true;
  node.value.node = UpdateValue::Arithmetic{sign == "-", std::make_unique<UpdateValue>(std::move(left.value)),
                                            std::make_unique<UpdateValue>(std::move(right.value))};
  return node;
}

Parsed<UpdateNode> UpdateParser::operand() {
  if (accept('(')) {
    if (++depth_ > expression_depth_max) {
      if (!parentheses_match()) return Unexpected{ParseError{syntax_error(tokens_, tokens_.size() - 1)}};
      return Unexpected{ParseError{"The expression has redundant parentheses;"}};
    }
    TRY(UpdateNode inner, operand());
    CHECK_OK(close_parentheses(inner));
    return inner;
  }
  if (at_function()) return function();
  UpdateNode node;
  if (peek().kind == Token::Kind::value) {
    const SharedValue* found = value();
    if (found != nullptr) node.type = (*found)->type();
    node.value.node = UpdateValue::Constant{found == nullptr ? SharedValue() : *found};
    return node;
  }
  TRY(Path found, path());
  node.is_path = true;
  node.value.node = UpdateValue::Reference{std::move(found)};
  return node;
}

Parsed<void> UpdateParser::close_parentheses(UpdateNode& node) {
  CHECK_OK(expect(')'));
  --depth_;
  if (node.parenthesized) note(redundant_parentheses_, "The expression has redundant parentheses;");
  node.parenthesized = true;
  return {};
}

Parsed<UpdateNode> UpdateParser::function() {
  UpdateNode node;
  node.function_name = next().text;
  next();  // the '('
  count_operator();
  if (++depth_ > expression_depth_max) {
    return Unexpected{ParseError{"Invalid function name; function: " + std::string(node.function_name)}};
  }
  std::vector<UpdateNode> operands;
  do {
    TRY(UpdateNode inner, operand());
    operands.push_back(std::move(inner));
  } while (accept(','));
  CHECK_OK(expect(')'));
  --depth_;
  check_function(node, operands);
  return node;
}

void UpdateParser::check_function(UpdateNode& node, std::vector<UpdateNode>& operands) {
  const std::string name(node.function_name);
  const bool list_append = name == "list_append";
  if (!list_append && name != "if_not_exists") {
    return note(unknown_function_, "Invalid function name; function: " + name);
  }
  for (const UpdateNode& operand : operands) {
    if (operand.function_name == "list_append") {
      note(misused_function_,
           "The function is not allowed to be used this way in an expression; function: list_append");
    }
  }
  if (operands.size() != 2) {
    return note(function_operand_,
                "Incorrect number of operands for operator or function; operator or function: " + name +
                    ", number of operands: " + std::to_string(operands.size()));
  }
  auto second = std::make_unique<UpdateValue>(std::move(operands[1].value));
  if (list_append) {
    check_operand_type(name, operands[0], Type::list);
    check_operand_type(name, operands[1], Type::list);
    node.value.node = UpdateValue::ListAppend{std::make_unique<UpdateValue>(std::move(operands[0].value)),
                                              std::move(second)};
    return;
  }
  if (!operands[0].is_path) {
    return note(function_operand_,
                "Operator or function requires a document path; operator or function: " + name);
  }
  node.value.node = UpdateValue::IfNotExists{
      std::move(std::get<UpdateValue::Reference>(operands[0].value.node).path), std::move(second)};
}

void UpdateParser::check_operand_type(std::string_view function, const UpdateNode& node, Type wanted) {
  if (!node.type || node.type == wanted) return;
  note(function_operand_,
       "Incorrect operand type for operator or function; operator or function: " + std::string(function) +
           ", operand type: " + std::string(engine::type_name(*node.type)));
}

}  // namespace

Result<Update> parse_update(std::string_view text, Substitutions& substitutions) {
  return parse_expression<UpdateParser>("UpdateExpression", text, substitutions);
}

}  // namespace mayfly::compat::expression
