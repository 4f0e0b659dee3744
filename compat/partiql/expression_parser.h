// Conditions, and what UPDATE sets, as the expressions' tree:
//
//   condition  := conjunction ( OR conjunction )*
//   conjunction:= unary ( AND unary )*                          NOT binds tightest
//   unary      := NOT unary | ( condition ) [= boolean] | predicate
//   predicate  := operand ( = | <> | != | < | <= | > | >= ) operand
//               | operand [NOT] BETWEEN operand AND operand
//               | operand [NOT] IN ( [operand, …] | (operand, …) | ? ) | path IS [NOT] ( MISSING | type )
//               | function(…) [= boolean]
//   function   := begins_with | contains | attribute_type | attribute_exists | attribute_not_exists
//   operand    := path | value | size(path)
//   new        := term ( ( + | - ) term )*
//   term       := path | value | list_append(term, term)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compat/expression/ast.h"
#include "compat/partiql/value_parser.h"
#include "compat/wire/error.h"

namespace mayfly::compat::partiql {

class ExpressionParser : protected ValueParser {
 protected:
  using ValueParser::ValueParser;

  Result<expression::Condition> condition();
  Result<expression::UpdateValue> new_value();
  Result<expression::Path> path();
  Result<std::string> name();

 private:
  Result<expression::Condition> conjunction();
  Result<expression::Condition> unary();
  Result<expression::Condition> predicate();
  Result<expression::Condition> comparison(expression::Operand left);
  Result<expression::Condition> function();
  Result<expression::Condition> attribute_type(expression::Operand attribute);
  Result<expression::Condition> in(expression::Operand value);
  Result<expression::Condition> is(expression::Operand value);
  // A condition may be compared with TRUE or FALSE.
  Result<expression::Condition> compared(expression::Condition condition);
  Result<expression::Operand> operand();
  Result<expression::UpdateValue> term();
  Result<std::uint32_t> list_index();
};

}  // namespace mayfly::compat::partiql
