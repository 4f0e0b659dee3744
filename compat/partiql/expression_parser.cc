#include "compat/partiql/expression_parser.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "compat/expression/path_set.h"
#include "compat/partiql/keywords.h"

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

constexpr std::size_t in_operands_max = 100;

constexpr std::pair<std::string_view, Comparator> comparators[] = {
    {"=", Comparator::equal},         {"<>", Comparator::not_equal},  {"!=", Comparator::not_equal},
    {"<", Comparator::less},          {"<=", Comparator::less_equal}, {">", Comparator::greater},
    {">=", Comparator::greater_equal}};

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

std::optional<Type> type_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Type::map); ++i) {
    if (engine::type_name(static_cast<Type>(i)) == name) return static_cast<Type>(i);
  }
  return std::nullopt;
}

const AttributeValue* constant(const Operand& operand) { return std::get_if<AttributeValue>(&operand.value); }

const AttributeValue* constant(const UpdateValue& value) {
  const auto* node = std::get_if<UpdateValue::Constant>(&value.node);
  return node == nullptr ? nullptr : &node->value;
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

}  // namespace

Result<Condition> ExpressionParser::condition() {
  TRY(Condition left, conjunction());
  while (accept_keyword("OR")) {
    TRY(Condition right, conjunction());
    left = {expression::Or{boxed(std::move(left)), boxed(std::move(right))}};
  }
  return left;
}

Result<Condition> ExpressionParser::conjunction() {
  TRY(Condition left, unary());
  while (accept_keyword("AND")) {
    TRY(Condition right, unary());
    left = {expression::And{boxed(std::move(left)), boxed(std::move(right))}};
  }
  return left;
}

Result<Condition> ExpressionParser::unary() {
  if (!peek().is_keyword("NOT") && !peek().is("(")) return predicate();
  const Level level = deeper();
  if (!level) return malformed("Unexpected term");
  if (accept_keyword("NOT")) {
    TRY(Condition negated, unary());
    return negated_if(true, std::move(negated));
  }
  CHECK_OK(expect("("));
  TRY(Condition inner, condition());
  CHECK_OK(expect(")"));
  return compared(std::move(inner));
}

Result<Condition> ExpressionParser::compared(Condition condition) {
  const bool equal = peek().is("=");
  if (!equal && !peek().is("<>") && !peek().is("!=")) return condition;
  const bool to_true = peek(1).is_keyword("TRUE");
  if (!to_true && !peek(1).is_keyword("FALSE")) return condition;
  next();
  next();
  return negated_if(equal != to_true, std::move(condition));
}

Result<Condition> ExpressionParser::predicate() {
  if (at_call() && !at_function("SIZE")) {
    TRY(Condition called, function());
    return compared(std::move(called));
  }
  TRY(Operand left, operand());
  if (accept_keyword("IS")) return is(std::move(left));
  const bool negated = accept_keyword("NOT");
  if (accept_keyword("IN")) {
    TRY(Condition found, in(std::move(left)));
    return negated_if(negated, std::move(found));
  }
  if (accept_keyword("BETWEEN")) {
    TRY(Operand low, operand());
    CHECK_OK(expect_keyword("AND"));
    TRY(Operand high, operand());
    return negated_if(negated, {expression::Between{std::move(left), std::move(low), std::move(high)}});
  }
  if (negated) return unexpected("Unexpected term");
  return comparison(std::move(left));
}

Result<Condition> ExpressionParser::comparison(Operand left) {
  for (const auto& [mark, comparator] : comparators) {
    if (!accept(mark)) continue;
    TRY(Operand right, operand());
    // The attribute stands left, so that who looks for keys need look at one side only.
    if (constant(left) != nullptr && std::holds_alternative<Path>(right.value)) {
      return Condition{expression::Comparison{mirrored(comparator), std::move(right), std::move(left)}};
    }
    return Condition{expression::Comparison{comparator, std::move(left), std::move(right)}};
  }
  const bool ends = peek().kind == Token::Kind::end || peek().is(")") || peek().is_keyword("AND") ||
                    peek().is_keyword("OR") || peek().is_keyword("ORDER") || peek().is_keyword("RETURNING");
  if (ends) return error::validation("WHERE clause must contain an expression that resolves to a boolean");
  return unexpected("Unexpected term");
}

Result<Condition> ExpressionParser::function() {
  if (at_keyword() && !is_function_name(peek().text)) return malformed("Unexpected keyword");
  const Token called = next();
  CHECK_OK(expect("("));
  const bool exists = called.is_keyword("ATTRIBUTE_EXISTS");
  if (exists || called.is_keyword("ATTRIBUTE_NOT_EXISTS")) {
    TRY(Path attribute, path());
    CHECK_OK(expect(")"));
    if (exists) return Condition{expression::AttributeExists{std::move(attribute)}};
    return Condition{expression::AttributeNotExists{std::move(attribute)}};
  }
  const bool begins_with = called.is_keyword("BEGINS_WITH");
  const bool contains = called.is_keyword("CONTAINS");
  if (!begins_with && !contains && !called.is_keyword("ATTRIBUTE_TYPE")) {
    return error::validation("Unrecognized function: " + called.text);
  }
  TRY(Operand first, operand());
  CHECK_OK(expect(","));
  if (!begins_with && !contains) return attribute_type(std::move(first));
  TRY(Operand second, operand());
  CHECK_OK(expect(")"));
  if (contains) return Condition{expression::Contains{std::move(first), std::move(second)}};
  for (const Operand* operand : {&first, &second}) {
    const AttributeValue* value = constant(*operand);
    if (value == nullptr || value->type() == Type::string || value->type() == Type::binary) continue;
    return wrong_operand("begins_with", *value);
  }
  return Condition{expression::BeginsWith{std::move(first), std::move(second)}};
}

Result<Condition> ExpressionParser::attribute_type(Operand attribute) {
  TRY(const AttributeValue wanted, value());
  CHECK_OK(expect(")"));
  const auto* name = wanted.get_if<std::string>();
  if (name == nullptr) return wrong_operand("attribute_type", wanted);
  const auto type = type_named(*name);
  if (!type) {
    return error::validation("Invalid attribute type name found; type: " + *name +
                             ", valid types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}");
  }
  return Condition{expression::AttributeType{std::move(attribute), *type}};
}

Result<Condition> ExpressionParser::in(Operand value) {
  expression::In in{std::move(value), {}};
  if (peek().kind == Token::Kind::parameter) {  // a list as a whole
    TRY(const AttributeValue candidates, parameter());
    if (const auto* list = candidates.get_if<engine::List>()) {
      for (const AttributeValue& candidate : *list) in.candidates.push_back({candidate});
    }
  } else {
    const bool brackets = peek().is("[");
    CHECK_OK(expect(brackets ? "[" : "("));
    if (!peek().is(brackets ? "]" : ")")) {
      do {
        TRY(Operand candidate, operand());
        in.candidates.push_back(std::move(candidate));
      } while (accept(","));
    }
    CHECK_OK(expect(brackets ? "]" : ")"));
  }
  if (in.candidates.empty()) {
    return error::validation(
        "IN operator must have a left hand argument of type Variable Reference and right hand argument of "
        "type Seq "
        "with at least one member");
  }
  if (in.candidates.size() > in_operands_max) {
    return error::validation("The IN operator is provided with too many operands; number of operands: " +
                             std::to_string(in.candidates.size()));
  }
  return Condition{std::move(in)};
}

// NULL is a value; what is missing is not NULL.
Result<Condition> ExpressionParser::is(Operand value) {
  constexpr std::pair<std::string_view, Type> types[] = {
      {"NULL", Type::null},      {"BOOLEAN", Type::boolean}, {"BLOB", Type::binary}, {"STRING", Type::string},
      {"NUMERIC", Type::number}, {"STRUCT", Type::map},      {"TUPLE", Type::map},   {"LIST", Type::list}};
  const bool negated = accept_keyword("NOT");
  auto* of = std::get_if<Path>(&value.value);
  if (of == nullptr) {
    return error::validation(
        "The left hand side argument to IS must be a Variable Reference, Literal, or Path");
  }
  if (accept_keyword("MISSING")) {
    if (negated) return Condition{expression::AttributeExists{std::move(*of)}};
    return Condition{expression::AttributeNotExists{std::move(*of)}};
  }
  for (const auto& [keyword, type] : types) {
    if (accept_keyword(keyword))
      return negated_if(negated, {expression::AttributeType{std::move(value), type}});
  }
  if (peek().kind != Token::Kind::word) return unexpected("Unexpected term");
  return error::validation(
      "Unsupported data type for IS operator: " + peek().text +
      ". Supported data types are [MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, "
      "TUPLE, LIST]");
}

Result<Operand> ExpressionParser::operand() {
  if (at_function("SIZE")) {
    next();
    next();
    TRY(Path measured, path());
    CHECK_OK(expect(")"));
    return Operand{Operand::Size{std::make_unique<Operand>(Operand{std::move(measured)})}};
  }
  if (at_name()) {
    TRY(Path named, path());
    return Operand{std::move(named)};
  }
  TRY(AttributeValue literal, value());
  return Operand{std::move(literal)};
}

Result<UpdateValue> ExpressionParser::new_value() {
  TRY(UpdateValue left, term());
  for (int operators = 0; peek().is("-") || peek().is("+"); ++operators) {
    if (operators == expression_depth_max) return malformed("Unexpected term");
    const std::string sign = next().text;
    CHECK_OK(check_term(sign, left, Type::number));
    TRY(UpdateValue right, term());
    CHECK_OK(check_term(sign, right, Type::number));
    left = {UpdateValue::Arithmetic{sign == "-", boxed(std::move(left)), boxed(std::move(right))}};
  }
  return left;
}

Result<UpdateValue> ExpressionParser::term() {
  if (at_name() && at_call()) {
    if (!at_function("LIST_APPEND")) return error::validation("Unrecognized function: " + peek().text);
    const Level level = deeper();
    if (!level) return malformed("Unexpected term");
    next();
    next();
    TRY(UpdateValue first, term());
    CHECK_OK(expect(","));
    TRY(UpdateValue second, term());
    CHECK_OK(expect(")"));
    CHECK_OK(check_term("list_append", first, Type::list));
    CHECK_OK(check_term("list_append", second, Type::list));
    return UpdateValue{UpdateValue::ListAppend{boxed(std::move(first)), boxed(std::move(second))}};
  }
  if (at_name()) {
    TRY(Path referred, path());
    return UpdateValue{UpdateValue::Reference{std::move(referred)}};
  }
  TRY(AttributeValue literal, value());
  return UpdateValue{UpdateValue::Constant{std::move(literal)}};
}

Result<Path> ExpressionParser::path() {
  Path path;
  TRY(path.elements.emplace_back(), name());
  for (;;) {
    if (accept(".")) {
      if (peek().is("*")) return error::validation("Unpivot path component like a.*.b are not supported");
      TRY(path.elements.emplace_back(), name());
    } else if (accept("[")) {
      if (peek().is("*")) return error::validation("Wildcard path component like a[*].b are not supported");
      if (peek().kind == Token::Kind::string) {
        path.elements.emplace_back(next().text);
      } else {
        TRY(path.elements.emplace_back(), list_index());
      }
      CHECK_OK(expect("]"));
    } else {
      break;
    }
  }
  if (path.elements.size() > expression::path_elements_max) {
    return error::validation("The document path has too many nesting elements; nesting levels: " +
                             std::to_string(path.elements.size()));
  }
  return path;
}

Result<std::uint32_t> ExpressionParser::list_index() {
  const bool negative = accept("-");
  const Token& written = peek();
  const bool digits =
      std::all_of(written.text.begin(), written.text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (written.kind != Token::Kind::number || !digits) return malformed("Unexpected path component");
  std::uint64_t index = 0;
  const char* end = written.text.data() + written.text.size();
  const bool fits = std::from_chars(written.text.data(), end, index).ec == std::errc();
  if (!fits || index > std::numeric_limits<std::int32_t>::max() || (negative && index != 0)) {
    return error::validation("List index is not within the allowable range; index: [" +
                             std::string(negative ? "-" : "") + written.text + "]" + written.place());
  }
  next();
  return static_cast<std::uint32_t>(index);
}

Result<std::string> ExpressionParser::name() {
  if (!at_name()) return unexpected("Unexpected term");
  return next().text;
}

}  // namespace mayfly::compat::partiql
