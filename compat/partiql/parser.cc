// The grammar, as far as DynamoDB has it:
//
//   statement  := SELECT ( * | path, … ) FROM name [ . name ] [ where ] [ ORDER BY name [ASC|DESC], … ]
//               | INSERT INTO name VALUE value
//               | UPDATE name ( SET path = new, … | REMOVE path, … )+ [ where ] [ returning ]
//               | DELETE FROM name [ where ] [ returning ]
//   where      := WHERE condition            NOT binds tightest, then AND, then OR
//   predicate  := operand ( = | <> | != | < | <= | > | >= ) operand | operand [NOT] BETWEEN operand AND operand
//               | operand [NOT] IN ( [operand, …] | (operand, …) ) | operand IS [NOT] ( NULL | MISSING )
//               | begins_with(…) | contains(…) | attribute_type(…) | ( condition )
//   operand    := path | value | size(path)
//   new        := term ( ( + | - ) term )* | set_add(path, value) | set_delete(path, value)
//   term       := path | value | list_append(term, term)
//   value      := 'text' | number | TRUE | FALSE | NULL | ? | [ value, … ] | { 'name': value, … } | << value, … >>
//   returning  := RETURNING ( ALL | MODIFIED ) ( OLD | NEW ) *
#include "compat/partiql/parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "compat/attribute_value_json.h"
#include "compat/expression/path.h"
#include "compat/partiql/lexer.h"

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

// Words that are no names unless they are quoted.
constexpr auto keywords = std::to_array<std::string_view>(
    {"SELECT", "FROM",   "WHERE",  "AND",       "OR",     "NOT",   "IN",    "BETWEEN", "IS",
     "NULL",   "MISSING", "ORDER", "BY",        "ASC",    "DESC",  "INSERT", "INTO",   "VALUE",
     "VALUES", "UPDATE", "SET",    "REMOVE",    "DELETE", "TRUE",  "FALSE", "EXISTS",  "RETURNING",
     "GROUP",  "HAVING", "LIMIT",  "JOIN",      "AS",     "TABLE", "LIKE",  "DISTINCT"});

Unexpected<Error> malformed(const std::string& what) {
  return error::validation("Statement wasn't well formed, can't be processed: " + what);
}

ConditionPtr boxed(Condition condition) { return std::make_unique<Condition>(std::move(condition)); }

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

// All members are of one type, a string, number or binary.
template <class T, class Set>
Result<AttributeValue> make_set(const std::vector<AttributeValue>& values) {
  std::vector<T> members;
  for (const AttributeValue& value : values) {
    const T* member = value.get_if<T>();
    if (member == nullptr) {
      return error::validation("One or more parameter values were invalid: Sets must be of one type");
    }
    members.push_back(*member);
  }
  Set set;
  if (!Set::make(std::move(members), set)) {
    return error::validation("One or more parameter values were invalid: Input collection contains duplicates.");
  }
  return AttributeValue(std::move(set));
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<AttributeValue> parameters)
      : tokens_(tokenize(text)), parameters_(std::move(parameters)) {}

  Result<Statement> parse() {
    TRY(Statement parsed, statement());
    accept(";");
    if (peek().kind != Token::Kind::end) return unexpected("Unexpected token after expression");
    if (parameters_used_ != parameters_.size()) return parameters_do_not_match();
    return parsed;
  }

 private:
  Result<Statement> statement();
  Result<Statement> select();
  Result<Statement> insert();
  Result<Statement> update();
  Result<Statement> remove();

  Result<std::optional<Condition>> where();
  Result<Returning> returning();
  Result<void> set_clause(expression::Update& update);
  Result<void> remove_clause(expression::Update& update);

  Result<Condition> disjunction();
  Result<Condition> conjunction();
  Result<Condition> unary();
  Result<Condition> predicate();
  Result<Condition> function();
  Result<Condition> in(Operand value, bool negated);
  Result<Condition> is(Operand value);
  Result<Operand> operand();

  Result<UpdateValue> new_value();
  Result<UpdateValue> term();
  Result<Path> path();
  Result<std::string> name();
  Result<AttributeValue> value();
  Result<AttributeValue> list();
  Result<AttributeValue> map();
  Result<AttributeValue> set();
  Result<AttributeValue> parameter();

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& next() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  bool accept(std::string_view mark) {
    if (!peek().is(mark)) return false;
    next();
    return true;
  }
  bool accept_keyword(std::string_view keyword) {
    if (!peek().is_keyword(keyword)) return false;
    next();
    return true;
  }
  Result<void> expect(std::string_view mark) {
    if (!accept(mark)) return unexpected("Unexpected term");
    return {};
  }
  Result<void> expect_keyword(std::string_view keyword) {
    if (!accept_keyword(keyword)) return unexpected("Unexpected term");
    return {};
  }
  [[nodiscard]] bool at_function(std::string_view lower_case) const {
    std::string upper(lower_case);
    for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return peek().is_keyword(upper) && peek(1).is("(");
  }
  [[nodiscard]] bool at_keyword() const {
    return std::any_of(keywords.begin(), keywords.end(), [&](std::string_view word) { return peek().is_keyword(word); });
  }
  // A keyword that stands where it may not is always called that.
  [[nodiscard]] Unexpected<Error> unexpected(const std::string& otherwise) const {
    return malformed(at_keyword() ? "Unexpected keyword" : otherwise);
  }
  static Unexpected<Error> parameters_do_not_match() {
    return error::validation("Number of parameters in request and statement don't match.");
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::vector<AttributeValue> parameters_;
  std::size_t parameters_used_ = 0;
  int depth_ = 0;        // of parentheses and NOTs
  int value_depth_ = 0;  // of lists and maps in each other
};

Result<Statement> Parser::statement() {
  if (accept_keyword("SELECT")) return select();
  if (accept_keyword("INSERT")) return insert();
  if (accept_keyword("UPDATE")) return update();
  if (accept_keyword("DELETE")) return remove();
  return malformed("Expected data manipulation");
}

Result<Statement> Parser::select() {
  Select select;
  if (!accept("*")) {
    expression::PathSet distinct;
    do {
      TRY(Path selected, path());
      distinct.add(selected);
      select.projection.push_back(std::move(selected));
    } while (accept(","));
    if (!distinct.overlap().empty()) return error::validation(distinct.overlap());
  }
  CHECK_OK(expect_keyword("FROM"));
  TRY(select.table, name());
  if (accept(".")) {
    TRY(select.index, name());
  }
  TRY(select.where, where());
  if (accept_keyword("ORDER")) {
    CHECK_OK(expect_keyword("BY"));
    do {
      OrderBy& order = select.order.emplace_back();
      TRY(order.attribute, name());
      order.descending = accept_keyword("DESC");
      if (!order.descending) accept_keyword("ASC");
    } while (accept(","));
  }
  return Statement(std::move(select));
}

Result<Statement> Parser::insert() {
  Insert insert;
  CHECK_OK(expect_keyword("INTO"));
  TRY(insert.table, name());
  // SQL's "(names) VALUES (values)" is called that, too.
  if (!accept_keyword("VALUE")) return malformed("Unexpected keyword");
  TRY(AttributeValue item, value());
  auto* attributes = item.get_if<engine::Map>();
  if (attributes == nullptr) return malformed("Unexpected term");
  if (attributes->find("") != nullptr) return empty_attribute_name();
  insert.item = std::move(*attributes);
  return Statement(std::move(insert));
}

Result<Statement> Parser::update() {
  Update update;
  TRY(update.table, name());
  if (!peek().is_keyword("SET") && !peek().is_keyword("REMOVE")) return malformed("Expected data manipulation");
  for (;;) {
    if (accept_keyword("SET")) {
      CHECK_OK(set_clause(update.update));
    } else if (accept_keyword("REMOVE")) {
      CHECK_OK(remove_clause(update.update));
    } else {
      break;
    }
  }
  expression::PathSet changed;
  for (const auto& action : update.update.sets) changed.add(action.path);
  for (const auto& action : update.update.removes) changed.add(action.path);
  for (const auto& action : update.update.adds) changed.add(action.path);
  for (const auto& action : update.update.deletes) changed.add(action.path);
  if (!changed.overlap().empty()) return error::validation(changed.overlap());
  if (!changed.conflict().empty()) return error::validation(changed.conflict());
  TRY(update.where, where());
  TRY(update.returning, returning());
  return Statement(std::move(update));
}

Result<Statement> Parser::remove() {
  Delete remove;
  CHECK_OK(expect_keyword("FROM"));
  TRY(remove.table, name());
  TRY(remove.where, where());
  TRY(remove.returning, returning());
  if (remove.returning != Returning::nothing && remove.returning != Returning::all_old) {
    return malformed("Unexpected term");
  }
  return Statement(std::move(remove));
}

Result<std::optional<Condition>> Parser::where() {
  if (!accept_keyword("WHERE")) return std::optional<Condition>();
  TRY(Condition condition, disjunction());
  return std::optional<Condition>(std::move(condition));
}

Result<Returning> Parser::returning() {
  if (!accept_keyword("RETURNING")) return Returning::nothing;
  const bool all = accept_keyword("ALL");
  if (!all) CHECK_OK(expect_keyword("MODIFIED"));
  const bool old = accept_keyword("OLD");
  if (!old) CHECK_OK(expect_keyword("NEW"));
  CHECK_OK(expect("*"));
  if (all) return old ? Returning::all_old : Returning::all_new;
  return old ? Returning::modified_old : Returning::modified_new;
}

Result<void> Parser::set_clause(expression::Update& update) {
  do {
    TRY(Path target, path());
    CHECK_OK(expect("="));
    const bool add = at_function("set_add");
    if (!add && !at_function("set_delete")) {
      TRY(UpdateValue assigned, new_value());
      update.sets.push_back({std::move(target), std::move(assigned)});
      continue;
    }
    next();
    CHECK_OK(expect("("));
    TRY(const Path of, path());
    if (of != target) return malformed("Unexpected term");  // a set is changed where it is
    CHECK_OK(expect(","));
    TRY(AttributeValue members, value());
    CHECK_OK(expect(")"));
    const Type type = members.type();
    if (type != Type::string_set && type != Type::number_set && type != Type::binary_set) {
      return error::validation(
          "Incorrect operand type for operator or function; operator: " + std::string(add ? "ADD" : "DELETE") +
          ", operand type: " + std::string(engine::type_name(type)));
    }
    if (add) {
      update.adds.push_back({std::move(target), std::move(members)});
    } else {
      update.deletes.push_back({std::move(target), std::move(members)});
    }
  } while (accept(","));
  return {};
}

Result<void> Parser::remove_clause(expression::Update& update) {
  do {
    TRY(Path removed, path());
    update.removes.push_back({std::move(removed)});
  } while (accept(","));
  return {};
}

Result<Condition> Parser::disjunction() {
  TRY(Condition left, conjunction());
  while (accept_keyword("OR")) {
    TRY(Condition right, conjunction());
    left = {expression::Or{boxed(std::move(left)), boxed(std::move(right))}};
  }
  return left;
}

Result<Condition> Parser::conjunction() {
  TRY(Condition left, unary());
  while (accept_keyword("AND")) {
    TRY(Condition right, unary());
    left = {expression::And{boxed(std::move(left)), boxed(std::move(right))}};
  }
  return left;
}

Result<Condition> Parser::unary() {
  if (!peek().is_keyword("NOT") && !peek().is("(")) return predicate();
  if (++depth_ > expression_depth_max) return malformed("Unexpected term");
  const bool negated = accept_keyword("NOT");
  if (negated) {
    TRY(Condition condition, unary());
    --depth_;
    return negated_if(true, std::move(condition));
  }
  CHECK_OK(expect("("));
  TRY(Condition condition, disjunction());
  CHECK_OK(expect(")"));
  --depth_;
  return condition;
}

Result<Condition> Parser::predicate() {
  if (peek(1).is("(") && peek().kind == Token::Kind::word && !at_function("size")) return function();
  TRY(Operand left, operand());
  constexpr std::pair<std::string_view, Comparator> comparators[] = {
      {"=", Comparator::equal},       {"<>", Comparator::not_equal}, {"!=", Comparator::not_equal},
      {"<", Comparator::less},        {"<=", Comparator::less_equal}, {">", Comparator::greater},
      {">=", Comparator::greater_equal}};
  for (const auto& [mark, comparator] : comparators) {
    if (!accept(mark)) continue;
    TRY(Operand right, operand());
    // The attribute stands left, so that who looks for keys need look at one side only.
    if (std::holds_alternative<AttributeValue>(left.value) && std::holds_alternative<Path>(right.value)) {
      return Condition{expression::Comparison{mirrored(comparator), std::move(right), std::move(left)}};
    }
    return Condition{expression::Comparison{comparator, std::move(left), std::move(right)}};
  }
  if (accept_keyword("IS")) return is(std::move(left));
  const bool negated = accept_keyword("NOT");
  if (accept_keyword("IN")) return in(std::move(left), negated);
  if (!accept_keyword("BETWEEN")) return unexpected("Unexpected term");
  TRY(Operand low, operand());
  CHECK_OK(expect_keyword("AND"));
  TRY(Operand high, operand());
  return negated_if(negated, {expression::Between{std::move(left), std::move(low), std::move(high)}});
}

Result<Condition> Parser::function() {
  const bool begins_with = at_function("begins_with");
  const bool contains = at_function("contains");
  if (!begins_with && !contains && !at_function("attribute_type")) return unexpected("Unexpected term");
  next();
  CHECK_OK(expect("("));
  TRY(Operand first, operand());
  CHECK_OK(expect(","));
  TRY(Operand second, operand());
  CHECK_OK(expect(")"));
  if (begins_with) return Condition{expression::BeginsWith{std::move(first), std::move(second)}};
  if (contains) return Condition{expression::Contains{std::move(first), std::move(second)}};
  const auto* constant = std::get_if<AttributeValue>(&second.value);
  const auto* type_text = constant == nullptr ? nullptr : constant->get_if<std::string>();
  const auto type = type_text == nullptr ? std::nullopt : type_named(*type_text);
  if (!type) {
    return error::validation("Invalid attribute type name found; type: " + (type_text ? *type_text : std::string()) +
                             ", valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}");
  }
  return Condition{expression::AttributeType{std::move(first), *type}};
}

Result<Condition> Parser::in(Operand value, bool negated) {
  expression::In in{std::move(value), {}};
  const bool brackets = peek().is("[");
  if (!brackets && peek().kind == Token::Kind::parameter) {  // a list as a whole
    TRY(AttributeValue candidates, parameter());
    const auto* list = candidates.get_if<engine::List>();
    if (list == nullptr) return malformed("Unexpected term");
    for (const AttributeValue& candidate : *list) in.candidates.push_back({candidate});
    return negated_if(negated, {std::move(in)});
  }
  CHECK_OK(expect(brackets ? "[" : "("));
  do {
    TRY(Operand candidate, operand());
    in.candidates.push_back(std::move(candidate));
  } while (accept(","));
  CHECK_OK(expect(brackets ? "]" : ")"));
  return negated_if(negated, {std::move(in)});
}

// NULL is a value; what is missing is not NULL.
Result<Condition> Parser::is(Operand value) {
  const bool negated = accept_keyword("NOT");
  if (!std::holds_alternative<Path>(value.value)) return unexpected("Unexpected term");
  if (accept_keyword("NULL")) return negated_if(negated, {expression::AttributeType{std::move(value), Type::null}});
  CHECK_OK(expect_keyword("MISSING"));
  Path path = std::get<Path>(std::move(value.value));
  if (negated) return Condition{expression::AttributeExists{std::move(path)}};
  return Condition{expression::AttributeNotExists{std::move(path)}};
}

Result<Operand> Parser::operand() {
  if (at_function("size")) {
    next();
    CHECK_OK(expect("("));
    TRY(Path measured, path());
    CHECK_OK(expect(")"));
    return Operand{Operand::Size{std::make_unique<Operand>(Operand{std::move(measured)})}};
  }
  if (peek().kind == Token::Kind::quoted || (peek().kind == Token::Kind::word && !at_keyword())) {
    TRY(Path named, path());
    return Operand{std::move(named)};
  }
  TRY(AttributeValue constant, value());
  return Operand{std::move(constant)};
}

Result<UpdateValue> Parser::new_value() {
  TRY(UpdateValue left, term());
  while (peek().is("+") || peek().is("-")) {
    const bool subtract = next().is("-");
    TRY(UpdateValue right, term());
    left = {UpdateValue::Arithmetic{subtract, std::make_unique<UpdateValue>(std::move(left)),
                                    std::make_unique<UpdateValue>(std::move(right))}};
  }
  return left;
}

Result<UpdateValue> Parser::term() {
  if (at_function("list_append")) {
    if (++depth_ > expression_depth_max) return malformed("Unexpected term");
    next();
    CHECK_OK(expect("("));
    TRY(UpdateValue first, term());
    CHECK_OK(expect(","));
    TRY(UpdateValue second, term());
    CHECK_OK(expect(")"));
    --depth_;
    return UpdateValue{UpdateValue::ListAppend{std::make_unique<UpdateValue>(std::move(first)),
                                               std::make_unique<UpdateValue>(std::move(second))}};
  }
  if (peek().kind == Token::Kind::quoted || (peek().kind == Token::Kind::word && !at_keyword())) {
    TRY(Path referred, path());
    return UpdateValue{UpdateValue::Reference{std::move(referred)}};
  }
  TRY(AttributeValue constant, value());
  return UpdateValue{UpdateValue::Constant{std::move(constant)}};
}

Result<Path> Parser::path() {
  Path path;
  TRY(path.elements.emplace_back(), name());
  for (;;) {
    if (accept(".")) {
      TRY(path.elements.emplace_back(), name());
    } else if (accept("[")) {
      const Token& inside = next();
      std::uint32_t position = 0;
      const char* end = inside.text.data() + inside.text.size();
      if (inside.kind == Token::Kind::string) {
        path.elements.emplace_back(inside.text);
      } else if (inside.kind == Token::Kind::number &&
                 std::from_chars(inside.text.data(), end, position).ptr == end) {
        path.elements.emplace_back(position);
      } else {
        return malformed("Unexpected path component");
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

Result<std::string> Parser::name() {
  const bool usable = peek().kind == Token::Kind::quoted || (peek().kind == Token::Kind::word && !at_keyword());
  if (!usable) return unexpected("Unexpected term");
  return next().text;
}

Result<AttributeValue> Parser::value() {
  const bool negative = peek().is("-");
  if (negative) next();
  const Token& token = peek();
  if (token.kind == Token::Kind::number) {
    TRY(const engine::Number number, read_number((negative ? "-" : "") + next().text));
    return AttributeValue(number);
  }
  if (negative) return unexpected("Unexpected term");
  if (token.kind == Token::Kind::string) return AttributeValue(next().text);
  if (token.kind == Token::Kind::parameter) return parameter();
  if (accept_keyword("TRUE")) return AttributeValue(true);
  if (accept_keyword("FALSE")) return AttributeValue(false);
  if (accept_keyword("NULL")) return AttributeValue(engine::Null());
  if (accept("<<")) return set();
  const bool is_list = token.is("[");
  if (!is_list && !token.is("{")) return unexpected("Unexpected term");
  next();
  if (++value_depth_ > nesting_max) {
    return error::validation(
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported "
        "limit");
  }
  TRY(AttributeValue nested, is_list ? list() : map());
  --value_depth_;
  return nested;
}

Result<AttributeValue> Parser::list() {
  engine::List list;
  if (accept("]")) return AttributeValue(std::move(list));
  do {
    TRY(AttributeValue element, value());
    list.push_back(std::move(element));
  } while (accept(","));
  CHECK_OK(expect("]"));
  return AttributeValue(std::move(list));
}

Result<AttributeValue> Parser::map() {
  std::vector<engine::Attribute> members;
  if (accept("}")) return AttributeValue(engine::Map());
  do {
    const Token& key = next();
    if (key.kind != Token::Kind::string && key.kind != Token::Kind::quoted) return malformed("Unexpected term");
    CHECK_OK(expect(":"));
    if (accept_keyword("MISSING")) continue;  // as if it were not written
    TRY(AttributeValue member, value());
    members.push_back({key.text, std::move(member)});
  } while (accept(","));
  CHECK_OK(expect("}"));
  return AttributeValue(engine::Map::from_unsorted(std::move(members)));
}

Result<AttributeValue> Parser::set() {
  std::vector<AttributeValue> members;
  if (accept(">>")) return error::validation("One or more parameter values were invalid: An empty set is not allowed");
  do {
    TRY(AttributeValue member, value());
    members.push_back(std::move(member));
  } while (accept(","));
  CHECK_OK(expect(">>"));
  switch (members.front().type()) {
    case Type::number: return make_set<engine::Number, engine::NumberSet>(members);
    case Type::binary: return make_set<engine::Binary, engine::BinarySet>(members);
    case Type::string:
    case Type::boolean:
    case Type::null:
    case Type::string_set:
    case Type::number_set:
    case Type::binary_set:
    case Type::list:
    case Type::map: break;
  }
  return make_set<std::string, engine::StringSet>(members);
}

Result<AttributeValue> Parser::parameter() {
  next();
  if (parameters_used_ == parameters_.size()) return parameters_do_not_match();
  return std::move(parameters_[parameters_used_++]);
}

}  // namespace

Result<Statement> parse(std::string_view text, std::vector<AttributeValue> parameters) {
  return Parser(text, std::move(parameters)).parse();
}

}  // namespace mayfly::compat::partiql
