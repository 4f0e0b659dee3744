#include "compat/items/sight.h"

namespace mayfly::compat {

engine::Sight sight_of(const Context& context, const engine::Table& table, const engine::Index* index,
                       bool consistent) {
  const bool is_global = index != nullptr && index->kind == engine::Index::Kind::global;
  return sight_of(context, table, is_global ? std::string_view(index->name) : std::string_view(), consistent);
}

engine::Sight sight_of(const Context& context, const engine::Table& table, std::string_view copy,
                       bool consistent) {
  engine::Sight sight{.copy = copy, .lag = {}};
  if (!consistent && context.lag) sight.lag = context.lag(table.name);
  return sight;
}

}  // namespace mayfly::compat
