#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/items/keys.h"
#include "compat/items/request_expressions.h"
#include "compat/items/transact_items.h"
#include "compat/items/write_item.h"
#include "compat/operations/operations.h"
#include "compat/tables/lookup.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shapes_common.h"
#include "engine/values/item_codec.h"
#include "engine/values/item_size.h"

namespace mayfly::compat {
namespace {

using Kind = ItemWrite::Kind;

constexpr Member condition_check_members[] = {
    {"TableName", &shapes::table_name, required},
    {"Key", &shapes::attribute_map, required},
    {"ConditionExpression", &shapes::any_string, required},
    {"ExpressionAttributeNames", &shapes::expression_names},
    {"ExpressionAttributeValues", &shapes::expression_values},
    {"ReturnValuesOnConditionCheckFailure", &shapes::return_values_on_condition_check_failure},
};
constexpr Shape condition_check = structure("ConditionCheck", condition_check_members);
constexpr Member put_members[] = {
    {"TableName", &shapes::table_name, required},
    {"Item", &shapes::attribute_map, required},
    {"ConditionExpression", &shapes::any_string},
    {"ExpressionAttributeNames", &shapes::expression_names},
    {"ExpressionAttributeValues", &shapes::expression_values},
    {"ReturnValuesOnConditionCheckFailure", &shapes::return_values_on_condition_check_failure},
};
constexpr Shape put = structure("Put", put_members);
constexpr Member delete_members[] = {
    {"TableName", &shapes::table_name, required},
    {"Key", &shapes::attribute_map, required},
    {"ConditionExpression", &shapes::any_string},
    {"ExpressionAttributeNames", &shapes::expression_names},
    {"ExpressionAttributeValues", &shapes::expression_values},
    {"ReturnValuesOnConditionCheckFailure", &shapes::return_values_on_condition_check_failure},
};
constexpr Shape delete_shape = structure("Delete", delete_members);
constexpr Member update_members[] = {
    {"TableName", &shapes::table_name, required},
    {"Key", &shapes::attribute_map, required},
    {"UpdateExpression", &shapes::any_string, required},
    {"ConditionExpression", &shapes::any_string},
    {"ExpressionAttributeNames", &shapes::expression_names},
    {"ExpressionAttributeValues", &shapes::expression_values},
    {"ReturnValuesOnConditionCheckFailure", &shapes::return_values_on_condition_check_failure},
};
constexpr Shape update = structure("Update", update_members);
constexpr Member transact_item_members[] = {
    {"ConditionCheck", &condition_check},
    {"Put", &put},
    {"Delete", &delete_shape},
    {"Update", &update},
};
constexpr Shape transact_item = structure("TransactWriteItem", transact_item_members);
constexpr Shape transact_items = list_of(transact_item, 1, transaction_items_max);
constexpr Shape client_request_token = string_shape(1, 36);
constexpr Member members[] = {
    {"ClientRequestToken", &client_request_token},
    {"ReturnConsumedCapacity", &shapes::return_consumed_capacity},
    {"ReturnItemCollectionMetrics", &shapes::return_item_collection_metrics},
    {"TransactItems", &transact_items, required},
};
constexpr Shape shape = structure("TransactWriteItemsInput", members);

struct Action {
  Kind kind;
  const json::Value* request;
};

Result<Action> read_action(const json::Value& item) {
  constexpr std::pair<std::string_view, Kind> kinds[] = {{"ConditionCheck", Kind::check},
                                                         {"Put", Kind::put},
                                                         {"Delete", Kind::remove},
                                                         {"Update", Kind::update}};
  std::optional<Action> action;
  for (const auto& [name, kind] : kinds) {
    const json::Value* request = item.member(name);
    if (request == nullptr) continue;
    if (action)
      return error::validation("TransactItems can only contain one of Check, Put, Update or Delete");
    action = Action{kind, request};
  }
  if (!action) {
    return error::validation(
        "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request");
  }
  return *action;
}

Result<ItemWrite> read_write(const Action& action, Frame frame) {
  const json::Value& request = *action.request;
  if (action.kind == Kind::update) {
    CHECK_OK(check_expression_parameters(request, {"UpdateExpression", "ConditionExpression"}, {}, frame));
  } else {
    CHECK_OK(check_expression_parameters(request, {"ConditionExpression"}, {}, frame));
  }
  ItemWrite write{.kind = action.kind};
  if (action.kind != Kind::put) {
    auto item = in_transaction(read_item(*request.member("Key"), frame));
    // Expressions are checked before the nesting depth of values.
    if (!item && item.error().about != Error::About::nesting) return Unexpected{std::move(item).error()};
    CHECK_OK(read_current_expressions(request, write, frame));
    TRY(write.key_attributes, std::move(item));
    return write;
  }
  auto stored = in_transaction(read_stored_item(*request.member("Item"), frame));
  if (!stored && stored.error().about != Error::About::nesting) return Unexpected{std::move(stored).error()};
  if (stored) CHECK_OK(check_new_size(*stored));
  CHECK_OK(read_current_expressions(request, write, frame));
  TRY(write.item, std::move(stored));
  return write;
}

// The size of the data in the request. The sizes of existing items do not count.
Result<std::size_t> payload_bytes(const Action& action, const ItemWrite& write) {
  std::size_t bytes = action.kind == Kind::put ? write.item.size() : engine::item_size(write.key_attributes);
  if (const json::Value* values = action.request->member("ExpressionAttributeValues")) {
    TRY(const auto read, read_item(*values));
    bytes += engine::item_size(read);
  }
  return bytes;
}

Result<void> find_and_check(const Context& context, const std::vector<Action>& actions,
                            std::vector<ItemWrite>& writes) {
  for (std::size_t i = 0; i < writes.size(); ++i) {
    TRY(writes[i].table, find_table(context, actions[i].request->member("TableName")->string()));
  }
  for (ItemWrite& write : writes) CHECK_OK(check_no_empty_keys(*write.table->description(), write));
  for (std::size_t i = 0; i < writes.size(); ++i) {
    // These rules apply to each action separately, so only the action that breaks one gets a cancellation
    // reason.
    auto checked = check_write(*writes[i].table->description(), writes[i]);
    if (!checked) return canceled_by(i, writes.size(), std::move(checked).error());
  }
  return {};
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  const json::Value& items = *request.member("TransactItems");
  std::vector<Action> actions;
  std::vector<ItemWrite> writes;
  std::size_t bytes = 0;
  writes.reserve(items.items().size());
  for (const json::Value& item : items.items()) {
    TRY(actions.emplace_back(), read_action(item));
    TRY(writes.emplace_back(), read_write(actions.back(), context.frame));
    TRY(const std::size_t more, payload_bytes(actions.back(), writes.back()));
    bytes += more;
  }
  if (bytes > transaction_bytes_max) return transaction_too_large();
  CHECK_OK(find_and_check(context, actions, writes));

  std::optional<RequestToken> token;
  if (const auto text = string_member(request, "ClientRequestToken")) token = {*text, request_digest(items)};
  out.begin_object();
  CHECK_OK(write_transaction(std::move(writes), std::move(token), wanted_answer(request), context, out));
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::transact_write_items{
    dynamodb, "TransactWriteItems", Access::writes, TablesIn::transact_items, &shape, &run};

}  // namespace mayfly::compat
