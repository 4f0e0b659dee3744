// The syntax of a statement, before its meaning is known. PartiQL's published grammar accepts more than
// DynamoDB supports. Anything that the grammar does not accept is reported as "not well formed", wherever it
// is in the statement and before any other error. parser.h turns the syntax into a DynamoDB statement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compat/partiql/lexer.h"

namespace mayfly::compat::partiql {

struct SelectSyntax;

struct Node {
  enum class Kind : std::uint8_t {
    // --- values
    string,
    number,  // text includes the sign
    boolean,
    null,
    missing,
    parameter,
    list,
    bag,
    tuple,  // children: keys and values, alternating
    // --- other nodes
    name,
    path,       // children: the start, then names (strings), positions (any node), wildcards, unpivots
    wildcard,   // [*]
    unpivot,    // .*
    call,       // text: the function's name in lower case
    operation,  // text: the operator in capitals; NEG and POS are signs
    is_type,    // text: the type in capitals
    select,
    from,  // FROM … within an expression
  };
  Kind kind = Kind::name;
  Token token;  // position, and the text of names and literals
  std::string text;
  std::vector<Node> children;
  bool negated = false;                 // NOT IN, NOT BETWEEN, NOT LIKE, IS NOT
  std::size_t number_of_parameter = 0;  // counted from 0
  std::shared_ptr<const SelectSyntax> select;

  [[nodiscard]] bool is_value() const { return kind <= Kind::tuple; }
};

// The source after FROM, UPDATE or DELETE FROM.
struct SourceSyntax {
  Node node;
  bool renamed = false;  // the source has an alias
  bool joined = false;   // the source is joined with another source
};

struct OrderSyntax {
  Node term;
  bool descending = false;
};

struct SelectSyntax {
  std::vector<Node> projection;  // empty: *
  bool renamed = false;          // a part of the projection has an alias
  SourceSyntax from;
  std::optional<Node> where;
  std::vector<OrderSyntax> order;
  struct Clause {
    std::string name;
    Token what;
  };
  std::optional<Clause> unsupported;  // LIMIT, OFFSET, GROUP, HAVING
};

struct ReturningSyntax {
  bool all = false, old = false, whole = false;  // ALL, not MODIFIED; OLD, not NEW; *, not a column
};

struct InsertSyntax {
  Node target;
  Node value;
  bool several = false;  // the statement does not use VALUE
  bool returning = false;
};

struct UpdateSyntax {
  struct Change {
    Node target;
    std::optional<Node> value;  // nullopt: REMOVE
  };
  SourceSyntax table;
  std::vector<Change> changes;
  std::optional<Node> where;
  std::optional<ReturningSyntax> returning;
};

struct DeleteSyntax {
  SourceSyntax table;
  std::optional<Node> where;
  std::optional<ReturningSyntax> returning;
};

// A Node is a statement that consists of one expression.
using Syntax = std::variant<SelectSyntax, InsertSyntax, UpdateSyntax, DeleteSyntax, Node>;

}  // namespace mayfly::compat::partiql
