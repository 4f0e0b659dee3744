#include "compat/partiql/lower.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "compat/expression/key_condition.h"
#include "compat/read_rules.h"
#include "compat/request_expressions.h"
#include "compat/rules.h"
#include "engine/item_size.h"

namespace mayfly::compat::partiql {
namespace {

using engine::AttributeValue;
using engine::KeyAttribute;
using engine::Table;
using expression::Comparator;
using expression::Comparison;
using expression::Condition;
using expression::KeyPredicate;
using expression::Path;
using Conditions = std::vector<Condition>;

// a AND (b AND c) -> a, b, c
void split(Condition condition, Conditions& out) {
  if (auto* both = std::get_if<expression::And>(&condition.node)) {
    split(std::move(*both->left), out);
    split(std::move(*both->right), out);
  } else {
    out.push_back(std::move(condition));
  }
}

Conditions split(std::optional<Condition> where) {
  Conditions conditions;
  if (where) split(*std::move(where), conditions);
  return conditions;
}

std::optional<Condition> joined(Conditions conditions) {
  std::optional<Condition> all;
  for (Condition& condition : conditions) {
    if (!all) {
      all = std::move(condition);
    } else {
      all = Condition{expression::And{std::make_unique<Condition>(*std::move(all)),
                                      std::make_unique<Condition>(std::move(condition))}};
    }
  }
  return all;
}

bool names(const expression::Operand& operand, std::string_view attribute) {
  const auto* path = std::get_if<Path>(&operand.value);
  return path != nullptr && path->elements.size() == 1 && std::get<std::string>(path->elements.front()) == attribute;
}

const AttributeValue* constant(const expression::Operand& operand) {
  return std::get_if<AttributeValue>(&operand.value);
}

std::optional<KeyPredicate::Kind> key_kind(Comparator comparator) {
  switch (comparator) {
    case Comparator::equal: return KeyPredicate::Kind::equal;
    case Comparator::less: return KeyPredicate::Kind::less;
    case Comparator::less_equal: return KeyPredicate::Kind::less_equal;
    case Comparator::greater: return KeyPredicate::Kind::greater;
    case Comparator::greater_equal: return KeyPredicate::Kind::greater_equal;
    case Comparator::not_equal: break;
  }
  return std::nullopt;
}

// The condition as one on this key attribute, if it is one that a Query can look up.
std::optional<KeyPredicate> as_predicate(const Condition& condition, const std::string& attribute) {
  if (const auto* comparison = std::get_if<Comparison>(&condition.node)) {
    const auto kind = key_kind(comparison->comparator);
    const AttributeValue* value = constant(comparison->right);
    if (!kind || value == nullptr || !names(comparison->left, attribute)) return std::nullopt;
    return KeyPredicate{attribute, *kind, *value, {}};
  }
  if (const auto* in = std::get_if<expression::In>(&condition.node)) {  // of one value
    if (in->candidates.size() != 1 || !names(in->value, attribute)) return std::nullopt;
    const AttributeValue* value = constant(in->candidates.front());
    if (value == nullptr) return std::nullopt;
    return KeyPredicate{attribute, KeyPredicate::Kind::equal, *value, {}};
  }
  if (const auto* between = std::get_if<expression::Between>(&condition.node)) {
    const AttributeValue* low = constant(between->low);
    const AttributeValue* high = constant(between->high);
    if (low == nullptr || high == nullptr || !names(between->value, attribute)) return std::nullopt;
    // Bounds that hold nothing, or that do not compare, are left to the filter: it finds nothing.
    const auto order = engine::compare_scalars(*low, *high);
    if (order != std::partial_ordering::less && order != std::partial_ordering::equivalent) return std::nullopt;
    return KeyPredicate{attribute, KeyPredicate::Kind::between, *low, *high};
  }
  if (const auto* begins = std::get_if<expression::BeginsWith>(&condition.node)) {
    const AttributeValue* prefix = constant(begins->prefix);
    if (prefix == nullptr || !names(begins->value, attribute)) return std::nullopt;
    return KeyPredicate{attribute, KeyPredicate::Kind::begins_with, *prefix, {}};
  }
  return std::nullopt;
}

// Takes the first condition that fixes the attribute to a value; with `or_range` also one that gives it a range.
std::optional<KeyPredicate> take(Conditions& conditions, const KeyAttribute& attribute, bool or_range = false) {
  for (auto condition = conditions.begin(); condition != conditions.end(); ++condition) {
    auto predicate = as_predicate(*condition, attribute.name);
    if (!predicate || (predicate->kind != KeyPredicate::Kind::equal && !or_range)) continue;
    conditions.erase(condition);
    return predicate;
  }
  return std::nullopt;
}

bool fixes(const Conditions& conditions, const KeyAttribute& attribute) {
  return std::any_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
    const auto predicate = as_predicate(condition, attribute.name);
    return predicate && predicate->kind == KeyPredicate::Kind::equal;
  });
}

// The key conditions of a Query, taken from `conditions`; none if the partition key is not given as a whole.
std::vector<KeyPredicate> take_key(Conditions& conditions, const engine::KeySchema& keys) {
  std::vector<KeyPredicate> predicates;
  for (const KeyAttribute& attribute : keys.partition) {
    if (!fixes(conditions, attribute)) return {};
  }
  for (const KeyAttribute& attribute : keys.partition) predicates.push_back(*take(conditions, attribute));
  for (const KeyAttribute& attribute : keys.sort) {
    auto predicate = take(conditions, attribute);
    const bool equal = predicate.has_value();
    if (!equal) predicate = take(conditions, attribute, true);
    if (predicate) predicates.push_back(*std::move(predicate));
    if (!equal) break;
  }
  return predicates;
}

bool is_key(const engine::KeySchema& keys, std::string_view name) {
  const auto named = [&](const KeyAttribute& attribute) { return attribute.name == name; };
  return std::any_of(keys.partition.begin(), keys.partition.end(), named) ||
         std::any_of(keys.sort.begin(), keys.sort.end(), named);
}

// Results come in the order of sort keys, or the other way round.
Result<void> apply_order(const Select& select, bool has_where, bool is_query, PageRequest& page) {
  if (select.order.empty()) return {};
  if (!has_where) return error::validation("Must have WHERE clause in the statement when using ORDER BY clause.");
  const engine::KeySchema& keys = page.target.keys();
  for (const OrderBy& order : select.order) {
    if (!is_key(keys, order.attribute)) {
      return error::validation("Attribute " + order.attribute + " in ORDER BY clause must be part of the primary key");
    }
  }
  if (!is_query) {
    return error::validation(
        "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.");
  }
  for (const OrderBy& order : select.order) {
    if (!keys.sort.empty() && order.attribute == keys.sort.front().name) page.range.forward = !order.descending;
  }
  return {};
}

struct KeyAndRest {
  engine::Item key;
  Conditions rest;
};

Result<KeyAndRest> take_whole_key(const Table& table, std::optional<Condition> where) {
  KeyAndRest result{{}, split(std::move(where))};
  for (const auto* part : {&table.keys.partition, &table.keys.sort}) {
    for (const KeyAttribute& attribute : *part) {
      auto predicate = take(result.rest, attribute);
      if (!predicate) {
        return error::validation("Where clause does not contain a mandatory equality on all key attributes");
      }
      result.key.set(attribute.name, std::move(predicate->low));
    }
  }
  return result;
}

Path partition_path(const Table& table) { return {{Path::Element(table.keys.partition.front().name)}}; }

// A put is refused if the item is there; PartiQL has another name for that.
Result<void> lower(Insert insert, const Table& table, ItemWrite& write) {
  write.kind = ItemWrite::Kind::put;
  write.item = std::move(insert.item);
  if (engine::item_size(write.item) > engine::item_bytes_max) {
    return error::validation("Item size has exceeded the maximum allowed size");
  }
  TRY(write.key, item_key(table, write.item));
  CHECK_OK(check_index_keys(table, write.item));
  write.condition = Condition{expression::AttributeNotExists{partition_path(table)}};
  return {};
}

// Updates only what is there.
Result<void> lower(Update update, const Table& table, ItemWrite& write) {
  write.kind = ItemWrite::Kind::update;
  TRY(KeyAndRest where, take_whole_key(table, std::move(update.where)));
  write.item = std::move(where.key);
  TRY(write.key, request_key(table, write.item));
  CHECK_OK(check_update(table, update.update));
  write.update = std::move(update.update);
  where.rest.push_back({expression::AttributeExists{partition_path(table)}});
  write.condition = joined(std::move(where.rest));
  return {};
}

// To delete what is not there is no failure, whatever else is asked of it.
Result<void> lower(Delete remove, const Table& table, ItemWrite& write) {
  write.kind = ItemWrite::Kind::remove;
  TRY(KeyAndRest where, take_whole_key(table, std::move(remove.where)));
  write.item = std::move(where.key);
  TRY(write.key, request_key(table, write.item));
  auto rest = joined(std::move(where.rest));
  if (!rest) return {};
  auto absent = std::make_unique<Condition>(Condition{expression::AttributeNotExists{partition_path(table)}});
  write.condition = Condition{expression::Or{std::move(absent), std::make_unique<Condition>(*std::move(rest))}};
  return {};
}

Result<void> lower(Select, const Table&, ItemWrite&) {
  assert(false);
  return error::internal_server_error();
}

}  // namespace

Result<Read> lower_read(const Context& context, Select select, bool consistent) {
  Read read;
  PageRequest& page = read.page;
  TRY(page.target, find_read_target(context, select.table, select.index, consistent));
  const ReadTarget& target = page.target;
  page.consistent = consistent;
  if (!select.projection.empty()) {
    CHECK_OK(check_keys_are_scalars(*target.table, nested_names(select.projection)));
    page.projection = select.projection;
    page.flat_projection = true;
  }
  const bool has_where = select.where.has_value();
  Conditions conditions = split(std::move(select.where));
  std::vector<KeyPredicate> predicates = take_key(conditions, target.keys());
  const bool is_query = !predicates.empty();
  if (is_query) {
    TRY(const auto key, expression::match_key_schema(std::move(predicates), target.keys()));
    page.range = key_range(target, key);
    read.one_item = target.index == nullptr && key.sort_equal.size() == target.keys().sort.size();
  } else {
    page.range.index = target.index ? target.index->id : engine::IndexId{0};
    page.partitions = scanned_partitions(*target.table);
  }
  CHECK_OK(apply_order(select, has_where, is_query, page));
  page.filter = joined(std::move(conditions));
  if (page.filter) CHECK_OK(check_keys_are_scalars(*target.table, nested_names(*page.filter)));
  CHECK_OK(apply_index_projection(false, page));
  return read;
}

Result<ItemWrite> lower_write(const Context& context, Statement statement) {
  ItemWrite write;
  TRY(write.table, find_table(context, table_name(statement)));
  const auto table = write.table->description();
  CHECK_OK(std::visit([&](auto& each) { return lower(std::move(each), *table, write); }, statement));
  return write;
}

ReturnValues return_values(const Statement& statement) {
  const auto* update = std::get_if<Update>(&statement);
  const auto* remove = std::get_if<Delete>(&statement);
  switch (update ? update->returning : remove ? remove->returning : Returning::nothing) {
    case Returning::nothing: break;
    case Returning::all_old: return ReturnValues::all_old;
    case Returning::modified_old: return ReturnValues::updated_old;
    case Returning::all_new: return ReturnValues::all_new;
    case Returning::modified_new: return ReturnValues::updated_new;
  }
  return ReturnValues::none;
}

Result<WriteOutcome> perform_statement(ItemWrite write, const WantedAnswer& wanted, Context& context) {
  const bool insert = write.kind == ItemWrite::Kind::put;
  auto outcome = perform(std::move(write), wanted, context);
  if (!outcome && insert && outcome.error().type.ends_with("#ConditionalCheckFailedException")) {
    return error::duplicate_item();
  }
  return outcome;
}

}  // namespace mayfly::compat::partiql
