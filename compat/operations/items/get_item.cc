#include "compat/expression/projection.h"
#include "compat/items/capacity.h"
#include "compat/items/keys.h"
#include "compat/items/request_expressions.h"
#include "compat/items/sight.h"
#include "compat/operations/operations.h"
#include "compat/tables/lookup.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shapes_common.h"
#include "engine/items/item_reader.h"

namespace mayfly::compat {
namespace {

constexpr Member members[] = {
    {"ReturnConsumedCapacity", &shapes::return_consumed_capacity},
    {"AttributesToGet", &shapes::attribute_names},
    stopping({"TableName", &shapes::table_name, required}),
    {"Key", &shapes::attribute_map, required},
    {"ConsistentRead", &shapes::boolean},
    {"ExpressionAttributeNames", &shapes::expression_names},
    {"ProjectionExpression", &shapes::any_string},
};
constexpr Shape shape = structure("GetItemInput", members);

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  CHECK_OK(
      check_expression_parameters(request, {"ProjectionExpression"}, {"AttributesToGet"}, context.frame));
  TRY(const auto key_item, read_item(*request.member("Key"), context.frame));
  CHECK_OK(check_attributes_to_get(request, context.frame));
  TRY(auto substitutions, read_substitutions(request, {"ProjectionExpression"}, context.frame));
  TRY(const auto projection, read_projection(request, substitutions));
  CHECK_OK(substitutions.check_all_used());

  TRY(const auto live, find_table(context, request.member("TableName")->string()));
  const auto table = live->description();
  TRY(const auto key, request_key(*table, key_item));
  if (projection) CHECK_OK(check_keys_are_scalars(*table, nested_names(*projection)));

  const bool consistent = boolean_member(request, "ConsistentRead").value_or(false);
  const auto item = context.database.reader().get(*live, key, sight_of(context, *table, nullptr, consistent));
  if (!item && !live->still_has(0)) return table_not_found();
  out.begin_object();
  if (item) {
    out.key("Item");
    if (projection) {
      write_item_object(out, expression::project(*projection, item->item()));
    } else {
      write_stored_item(out, item->bytes());
    }
  }
  if (const auto mode = return_capacity(request); mode != ReturnCapacity::none) {
    ConsumedCapacity consumed(table->name);
    consumed.add_table(read_units(item ? item->size() : 0, consistent));
    out.key("ConsumedCapacity");
    consumed.write(out, mode);
  }
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::get_item{dynamodb, "GetItem", Access::reads, TablesIn::table_name,
                                               &shape,   &run,      Frame::bare};

}  // namespace mayfly::compat
