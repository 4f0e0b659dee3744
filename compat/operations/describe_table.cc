#include "compat/operations/describe_table.h"

#include "compat/rules.h"
#include "compat/shapes_common.h"
#include "compat/table_description.h"

namespace mayfly::compat {
namespace {

constexpr Member members[] = {
    {"TableName", &shapes::table_name_first, required_first},
};
constexpr Shape shape = structure("DescribeTableInput", members);

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto table, find_named_table(context, *string_member(request, "TableName")));
  out.begin_object();
  out.key("Table");
  write_table_description(out, *table->description(), table.get(), TableStatus::active, context.now());
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::describe_table{dynamodb, "DescribeTable", &shape, &run};

}  // namespace mayfly::compat
