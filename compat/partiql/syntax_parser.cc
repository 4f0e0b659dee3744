// The statements of the grammar:
//
//   statement  := select | insert | update | from | delete | expression
//   select     := SELECT ( * | expression [alias], … ) FROM source [WHERE expression]
//                 [ORDER BY expression [ASC|DESC], …] [GROUP BY …] [HAVING …] [LIMIT …] [OFFSET …]
//   insert     := INSERT INTO path ( VALUE expression [returning] | expression )
//   update     := UPDATE path [alias] change+ [WHERE expression] [returning]
//   from       := FROM source [WHERE expression] change+ [returning]
//   delete     := DELETE FROM path [alias] [WHERE expression] [returning]
//   change     := SET path = expression, … | REMOVE path
//   source     := expression [alias] ( , … | JOIN … )*
//   alias      := [AS] name | AT name | BY name
//   returning  := RETURNING ( ALL | MODIFIED ) ( OLD | NEW ) ( * | expression )
#include "compat/partiql/syntax_parser.h"

#include <algorithm>
#include <utility>

#include "compat/partiql/syntax_grammar.h"

namespace mayfly::compat::partiql {
namespace {

// Keywords that a select list rejects, each followed by its spelling in messages.
constexpr std::pair<std::string_view, std::string_view> reserved_in_select[] = {
    {"UPDATE", "update"}, {"DELETE", "delete"}, {"SELECT", "select"}, {"FROM", "from"},
    {"WHERE", "where"},   {"SET", "set"},       {"REMOVE", "remove"}};

}  // namespace

Result<Syntax> SyntaxParser::parse() {
  CHECK_OK(check_tokens());
  TRY(Syntax parsed, statement());
  if (accept(";") && !at_end())
    return malformed("Unexpected token after semicolon. (Only one query is allowed.)");
  if (!at_end()) return malformed("Unexpected token after expression");
  return parsed;
}

Result<Syntax> SyntaxParser::statement() {
  if (accept_keyword("SELECT")) {
    TRY(SelectSyntax parsed, select());
    return Syntax(std::move(parsed));
  }
  if (at_keywords("INSERT", "INTO")) return insert();
  if (accept_keyword("UPDATE")) {
    TRY(UpdateSyntax parsed, update());
    return Syntax(std::move(parsed));
  }
  if (accept_keyword("FROM")) {
    TRY(UpdateSyntax parsed, from());
    return Syntax(std::move(parsed));
  }
  if (accept_keyword("DELETE")) return remove();
  if (peek().is_keyword("CREATE") || peek().is_keyword("DROP") || peek().is_keyword("SET") ||
      peek().is_keyword("REMOVE")) {
    return malformed("Expected data manipulation");
  }
  TRY(Node parsed, expression());
  return Syntax(std::move(parsed));
}

Result<SelectSyntax> SyntaxParser::select() {
  SelectSyntax select;
  TRY(select.projection, select_list(select.renamed));
  if (!accept_keyword("FROM")) return malformed("Expected FROM after SELECT list");
  TRY(select.from, source(within_select));
  TRY(select.where, where(within_select));
  if (accept_keyword("ORDER")) {
    if (!accept_keyword("BY")) return malformed("Expected BY");
    do {
      OrderSyntax& order = select.order.emplace_back();
      TRY(order.term, expression());
      order.descending = accept_keyword("DESC");
      if (!order.descending) accept_keyword("ASC");
    } while (accept(","));
  }
  CHECK_OK(unsupported_clauses(select));
  return select;
}

Result<std::vector<Node>> SyntaxParser::select_list(bool& renamed) {
  std::vector<Node> list;
  bool all = false;
  do {
    if (peek().is("*")) {
      next();
      all = true;
      list.emplace_back();
      continue;
    }
    for (const auto& [reserved, name] : reserved_in_select) {
      if (!peek().is_keyword(reserved)) continue;
      return malformed("Expected identifier or an expression but found unexpected keyword '" +
                       std::string(name) + "' in a select list.");
    }
    TRY(Node selected, expression());
    const auto is_star = [](const Node& part) {
      return part.kind == Node::Kind::wildcard || part.kind == Node::Kind::unpivot;
    };
    if (selected.kind == Node::Kind::path &&
        std::any_of(selected.children.begin(), selected.children.end() - 1, is_star)) {
      return malformed("Invalid use of * in select list");
    }
    if (selected.kind == Node::Kind::path && selected.children.back().kind == Node::Kind::wildcard)
      return malformed("Invalid use of * in select list");
    list.push_back(std::move(selected));
    TRY(const bool named, alias());
    renamed = renamed || named;
  } while (accept(","));
  if (!all) return list;
  if (list.size() > 1) {
    return malformed(
        "Other expressions may not be present in the select list when '*' is used without dot notation.");
  }
  return std::vector<Node>();
}

Result<void> SyntaxParser::unsupported_clauses(SelectSyntax& select) {
  for (const std::string_view clause : {"GROUP", "HAVING", "LIMIT", "OFFSET"}) {
    if (!accept_keyword(clause)) continue;
    if (clause == "GROUP" && !accept_keyword("BY")) return malformed("Expected BY");
    if (!select.unsupported) select.unsupported = SelectSyntax::Clause{std::string(clause), peek()};
    do {
      CHECK_OK(expression(within_select));
    } while (clause == "GROUP" && accept(","));
  }
  return {};
}

Result<Syntax> SyntaxParser::insert() {
  next();
  next();
  InsertSyntax insert;
  TRY(insert.target, bare_path());
  if (accept_keyword("VALUE")) {
    TRY(insert.value, expression());
    TRY(const auto returned, returning());
    insert.returning = returned.has_value();
    return Syntax(std::move(insert));
  }
  // The message was captured from AWS for aliases, with and without AS.
  if (peek().is_keyword("AS")) return malformed("Unexpected token after expression");
  insert.several = true;
  if (!accept_keyword("VALUES")) {
    TRY(insert.value, expression());
    return Syntax(std::move(insert));
  }
  do {
    if (!accept("(")) return malformed("Expected LEFT_PAREN for row value constructor");
    CHECK_OK(list_until(")", "RIGHT_PAREN"));
  } while (accept(","));
  return Syntax(std::move(insert));
}

Result<UpdateSyntax> SyntaxParser::update() {
  UpdateSyntax update;
  TRY(update.table, changed_table());
  TRY(update.changes, changes());
  TRY(update.where, where(lowest));
  TRY(update.returning, returning());
  return update;
}

Result<UpdateSyntax> SyntaxParser::from() {
  UpdateSyntax update;
  TRY(update.table, source(lowest));
  TRY(update.where, where(lowest));
  TRY(update.changes, changes());
  TRY(update.returning, returning());
  return update;
}

Result<Syntax> SyntaxParser::remove() {
  DeleteSyntax remove;
  if (!accept_keyword("FROM")) return malformed("Expected FROM after DELETE");
  TRY(remove.table, changed_table());
  TRY(remove.where, where(lowest));
  TRY(remove.returning, returning());
  return Syntax(std::move(remove));
}

Result<std::vector<UpdateSyntax::Change>> SyntaxParser::changes() {
  std::vector<UpdateSyntax::Change> changes;
  for (;;) {
    if (accept_keyword("SET")) {
      do {
        TRY(Node target, bare_path());
        if (!accept("=")) return malformed("Expected '='");
        TRY(Node value, expression());
        changes.push_back({std::move(target), std::move(value)});
      } while (accept(","));
    } else if (accept_keyword("REMOVE")) {
      TRY(Node target, bare_path());
      changes.push_back({std::move(target), std::nullopt});
    } else {
      break;
    }
  }
  if (changes.empty()) return malformed("Expected data manipulation");
  return changes;
}

Result<std::optional<Node>> SyntaxParser::where(int precedence) {
  if (!accept_keyword("WHERE")) return std::optional<Node>();
  TRY(Node condition, expression(precedence));
  return std::optional<Node>(std::move(condition));
}

Result<std::optional<ReturningSyntax>> SyntaxParser::returning() {
  if (!accept_keyword("RETURNING")) return std::optional<ReturningSyntax>();
  ReturningSyntax returning;
  returning.all = peek().is_keyword("ALL");
  returning.old = peek(1).is_keyword("OLD");
  if ((!returning.all && !peek().is_keyword("MODIFIED")) || (!returning.old && !peek(1).is_keyword("NEW")))
    return malformed("Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element.");
  next();
  next();
  returning.whole = accept("*");
  if (!returning.whole) CHECK_OK(expression());
  return std::optional<ReturningSyntax>(returning);
}

Result<SourceSyntax> SyntaxParser::source(int precedence) {
  SourceSyntax source;
  TRY(source.node, expression(precedence));
  TRY(source.renamed, alias());
  while (accept_join()) {
    source.joined = true;
    CHECK_OK(expression(precedence));
    CHECK_OK(alias());
    if (accept_keyword("ON")) CHECK_OK(expression(precedence));
  }
  return source;
}

bool SyntaxParser::accept_join() {
  if (accept(",")) return true;
  std::size_t ahead = 0;
  for (const std::string_view kind : {"INNER", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS"}) {
    if (peek(ahead).is_keyword(kind)) ++ahead;
  }
  if (!peek(ahead).is_keyword("JOIN")) return false;
  for (std::size_t i = 0; i <= ahead; ++i) next();
  return true;
}

Result<SourceSyntax> SyntaxParser::changed_table() {
  SourceSyntax table;
  TRY(table.node, bare_path());
  TRY(table.renamed, alias());
  return table;
}

Result<bool> SyntaxParser::alias() {
  bool any = false;
  for (const std::string_view word : {"AS", "AT", "BY"}) {
    if (accept_keyword(word)) {
      if (!at_name()) return malformed("Expected identifier for " + std::string(word) + "-alias");
    } else if (word != "AS" || !at_name()) {
      continue;
    }
    next();
    any = true;
  }
  return any;
}

Result<Syntax> parse_syntax(std::string_view text) { return SyntaxParser(text).parse(); }

}  // namespace mayfly::compat::partiql
