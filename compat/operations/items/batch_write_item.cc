#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compat/items/capacity.h"
#include "compat/items/index_rules.h"
#include "compat/items/item_collections.h"
#include "compat/items/keys.h"
#include "compat/items/write_item.h"
#include "compat/operations/operations.h"
#include "compat/tables/lookup.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shapes_common.h"
#include "engine/items/transaction.h"
#include "engine/values/item_codec.h"
#include "engine/values/item_size.h"

namespace mayfly::compat {
namespace {

constexpr std::size_t batch_write_requests_max = 25;

// Where AWS's messages repeat a request, they show a member that the API model does not contain.
constexpr std::string_view put_request_printed[] = {"Item", "WorkloadProfileName"};
constexpr Member put_request_members[] = {{"Item", &shapes::attribute_map, required}};
constexpr Shape put_request = printed_as(structure("PutRequest", put_request_members), put_request_printed);
constexpr std::string_view delete_request_printed[] = {"Key", "WorkloadProfileName"};
constexpr Member delete_request_members[] = {{"Key", &shapes::attribute_map, required}};
constexpr Shape delete_request =
    printed_as(structure("DeleteRequest", delete_request_members), delete_request_printed);
constexpr std::string_view write_request_printed[] = {"PutRequest", "DeleteRequest"};
constexpr Member write_request_members[] = {
    {"DeleteRequest", &delete_request},
    {"PutRequest", &put_request},
};
constexpr Shape write_request =
    printed_as(structure("WriteRequest", write_request_members), write_request_printed);
constexpr Shape write_requests = list_of(write_request, 1, batch_write_requests_max);
constexpr Shape request_items = [] {
  Shape tables = map_of(write_requests, &shapes::table_name, 1, 25);
  tables.keys_yield = true;
  return tables;
}();
constexpr Member members[] = {
    {"ReturnConsumedCapacity", &shapes::return_consumed_capacity},
    {"ReturnItemCollectionMetrics", &shapes::return_item_collection_metrics},
    {"RequestItems", &request_items, required},
};
constexpr Shape shape = structure("BatchWriteItemInput", members);

struct Entry {
  ItemWrite write;
  engine::Transaction::Slot slot = 0;
  Written staged;
};

struct TableWrites {
  std::string_view name;  // a name or an ARN, as in the request
  std::shared_ptr<engine::LiveTable> table;
  std::vector<Entry> entries;
};

Result<void> read_write(const json::Value& request, Frame frame, ItemWrite& write) {
  const json::Value* put = request.member("PutRequest");
  const json::Value* remove = request.member("DeleteRequest");
  if ((put == nullptr) == (remove == nullptr)) {
    return error::validation(
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
        "datatypes");
  }
  if (put == nullptr) {
    write.kind = ItemWrite::Kind::remove;
    TRY(write.key_attributes, read_item(*remove->member("Key"), frame));
  } else {
    TRY(write.item, read_new_item(*put->member("Item"), frame));
  }
  return {};
}

Result<std::vector<TableWrites>> read_request(const json::Value& request, Frame frame) {
  std::vector<TableWrites> tables;
  std::size_t requests = 0;
  for (const json::Member& member : request.member("RequestItems")->members()) {
    TableWrites& table = tables.emplace_back(TableWrites{.name = member.name});
    table.entries.reserve(std::min(member.value.items().size(), batch_write_requests_max));
    for (const json::Value& each : member.value.items()) {
      CHECK_OK(read_write(each, frame, table.entries.emplace_back().write));
      if (++requests > batch_write_requests_max) {
        return error::validation("Too many items requested for the BatchWriteItem call");
      }
    }
  }
  return tables;
}

// In a batch, the error for a key that has a wrong type or lacks an attribute always says that the key does
// not match the schema, even if the key is part of an item to put.
Result<std::string> checked_key(const engine::Table& table, ItemWrite& write) {
  auto key = write_key(table, write);
  if (!key && key.error().about == Error::About::key_schema) {
    return error::validation("The provided key element does not match the schema");
  }
  if (key && write.kind == ItemWrite::Kind::put) CHECK_OK(check_new_item(table, write.item));
  return key;
}

Result<void> find_and_check(const Context& context, TableWrites& writes) {
  TRY(writes.table, find_table(context, writes.name));
  const auto table = writes.table->description();
  std::set<std::string_view> seen;
  for (Entry& entry : writes.entries) {
    entry.write.table = writes.table;
    TRY(entry.write.key, checked_key(*table, entry.write));
    if (!seen.insert(entry.write.key).second) {
      return error::validation("Provided list of item keys contains duplicates");
    }
  }
  return {};
}

// One request can name a table both by its name and by its ARN.
Result<void> check_distinct_tables(const std::vector<TableWrites>& tables) {
  std::set<std::pair<const engine::LiveTable*, std::string_view>> seen;
  for (const TableWrites& writes : tables) {
    for (const Entry& entry : writes.entries) {
      if (!seen.emplace(writes.table.get(), entry.write.key).second) {
        return error::validation("Provided list of item keys contains duplicates");
      }
    }
  }
  return {};
}

// Writes everything in one commit. AWS promises less: it writes each item separately.
Result<void> write_all(const Context& context, engine::Transaction& transaction,
                       std::vector<TableWrites>& tables, const WantedAnswer& wanted) {
  for (TableWrites& writes : tables) {
    for (Entry& entry : writes.entries) {
      CHECK_OK(check_room(entry.write, context));
      entry.slot = transaction.add(writes.table, entry.write.key);
    }
  }
  if (!transaction.lock()) return not_locked(transaction);
  CollectionSizes sizes(context);
  for (TableWrites& writes : tables) {
    for (Entry& entry : writes.entries) {
      TRY(entry.staged, stage_write(transaction, entry.slot, entry.write, wanted, sizes));
    }
  }
  transaction.commit();
  return {};
}

// Removes the last `count` writes from the batch, and tables that have no writes left.
std::vector<TableWrites> take_unprocessed(std::vector<TableWrites>& tables, std::size_t count) {
  std::vector<TableWrites> taken;
  while (count > 0 && !tables.empty()) {
    TableWrites& last = tables.back();
    const std::size_t stay = last.entries.size() - std::min(count, last.entries.size());
    TableWrites& there = taken.emplace_back(TableWrites{.name = last.name});
    std::move(last.entries.begin() + static_cast<std::ptrdiff_t>(stay), last.entries.end(),
              std::back_inserter(there.entries));
    last.entries.resize(stay);
    count -= there.entries.size();
    if (stay == 0) tables.pop_back();
  }
  return taken;
}

void write_unprocessed(json::Writer& out, const std::vector<TableWrites>& unprocessed) {
  out.key("UnprocessedItems");
  out.begin_object();
  for (const TableWrites& writes : unprocessed) {
    out.key(writes.name);
    out.begin_array();
    for (const Entry& entry : writes.entries) {
      const bool puts = entry.write.kind == ItemWrite::Kind::put;
      out.begin_object();
      out.key(puts ? "PutRequest" : "DeleteRequest");
      out.begin_object();
      out.key(puts ? "Item" : "Key");
      if (puts) {
        write_stored_item(out, entry.write.item.bytes());
      } else {
        write_item_object(out, entry.write.key_attributes);
      }
      out.end_object();
      out.end_object();
    }
    out.end_array();
  }
  out.end_object();
}

void write_capacity(json::Writer& out, const engine::Transaction& transaction,
                    const std::vector<TableWrites>& tables, ReturnCapacity mode) {
  out.key("ConsumedCapacity");
  out.begin_array();
  for (const TableWrites& writes : tables) {
    ConsumedCapacity consumed(transaction.table(writes.entries.front().slot).name);
    for (const Entry& entry : writes.entries) add_write(consumed, transaction, entry.slot, entry.staged);
    consumed.write(out, mode);
  }
  out.end_array();
}

void write_metrics(json::Writer& out, const engine::Transaction& transaction,
                   const std::vector<TableWrites>& tables) {
  out.key("ItemCollectionMetrics");
  out.begin_object();
  for (const TableWrites& writes : tables) {
    const engine::Table& table = transaction.table(writes.entries.front().slot);
    if (!has_item_collections(table)) continue;
    out.key(writes.name);
    out.begin_array();
    for (const Entry& entry : writes.entries)
      write_collection_metrics(out, table, entry.staged.collection_key);
    out.end_array();
  }
  out.end_object();
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  TRY(std::vector<TableWrites> tables, read_request(request, context.frame));
  for (TableWrites& writes : tables) CHECK_OK(find_and_check(context, writes));
  if (tables.size() > 1) CHECK_OK(check_distinct_tables(tables));

  const std::vector<TableWrites> unprocessed = take_unprocessed(tables, context.unprocessed);
  const WantedAnswer wanted = wanted_answer(request);
  engine::Transaction transaction(context.database.write_path(), engine::Cause::user);
  CHECK_OK(write_all(context, transaction, tables, wanted));

  out.begin_object();
  write_unprocessed(out, unprocessed);
  if (wanted.capacity != ReturnCapacity::none) write_capacity(out, transaction, tables, wanted.capacity);
  if (wanted.collection_metrics) write_metrics(out, transaction, tables);
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::batch_write_item{
    dynamodb, "BatchWriteItem", Access::writes, TablesIn::request_items, &shape, &run, Frame::model};

}  // namespace mayfly::compat
