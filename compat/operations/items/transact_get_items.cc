#include <utility>
#include <vector>

#include "compat/items/capacity.h"
#include "compat/items/keys.h"
#include "compat/items/request_expressions.h"
#include "compat/items/transact_items.h"
#include "compat/operations/operations.h"
#include "compat/tables/lookup.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat {
namespace {

constexpr Member get_members[] = {
    {"TableName", &shapes::table_name, required},
    {"Key", &shapes::attribute_map, required},
    {"ProjectionExpression", &shapes::any_string},
    {"ExpressionAttributeNames", &shapes::expression_names},
};
constexpr Shape get = structure("Get", get_members);
constexpr Member transact_item_members[] = {{"Get", &get, required}};
constexpr Shape transact_item = structure("TransactGetItem", transact_item_members);
constexpr Shape transact_items = list_of(transact_item, 1, transaction_items_max);
constexpr Member members[] = {
    {"ReturnConsumedCapacity", &shapes::return_consumed_capacity},
    {"TransactItems", &transact_items, required},
};
constexpr Shape shape = structure("TransactGetItemsInput", members);

Result<ItemRead> read_request(const json::Value& get, Frame frame) {
  ItemRead read;
  CHECK_OK(check_expression_parameters(get, {"ProjectionExpression"}, {}, frame));
  TRY(read.key_item, in_transaction(read_item(*get.member("Key"), frame)));
  TRY(auto substitutions, read_substitutions(get, {"ProjectionExpression"}, frame));
  TRY(read.projection, read_projection(get, substitutions));
  CHECK_OK(substitutions.check_all_used());
  return read;
}

Result<void> check_read(ItemRead& read) {
  const auto table = read.table->description();
  TRY(read.key, request_key(*table, read.key_item));
  if (read.projection) return check_keys_are_scalars(*table, nested_names(*read.projection));
  return {};
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  const auto items = request.member("TransactItems")->items();
  std::vector<ItemRead> reads;
  for (const json::Value& item : items) {
    TRY(reads.emplace_back(), read_request(*item.member("Get"), context.frame));
  }
  for (std::size_t i = 0; i < reads.size(); ++i) {
    TRY(reads[i].table, find_table(context, items[i].member("Get")->member("TableName")->string()));
  }
  for (const ItemRead& read : reads) CHECK_OK(check_no_empty_keys(*read.table->description(), read.key_item));
  for (std::size_t i = 0; i < reads.size(); ++i) {
    auto checked = check_read(reads[i]);
    if (!checked) return canceled_by(i, reads.size(), std::move(checked).error());
  }
  out.begin_object();
  CHECK_OK(read_transaction(reads, return_capacity(request), context, out));
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::transact_get_items{
    dynamodb, "TransactGetItems", Access::reads, TablesIn::transact_items, &shape, &run};

}  // namespace mayfly::compat
