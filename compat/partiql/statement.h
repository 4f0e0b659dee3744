// A parsed PartiQL statement. Parameters are filled in, and conditions and updates are trees of
// compat/expression. lower_read.h and lower_write.h turn the statement into operations on a table, for
// example by finding the key conditions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compat/syntax/ast.h"
#include "compat/wire/error.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat::partiql {

struct OrderBy {
  std::string attribute;
  bool descending = false;
};

struct Select {
  expression::Projection projection;  // empty: *
  // Set if the projection's paths clash. check_readable (lower_read.h) reports this error later.
  std::optional<Error> projection_error;
  std::string table;
  std::optional<std::string> index;
  std::optional<expression::Condition> where;
  std::vector<OrderBy> order;
};

struct Insert {
  std::string table;
  engine::Item item;
};

enum class Returning : std::uint8_t { nothing, all_old, modified_old, all_new, modified_new };

struct Update {
  std::string table;
  expression::Update update;
  std::optional<expression::Condition> where;
  Returning returning = Returning::nothing;
};

struct Delete {
  std::string table;
  std::optional<expression::Condition> where;
  Returning returning = Returning::nothing;
};

// A condition that a transaction checks on an item without writing the item.
struct Exists {
  Select select;
};

using Statement = std::variant<Select, Insert, Update, Delete, Exists>;

// The name of the table that a statement uses.
struct TableName {
  const std::string& operator()(const Exists& exists) const { return exists.select.table; }
  template <class Named>
  const std::string& operator()(const Named& statement) const {
    return statement.table;
  }
};
inline const std::string& table_name(const Statement& statement) {
  return std::visit(TableName(), statement);
}

inline bool is_read(const Statement& statement) { return std::holds_alternative<Select>(statement); }

}  // namespace mayfly::compat::partiql
