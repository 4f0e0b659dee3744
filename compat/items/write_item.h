// Writes one item, for every operation that writes: PutItem, UpdateItem, DeleteItem, batches, transactions,
// PartiQL.
//
// Under the item's lock, a write reads the old item, checks the condition, builds the new item, checks the
// rules that depend on it, and stages it. A rejected write changes nothing.
//
//   ItemWrite write{.kind = ItemWrite::Kind::put, .table = table, .item = std::move(item)};
//   CHECK_OK(check_write(*table->description(), write));
//   return write_item(std::move(write), wanted_answer(request), context, out);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compat/context.h"
#include "compat/items/capacity.h"
#include "compat/items/item_collections.h"
#include "compat/items/vector_entries.h"
#include "compat/json/json.h"
#include "compat/syntax/ast.h"
#include "compat/wire/error.h"
#include "engine/items/transaction.h"
#include "engine/tables/catalog.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat {

struct ItemWrite {
  enum class Kind : std::uint8_t { put, update, remove, check };  // check: evaluates only the condition

  Kind kind = Kind::put;
  std::shared_ptr<engine::LiveTable> table;
  std::string key;              // as key_codec encodes it
  engine::StoredItem item;      // for a put: the new item
  engine::Item key_attributes;  // for the other kinds: as in the request; for a put, see with_keys
  std::optional<expression::Condition> condition;
  expression::Update update;              // for an update
  bool item_on_failed_condition = false;  // ReturnValuesOnConditionCheckFailure
  bool only_new = false;                  // for a put: DuplicateItemException if the item exists
};

// Reads the new item of a put. Error: "Item size has exceeded the maximum allowed size".
Result<engine::StoredItem> read_new_item(const json::Value& object, Frame frame);
Result<void> check_new_size(const engine::StoredItem& item);

// Rejects a put or an update if the memory limit is reached (memory_room.h).
Result<void> check_room(const ItemWrite& write, const Context& context);

// Adds the upper bound of the write's expression work on the existing item to `steps`, which all writes of
// the request share. Rejects the request if `steps` then exceeds the limit (expression/steps.h). AWS is not
// known to reject such requests, and no request that does useful work comes near the limit.
Result<void> count_steps(const ItemWrite& write, const engine::StoredItem* old_item, std::uint64_t& steps);

// Checks the rules for an update that do not depend on the existing item: the update changes no key attribute
// of the table, and it sets the key attributes of indexes to values of the right types.
Result<void> check_update(const engine::Table& table, const expression::Update& update);

// For transactions: rejects an empty value for a key of the table or of an index, if the value is in the
// request itself.
Result<void> check_no_empty_keys(const engine::Table& table, ItemWrite& write);

// Makes all checks that do not depend on the existing item: encodes the key with item_key or request_key, and
// checks index keys or the update.
Result<void> check_write(const engine::Table& table, ItemWrite& write);
// The two parts of check_write, for batches, whose errors for keys differ: write_key only encodes the key,
// and check_new_item only checks the new item of a put against the indexes.
Result<std::string> write_key(const engine::Table& table, ItemWrite& write);
Result<void> check_new_item(const engine::Table& table, const engine::StoredItem& item);

// Reads the write's condition and update, from expressions or from legacy parameters, and whether a failed
// condition returns the item.
Result<void> read_expressions(const json::Value& request, ItemWrite& write, Frame frame);
// Does the same for transactions, which do not have the legacy parameters.
Result<void> read_current_expressions(const json::Value& request, ItemWrite& write, Frame frame);

// --- responses

enum class ReturnValues : std::uint8_t { none, all_old, updated_old, all_new, updated_new };

struct WantedAnswer {
  ReturnValues values = ReturnValues::none;
  ReturnCapacity capacity = ReturnCapacity::none;
  bool collection_metrics = false;  // ReturnItemCollectionMetrics: SIZE
};
WantedAnswer wanted_answer(const json::Value& request);
// For PutItem and DeleteItem: fails with "ReturnValues can only be ALL_OLD or NONE" for other values.
Result<void> check_returns_old_item(const WantedAnswer& wanted, Frame frame);

// The parts of the response that a staged write determines. They are sent after the commit.
struct Written {
  std::string returned;  // the item as JSON, as WantedAnswer::values requests; empty: nothing to return
  std::size_t old_bytes = 0, new_bytes = 0;  // for consumed capacity; 0 unless requested
  engine::Item collection_key;               // empty: no metrics requested
  VectorWrites vector_writes;                // consumed on vector indexes, if requested
};

// All requests write items through this function, whether alone, in a batch or in a transaction. Checks the
// condition, builds the new item, checks the rules that depend on it, and stages it. Moves the write's item
// out of `write`. An update that only removes attributes does not create a missing item. A check stages
// nothing. Fails if the condition fails, or if the item or its collection breaks a rule. Requires:
// `transaction` is locked; `sizes` is shared by all writes of the request.
Result<Written> stage_write(engine::Transaction& transaction, engine::Transaction::Slot slot,
                            ItemWrite& write, const WantedAnswer& wanted, CollectionSizes& sizes);
// Returns the error that says why a transaction cannot be locked: a table was dropped, or the item is being
// written in another region.
Unexpected<Error> not_locked(const engine::Transaction& transaction);
// Adds the write's consumed capacity. Requires: the transaction is committed.
void add_write(ConsumedCapacity& consumed, const engine::Transaction& transaction,
               engine::Transaction::Slot slot, const Written& write);

// The parts of a single write's response, as JSON text. Empty parts are left out.
struct WriteOutcome {
  std::string item;  // as WantedAnswer::values requested
  std::string collection_metrics;
  std::optional<ConsumedCapacity> consumed;  // nullopt unless requested
};

// Performs a single write, for callers whose response differs from PutItem's. `steps`: see count_steps.
Result<WriteOutcome> perform(ItemWrite write, const WantedAnswer& wanted, const Context& context,
                             std::uint64_t& steps);
// Does the same for a request with one write, and writes the response object: Attributes, ConsumedCapacity,
// ItemCollectionMetrics.
Result<void> write_item(ItemWrite write, const WantedAnswer& wanted, const Context& context,
                        json::Writer& out);

}  // namespace mayfly::compat
