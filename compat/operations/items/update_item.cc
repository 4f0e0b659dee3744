#include "compat/expression/update.h"
#include "compat/expression/update_charge.h"
#include "compat/items/keys.h"
#include "compat/items/request_expressions.h"
#include "compat/items/write_item.h"
#include "compat/operations/operations.h"
#include "compat/tables/lookup.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shapes_common.h"
#include "engine/values/item_size.h"

namespace mayfly::compat {
namespace {

constexpr Member members[] = {
    {"ReturnConsumedCapacity", &shapes::return_consumed_capacity},
    stopping({"TableName", &shapes::table_name, required}),
    {"ReturnItemCollectionMetrics", &shapes::return_item_collection_metrics},
    stopping({"ReturnValues", &shapes::return_values}),
    stopping({"ConditionalOperator", &shapes::conditional_operator}),
    {"Key", &shapes::attribute_map, required},
    {"Expected", &shapes::expected},
    {"AttributeUpdates", &shapes::attribute_updates},
    {"ConditionExpression", &shapes::any_string},
    {"ExpressionAttributeNames", &shapes::expression_names},
    {"ExpressionAttributeValues", &shapes::expression_values},
    {"ReturnValuesOnConditionCheckFailure", &shapes::return_values_on_condition_check_failure},
    {"UpdateExpression", &shapes::any_string},
};
constexpr Shape shape = structure("UpdateItemInput", members);

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  CHECK_OK(check_expression_parameters(request, {"UpdateExpression", "ConditionExpression"},
                                       {"AttributeUpdates", "Expected"}, context.frame));
  ItemWrite write{.kind = ItemWrite::Kind::update};
  TRY(write.key_attributes, read_item(*request.member("Key"), context.frame));
  CHECK_OK(read_expressions(request, write, context.frame));

  TRY(write.table, find_table(context, request.member("TableName")->string()));
  CHECK_OK(check_write(*write.table->description(), write));
  // This check precedes the check of the condition. For AttributeUpdates, and for updates in transactions and
  // PartiQL, only the size of the resulting item counts.
  if (!write.update.legacy && expression::charge_of(write.update) > engine::item_bytes_max) {
    return expression::update_too_large();
  }
  return write_item(std::move(write), wanted_answer(request), context, out);
}

}  // namespace

constinit const Operation operations::update_item{
    dynamodb, "UpdateItem", Access::writes, TablesIn::table_name, &shape, &run, Frame::enveloped};

}  // namespace mayfly::compat
