// SyntaxParser implements the grammar of syntax_parser.h. Statements are parsed in syntax_parser.cc,
// expressions in syntax_expressions.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/partiql/syntax.h"
#include "compat/partiql/token_reader.h"
#include "compat/wire/error.h"

namespace mayfly::compat::partiql {

class SyntaxParser : TokenReader {
 public:
  explicit SyntaxParser(std::string_view text) : TokenReader(text) {}

  Result<Syntax> parse();

 private:
  // Precedences: an expression ends before an operator of lower precedence.
  static constexpr int lowest = -1;
  static constexpr int within_select = 6;

  // An operator that is written between its operands.
  struct Infix {
    std::string text;
    int precedence = 0;
    int tokens = 1;
    bool negated = false;
  };

  Result<Syntax> statement();
  Result<SelectSyntax> select();
  Result<std::vector<Node>> select_list(bool& renamed);
  Result<void> unsupported_clauses(SelectSyntax& select);
  Result<Syntax> insert();
  Result<UpdateSyntax> update();
  Result<UpdateSyntax> from();
  Result<Syntax> remove();
  Result<std::vector<UpdateSyntax::Change>> changes();
  Result<std::optional<Node>> where(int precedence);
  Result<std::optional<ReturningSyntax>> returning();
  Result<SourceSyntax> source(int precedence);
  Result<SourceSyntax> changed_table();
  Result<bool> alias();
  bool accept_join();

  Result<Node> expression(int precedence = lowest);
  [[nodiscard]] std::optional<Infix> infix() const;
  Result<Node> operation(Node left, const Infix& infix);
  Result<Node> right_of(const Infix& infix);
  Result<Node> type_of(Node value, bool negated);
  Result<Node> unary();
  Result<Node> term();
  Result<Node> keyword_term();
  Result<Node> call();
  Result<Node> path_after(Node root, bool bare);
  Result<Node> bare_path();
  // Reads the expressions up to `close`, and consumes `close`.
  Result<std::vector<Node>> list_until(std::string_view close, std::string_view name);
  Result<Node> tuple();
  Node atom(Node::Kind kind);

  std::size_t parameters_ = 0;
};

}  // namespace mayfly::compat::partiql
