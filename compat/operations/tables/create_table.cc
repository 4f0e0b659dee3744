#include "compat/memory_room.h"
#include "compat/operations/operations.h"
#include "compat/settings/table_settings.h"
#include "compat/tables/description.h"
#include "compat/tables/lookup.h"
#include "compat/tables/schema.h"
#include "compat/wire/shapes_vector.h"

namespace mayfly::compat {
namespace {

constexpr Member first[] = {
    {"AttributeDefinitions", &shapes::attribute_definitions, required},
    {"TableName", &shapes::table_name, required_first},
    {"BillingMode", &shapes::billing_mode},
    {"ProvisionedThroughput", &shapes::provisioned_throughput},
    {"KeySchema", &shapes::key_schema, required},
    {"GlobalSecondaryIndexes", &shapes::global_indexes},
    {"LocalSecondaryIndexes", &shapes::local_indexes},
    {"StreamSpecification", &shapes::stream_specification},
};
constexpr Member last[] = {
    {"GlobalTableSourceArn", &shapes::table_source_arn, unsupported},
    {"VectorIndexes", &shapes::vector_indexes},
};
constexpr auto members = with_settings<TableSetting::In::create>(first, last);
constexpr Shape shape = structure("CreateTableInput", members);

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  TRY(auto description, read_new_table(context, request));
  const auto name = description.name;
  if (is_being_restored(context, name)) return error::resource_in_use("Table is being used: " + name);
  const auto status = context.table_changes.status(context.scope, name);
  if (status == TableStatus::creating || status == TableStatus::deleting)
    CHECK_OK(check_settled(context, name));
  CHECK_OK(check_room(context.database));
  const auto table = context.database.tables().create(std::move(description), context.tables_max);
  if (table == nullptr) {
    if (context.database.catalog().find(context.scope, name) != nullptr)
      return error::resource_in_use("Table already exists: " + name);
    // AWS's message, as observed when the quota was 256 tables.
    return error::limit_exceeded("Subscriber limit exceeded: There is a limit of " +
                                 std::to_string(context.tables_max) + " tables per subscriber");
  }
  const TableChange change{TableStatus::creating, table->description()};
  context.table_changes.begin(context.scope, change);
  out.begin_object();
  out.key("TableDescription");
  write_table_description(out, change, nullptr, context.now());
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::create_table{
    dynamodb, "CreateTable", Access::control, TablesIn::table_name, &shape, &run};

}  // namespace mayfly::compat
