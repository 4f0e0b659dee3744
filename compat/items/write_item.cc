#include "compat/items/write_item.h"

#include <algorithm>
#include <map>

#include "compat/expression/evaluate.h"
#include "compat/expression/legacy.h"
#include "compat/expression/path_visitor.h"
#include "compat/expression/steps.h"
#include "compat/expression/update.h"
#include "compat/items/index_rules.h"
#include "compat/items/item_collections.h"
#include "compat/items/keys.h"
#include "compat/items/request_expressions.h"
#include "compat/items/vector_entries.h"
#include "compat/memory_room.h"
#include "compat/settings/settings.h"
#include "compat/syntax/parser.h"
#include "compat/tables/lookup.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shape.h"
#include "engine/base/hurry.h"
#include "engine/schema/index_entries.h"
#include "engine/values/item_codec.h"
#include "engine/values/item_size.h"

namespace mayfly::compat {

namespace {

using engine::AttributeValue;
using engine::Item;
using engine::StoredItem;
using engine::Table;

const Item& no_item() {
  static const auto* const item = new Item;
  return *item;
}

// Returns the deepest nesting level in the value. An item's attribute is on level 1.
int level_max(const AttributeValue& value) {
  int below = 0;
  if (const auto* list = value.get_if<engine::List>()) {
    for (const AttributeValue& element : *list) below = std::max(below, level_max(element));
  } else if (const auto* map = value.get_if<engine::Map>()) {
    for (const auto& [name, member] : *map) below = std::max(below, level_max(member));
  }
  return 1 + below;
}

// Visits the index keys in the order of AWS's checks: global indexes first.
template <class Visit>  // Result<void> visit(const Index&, const KeyAttribute&)
Result<void> for_each_index_key(const Table& table, const Visit& visit) {
  for (const auto kind : {engine::Index::Kind::global, engine::Index::Kind::local}) {
    for (const engine::Index& index : table.indexes) {
      if (index.kind != kind) continue;
      for (const auto& attribute : index.keys.all()) CHECK_OK(visit(index, attribute));
    }
  }
  return {};
}

// Checks only the attributes that the update touched. A value that does not fit can be older than the index.
// Other attributes of an item with such a value can still be updated.
Result<void> check_touched_index_keys(const Table& table, const expression::Update& update,
                                      const Item& item) {
  Item touched;
  for (const std::string& name : expression::touched_attributes(update)) {
    if (const AttributeValue* value = item.find(name)) touched.set(name, *value);
  }
  CHECK_OK(for_each_index_key(
      table, [&](const engine::Index&, const engine::KeyAttribute& attribute) -> Result<void> {
        const AttributeValue* value = touched.find(attribute.name);
        if (value == nullptr || has_type(*value, attribute.type)) return {};
        return error::validation(
            "The update expression attempted to update the secondary index key to unsupported type");
      }));
  return check_indexed(table, touched, true);
}

// An update that has only REMOVE and DELETE actions does not create a missing item, but an update without any
// action creates it.
bool only_removes(const expression::Update& update) {
  return update.sets.empty() && update.adds.empty() && !(update.removes.empty() && update.deletes.empty());
}

Result<Item> updated_item(const Table& table, const ItemWrite& write, const StoredItem* old_item) {
  TRY(Item item, expression::apply(write.update, old_item ? old_item->item() : write.key_attributes,
                                   old_item != nullptr));
  // Only assignments to nested paths can exceed the nesting limit.
  std::vector<std::string> names = nested_names(write.update);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names) {
    const AttributeValue* value = item.find(name);
    if (value != nullptr && level_max(*value) > nesting_max) {
      return error::validation("Nesting Levels have exceeded supported limits");
    }
  }
  if (!table.indexes.empty() || has_vector_indexes(table))
    CHECK_OK(check_touched_index_keys(table, write.update, item));
  return item;
}

// Returns the type that an update gives an attribute, if the expression alone determines it.
std::optional<engine::Type> given_type(const expression::Update& update, const std::string& name) {
  const auto names_it = [&](const expression::Path& path) {
    return !expression::is_nested(path) && expression::top_level_name(path) == name;
  };
  for (const auto& action : update.sets) {
    if (!names_it(action.path)) continue;
    const auto& node = action.value.node;
    if (const auto* constant = std::get_if<expression::UpdateValue::Constant>(&node))
      return constant->value->type();
    if (std::holds_alternative<expression::UpdateValue::Arithmetic>(node)) return engine::Type::number;
    if (std::holds_alternative<expression::UpdateValue::ListAppend>(node)) return engine::Type::list;
  }
  for (const auto& action : update.adds) {
    if (names_it(action.path)) return action.value->type();
  }
  for (const auto& action : update.deletes) {
    if (names_it(action.path)) return action.value->type();
  }
  return std::nullopt;
}

std::string item_json(const StoredItem& item) {
  std::string text;
  json::Writer out(text);
  write_stored_item(out, item.bytes());
  return text;
}

std::string item_json(const Item& item) {
  std::string text;
  json::Writer out(text);
  if (!item.empty()) write_item_object(out, item);
  return text;
}

// Returns, as JSON, the item or the part of the item that `wanted` selects. Returns an empty string if
// `wanted` selects nothing.
std::string returned_item(ReturnValues wanted, const expression::Update& update, const StoredItem* old_item,
                          const std::optional<StoredItem>& new_item) {
  switch (wanted) {
    case ReturnValues::none: break;
    case ReturnValues::all_old:
      if (old_item != nullptr) return item_json(*old_item);
      break;
    case ReturnValues::updated_old:
      if (old_item != nullptr) return item_json(expression::updated_parts(update, old_item->item()));
      break;
    case ReturnValues::all_new:
      if (new_item) return item_json(new_item->item());
      break;
    case ReturnValues::updated_new:
      if (new_item) return item_json(expression::updated_parts(update, new_item->item()));
      break;
  }
  return {};
}

// Returns the item after the write, or nullopt if no item exists afterwards or the write is only a check.
Result<std::optional<StoredItem>> next_item(const Table& table, ItemWrite& write,
                                            const StoredItem* old_item) {
  if (write.only_new && old_item != nullptr) return error::duplicate_item();
  if (write.condition && !expression::evaluate(*write.condition, old_item ? old_item->item() : no_item())) {
    const bool with_item = write.item_on_failed_condition && old_item != nullptr;
    return error::conditional_check_failed(with_item ? item_json(*old_item) : std::string());
  }
  switch (write.kind) {
    case ItemWrite::Kind::put: return std::optional(std::move(write.item));
    case ItemWrite::Kind::update: {
      if (old_item == nullptr && only_removes(write.update)) break;
      TRY(Item item, updated_item(table, write, old_item));
      return std::optional(StoredItem(std::move(item)));
    }
    case ItemWrite::Kind::remove:
    case ItemWrite::Kind::check: break;
  }
  return std::optional<StoredItem>();
}

bool checks_indexes(const Table& table) { return !table.indexes.empty() || has_vector_indexes(table); }

// Returns an item that has the key attributes of the write's item and may have other attributes. The key
// attributes of a put are decoded only once. If the table has indexes, the whole item is decoded, because the
// checks for indexes need all attributes.
const Item& with_keys(const Table& table, ItemWrite& write) {
  if (write.kind != ItemWrite::Kind::put) return write.key_attributes;
  if (checks_indexes(table)) return write.item.item();
  if (write.key_attributes.empty()) write.key_attributes = engine::key_attributes(table.keys, write.item);
  return write.key_attributes;
}

}  // namespace

Result<void> check_update(const Table& table, const expression::Update& update) {
  const auto touched = expression::touched_attributes(update);
  const auto is_touched = [&](const std::string& name) {
    return std::binary_search(touched.begin(), touched.end(), name);
  };
  for (const auto& attribute : table.keys.all()) {
    if (is_touched(attribute.name)) {
      return error::validation("One or more parameter values were invalid: Cannot update attribute " +
                               attribute.name + ". This attribute is part of the key");
    }
  }
  if (table.indexes.empty()) return {};

  CHECK_OK(for_each_index_key(
      table, [&](const engine::Index& index, const engine::KeyAttribute& attribute) -> Result<void> {
        const auto given = given_type(update, attribute.name);
        const std::string_view expected = type_name(attribute.type);
        if (!given || engine::type_name(*given) == expected) return {};
        return error::validation("One or more parameter values were invalid: Type mismatch for Index Key " +
                                 attribute.name + " Expected: " + std::string(expected) + " Actual: " +
                                 std::string(engine::type_name(*given)) + " IndexName: " + index.name);
      }));
  return check_keys_are_scalars(table, nested_names(update));
}

Result<void> check_no_empty_keys(const Table& table, ItemWrite& write) {
  CHECK_OK(check_no_empty_keys(table, with_keys(table, write)));
  if (table.indexes.empty()) return {};
  // Pointers avoid copies: an update can assign one large value hundreds of times.
  std::map<std::string_view, const AttributeValue*> given;
  for (const auto& action : write.update.sets) {
    const auto* constant = std::get_if<expression::UpdateValue::Constant>(&action.value.node);
    if (constant != nullptr && !expression::is_nested(action.path))
      given[expression::top_level_name(action.path)] = &*constant->value;
  }
  for (const engine::Index& index : table.indexes) {
    for (const engine::KeyAttribute& attribute : index.keys.all()) {
      if (const auto found = given.find(attribute.name); found != given.end())
        CHECK_OK(check_no_empty_update(attribute, *found->second));
    }
  }
  return {};
}

Result<StoredItem> read_new_item(const json::Value& object, Frame frame) {
  TRY(StoredItem item, read_stored_item(object, frame));
  CHECK_OK(check_new_size(item));
  return item;
}

Result<void> check_new_size(const StoredItem& item) {
  if (item.size() <= engine::item_bytes_max) return {};
  return error::validation("Item size has exceeded the maximum allowed size");
}

Result<void> check_room(const ItemWrite& write, const Context& context) {
  const bool adds = write.kind == ItemWrite::Kind::put || write.kind == ItemWrite::Kind::update;
  return adds ? check_room(context.database) : Result<void>();
}

Result<void> count_steps(const ItemWrite& write, const StoredItem* old_item, std::uint64_t& steps) {
  if (old_item == nullptr || (write.kind != ItemWrite::Kind::update && !write.condition)) return {};
  expression::Work work;
  if (write.kind == ItemWrite::Kind::update) work = expression::work_of(write.update);
  if (write.condition) {
    const expression::Work of_condition = expression::work_of(*write.condition);
    work.operands += of_condition.operands;
    work.constants += of_condition.constants;
  }
  const std::uint64_t own_steps = work.steps_on(old_item->item());
  engine::Hurry::spend(own_steps * expression::nanoseconds_per_step);
  steps += own_steps;
  if (steps <= expression::request_steps_max) return {};
  return error::validation(
      "Evaluating the expressions of this request can take " + std::to_string(steps) +
      " steps; Mayfly allows " + std::to_string(expression::request_steps_max) +
      ". Each value of an item, and each 16 bytes of a value, count as one step per operand");
}

Result<void> check_write(const Table& table, ItemWrite& write) {
  TRY(write.key, write_key(table, write));
  if (write.kind == ItemWrite::Kind::put) return check_new_item(table, write.item);
  if (write.kind == ItemWrite::Kind::update) return check_update(table, write.update);
  return {};
}

Result<std::string> write_key(const Table& table, ItemWrite& write) {
  const Item& keys = with_keys(table, write);
  return write.kind == ItemWrite::Kind::put ? item_key(table, keys) : request_key(table, keys);
}

Result<void> check_new_item(const Table& table, const StoredItem& item) {
  return checks_indexes(table) ? check_indexed(table, item.item()) : Result<void>();
}

Result<void> read_current_expressions(const json::Value& request, ItemWrite& write, Frame frame) {
  write.item_on_failed_condition = string_member(request, "ReturnValuesOnConditionCheckFailure") == "ALL_OLD";
  TRY(auto substitutions, read_substitutions(request, {"UpdateExpression", "ConditionExpression"}, frame));
  if (const auto text = string_member(request, "UpdateExpression");
      text && write.kind == ItemWrite::Kind::update) {
    TRY(write.update, expression::parse_update(*text, substitutions));
  }
  TRY(write.condition, read_condition(request, "ConditionExpression", substitutions));
  return substitutions.check_all_used();
}

Result<void> read_expressions(const json::Value& request, ItemWrite& write, Frame frame) {
  if (const json::Value* updates = request.member("AttributeUpdates");
      updates && write.kind == ItemWrite::Kind::update) {
    TRY(write.update, expression::read_attribute_updates(*updates, frame));
  }
  TRY(auto expected, expression::read_expected(request, frame));
  CHECK_OK(read_current_expressions(request, write, frame));
  if (expected) write.condition = std::move(expected);
  return {};
}

WantedAnswer wanted_answer(const json::Value& request) {
  WantedAnswer wanted;
  wanted.capacity = return_capacity(request);
  wanted.collection_metrics = string_member(request, "ReturnItemCollectionMetrics") == "SIZE";
  if (const auto values = string_member(request, "ReturnValues")) {
    wanted.values = *values == "ALL_OLD"       ? ReturnValues::all_old
                    : *values == "UPDATED_OLD" ? ReturnValues::updated_old
                    : *values == "ALL_NEW"     ? ReturnValues::all_new
                    : *values == "UPDATED_NEW" ? ReturnValues::updated_new
                                               : ReturnValues::none;
  }
  return wanted;
}

Result<void> check_returns_old_item(const WantedAnswer& wanted, Frame frame) {
  if (wanted.values == ReturnValues::none || wanted.values == ReturnValues::all_old) return {};
  return in_frame(frame, Result<void>(error::validation("ReturnValues can only be ALL_OLD or NONE")));
}

Result<Written> stage_write(engine::Transaction& transaction, engine::Transaction::Slot slot,
                            ItemWrite& write, const WantedAnswer& wanted, CollectionSizes& sizes) {
  const Table& table = transaction.table(slot);
  const StoredItem* old_item = transaction.old_item(slot);
  const bool changes = write.kind != ItemWrite::Kind::check;
  Written staged;
  if (wanted.collection_metrics && changes && has_item_collections(table))
    staged.collection_key = engine::key_attributes(table.keys, with_keys(table, write));
  TRY(std::optional<StoredItem> item, next_item(table, write, old_item));
  if (changes) CHECK_OK(sizes.grow(*write.table, table, old_item, item ? &*item : nullptr));
  if (wanted.capacity != ReturnCapacity::none) {
    staged.old_bytes = old_item != nullptr ? old_item->size() : 0;
    staged.new_bytes = item ? item->size() : 0;
  }
  if (wanted.capacity != ReturnCapacity::none && changes && has_vector_indexes(table)) {
    const std::string_view new_stored = item ? item->bytes() : std::string_view();
    const std::string_view old_stored = old_item != nullptr ? old_item->bytes() : std::string_view();
    staged.old_bytes += static_cast<std::size_t>(vector_difference(table, old_stored));
    staged.new_bytes += static_cast<std::size_t>(vector_difference(table, new_stored));
    if (wanted.capacity == ReturnCapacity::indexes)
      staged.vector_writes = vector_writes(table, old_stored, new_stored);
  }
  staged.returned = returned_item(wanted.values, write.update, old_item, item);
  if (item) {
    transaction.put_stored(slot, *std::move(item));
  } else if (write.kind == ItemWrite::Kind::remove && old_item != nullptr) {
    transaction.remove(slot);
  }
  transaction.free_trees(slot);
  return staged;
}

Unexpected<Error> not_locked(const engine::Transaction& transaction) {
  return transaction.meets_another_region() ? error::replicated_write_conflict() : table_not_found();
}

void add_write(ConsumedCapacity& consumed, const engine::Transaction& transaction,
               engine::Transaction::Slot slot, const Written& write) {
  consumed.add_write(transaction.table(slot), write.old_bytes, write.new_bytes,
                     transaction.index_effects(slot));
  for (const auto& [name, bytes] : write.vector_writes) consumed.add_vector_index(name, bytes);
}

Result<WriteOutcome> perform(ItemWrite write, const WantedAnswer& wanted, const Context& context,
                             std::uint64_t& steps) {
  engine::Transaction transaction(context.database.write_path(), engine::Cause::user);
  const auto slot = transaction.add(write.table, std::move(write.key));
  CHECK_OK(check_room(write, context));
  if (!transaction.lock()) return not_locked(transaction);
  CHECK_OK(count_steps(write, transaction.old_item(slot), steps));
  CollectionSizes sizes(context);
  TRY(Written staged, stage_write(transaction, slot, write, wanted, sizes));
  transaction.commit();

  const Table& table = transaction.table(slot);
  WriteOutcome outcome{.item = std::move(staged.returned)};
  if (!staged.collection_key.empty()) {
    json::Writer metrics(outcome.collection_metrics);
    write_collection_metrics(metrics, table, staged.collection_key);
  }
  if (wanted.capacity != ReturnCapacity::none)
    add_write(outcome.consumed.emplace(table.name), transaction, slot, staged);
  return outcome;
}

Result<void> write_item(ItemWrite write, const WantedAnswer& wanted, const Context& context,
                        json::Writer& out) {
  std::uint64_t steps = 0;
  TRY(const WriteOutcome outcome, perform(std::move(write), wanted, context, steps));
  out.begin_object();
  if (!outcome.item.empty()) {
    out.key("Attributes");
    out.raw(outcome.item);
  }
  if (outcome.consumed) {
    out.key("ConsumedCapacity");
    outcome.consumed->write(out, wanted.capacity);
  }
  if (!outcome.collection_metrics.empty()) {
    out.key("ItemCollectionMetrics");
    out.raw(outcome.collection_metrics);
  }
  out.end_object();
  return {};
}

}  // namespace mayfly::compat
