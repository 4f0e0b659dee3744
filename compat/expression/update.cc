// How the actions of one update leave each other alone: every value is computed, and every path is looked up,
// in the item as it was. Then elements and attributes that exist are replaced in place, then what lies beyond
// a list's end is appended in order of the indexes, and elements are removed last, from the back, so that no
// index moves before it is used. Paths of one update do not overlap (the parser sees to it).
#include "compat/expression/update.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compat/expression/evaluate.h"
#include "compat/expression/path_visitor.h"
#include "compat/expression/projection.h"

namespace mayfly::compat::expression {
namespace {

using engine::AttributeValue;
using engine::Item;
using engine::Number;

constexpr std::size_t single_changes_max = 16;

Unexpected<Error> missing_attribute() {
  return error::validation("The provided expression refers to an attribute that does not exist in the item");
}
Unexpected<Error> incorrect_operand() {
  return error::validation("An operand in the update expression has an incorrect data type");
}
Unexpected<Error> type_mismatch(bool legacy) {
  if (!legacy) return incorrect_operand();
  return error::validation("Type mismatch for attribute to update");
}
Unexpected<Error> invalid_path() {
  return error::validation("The document path provided in the update expression is invalid for update");
}

Result<AttributeValue> to_value(const Expected<Number, engine::NumberError>& number) {
  if (number) return AttributeValue(*number);
  if (number.error() == engine::NumberError::underflow) {
    return error::validation(
        "Number underflow. Attempting to store a number with magnitude smaller than supported range");
  }
  // DynamoDB says the same of a sum that would need more than 38 digits.
  return error::validation(
      "Number overflow. Attempting to store a number with magnitude larger than supported range");
}

struct Evaluate {
  const Item& item;

  Result<AttributeValue> operator()(const UpdateValue::Constant& constant) const { return constant.value; }
  Result<AttributeValue> operator()(const UpdateValue::Reference& reference) const {
    const AttributeValue* value = find(reference.path, item);
    if (value == nullptr) return missing_attribute();
    return *value;
  }
  Result<AttributeValue> operator()(const UpdateValue::IfNotExists& choice) const {
    if (const AttributeValue* value = find(choice.path, item)) return *value;
    return std::visit(*this, choice.otherwise->node);
  }
  Result<AttributeValue> operator()(const UpdateValue::ListAppend& append) const {
    TRY(AttributeValue first, std::visit(*this, append.first->node));
    auto* list = first.get_if<engine::List>();
    if (list == nullptr) return incorrect_operand();
    TRY(AttributeValue second, std::visit(*this, append.second->node));
    auto* tail = second.get_if<engine::List>();
    if (tail == nullptr) return incorrect_operand();
    list->insert(list->end(), std::make_move_iterator(tail->begin()), std::make_move_iterator(tail->end()));
    return first;
  }
  Result<AttributeValue> operator()(const UpdateValue::Arithmetic& sum) const {
    TRY(AttributeValue left, std::visit(*this, sum.left->node));
    const Number* a = left.get_if<Number>();
    if (a == nullptr) return incorrect_operand();
    TRY(AttributeValue right, std::visit(*this, sum.right->node));
    const Number* b = right.get_if<Number>();
    if (b == nullptr) return incorrect_operand();
    return to_value(sum.subtract ? Number::subtract(*a, *b) : Number::add(*a, *b));
  }
};

// The map or list that has, or could have, what the path names; nullptr: there is none.
const AttributeValue* find_parent(const Path& path, const Item& item) {
  const AttributeValue* parent = find_prefix(path, path.elements.size() - 1, item);
  if (parent == nullptr) return nullptr;
  const bool named = std::holds_alternative<std::string>(path.elements.back());
  const bool fits =
      named ? parent->get_if<engine::Map>() != nullptr : parent->get_if<engine::List>() != nullptr;
  return fits ? parent : nullptr;
}

AttributeValue* find_parent(const Path& path, Item& item) {
  return const_cast<AttributeValue*>(find_parent(path, std::as_const(item)));
}

bool can_have(const Path& path, const Item& item) {
  return path.elements.size() == 1 || find_parent(path, item) != nullptr;
}

// A value for a path, or none to remove what is there.
struct Change {
  const Path* path;
  std::optional<AttributeValue> value;
};

template <class T>
bool add_to_set(AttributeValue& value, const AttributeValue& added) {
  const auto* more = added.get_if<engine::Set<T>>();
  if (more == nullptr) return false;
  auto* set = value.get_if<engine::Set<T>>();
  if (set == nullptr) return false;
  set->insert_all(*more);
  return true;
}

template <class T>
bool delete_from_set(AttributeValue& value, const AttributeValue& deleted, bool& emptied) {
  const auto* gone = deleted.get_if<engine::Set<T>>();
  if (gone == nullptr) return false;
  auto* set = value.get_if<engine::Set<T>>();
  if (set == nullptr) return false;
  set->erase_all(*gone);
  emptied = set->empty();
  return true;
}

Result<AttributeValue> sum_of(const AttributeValue* old_value, const AttributeValue& added, bool legacy) {
  if (old_value == nullptr) return added;
  if (const Number* number = added.get_if<Number>()) {
    const Number* old_number = old_value->get_if<Number>();
    if (old_number == nullptr) return type_mismatch(legacy);
    return to_value(Number::add(*old_number, *number));
  }
  AttributeValue value = *old_value;
  const auto* more = added.get_if<engine::List>();
  if (auto* list = value.get_if<engine::List>(); list != nullptr && more != nullptr && legacy) {
    list->insert(list->end(), more->begin(), more->end());
    return value;
  }
  if (add_to_set<std::string>(value, added) || add_to_set<Number>(value, added) ||
      add_to_set<engine::Binary>(value, added)) {
    return value;
  }
  return type_mismatch(legacy);
}

// Nothing: the set would be empty.
Result<std::optional<AttributeValue>> difference_of(const AttributeValue& old_value,
                                                    const AttributeValue& deleted, bool legacy) {
  AttributeValue value = old_value;
  bool emptied = false;
  if (!delete_from_set<std::string>(value, deleted, emptied) &&
      !delete_from_set<Number>(value, deleted, emptied) &&
      !delete_from_set<engine::Binary>(value, deleted, emptied)) {
    return type_mismatch(legacy);
  }
  if (emptied) return std::optional<AttributeValue>();
  return std::optional<AttributeValue>(std::move(value));
}

Result<std::vector<Change>> changes(const Update& update, const Item& item, bool item_exists) {
  std::vector<Change> out;
  for (const SetAction& set : update.sets) {
    TRY(AttributeValue value, std::visit(Evaluate{item}, set.value.node));
    out.push_back({&set.path, std::move(value)});
  }
  for (const SetAction& set : update.sets) {
    if (!can_have(set.path, item)) return invalid_path();
  }
  for (const RemoveAction& remove : update.removes) {
    // Of an item that does not exist anything may be removed, REMOVE a.b included.
    if (item_exists && !can_have(remove.path, item)) return invalid_path();
    if (find(remove.path, item) != nullptr) out.push_back({&remove.path, std::nullopt});
  }
  for (const AddAction& add : update.adds) {
    if (!can_have(add.path, item)) return invalid_path();
    TRY(AttributeValue value, sum_of(find(add.path, item), add.value, update.legacy));
    out.push_back({&add.path, std::move(value)});
  }
  for (const DeleteAction& action : update.deletes) {
    if (!can_have(action.path, item)) return invalid_path();
    const AttributeValue* old_value = find(action.path, item);
    if (old_value == nullptr) continue;
    TRY(std::optional<AttributeValue> value, difference_of(*old_value, action.value, update.legacy));
    out.push_back({&action.path, std::move(value)});
  }
  return out;
}

void put(const Path& path, AttributeValue value, Item& item) {
  if (path.elements.size() == 1)
    return item.set(std::get<std::string>(path.elements.front()), std::move(value));
  AttributeValue* parent = find_parent(path, item);
  if (const auto* name = std::get_if<std::string>(&path.elements.back())) {
    parent->get_if<engine::Map>()->set(*name, std::move(value));
    return;
  }
  auto& list = *parent->get_if<engine::List>();
  const std::uint32_t index = std::get<std::uint32_t>(path.elements.back());
  if (index < list.size()) {
    list[index] = std::move(value);
  } else {
    list.push_back(std::move(value));
  }
}

void remove(const Path& path, Item& item) {
  if (path.elements.size() == 1) {
    item.erase(std::get<std::string>(path.elements.front()));
    return;
  }
  AttributeValue* parent = find_parent(path, item);
  if (const auto* name = std::get_if<std::string>(&path.elements.back())) {
    parent->get_if<engine::Map>()->erase(*name);
    return;
  }
  auto& list = *parent->get_if<engine::List>();
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(std::get<std::uint32_t>(path.elements.back())));
}

template <class Visit>
void for_each_changed_path(const Update& update, Visit visit) {
  for (const SetAction& set : update.sets) visit(set.path);
  for (const RemoveAction& remove : update.removes) visit(remove.path);
  for (const AddAction& add : update.adds) visit(add.path);
  for (const DeleteAction& action : update.deletes) visit(action.path);
}

}  // namespace

Result<Item> apply(const Update& update, const Item& old_item, bool item_exists) {
  TRY(std::vector<Change> pending, changes(update, old_item, item_exists));
  // By path, so that appended elements come in the order of their indexes; nothing has moved before.
  std::sort(pending.begin(), pending.end(),
            [](const Change& a, const Change& b) { return a.path->elements < b.path->elements; });
  Item item = old_item;
  std::vector<engine::Attribute> set;
  std::vector<std::string_view> erased;
  // One by one each would move what stands behind it: of a legacy request there may be 100,000.
  const auto is_one_of_many = [&](const Change& change) {
    return pending.size() > single_changes_max && change.path->elements.size() == 1;
  };
  for (Change& change : pending) {
    if (!change.value) continue;
    if (is_one_of_many(change)) {
      set.push_back({top_level_name(*change.path), *std::move(change.value)});
    } else {
      put(*change.path, *std::move(change.value), item);
    }
  }
  for (auto change = pending.rbegin(); change != pending.rend(); ++change) {
    if (change->value) continue;
    if (is_one_of_many(*change)) {
      erased.push_back(top_level_name(*change->path));
    } else {
      remove(*change->path, item);
    }
  }
  std::reverse(erased.begin(), erased.end());
  if (!set.empty() || !erased.empty()) item.change(std::move(set), erased);
  return item;
}

std::vector<std::string> touched_attributes(const Update& update) {
  std::vector<std::string> names;
  for_each_changed_path(
      update, [&](const Path& path) { names.push_back(std::get<std::string>(path.elements.front())); });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Item updated_parts(const Update& update, const Item& item) {
  Projection paths;
  for_each_changed_path(update, [&](const Path& path) { paths.push_back(path); });
  if (paths.empty()) return {};  // an empty projection would be everything
  return project(paths, item);
}

}  // namespace mayfly::compat::expression
