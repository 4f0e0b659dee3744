// One item's write, whoever asks: PutItem, UpdateItem, DeleteItem, batches, transactions, PartiQL.
//
// Under the item's lock: read what is there, check the condition, make the item that shall be there, check
// the rules that depend on it, stage. Nothing is changed by a write that is refused.
//
//   ItemWrite write{.kind = ItemWrite::Kind::put, .table = table, .key = key, .item = std::move(item)};
//   return write_item(std::move(write), wanted_answer(request), context, out);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compat/context.h"
#include "compat/expression/ast.h"
#include "compat/items/capacity.h"
#include "compat/items/item_collections.h"
#include "compat/items/vector_entries.h"
#include "compat/wire/error.h"
#include "compat/wire/json.h"
#include "engine/attribute_value.h"
#include "engine/catalog.h"
#include "engine/transaction.h"

namespace mayfly::compat {

struct ItemWrite {
  enum class Kind : std::uint8_t { put, update, remove, check };  // check: only its condition

  Kind kind = Kind::put;
  std::shared_ptr<engine::LiveTable> table;
  std::string key;    // as key_codec encodes it
  engine::Item item;  // of a put, what is put; else the key attributes
  // Of a put, the item as it is stored, if it was read so: then `item` is what take_asked left there.
  std::string stored;
  std::optional<expression::Condition> condition;
  expression::Update update;              // of an update
  bool item_on_failed_condition = false;  // ReturnValuesOnConditionCheckFailure
  bool only_new = false;                  // of a put: DuplicateItemException if there is an item
};

// Makes `item` of `stored`: all of it where the table's indexes ask for attributes, else its key attributes.
// Does nothing where nothing was read so.
void take_asked(const engine::Table& table, ItemWrite& write);

// Refuses a write that adds something to memory that is full (tables/room.h).
Result<void> check_room(const ItemWrite& write, const Context& context);

// Adds what the write's expressions cost at most of the item that it meets to the request's steps, and
// refuses more than there may be (expression/steps.h). AWS is not known to refuse it: no request to it that
// does some work comes near.
Result<void> count_steps(const ItemWrite& write, const engine::StoredItem* old_item, Context& context);

// Checks those rules on an update that need no item: no key attribute is touched, index keys get their types.
Result<void> check_update(const engine::Table& table, const expression::Update& update);

// For transactions: no key, of the table or of an index, gets an empty value by what the request alone says.
Result<void> check_no_empty_keys(const engine::Table& table, const ItemWrite& write);

// Encodes the key, with item_key or request_key, and checks index keys or the update: all that needs no item.
// Requires: take_asked.
Result<void> check_write(const engine::Table& table, ItemWrite& write);

// Reads the write's condition and update from the parameters of either API, and what to do if it fails.
Result<void> read_expressions(const json::Value& request, ItemWrite& write, Frame frame);
// The same where the parameters from before expressions do not exist: in transactions.
Result<void> read_current_expressions(const json::Value& request, ItemWrite& write, Frame frame);

// --- answers

enum class ReturnValues : std::uint8_t { none, all_old, updated_old, all_new, updated_new };

struct WantedAnswer {
  ReturnValues values = ReturnValues::none;
  ReturnCapacity capacity = ReturnCapacity::none;
  bool collection_metrics = false;  // ReturnItemCollectionMetrics: SIZE
};
WantedAnswer wanted_answer(const json::Value& request);
// "ReturnValues can only be ALL_OLD or NONE": of PutItem and DeleteItem.
Result<void> check_returns_old_item(const WantedAnswer& wanted, Frame frame);

// What a write that was staged has to say in the answer, once it is committed.
struct Written {
  std::string returned;  // the item as JSON text, as WantedAnswer::values asked; empty: nothing
  std::size_t old_bytes = 0, new_bytes = 0;  // for what it consumed; none are counted unless that is wanted
  engine::Item collection_key;               // empty: no metrics are wanted of it
  VectorWrites vector_writes;                // what it consumed of vector indexes, if that is wanted
};

// The one way in which an item is written, whether alone, in a batch or in a transaction: checks the
// condition, makes the item that shall be there, checks the rules that depend on it, stages. Takes the
// write's item. A removing update of a missing item leaves it missing; a check stages nothing. Errors: the
// condition failed; the item, or its collection, breaks a rule. Requires: `transaction` is locked; `sizes` is
// the request's.
Result<Written> stage_write(engine::Transaction& transaction, engine::Transaction::Slot slot,
                            ItemWrite& write, const WantedAnswer& wanted, CollectionSizes& sizes);
// Why a transaction cannot be locked: a table is gone, or an item is written to in another region.
Unexpected<Error> not_locked(const engine::Transaction& transaction);
// Adds what it consumed. Requires: the transaction is committed.
void add_write(ConsumedCapacity& consumed, const engine::Transaction& transaction,
               engine::Transaction::Slot slot, const Written& write);

// What a single write has to say, each part as JSON text and empty where there is nothing to say.
struct WriteOutcome {
  std::string item;  // as WantedAnswer::values asked
  std::string collection_metrics;
  std::optional<ConsumedCapacity> consumed;  // nothing unless it was asked for
};

// The whole of a single write, for whoever words the answer otherwise than PutItem does.
Result<WriteOutcome> perform(ItemWrite write, const WantedAnswer& wanted, Context& context);
// The same, and its answer as an object: Attributes, ConsumedCapacity, ItemCollectionMetrics.
Result<void> write_item(ItemWrite write, const WantedAnswer& wanted, Context& context, json::Writer& out);

}  // namespace mayfly::compat
