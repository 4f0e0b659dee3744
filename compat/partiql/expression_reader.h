// Reads conditions and the values that UPDATE sets into the tree of compat/expression:
//
//   condition  := condition ( AND | OR ) condition | NOT condition | condition = boolean
//               | operand ( = | <> | < | <= | > | >= ) operand
//               | operand [NOT] BETWEEN operand AND operand
//               | operand [NOT] IN ( [operand, …] | (operand, …) | ? ) | path IS [NOT] ( MISSING | type )
//               | function(…)
//   function   := begins_with | contains | attribute_type | attribute_exists | attribute_not_exists
//   operand    := path | value | size(path)
//   new        := new ( + | - ) new | path | value | list_append(new, new)
//
// Syntax that DynamoDB does not support is rejected with the name that PartiQL's syntax tree has for it:
// "Unsupported operation: IsType".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compat/partiql/value_reader.h"
#include "compat/syntax/ast.h"
#include "compat/wire/error.h"

namespace mayfly::compat::partiql {

class ExpressionReader : protected ValueReader {
 protected:
  using ValueReader::ValueReader;

  Result<expression::Condition> condition(const Node& node);
  Result<expression::UpdateValue> new_value(const Node& node, int depth = 0);
  // Error if the node is not a path: "Unexpected path component at 1:8:5".
  Result<expression::Path> path(const Node& node);

  // Begins another expression, which has its own count of operators (limit: operators_max).
  void begin_expression() { operators_ = 0; }
  // Error if any expression so far exceeded the limit: "The expression contains too many operators; operator
  // count: 301".
  [[nodiscard]] Result<void> check_operators() const;

 private:
  void count_operator();

  Result<expression::Condition> operation(const Node& node);
  Result<expression::Condition> comparison(const Node& node);
  Result<expression::Condition> between(const Node& node);
  Result<expression::Condition> function(const Node& node);
  Result<expression::Condition> attribute_type(const Node& node);
  Result<expression::Condition> in(const Node& node);
  Result<expression::Condition> is(const Node& node);
  Result<expression::Operand> operand(const Node& node);
  // Reads the path that is a function's argument.
  Result<expression::Path> argument_path(const Node& call);

  int operators_ = 0;  // number of operators in the current expression
  bool too_many_operators_ = false;
};

// "Unsupported operation: IsType"
Unexpected<Error> unsupported_operation(const Node& node);

}  // namespace mayfly::compat::partiql
