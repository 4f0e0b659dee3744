// A PartiQL statement as it was parsed: parameters are filled in, conditions and updates are already the
// expressions' tree. What it means for a table, which of its conditions are the key, is lower.h's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compat/expression/ast.h"
#include "engine/attribute_value.h"

namespace mayfly::compat::partiql {

struct OrderBy {
  std::string attribute;
  bool descending = false;
};

struct Select {
  expression::Projection projection;  // empty: *
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

using Statement = std::variant<Select, Insert, Update, Delete>;

// The table that it names.
inline const std::string& table_name(const Statement& statement) {
  return std::visit([](const auto& each) -> const std::string& { return each.table; }, statement);
}

inline bool is_read(const Statement& statement) { return std::holds_alternative<Select>(statement); }

}  // namespace mayfly::compat::partiql
