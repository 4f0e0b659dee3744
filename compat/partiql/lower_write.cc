#include "compat/partiql/lower_write.h"

#include <optional>
#include <utility>
#include <vector>

#include "compat/partiql/key_reads.h"
#include "compat/partiql/lower_read.h"
#include "engine/base/check.h"
#include "engine/values/item_size.h"

namespace mayfly::compat::partiql {
namespace {

using engine::Table;
using expression::Condition;
using expression::KeyPredicate;
using Conditions = std::vector<Condition>;

// Splits a condition into the conditions that AND joins: a AND (b AND c) becomes a, b, c.
void split(Condition condition, Conditions& out) {
  if (auto* both = std::get_if<expression::And>(&condition.node)) {
    split(std::move(*both->left), out);
    split(std::move(*both->right), out);
  } else {
    out.push_back(std::move(condition));
  }
}

Condition both(Condition left, Condition right) {
  return {expression::And{std::make_unique<Condition>(std::move(left)),
                          std::make_unique<Condition>(std::move(right))}};
}

std::optional<Condition> joined(Conditions conditions) {
  std::optional<Condition> all;
  for (Condition& condition : conditions) {
    all = all ? both(*std::move(all), std::move(condition)) : std::move(condition);
  }
  return all;
}

Condition is_there(const Table& table) {
  return {expression::AttributeExists{{{table.keys.partition().front().name}}}};
}

Condition is_absent(const Table& table) {
  return {expression::AttributeNotExists{{{table.keys.partition().front().name}}}};
}

// The conditions of a WHERE clause, separated into the key and the rest.
struct KeyAndRest {
  engine::Item key;  // the key attributes that the clause gives
  Conditions rest;
  std::optional<std::string> twice;  // a key attribute given two values; the second is in `rest`
};

KeyAndRest take_key(const Table& table, std::optional<Condition> where) {
  KeyAndRest result;
  Conditions conditions;
  if (where) split(*std::move(where), conditions);
  for (Condition& condition : conditions) {
    auto predicate = key_predicate(condition);
    const bool is_key = predicate && table.keys.names(predicate->attribute);
    if (!is_key || predicate->kind != KeyPredicate::Kind::equal) {
      result.rest.push_back(std::move(condition));
      continue;
    }
    const auto* before = result.key.find(predicate->attribute);
    if (before == nullptr) {
      result.key.set(predicate->attribute, *predicate->low);
    } else if (*before != *predicate->low) {
      if (!result.twice) result.twice = predicate->attribute;
      result.rest.push_back(std::move(condition));
    }
  }
  return result;
}

Result<Conditions> lower_key(const Table& table, std::optional<Condition> where, bool in_transaction,
                             ItemWrite& write) {
  KeyAndRest taken = take_key(table, std::move(where));
  const bool whole = taken.key.size() == table.keys.all().size();
  if (!whole && !in_transaction) {
    return error::validation("Where clause does not contain a mandatory equality on all key attributes");
  }
  if (taken.twice) {
    return error::validation("Multiple conditions on same key " + *taken.twice +
                             ". Only single item Update/Insert/Delete are supported");
  }
  write.key_attributes = std::move(taken.key);
  return std::move(taken.rest);
}

Result<void> lower(Insert insert, const Table&, bool, ItemWrite& write) {
  write.kind = ItemWrite::Kind::put;
  write.item = engine::StoredItem(std::move(insert.item));
  write.only_new = true;
  return check_new_size(write.item);
}

// UPDATE requires that the item exist.
Result<void> lower(Update update, const Table& table, bool in_transaction, ItemWrite& write) {
  write.kind = ItemWrite::Kind::update;
  TRY(Conditions rest, lower_key(table, std::move(update.where), in_transaction, write));
  write.update = std::move(update.update);
  rest.push_back(is_there(table));
  write.condition = joined(std::move(rest));
  return {};
}

// A DELETE of a missing item succeeds, whatever other conditions the statement has.
Result<void> lower(Delete remove, const Table& table, bool in_transaction, ItemWrite& write) {
  write.kind = ItemWrite::Kind::remove;
  TRY(Conditions rest, lower_key(table, std::move(remove.where), in_transaction, write));
  auto all = joined(std::move(rest));
  if (!all) return {};
  write.condition = Condition{expression::Or{std::make_unique<Condition>(is_absent(table)),
                                             std::make_unique<Condition>(*std::move(all))}};
  return {};
}

// EXISTS requires that its SELECT find the item: the item must exist and satisfy the other conditions. If the
// clause gives a key attribute two values, the first identifies the item and the second is a condition that
// fails.
Result<void> lower(Exists exists, const Table& table, bool, ItemWrite& write) {
  write.kind = ItemWrite::Kind::check;
  CHECK_OK(check_readable(table, exists.select));
  if (exists.select.index)
    return error::validation("Operations on indices are not supported in transactions");
  KeyAndRest taken = take_key(table, std::move(exists.select.where));
  const bool whole = taken.key.size() == table.keys.all().size();
  if (!whole || taken.rest.empty()) {
    return error::validation("EXISTS() must contain a single item read with additional condition");
  }
  write.key_attributes = std::move(taken.key);
  taken.rest.push_back(is_there(table));
  write.condition = joined(std::move(taken.rest));
  return {};
}

Result<void> lower(Select, const Table&, bool, ItemWrite&) {
  MAYFLY_CHECK(false);
  return error::internal_server_error();
}

}  // namespace

Result<ItemWrite> lower_write(std::shared_ptr<engine::LiveTable> live, Statement statement,
                              bool in_transaction) {
  const auto table = live->description();
  ItemWrite write{.table = std::move(live)};
  CHECK_OK(std::visit([&](auto& each) { return lower(std::move(each), *table, in_transaction, write); },
                      statement));
  return write;
}

Unexpected<Error> exists_outside_transaction() {
  return error::validation("EXISTS can only be used in ExecuteTransaction write requests.");
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

}  // namespace mayfly::compat::partiql
