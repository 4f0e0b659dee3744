// The grammar, as far as DynamoDB has it (conditions and values: expression_parser.h, value_parser.h):
//
//   statement  := select | EXISTS ( select )
//               | INSERT INTO name VALUE item
//               | UPDATE name ( SET path = new, … | REMOVE path, … )+ [ where ] [ returning ]
//               | DELETE FROM name [ where ] [ returning ]
//   select     := SELECT ( * | path, … ) FROM name [ . name ] [ where ] [ ORDER BY name [ASC|DESC], … ]
//   where      := WHERE condition
//   new        := an expression | set_add(path, value) | set_delete(path, value)
//   returning  := RETURNING ( ALL | MODIFIED ) ( OLD | NEW ) *
#include "compat/partiql/parser.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compat/expression/path_set.h"
#include "compat/expression/projection.h"
#include "compat/partiql/expression_parser.h"
#include "compat/wire/attribute_value_json.h"

namespace mayfly::compat::partiql {
namespace {

using engine::AttributeValue;
using engine::Type;
using expression::Condition;
using expression::Path;
using expression::UpdateValue;

bool is_set(const AttributeValue& value) {
  return value.type() == Type::string_set || value.type() == Type::number_set ||
         value.type() == Type::binary_set;
}

class Parser : ExpressionParser {
 public:
  Parser(std::string_view text, std::vector<AttributeValue> parameters)
      : ExpressionParser(text, std::move(parameters)) {}

  Result<Statement> parse() {
    TRY(Statement parsed, statement());
    accept(";");
    if (peek().kind != Token::Kind::end) return unexpected("Unexpected token after expression");
    CHECK_OK(check_all_parameters_used());
    return parsed;
  }

 private:
  Result<Statement> statement();
  Result<Select> select();
  Result<Statement> exists();
  Result<Statement> insert();
  Result<Statement> update();
  Result<Statement> remove();

  Result<expression::Projection> projection();
  Result<std::string> changed_table();
  Result<std::vector<OrderBy>> order();
  Result<std::optional<Condition>> where();
  Result<Returning> returning();
  Result<void> set_clause(expression::Update& update);
  Result<void> set_members(Path target, expression::Update& update);
  Result<void> remove_clause(expression::Update& update);
};

Result<Statement> Parser::statement() {
  if (accept_keyword("SELECT")) {
    TRY(Select parsed, select());
    return Statement(std::move(parsed));
  }
  if (accept_keyword("EXISTS")) return exists();
  if (accept_keyword("INSERT")) return insert();
  if (accept_keyword("UPDATE")) return update();
  if (accept_keyword("DELETE")) return remove();
  return malformed("Expected data manipulation");
}

Result<Select> Parser::select() {
  Select select;
  TRY(select.projection, projection());
  CHECK_OK(expect_keyword("FROM"));
  TRY(select.table, name());
  if (accept(".")) {
    TRY(select.index, name());
    if (peek().is("."))
      return error::validation("A path may contain at most 2 components in the FROM clause");
  }
  if (peek().is(",")) return error::validation("Only select from a single table or index is supported.");
  TRY(select.where, where());
  TRY(select.order, order());
  for (const std::string_view clause : {"LIMIT", "OFFSET", "GROUP", "HAVING"}) {
    if (peek().is_keyword(clause)) {
      return error::validation("Unsupported clause: " + std::string(clause) + peek(1).place());
    }
  }
  return select;
}

Result<expression::Projection> Parser::projection() {
  expression::Projection projection;
  if (accept("*")) {
    if (!peek().is(",")) return projection;
    return error::validation("Other attributes should not be present in the projection when '*' is used.");
  }
  expression::PathSet distinct;
  std::vector<std::string> names;
  do {
    if (peek().is("*")) {
      return error::validation("Other attributes should not be present in the projection when '*' is used.");
    }
    TRY(Path selected, path());
    if (peek().is_keyword("AS")) return error::validation("Aliasing is not supported");
    std::string name = expression::flat_name(selected);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return error::validation("Duplicate identifiers in select clause: " + name);
    }
    names.push_back(std::move(name));
    distinct.add(selected);
    projection.push_back(std::move(selected));
  } while (accept(","));
  if (!distinct.overlap().empty()) return error::validation(distinct.overlap());
  return projection;
}

Result<std::vector<OrderBy>> Parser::order() {
  std::vector<OrderBy> order;
  if (!accept_keyword("ORDER")) return order;
  CHECK_OK(expect_keyword("BY"));
  do {
    OrderBy& term = order.emplace_back();
    TRY(term.attribute, name());
    term.descending = accept_keyword("DESC");
    if (!term.descending) accept_keyword("ASC");
  } while (accept(","));
  return order;
}

Result<Statement> Parser::exists() {
  CHECK_OK(expect("("));
  CHECK_OK(expect_keyword("SELECT"));
  TRY(Select checked, select());
  CHECK_OK(expect(")"));
  return Statement(Exists{std::move(checked)});
}

Result<std::string> Parser::changed_table() {
  TRY(std::string table, name());
  if (peek().is(".")) return error::validation("This operation is not supported on an index");
  return table;
}

Result<Statement> Parser::insert() {
  Insert insert;
  CHECK_OK(expect_keyword("INTO"));
  TRY(insert.table, changed_table());
  // SQL's "(names) VALUES (values)" is called that, too.
  if (!accept_keyword("VALUE")) return malformed("Unexpected keyword");
  TRY(insert.item, item());
  if (insert.item.find("") != nullptr) return empty_attribute_name();
  if (peek().is_keyword("RETURNING")) return error::validation("RETURNING is not supported in INSERT");
  return Statement(std::move(insert));
}

Result<Statement> Parser::update() {
  Update update;
  TRY(update.table, changed_table());
  if (!peek().is_keyword("SET") && !peek().is_keyword("REMOVE"))
    return malformed("Expected data manipulation");
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
  TRY(remove.table, changed_table());
  TRY(remove.where, where());
  const std::string kind = peek(1).text, image = peek(2).text;
  TRY(remove.returning, returning());
  if (remove.returning != Returning::nothing && remove.returning != Returning::all_old) {
    return error::validation("Invalid returning clause: RETURNING " + kind + " " + image +
                             " *. Only RETURNING ALL OLD * is allowed in DELETE statements.");
  }
  return Statement(std::move(remove));
}

Result<std::optional<Condition>> Parser::where() {
  if (!accept_keyword("WHERE")) return std::optional<Condition>();
  TRY(Condition parsed, condition());
  return std::optional<Condition>(std::move(parsed));
}

Result<Returning> Parser::returning() {
  if (!accept_keyword("RETURNING")) return Returning::nothing;
  const bool all = accept_keyword("ALL");
  if (!all) CHECK_OK(expect_keyword("MODIFIED"));
  const bool old = accept_keyword("OLD");
  if (!old) CHECK_OK(expect_keyword("NEW"));
  if (!accept("*")) {
    return error::validation("Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause");
  }
  if (all) return old ? Returning::all_old : Returning::all_new;
  return old ? Returning::modified_old : Returning::modified_new;
}

Result<void> Parser::set_clause(expression::Update& update) {
  do {
    TRY(Path target, path());
    CHECK_OK(expect("="));
    if (at_function("SET_ADD") || at_function("SET_DELETE")) {
      CHECK_OK(set_members(std::move(target), update));
      continue;
    }
    TRY(UpdateValue assigned, new_value());
    update.sets.push_back({std::move(target), std::move(assigned)});
  } while (accept(","));
  return {};
}

// A set is changed where it is: the first argument is what is assigned to.
Result<void> Parser::set_members(Path target, expression::Update& update) {
  const Token function = next();
  const bool add = function.is_keyword("SET_ADD");
  const std::string name = add ? "SET_ADD" : "SET_DELETE";
  CHECK_OK(expect("("));
  const Token first = peek();
  TRY(const Path of, path());
  CHECK_OK(expect(","));
  TRY(AttributeValue members, value());
  CHECK_OK(expect(")"));
  if (of != target) {
    return error::validation("The first argument to " + name + " must equal the assignment value" +
                             function.place());
  }
  if (!is_set(members)) {
    return error::validation("The second argument to " + name + " must be a value with type SET" +
                             first.place());
  }
  if (add) {
    update.adds.push_back({std::move(target), std::move(members)});
  } else {
    update.deletes.push_back({std::move(target), std::move(members)});
  }
  return {};
}

Result<void> Parser::remove_clause(expression::Update& update) {
  do {
    TRY(Path removed, path());
    update.removes.push_back({std::move(removed)});
  } while (accept(","));
  return {};
}

}  // namespace

Result<Statement> parse(std::string_view text, std::vector<AttributeValue> parameters) {
  return Parser(text, std::move(parameters)).parse();
}

}  // namespace mayfly::compat::partiql
