#include "compat/items/vector_entries.h"
#include "compat/operations/operations.h"
#include "compat/tables/description.h"
#include "compat/tables/lookup.h"
#include "compat/tables/replicas.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat {
namespace {

constexpr Member members[] = {
    {"TableName", &shapes::table_name_first, required_first},
};
constexpr Shape shape = structure("DescribeTableInput", members);

void write_answer(Context& context, const TableChange& change, const engine::LiveTable* counters,
                  json::Writer& out) {
  out.begin_object();
  out.key("Table");
  VectorSizes vectors;
  if (counters != nullptr) vectors = vector_sizes(context.database, *counters);
  write_table_description(out, change, counters, context.now(), vectors);
  out.end_object();
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto name, resolve_table_name(context, *string_member(request, "TableName")));
  const auto change = context.table_changes.find(context.scope, name);
  if (change && change->status == TableStatus::deleting) {
    write_answer(context, *change, nullptr, out);
    return {};
  }
  // The catalog also has the tables that are being restored.
  const auto table = context.database.catalog().find(context.scope, name);
  if (table == nullptr) return named_table_not_found(name);
  TableChange shown = change ? *change : settled_table(context, table->description());
  if (change && change->status == TableStatus::active) {  // the table may have changed since the announcement
    shown = settled_table(context, table->description());
    shown.backfilling = change->backfilling;
    shown.index_statuses = change->index_statuses;
  }
  write_answer(context, shown, table.get(), out);
  return {};
}

}  // namespace

constinit const Operation operations::describe_table{
    dynamodb, "DescribeTable", Access::control, TablesIn::table_name, &shape, &run};

}  // namespace mayfly::compat
