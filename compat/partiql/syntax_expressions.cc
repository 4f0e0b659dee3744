// Parses expressions by the precedence of their operators. "Bare" paths, which write statements use, begin
// with a name.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "compat/partiql/keywords.h"
#include "compat/partiql/syntax_grammar.h"

namespace mayfly::compat::partiql {
namespace {

using Kind = Node::Kind;

constexpr int precedence_of_not = 30;

struct Operator {
  std::string_view text;
  int precedence;
};
constexpr Operator marks[] = {{"=", 40}, {"<>", 40}, {"!=", 40}, {"<", 50}, {"<=", 50}, {">", 50}, {">=", 50},
                              {"+", 60}, {"-", 60},  {"||", 60}, {"*", 70}, {"/", 70},  {"%", 70}};
constexpr Operator words[] = {{"OR", 10},   {"AND", 20},  {"IS", 40},    {"IN", 40},      {"BETWEEN", 50},
                              {"LIKE", 50}, {"UNION", 5}, {"EXCEPT", 5}, {"INTERSECT", 5}};

bool is_operator_word(const Token& token) {
  return token.is_keyword("NOT") ||
         std::any_of(std::begin(words), std::end(words),
                     [&](const Operator& each) { return token.is_keyword(each.text); });
}

bool is_operator_mark(const Token& token) {
  return token.is("@") ||
         (!token.is("*") && std::any_of(std::begin(marks), std::end(marks),
                                        [&](const Operator& each) { return token.is(each.text); }));
}

std::string in_case(std::string text, char from, char to, int shift) {
  for (char& c : text) c = c >= from && c <= to ? static_cast<char>(c + shift) : c;
  return text;
}
std::string in_upper_case(std::string text) { return in_case(std::move(text), 'a', 'z', 'A' - 'a'); }
std::string in_lower_case(std::string text) { return in_case(std::move(text), 'A', 'Z', 'a' - 'A'); }

// A type name as IS uses it. A synonym such as INT is replaced with the type's main name.
struct TypeName {
  std::string_view name;
  int words = 1;
};

std::optional<TypeName> type_name(const Token& token, const Token& after) {
  if (token.is_keyword("DOUBLE") && after.is_keyword("PRECISION")) return TypeName{"DOUBLE_PRECISION", 2};
  if (token.is_keyword("CHARACTER") && after.is_keyword("VARYING")) return TypeName{"CHARACTER_VARYING", 2};
  if (token.kind != Token::Kind::word) return std::nullopt;
  constexpr auto others =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"VARCHAR", "CHARACTER_VARYING"},
                                                                    {"CHAR", "CHARACTER"},
                                                                    {"DEC", "DECIMAL"},
                                                                    {"INT", "INTEGER"},
                                                                    {"INT2", "SMALLINT"},
                                                                    {"INTEGER2", "SMALLINT"},
                                                                    {"INT4", "INTEGER4"},
                                                                    {"INT8", "INTEGER8"},
                                                                    {"BIGINT", "INTEGER8"},
                                                                    {"BOOL", "BOOLEAN"}});
  constexpr auto types = std::to_array<std::string_view>(
      {"MISSING", "NULL",    "BOOLEAN", "SMALLINT",  "INTEGER4", "INTEGER8", "INTEGER",   "FLOAT",
       "REAL",    "DECIMAL", "NUMERIC", "TIMESTAMP", "DATE",     "TIME",     "CHARACTER", "CHARACTER_VARYING",
       "STRING",  "SYMBOL",  "CLOB",    "BLOB",      "STRUCT",   "TUPLE",    "LIST",      "SEXP",
       "BAG",     "ANY"});
  std::string name = in_upper_case(token.text);
  for (const auto& [other, type] : others) {
    if (name == other) return TypeName{type};
  }
  const auto found = std::find(types.begin(), types.end(), name);
  if (found == types.end()) return std::nullopt;
  return TypeName{*found};
}

}  // namespace

Node SyntaxParser::atom(Kind kind) {
  Node node{.kind = kind, .token = next()};
  node.text = node.token.text;
  return node;
}

Result<Node> SyntaxParser::expression(int precedence) {
  TRY(Node left, unary());
  for (auto next_operator = infix(); next_operator && precedence < next_operator->precedence;
       next_operator = infix()) {
    TRY(left, operation(std::move(left), *next_operator));
  }
  return left;
}

std::optional<SyntaxParser::Infix> SyntaxParser::infix() const {
  if (peek().kind == Token::Kind::punctuation) {
    for (const Operator& mark : marks) {
      if (!peek().is(mark.text)) continue;
      return Infix{mark.text == "!=" ? "<>" : std::string(mark.text), mark.precedence};
    }
    return std::nullopt;
  }
  const bool negated = peek().is_keyword("NOT");
  for (const Operator& word : words) {
    if (!peek(negated ? 1 : 0).is_keyword(word.text)) continue;
    const bool can_be_negated = word.text == "IN" || word.text == "BETWEEN" || word.text == "LIKE";
    if (negated && !can_be_negated) return std::nullopt;
    if (word.text == "IS" && peek(1).is_keyword("NOT")) return Infix{"IS", word.precedence, 2, true};
    return Infix{std::string(word.text), word.precedence, negated ? 2 : 1, negated};
  }
  return std::nullopt;
}

Result<Node> SyntaxParser::operation(Node left, const Infix& infix) {
  Node node{.kind = Kind::operation, .token = peek(), .text = infix.text, .negated = infix.negated};
  for (int i = 0; i < infix.tokens; ++i) next();
  if (infix.text == "IS") return type_of(std::move(left), infix.negated);
  node.children.push_back(std::move(left));
  const bool in_parentheses = infix.text == "IN" && peek().is("(") && !peek(1).is_keyword("SELECT");
  if (in_parentheses) {
    Node list{.kind = Kind::list, .token = next()};
    TRY(list.children, list_until(")", "RIGHT_PAREN"));
    node.children.push_back(std::move(list));
  } else {
    TRY(node.children.emplace_back(), right_of(infix));
  }
  if (infix.text == "BETWEEN") {
    if (!accept_keyword("AND")) return malformed("Expected AND keyword");
    if (at_end()) return malformed("Expected expression after AND");
    TRY(node.children.emplace_back(), expression(infix.precedence));
  } else if (infix.text == "LIKE" && accept_keyword("ESCAPE")) {
    if (at_end()) return malformed("Expected expression after ESCAPE");
    TRY(node.children.emplace_back(), expression(infix.precedence));
  }
  return node;
}

Result<Node> SyntaxParser::right_of(const Infix& infix) {
  if (at_end()) return malformed("Missing right-hand side expression of infix operator");
  return expression(infix.precedence);
}

Result<Node> SyntaxParser::type_of(Node value, bool negated) {
  const auto type = type_name(peek(), peek(1));
  if (!type) return malformed("Expected type name");
  Node node{.kind = Kind::is_type, .token = next(), .text = std::string(type->name), .negated = negated};
  if (type->words == 2) next();
  if (accept("(")) CHECK_OK(list_until(")", "RIGHT_PAREN"));
  node.children.push_back(std::move(value));
  return node;
}

Result<Node> SyntaxParser::unary() {
  const bool sign = peek().is("-") || peek().is("+");
  if (!sign && !peek().is_keyword("NOT")) {
    TRY(Node root, term());
    return path_after(std::move(root), false);
  }
  const Level level = deeper();
  if (!level) return malformed("Unexpected term");
  Node node{.kind = Kind::operation, .token = next()};
  if (!sign) {
    node.text = "NOT";
    TRY(node.children.emplace_back(), expression(precedence_of_not));
    return node;
  }
  const bool negative = node.token.is("-");
  TRY(Node operand, unary());
  if (operand.kind == Kind::number) {
    if (!negative) return operand;
    operand.text = operand.text.starts_with('-') ? operand.text.substr(1) : "-" + operand.text;
    return operand;
  }
  node.text = negative ? "NEG" : "POS";
  node.children.push_back(std::move(operand));
  return node;
}

Result<Node> SyntaxParser::term() {
  const Level level = deeper();
  if (!level) return malformed("Unexpected term");
  const Token& head = peek();
  switch (head.kind) {
    case Token::Kind::string: return atom(Kind::string);
    case Token::Kind::number: return atom(Kind::number);
    case Token::Kind::quoted: return peek(1).is("(") ? call() : Result<Node>(atom(Kind::name));
    case Token::Kind::parameter: {
      Node parameter = atom(Kind::parameter);
      parameter.number_of_parameter = parameters_++;
      return parameter;
    }
    case Token::Kind::word: return keyword_term();
    case Token::Kind::punctuation:
    case Token::Kind::unknown:
    case Token::Kind::end: break;
  }
  if (is_operator_mark(head)) return malformed("Unexpected operator");
  if (head.is("(")) {
    Node group{.kind = Kind::list, .token = next()};
    TRY(group.children, list_until(")", "RIGHT_PAREN"));
    if (group.children.size() > 1) return group;  // a row of values in parentheses is a list
    Node inner = std::move(group.children.front());
    return inner;
  }
  if (head.is("[") || head.is("<<")) {
    const bool list = head.is("[");
    Node node{.kind = list ? Kind::list : Kind::bag, .token = next()};
    if (accept(list ? "]" : ">>")) return node;
    TRY(node.children, list_until(list ? "]" : ">>", list ? "RIGHT_BRACKET" : "RIGHT_DOUBLE_ANGLE_BRACKET"));
    return node;
  }
  if (head.is("{")) return tuple();
  return malformed("Unexpected term");
}

Result<Node> SyntaxParser::keyword_term() {
  const Token& head = peek();
  if (is_operator_word(head)) return malformed("Unexpected operator");
  if (head.is_keyword("NULL")) return atom(Kind::null);
  if (head.is_keyword("MISSING")) return atom(Kind::missing);
  if (head.is_keyword("TRUE") || head.is_keyword("FALSE")) {
    Node node = atom(Kind::boolean);
    node.text = in_upper_case(node.text);
    return node;
  }
  for (const std::string_view other : {"AS", "AT", "BY", "FOR", "ASC", "DESC"}) {
    if (head.is_keyword(other)) return malformed("Unexpected term");
  }
  if (head.is_keyword("SELECT")) {
    Node node{.kind = Kind::select, .token = next()};
    TRY(SelectSyntax selected, select());
    node.select = std::make_shared<const SelectSyntax>(std::move(selected));
    return node;
  }
  if (head.is_keyword("FROM")) {
    Node node{.kind = Kind::from, .token = next()};
    CHECK_OK(from());
    return node;
  }
  const bool calls = peek(1).is("(");
  if (!is_keyword(head.text)) return calls ? call() : Result<Node>(atom(Kind::name));
  if (is_function_name(head.text) && calls) return call();
  return malformed("Unexpected keyword");
}

Result<Node> SyntaxParser::call() {
  Node node{.kind = Kind::call, .token = next()};
  node.text = in_lower_case(node.token.text);
  next();  // (
  if (accept(")")) return node;
  if (accept("*")) {
    if (node.text != "count") return malformed(node.text + "(*) is not allowed");
    CHECK_OK(expect(")", "RIGHT_PAREN"));
    return node;
  }
  TRY(node.children, list_until(")", "RIGHT_PAREN"));
  return node;
}

Result<std::vector<Node>> SyntaxParser::list_until(std::string_view close, std::string_view name) {
  std::vector<Node> list;
  do {
    TRY(list.emplace_back(), expression());
  } while (accept(","));
  CHECK_OK(expect(close, name));
  return list;
}

Result<Node> SyntaxParser::tuple() {
  Node node{.kind = Kind::tuple, .token = next()};
  if (accept("}")) return node;
  do {
    TRY(node.children.emplace_back(), expression());
    CHECK_OK(expect(":", "COLON"));
    TRY(node.children.emplace_back(), expression());
  } while (accept(","));
  CHECK_OK(expect("}", "RIGHT_CURLY"));
  return node;
}

Result<Node> SyntaxParser::bare_path() {
  if (!at_name()) return malformed("Expected identifier for simple path");
  return path_after(atom(Kind::name), true);
}

Result<Node> SyntaxParser::path_after(Node root, bool bare) {
  if (!peek().is(".") && !peek().is("[")) return root;
  Node path{.kind = Kind::path, .token = root.token};
  path.children.push_back(std::move(root));
  for (;;) {
    if (accept(".")) {
      if (at_name()) {
        path.children.push_back(atom(Kind::string));
      } else if (!peek().is("*")) {
        return malformed("Invalid path dot component");
      } else if (bare) {
        return malformed("Invalid path dot component for simple path");
      } else {
        path.children.push_back(atom(Kind::unpivot));
      }
    } else if (accept("[")) {
      if (peek().is("*")) {
        path.children.push_back(atom(Kind::wildcard));
      } else {
        TRY(path.children.emplace_back(), expression());
      }
      CHECK_OK(expect("]", "RIGHT_BRACKET"));
      const Kind kind = path.children.back().kind;
      const bool simple = kind == Kind::string || kind == Kind::number || kind == Kind::boolean ||
                          kind == Kind::null || kind == Kind::missing || kind == Kind::name;
      if (bare && !simple) return malformed("Invalid path component for simple path");
    } else {
      return path;
    }
  }
}

}  // namespace mayfly::compat::partiql
