#include <algorithm>

#include "compat/operations/operations.h"
#include "compat/tables/changes.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat {
namespace {

constexpr std::int64_t page_max = 100;

constexpr Shape limit = integer_shape(1, page_max);
constexpr Shape start_name = string_shape(3, 255, name_pattern);
constexpr Member members[] = {
    {"Limit", &limit},
    {"ExclusiveStartTableName", &start_name},
};
constexpr Shape shape = structure("ListTablesInput", members);

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  const auto page = static_cast<std::size_t>(integer_member(request, "Limit").value_or(page_max));
  const auto start = string_member(request, "ExclusiveStartTableName").value_or("");
  auto names = context.database.catalog().names(context.scope, start, page + 1);
  // Tables that are being deleted are listed until their deletion is complete.
  if (auto going = context.table_changes.deleting(context.scope, start); !going.empty()) {
    names.insert(names.end(), going.begin(), going.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  const bool more = names.size() > page;
  if (more) names.resize(page);
  out.begin_object();
  out.key("TableNames");
  out.begin_array();
  for (const auto& name : names) out.string(name);
  out.end_array();
  if (more) {
    out.key("LastEvaluatedTableName");
    out.string(names.back());
  }
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::list_tables{dynamodb,          "ListTables", Access::control,
                                                  TablesIn::nothing, &shape,       &run};

}  // namespace mayfly::compat
