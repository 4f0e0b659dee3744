// Turns the syntax of a statement into a DynamoDB statement: its table, selected attributes and changes.
// Rejects what DynamoDB does not support.
#include "compat/partiql/parser.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compat/expression/projection.h"
#include "compat/partiql/expression_reader.h"
#include "compat/partiql/syntax_parser.h"
#include "compat/partiql/token_reader.h"
#include "compat/syntax/path_set.h"
#include "compat/wire/attribute_value_json.h"

namespace mayfly::compat::partiql {
namespace {

using engine::AttributeValue;
using engine::Type;
using expression::Condition;
using expression::Path;
using expression::UpdateValue;
using Kind = Node::Kind;

bool is_set(const AttributeValue& value) {
  return value.type() == Type::string_set || value.type() == Type::number_set ||
         value.type() == Type::binary_set;
}

// Returns the name of a table, or the names of a table and its index.
Result<std::vector<std::string>> source_names(const Node& node) {
  std::vector<std::string> names;
  if (node.kind == Kind::name) {
    names.push_back(node.text);
  } else if (node.kind == Kind::path) {
    for (const Node& part : node.children) {
      const bool is_name = names.empty() ? part.kind == Kind::name : part.kind == Kind::string;
      if (!is_name) return error::validation("Unexpected path component" + part.token.place());
      names.push_back(part.text);
    }
  } else {
    return error::validation("Only select from a single table or index is supported.");
  }
  if (std::find(names.begin(), names.end(), "") != names.end())
    return error::validation("Path component cannot be an empty string");
  return names;
}

Unexpected<Error> single_table_only() {
  return error::validation("FROM clause may only contain a single table name");
}

// Returns the name of the table of an UPDATE or a DELETE.
Result<std::string> changed_table(const SourceSyntax& source) {
  if (source.joined) return single_table_only();
  if (source.renamed) return error::validation("Aliasing is not supported");
  if (source.node.kind != Kind::name && source.node.kind != Kind::path) return single_table_only();
  TRY(std::vector<std::string> names, source_names(source.node));
  if (names.size() > 1) return error::validation("This operation is not supported on an index");
  return std::move(names.front());
}

Result<Returning> returning(const std::optional<ReturningSyntax>& syntax) {
  if (!syntax) return Returning::nothing;
  if (!syntax->whole)
    return error::validation("Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause");
  if (syntax->all) return syntax->old ? Returning::all_old : Returning::all_new;
  return syntax->old ? Returning::modified_old : Returning::modified_new;
}

class Parser : ExpressionReader {
 public:
  explicit Parser(std::vector<AttributeValue> parameters) : ExpressionReader(std::move(parameters)) {}

  Result<Statement> read(const Syntax& syntax) {
    TRY(Statement statement, std::visit([&](const auto& each) { return lower(each); }, syntax));
    CHECK_OK(check_all_parameters_used());
    CHECK_OK(check_operators());
    return statement;
  }

 private:
  Result<Statement> lower(const SelectSyntax& syntax);
  Result<Statement> lower(const InsertSyntax& syntax);
  Result<Statement> lower(const UpdateSyntax& syntax);
  Result<Statement> lower(const DeleteSyntax& syntax);
  Result<Statement> lower(const Node& syntax);

  Result<Select> select(const SelectSyntax& syntax);
  Result<void> project(const SelectSyntax& syntax, Select& select);
  Result<std::optional<Condition>> where(const std::optional<Node>& syntax);
  Result<void> change(const UpdateSyntax::Change& syntax, expression::Update& update);
  Result<void> change_members(Path target, const Node& call, expression::Update& update);
};

Result<Statement> Parser::lower(const SelectSyntax& syntax) {
  TRY(Select parsed, select(syntax));
  return Statement(std::move(parsed));
}

Result<Select> Parser::select(const SelectSyntax& syntax) {
  Select select;
  if (syntax.from.joined) return error::validation("Only select from a single table or index is supported.");
  if (syntax.renamed || syntax.from.renamed) return error::validation("Aliasing is not supported");
  TRY(std::vector<std::string> names, source_names(syntax.from.node));
  if (names.size() > 2)
    return error::validation("A path may contain at most 2 components in the FROM clause");
  select.table = std::move(names.front());
  if (names.size() == 2) select.index = std::move(names.back());
  CHECK_OK(project(syntax, select));
  TRY(select.where, where(syntax.where));
  for (const OrderSyntax& order : syntax.order) {
    TRY(const Path term, path(order.term));
    const bool is_name = term.elements.size() == 1;  // a key attribute is always a plain name
    select.order.push_back(
        {is_name ? expression::flat_name(term) : expression::describe(term), order.descending});
  }
  if (syntax.unsupported) {
    return error::validation("Unsupported clause: " + syntax.unsupported->name +
                             syntax.unsupported->what.place());
  }
  return select;
}

Result<void> Parser::project(const SelectSyntax& syntax, Select& select) {
  expression::PathSet distinct;
  std::vector<std::string> names;
  for (const Node& node : syntax.projection) {
    TRY(Path selected, path(node));
    std::string name = expression::flat_name(selected);
    if (!select.projection_error && std::find(names.begin(), names.end(), name) != names.end())
      select.projection_error = error::validation("Duplicate identifiers in select clause: " + name).error;
    names.push_back(std::move(name));
    distinct.add(selected);
    select.projection.push_back(std::move(selected));
  }
  if (!select.projection_error && !distinct.overlap().empty())
    select.projection_error = error::validation(distinct.overlap()).error;
  return {};
}

Result<std::optional<Condition>> Parser::where(const std::optional<Node>& syntax) {
  if (!syntax) return std::optional<Condition>();
  begin_expression();
  TRY(Condition read, condition(*syntax));
  return std::optional<Condition>(std::move(read));
}

Result<Statement> Parser::lower(const InsertSyntax& syntax) {
  Insert insert;
  if (syntax.target.kind != Kind::name) {
    CHECK_OK(source_names(syntax.target));
    return single_table_only();
  }
  TRY(std::vector<std::string> names, source_names(syntax.target));
  insert.table = std::move(names.front());
  if (syntax.several) return several_items();
  TRY(insert.item, item(syntax.value));
  if (insert.item.find("") != nullptr) return empty_attribute_name();
  if (syntax.returning) return error::validation("RETURNING is not supported in INSERT");
  return Statement(std::move(insert));
}

Result<Statement> Parser::lower(const UpdateSyntax& syntax) {
  Update update;
  TRY(update.table, changed_table(syntax.table));
  for (const UpdateSyntax::Change& each : syntax.changes) CHECK_OK(change(each, update.update));
  expression::PathSet changed;
  for (const auto& action : update.update.sets) changed.add(action.path);
  for (const auto& action : update.update.removes) changed.add(action.path);
  for (const auto& action : update.update.adds) changed.add(action.path);
  for (const auto& action : update.update.deletes) changed.add(action.path);
  if (!changed.overlap().empty()) return error::validation(changed.overlap());
  if (!changed.conflict().empty()) return error::validation(changed.conflict());
  TRY(update.where, where(syntax.where));
  TRY(update.returning, returning(syntax.returning));
  return Statement(std::move(update));
}

Result<void> Parser::change(const UpdateSyntax::Change& syntax, expression::Update& update) {
  TRY(Path target, path(syntax.target));
  if (!syntax.value) {
    update.removes.push_back({std::move(target)});
    return {};
  }
  const Node& value = *syntax.value;
  if (value.kind == Kind::call && (value.text == "set_add" || value.text == "set_delete"))
    return change_members(std::move(target), value, update);
  TRY(UpdateValue assigned, new_value(value));
  update.sets.push_back({std::move(target), std::move(assigned)});
  return {};
}

// SET_ADD and SET_DELETE change a set in place, so their first argument must be the path that is assigned.
Result<void> Parser::change_members(Path target, const Node& call, expression::Update& update) {
  const bool add = call.text == "set_add";
  const std::string name = add ? "SET_ADD" : "SET_DELETE";
  if (call.children.size() != 2)
    return error::validation(name + " must have exactly two arguments" + call.token.place());
  const Node& first = call.children.front();
  const auto of = path(first);
  if (!of || *of != target) {
    return error::validation("The first argument to " + name + " must equal the assignment value" +
                             call.token.place());
  }
  TRY(AttributeValue members, value(call.children.back()));
  if (!is_set(members)) {
    return error::validation("The second argument to " + name + " must be a value with type SET" +
                             first.token.place());
  }
  if (add) {
    update.adds.push_back({std::move(target), std::move(members)});
  } else {
    update.deletes.push_back({std::move(target), std::move(members)});
  }
  return {};
}

Result<Statement> Parser::lower(const DeleteSyntax& syntax) {
  Delete remove;
  TRY(remove.table, changed_table(syntax.table));
  TRY(remove.where, where(syntax.where));
  TRY(remove.returning, returning(syntax.returning));
  if (remove.returning != Returning::nothing && remove.returning != Returning::all_old) {
    return error::validation("Invalid returning clause: RETURNING " +
                             std::string(syntax.returning->all ? "ALL" : "MODIFIED") +
                             (syntax.returning->old ? " OLD" : " NEW") +
                             " *. Only RETURNING ALL OLD * is allowed in DELETE statements.");
  }
  return Statement(std::move(remove));
}

// EXISTS(SELECT …) is the only expression that is a statement.
Result<Statement> Parser::lower(const Node& syntax) {
  if (syntax.kind == Kind::call && syntax.text == "exists") {
    if (syntax.children.size() != 1 || syntax.children.front().kind != Kind::select)
      return error::validation("EXISTS() must contain a single item read with additional condition");
    TRY(Select checked, select(*syntax.children.front().select));
    return Statement(Exists{std::move(checked)});
  }
  if (syntax.kind == Kind::operation || syntax.kind == Kind::is_type) return unsupported_operation(syntax);
  return malformed("Expected data manipulation");
}

}  // namespace

Result<Statement> parse(std::string_view text, std::vector<AttributeValue> parameters) {
  TRY(const Syntax syntax, parse_syntax(text));
  return Parser(std::move(parameters)).read(syntax);
}

}  // namespace mayfly::compat::partiql
