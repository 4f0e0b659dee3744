#include "compat/operations/delete_table.h"

#include "compat/rules.h"
#include "compat/shapes_common.h"
#include "compat/table_description.h"

namespace mayfly::compat {
namespace {

constexpr Member members[] = {
    {"TableName", &shapes::table_name_first, required_first},
};
constexpr Shape shape = structure("DeleteTableInput", members);

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto table, find_named_table(context, *string_member(request, "TableName")));
  const auto description = table->description();
  if (description->deletion_protection) {
    return error::validation(
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection "
        "first.");
  }
  // Counters go with the table.
  out.begin_object();
  out.key("TableDescription");
  write_table_description(out, *description, table.get(), TableStatus::deleting, context.now());
  out.end_object();
  if (!context.database.drop_table(table)) return named_table_not_found(description->name);
  return {};
}

}  // namespace

constinit const Operation operations::delete_table{dynamodb, "DeleteTable", &shape, &run};

}  // namespace mayfly::compat
