#include "compat/items/index_rules.h"
#include "compat/items/keys.h"
#include "compat/items/request_expressions.h"
#include "compat/items/write_item.h"
#include "compat/operations/operations.h"
#include "compat/tables/lookup.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shapes_common.h"
#include "engine/values/item_codec.h"
#include "engine/values/item_size.h"

namespace mayfly::compat {
namespace {

constexpr Member members[] = {
    {"ReturnConsumedCapacity", &shapes::return_consumed_capacity},
    stopping({"TableName", &shapes::table_name, required}),
    {"Item", &shapes::attribute_map, required},
    {"ConditionalOperator", &shapes::conditional_operator},
    {"Expected", &shapes::expected},
    {"ReturnValues", &shapes::return_values},
    {"ReturnItemCollectionMetrics", &shapes::return_item_collection_metrics},
    {"ConditionExpression", &shapes::any_string},
    {"ExpressionAttributeNames", &shapes::expression_names},
    {"ExpressionAttributeValues", &shapes::expression_values},
    {"ReturnValuesOnConditionCheckFailure", &shapes::return_values_on_condition_check_failure},
};
constexpr Shape shape = structure("PutItemInput", members);

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  CHECK_OK(check_expression_parameters(request, {"ConditionExpression"}, {"Expected"}, context.frame));
  ItemWrite write{.kind = ItemWrite::Kind::put};
  TRY(write.item, read_stored_item(*request.member("Item"), context.frame));
  const WantedAnswer wanted = wanted_answer(request);
  CHECK_OK(check_returns_old_item(wanted, context.frame));
  CHECK_OK(check_new_size(write.item));
  CHECK_OK(read_expressions(request, write, context.frame));

  TRY(write.table, find_table(context, request.member("TableName")->string()));
  CHECK_OK(check_write(*write.table->description(), write));
  return write_item(std::move(write), wanted, context, out);
}

}  // namespace

constinit const Operation operations::put_item{dynamodb, "PutItem", Access::writes,  TablesIn::table_name,
                                               &shape,   &run,      Frame::enveloped};

}  // namespace mayfly::compat
