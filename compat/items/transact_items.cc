#include "compat/items/transact_items.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compat/expression/projection.h"
#include "compat/items/capacity.h"
#include "compat/items/item_collections.h"
#include "compat/items/keys.h"
#include "compat/memory_room.h"
#include "compat/tables/lookup.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/hash.h"
#include "engine/base/byte_order.h"
#include "engine/items/item_reader.h"
#include "engine/values/item_size.h"

namespace mayfly::compat {

namespace {

using engine::StoredItem;
using engine::Transaction;
using Slot = Transaction::Slot;

std::string_view reason_code(const std::optional<Error>& reason) {
  return reason ? error_code(reason->kind) : "None";
}

void append_canonical(std::string& out, const json::Value& value) {
  using Kind = json::Value::Kind;
  json::Writer writer(out);
  switch (value.kind()) {
    case Kind::null: writer.raw("null"); return;
    case Kind::boolean: writer.boolean(value.boolean()); return;
    case Kind::number: writer.raw(value.number_text()); return;
    case Kind::string: writer.string(value.string()); return;
    case Kind::array:
      out += '[';
      for (const json::Value& element : value.items()) {
        append_canonical(out, element);
        out += ',';
      }
      out += ']';
      return;
    case Kind::object: break;
  }
  // Sort the members by name. The last of several members with the same name counts.
  std::vector<const json::Member*> members;
  members.reserve(value.members().size());
  for (const json::Member& member : value.members()) members.push_back(&member);
  std::stable_sort(members.begin(), members.end(),
                   [](const json::Member* a, const json::Member* b) { return a->name < b->name; });
  out += '{';
  for (std::size_t i = 0; i < members.size(); ++i) {
    const json::Member& member = *members[i];
    const bool overridden = i + 1 < members.size() && members[i + 1]->name == member.name;
    if (overridden || member.value.is(Kind::null)) continue;
    json::append_escaped(out, member.name);
    out += ':';
    append_canonical(out, member.value);
    out += ',';
  }
  out += '}';
}

template <class Action>  // has a table and a key
Result<void> check_distinct(const std::vector<Action>& actions) {
  std::set<std::pair<const engine::LiveTable*, std::string_view>> seen;
  for (const Action& action : actions) {
    if (!seen.emplace(action.table.get(), action.key).second) {
      return error::validation("Transaction request cannot include multiple operations on one item");
    }
  }
  return {};
}

// Global tables with strong consistency support only single-item operations.
template <class Action>
Result<void> check_not_strong(const std::vector<Action>& actions) {
  for (const Action& action : actions) {
    if (!action.table->description()->strong) continue;
    return error::validation(
        "Transactions are not supported on global tables with MultiRegionConsistency set to STRONG.");
  }
  return {};
}

// Stages every action, even after one has failed, because the response gives the reasons of all actions.
Result<std::vector<Written>> stage_all(const Context& context, Transaction& transaction,
                                       std::vector<ItemWrite>& writes, const WantedAnswer& wanted) {
  CollectionSizes sizes(context);
  std::uint64_t steps = 0;
  std::vector<Written> all(writes.size());
  CancellationReasons reasons(writes.size());
  for (Slot slot = 0; slot < writes.size(); ++slot) {
    CHECK_OK(count_steps(writes[slot], transaction.old_item(slot), steps));
    auto staged = stage_write(transaction, slot, writes[slot], wanted, sizes);
    if (!staged) {
      reasons.set(slot, std::move(staged).error());
    } else {
      all[slot] = *std::move(staged);
    }
  }
  if (reasons.any()) return reasons.canceled();
  return all;
}

void write_metrics(json::Writer& out, const Transaction& transaction, const std::vector<Written>& all) {
  std::vector<std::pair<std::string_view, std::vector<Slot>>> tables;
  for (Slot slot = 0; slot < all.size(); ++slot) {
    if (all[slot].collection_key.empty()) continue;
    const std::string_view name = transaction.table(slot).name;
    auto found =
        std::find_if(tables.begin(), tables.end(), [&](const auto& table) { return table.first == name; });
    if (found == tables.end()) found = tables.insert(tables.end(), {name, {}});
    found->second.push_back(slot);
  }
  out.key("ItemCollectionMetrics");
  out.begin_object();
  for (const auto& [name, slots] : tables) {
    out.key(name);
    out.begin_array();
    for (const Slot slot : slots)
      write_collection_metrics(out, transaction.table(slot), all[slot].collection_key);
    out.end_array();
  }
  out.end_object();
}

// Writes the response to a repeated request. Such a request only reads the items and consumes read units.
void answer_again(const Transaction& transaction, std::size_t actions, const WantedAnswer& wanted,
                  json::Writer& out) {
  TransactionCapacity consumed(ConsumedCapacity::Of::transaction_reads);
  for (Slot slot = 0; slot < actions; ++slot) {
    const StoredItem* item = transaction.old_item(slot);
    consumed.of_table(transaction.table(slot).name).add_table(read_units(item ? item->size() : 0, true));
  }
  consumed.write(out, wanted.capacity);
}

// Requires: the read has a projection.
engine::Item projected(const ItemRead& read, const StoredItem& item) {
  return read.flat_projection ? expression::project_flat(*read.projection, item.item())
                              : expression::project(*read.projection, item.item());
}

// Writes the response for one existing item. If the projection selects nothing from the item,
// TransactGetItems omits the item and statements return an empty item.
void write_response(json::Writer& out, const ItemRead& read, const StoredItem& item) {
  if (!read.projection) {
    out.key("Item");
    return write_stored_item(out, item.bytes());
  }
  const engine::Item shown = projected(read, item);
  if (shown.empty() && !read.flat_projection) return;
  out.key("Item");
  write_item_object(out, shown);
}

}  // namespace

bool CancellationReasons::any() const {
  return std::any_of(reasons_.begin(), reasons_.end(), [](const auto& reason) { return reason.has_value(); });
}

Unexpected<Error> CancellationReasons::canceled() const {
  std::string codes, list;
  json::Writer out(list);
  out.begin_array();
  for (const std::optional<Error>& reason : reasons_) {
    if (!codes.empty()) codes += ", ";
    codes += reason_code(reason);
    out.begin_object();
    out.key("Code");
    out.string(reason_code(reason));
    if (reason) {
      out.key("Message");
      out.string(reason->message);
      if (!reason->extra.empty()) list += ',' + reason->extra;  // "Item":{…}
    }
    out.end_object();
  }
  out.end_array();
  return error::transaction_canceled(
      "Transaction cancelled, please refer cancellation reasons for specific reasons [" + codes + "]", list);
}

Unexpected<Error> canceled_by(std::size_t action, std::size_t actions, Error error) {
  CancellationReasons reasons(actions);
  reasons.set(action, std::move(error));
  return reasons.canceled();
}

// The beginning of AWS's message is not known for certain; AWS was observed to send the words "size cannot
// exceed".
Unexpected<Error> transaction_too_large() {
  return error::validation("Transaction payload size cannot exceed 4 MB");
}

std::string request_digest(const json::Value& value) {
  std::string text;
  append_canonical(text, value);
  std::string digest;
  engine::append_big_endian(digest, hash(text, 0));
  engine::append_big_endian(digest, hash(text, 1));
  return digest;
}

Result<void> write_transaction(std::vector<ItemWrite> writes, std::optional<RequestToken> token,
                               const WantedAnswer& wanted, const Context& context, json::Writer& out) {
  CHECK_OK(check_distinct(writes));
  CHECK_OK(check_not_strong(writes));
  for (const ItemWrite& write : writes) CHECK_OK(check_room(write, context));
  if (token) CHECK_OK(check_room(context.database));
  Transaction transaction(context.database.write_path(), engine::Cause::user);
  for (ItemWrite& write : writes) transaction.add(write.table, write.key);  // slots count up from 0
  if (token) transaction.use_token(context.scope, token->token, token->digest);
  if (!transaction.lock()) return not_locked(transaction);
  if (const auto& before = transaction.digest_before()) {
    if (*before != token->digest) {
      return error::idempotent_parameter_mismatch(
          "DynamoDB rejected the request because you retried a request with a different payload but with an "
          "idempotent token that was already used.");
    }
    answer_again(transaction, writes.size(), wanted, out);
    return {};
  }

  TRY(const std::vector<Written> all, stage_all(context, transaction, writes, wanted));
  transaction.commit();

  TransactionCapacity consumed(ConsumedCapacity::Of::transaction_writes);
  for (Slot slot = 0; slot < all.size(); ++slot)
    add_write(consumed.of_table(transaction.table(slot).name), transaction, slot, all[slot]);
  consumed.write(out, wanted.capacity);
  if (wanted.collection_metrics) write_metrics(out, transaction, all);
  return {};
}

void write_item_read(json::Writer& out, const ItemRead& read, const StoredItem& item) {
  if (!read.projection) return write_stored_item(out, item.bytes());
  write_item_object(out, projected(read, item));
}

Result<void> read_transaction(const std::vector<ItemRead>& reads, ReturnCapacity mode, const Context& context,
                              json::Writer& out) {
  CHECK_OK(check_distinct(reads));
  CHECK_OK(check_not_strong(reads));
  std::vector<engine::ItemReader::ItemName> names;
  for (const ItemRead& read : reads) names.push_back({read.table.get(), read.key});
  const auto items = context.database.reader().get_together(names);
  std::size_t bytes = 0;
  for (const auto& item : items) bytes += item ? item->size() : 0;
  if (bytes > transaction_bytes_max) return transaction_too_large();

  TransactionCapacity consumed(ConsumedCapacity::Of::transaction_reads);
  out.key("Responses");
  out.begin_array();
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const auto& item = items[i];
    consumed.of_table(reads[i].table->description()->name)
        .add_table(read_units(item ? item->size() : 0, true));
    out.begin_object();
    if (item) write_response(out, reads[i], *item);
    out.end_object();
  }
  out.end_array();
  consumed.write(out, mode);
  return {};
}

ConsumedCapacity& TransactionCapacity::of_table(std::string_view table_name) {
  for (ConsumedCapacity& table : tables_) {
    if (table.table_name() == table_name) return table;
  }
  return tables_.emplace_back(table_name, of_);
}

void TransactionCapacity::write(json::Writer& out, ReturnCapacity mode) const {
  if (mode == ReturnCapacity::none) return;
  out.key("ConsumedCapacity");
  out.begin_array();
  for (const ConsumedCapacity& table : tables_) table.write(out, mode);
  out.end_array();
}

}  // namespace mayfly::compat
