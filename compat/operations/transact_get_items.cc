#include "compat/operations/transact_get_items.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compat/attribute_value_json.h"
#include "compat/capacity.h"
#include "compat/expression/projection.h"
#include "compat/request_expressions.h"
#include "compat/rules.h"
#include "compat/shapes_common.h"
#include "compat/transaction.h"

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

struct Read {
  const json::Value* request;
  engine::Item key_item;
  std::optional<expression::Projection> projection;
  std::shared_ptr<engine::LiveTable> table;
  std::string key;
};

Result<Read> read_request(const json::Value& get) {
  Read read{.request = &get};
  CHECK_OK(check_expression_parameters(get, {"ProjectionExpression"}, {}));
  TRY(read.key_item, read_item(*get.member("Key")));
  TRY(auto substitutions, read_substitutions(get, {"ProjectionExpression"}));
  if (const auto text = string_member(get, "ProjectionExpression")) {
    TRY(read.projection, read_projection(get, substitutions));
  }
  CHECK_OK(substitutions.check_all_used());
  return read;
}

Result<void> check_read(Read& read) {
  const auto table = read.table->description();
  TRY(read.key, request_key(*table, read.key_item));
  if (read.projection) return check_keys_are_scalars(*table, nested_names(*read.projection));
  return {};
}

Result<void> find_and_check(const Context& context, std::vector<Read>& reads) {
  for (Read& read : reads) {
    TRY(read.table, find_table(context, read.request->member("TableName")->string()));
  }
  for (const Read& read : reads) CHECK_OK(check_no_empty_keys(*read.table->description(), read.key_item));
  for (std::size_t i = 0; i < reads.size(); ++i) {
    auto checked = check_read(reads[i]);
    if (!checked) return canceled_by(i, reads.size(), std::move(checked).error());
  }
  std::set<std::pair<const engine::LiveTable*, std::string_view>> seen;
  for (const Read& read : reads) {
    if (!seen.emplace(read.table.get(), read.key).second) return several_operations_on_one_item();
  }
  return {};
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  std::vector<Read> reads;
  for (const json::Value& item : request.member("TransactItems")->items()) {
    TRY(reads.emplace_back(), read_request(*item.member("Get")));
  }
  CHECK_OK(find_and_check(context, reads));

  std::vector<engine::Database::ItemName> names;
  for (const Read& read : reads) names.push_back({read.table.get(), read.key});
  const auto items = context.database.get_together(names);
  std::size_t bytes = 0;
  for (const auto& item : items) bytes += item ? item->size() : 0;
  if (bytes > transaction_bytes_max) return transaction_too_large();

  TransactionCapacity consumed(ConsumedCapacity::Of::transaction_reads);
  out.begin_object();
  out.key("Responses");
  out.begin_array();
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const auto& item = items[i];
    consumed.of_table(reads[i].table->description()->name).add_table(read_units(item ? item->size() : 0, true));
    out.begin_object();
    if (item) {
      out.key("Item");
      if (reads[i].projection) {
        write_item_object(out, expression::project(*reads[i].projection, item->item()));
      } else {
        write_stored_item(out, item->bytes());
      }
    }
    out.end_object();
  }
  out.end_array();
  consumed.write(out, return_capacity(request));
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::transact_get_items{dynamodb, "TransactGetItems", &shape, &run};

}  // namespace mayfly::compat
