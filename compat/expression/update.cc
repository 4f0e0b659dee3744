// An update is applied in three steps, so that a rejected request costs little, regardless of the values that
// it names:
//
// 1. Draft the value of each action. A draft points to the parts of the value, which are in the old item
//    or in the expression. Types and paths are checked; nothing is copied.
// 2. Add up the sizes of all drafts. Every drafted value becomes part of the new item, so the update is
//    rejected as soon as the sum exceeds the maximum item size.
// 3. Build the values, and change each affected list and map in one pass. Existing elements and attributes
//    are replaced in place. Then elements beyond the end of a list are appended in the order of their
//    indexes. Elements are removed last, so that no element's index changes before it is used. The paths of
//    one update do not overlap; the parser checks this.
#include "compat/expression/update.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "compat/expression/evaluate.h"
#include "compat/expression/path_visitor.h"
#include "compat/expression/projection.h"
#include "engine/values/item_size.h"

namespace mayfly::compat::expression {
namespace {

using engine::AttributeValue;
using engine::Item;
using engine::List;
using engine::Map;
using engine::Number;

// The maximum number of values that can move while a map's changes are made one by one. Beyond this limit,
// all changes are made in one pass.
constexpr std::size_t moves_max = 1024;

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

// Lists to join, in order.
using Lists = std::vector<const AttributeValue*>;
// Two sets of the same type.
struct Union {
  const AttributeValue* set;
  const AttributeValue* added;
};
// The value of an action before it is built: a value of the item or the expression, a computed value, or the
// parts to build it from. Pointers point into the old item and into the update.
using Draft = std::variant<const AttributeValue*, AttributeValue, Lists, Union>;

template <class T>
const T* get_if(const Draft& draft) {
  if (const auto* value = std::get_if<const AttributeValue*>(&draft)) return (*value)->get_if<T>();
  const auto* computed = std::get_if<AttributeValue>(&draft);
  return computed == nullptr ? nullptr : computed->get_if<T>();
}

// Returns false if the value is not a list.
bool append_lists(Draft draft, Lists& out) {
  if (const auto* value = std::get_if<const AttributeValue*>(&draft)) {
    if ((*value)->type() != engine::Type::list) return false;
    out.push_back(*value);
    return true;
  }
  auto* lists = std::get_if<Lists>(&draft);
  if (lists == nullptr) return false;
  if (out.empty()) {
    out = std::move(*lists);
  } else {
    out.insert(out.end(), lists->begin(), lists->end());
  }
  return true;
}

Result<Draft> to_draft(const Expected<Number, engine::NumberError>& number) {
  if (number) return Draft(AttributeValue(*number));
  if (number.error() == engine::NumberError::underflow) {
    return error::validation(
        "Number underflow. Attempting to store a number with magnitude smaller than supported range");
  }
  // DynamoDB also returns this error for a sum that needs more than 38 digits.
  return error::validation(
      "Number overflow. Attempting to store a number with magnitude larger than supported range");
}

struct EvaluateUpdate {
  const Item& item;

  Result<Draft> operator()(const UpdateValue::Constant& constant) const { return Draft(&*constant.value); }
  Result<Draft> operator()(const UpdateValue::Reference& reference) const {
    const AttributeValue* value = find(reference.path, item);
    if (value == nullptr) return missing_attribute();
    return Draft(value);
  }
  Result<Draft> operator()(const UpdateValue::IfNotExists& choice) const {
    if (const AttributeValue* value = find(choice.path, item)) return Draft(value);
    return std::visit(*this, choice.otherwise->node);
  }
  Result<Draft> operator()(const UpdateValue::ListAppend& append) const {
    Lists lists;
    TRY(Draft first, std::visit(*this, append.first->node));
    if (!append_lists(std::move(first), lists)) return incorrect_operand();
    TRY(Draft second, std::visit(*this, append.second->node));
    if (!append_lists(std::move(second), lists)) return incorrect_operand();
    return Draft(std::move(lists));
  }
  Result<Draft> operator()(const UpdateValue::Arithmetic& sum) const {
    TRY(const Draft left, std::visit(*this, sum.left->node));
    const Number* a = get_if<Number>(left);
    if (a == nullptr) return incorrect_operand();
    TRY(const Draft right, std::visit(*this, sum.right->node));
    const Number* b = get_if<Number>(right);
    if (b == nullptr) return incorrect_operand();
    return to_draft(sum.subtract ? Number::subtract(*a, *b) : Number::add(*a, *b));
  }
};

bool can_have(const Path& path, const Item& item) {
  if (path.elements.size() == 1) return true;
  const AttributeValue* parent = find_prefix(path, path.elements.size() - 1, item);
  if (parent == nullptr) return false;
  const bool named = std::holds_alternative<std::string>(path.elements.back());
  return parent->type() == (named ? engine::Type::map : engine::Type::list);
}

// The new value of a path, or nullopt to remove the path.
struct Change {
  const Path* path;
  std::optional<Draft> value;
};
using Changes = std::span<Change>;

bool is_set(const AttributeValue& value) {
  return value.type() == engine::Type::string_set || value.type() == engine::Type::number_set ||
         value.type() == engine::Type::binary_set;
}

Result<Draft> sum_of(const AttributeValue* old_value, const AttributeValue& added, bool legacy) {
  if (old_value == nullptr) return Draft(&added);
  if (const Number* number = added.get_if<Number>()) {
    const Number* old_number = old_value->get_if<Number>();
    if (old_number == nullptr) return type_mismatch(legacy);
    return to_draft(Number::add(*old_number, *number));
  }
  if (old_value->type() != added.type()) return type_mismatch(legacy);
  if (legacy && added.type() == engine::Type::list) return Draft(Lists{old_value, &added});
  if (is_set(added)) return Draft(Union{old_value, &added});
  return type_mismatch(legacy);
}

// Removes the members of `deleted` from `value`. Returns true if `value` is empty afterwards. If the two
// values are not sets of T, does nothing and returns false.
template <class T>
bool delete_from_set(AttributeValue& value, const AttributeValue& deleted) {
  auto* set = value.get_if<engine::Set<T>>();
  const auto* gone = deleted.get_if<engine::Set<T>>();
  if (set == nullptr || gone == nullptr) return false;
  set->erase_all(*gone);
  return set->empty();
}

// Returns nullopt if the set would be empty. The result is built here, because it is not larger than the
// item's set.
Result<std::optional<Draft>> difference_of(const AttributeValue& old_value, const AttributeValue& deleted,
                                           bool legacy) {
  if (old_value.type() != deleted.type() || !is_set(deleted)) return type_mismatch(legacy);
  AttributeValue value = old_value;
  const bool emptied = delete_from_set<std::string>(value, deleted) ||
                       delete_from_set<Number>(value, deleted) ||
                       delete_from_set<engine::Binary>(value, deleted);
  if (emptied) return std::optional<Draft>();
  return std::optional<Draft>(std::move(value));
}

Result<std::vector<Change>> draft_changes(const Update& update, const Item& item, bool item_exists) {
  std::vector<Change> out;
  for (const SetAction& set : update.sets) {
    TRY(Draft value, std::visit(EvaluateUpdate{item}, set.value.node));
    out.push_back({&set.path, std::move(value)});
  }
  for (const SetAction& set : update.sets) {
    if (!can_have(set.path, item)) return invalid_path();
  }
  for (const RemoveAction& remove : update.removes) {
    // If the item does not exist, any REMOVE is valid, even REMOVE a.b.
    if (item_exists && !can_have(remove.path, item)) return invalid_path();
    if (find(remove.path, item) != nullptr) out.push_back({&remove.path, std::nullopt});
  }
  for (const AddAction& add : update.adds) {
    if (!can_have(add.path, item)) return invalid_path();
    TRY(Draft value, sum_of(find(add.path, item), *add.value, update.legacy));
    out.push_back({&add.path, std::move(value)});
  }
  for (const DeleteAction& action : update.deletes) {
    if (!can_have(action.path, item)) return invalid_path();
    const AttributeValue* old_value = find(action.path, item);
    if (old_value == nullptr) continue;
    TRY(std::optional<Draft> value, difference_of(*old_value, *action.value, update.legacy));
    out.push_back({&action.path, std::move(value)});
  }
  return out;
}

// Adds up the sizes of the values that an update writes, as DynamoDB counts them.
class WrittenBytes {
 public:
  // Returns false if the sum exceeds the maximum item size. A union counts as the added set alone, because
  // the item's set may already have some of the added members.
  bool add(const Draft& draft) {
    if (const auto* value = std::get_if<const AttributeValue*>(&draft))
      return add(engine::value_size(**value));
    if (const auto* computed = std::get_if<AttributeValue>(&draft)) return add(engine::value_size(*computed));
    if (const auto* both = std::get_if<Union>(&draft)) return add(engine::value_size(*both->added));
    const auto& lists = std::get<Lists>(draft);
    return std::all_of(lists.begin(), lists.end(), [&](const AttributeValue* list) {
      return add(engine::value_size(*list) - engine::container_bytes);
    });
  }

 private:
  bool add(std::size_t bytes) {
    bytes_ += bytes;
    return bytes_ <= engine::item_bytes_max;
  }
  std::size_t bytes_ = 0;
};

// Requires: the changes are sorted by path.
bool can_fit(Changes changes) {
  WrittenBytes written;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    // AttributeUpdates can name an attribute twice; the last change counts.
    const bool overridden = i + 1 < changes.size() && *changes[i + 1].path == *changes[i].path;
    if (!overridden && changes[i].value && !written.add(*changes[i].value)) return false;
  }
  return true;
}

template <class T>
void add_to_set(AttributeValue& value, const AttributeValue& added) {
  const auto* more = added.get_if<engine::Set<T>>();
  if (more != nullptr) value.get_if<engine::Set<T>>()->insert_all(*more);
}

struct Build {
  AttributeValue operator()(const AttributeValue* value) const { return *value; }
  AttributeValue operator()(AttributeValue&& computed) const { return std::move(computed); }
  AttributeValue operator()(Lists&& lists) const {
    List joined;
    std::size_t size = 0;
    for (const AttributeValue* list : lists) size += list->get_if<List>()->size();
    joined.reserve(size);
    for (const AttributeValue* list : lists)
      joined.insert(joined.end(), list->get_if<List>()->begin(), list->get_if<List>()->end());
    return AttributeValue(std::move(joined));
  }
  AttributeValue operator()(Union&& both) const {
    AttributeValue value = *both.set;
    add_to_set<std::string>(value, *both.added);
    add_to_set<Number>(value, *both.added);
    add_to_set<engine::Binary>(value, *both.added);
    return value;
  }
};

AttributeValue build(Draft draft) { return std::visit(Build{}, std::move(draft)); }

void change(Map& map, Changes changes, std::size_t depth);
void change(List& list, Changes changes, std::size_t depth);

// Returns the changes within one element: the change at `from` and the changes after it whose paths have the
// same element at `depth`.
Changes within(Changes changes, std::size_t from, std::size_t depth) {
  std::size_t to = from + 1;
  while (to < changes.size() && changes[to].path->elements[depth] == changes[from].path->elements[depth])
    ++to;
  return changes.subspan(from, to - from);
}

// Requires: the value is a map if the paths have a name at `depth`, and a list if they have an index.
void change(AttributeValue& value, Changes changes, std::size_t depth) {
  if (auto* map = value.get_if<Map>()) return change(*map, changes, depth);
  change(*value.get_if<List>(), changes, depth);
}

// Requires: the changes are sorted by path, and their paths lead through the map at `depth`.
void change(Map& map, Changes changes, std::size_t depth) {
  std::vector<engine::Attribute> set;
  std::vector<std::string_view> erased;
  // Adding or removing one attribute moves all attributes that follow it, and a legacy request can have
  // 100,000 changes. A large number of changes is therefore made in one pass.
  const bool one_by_one = changes.size() * map.size() <= moves_max;
  for (std::size_t i = 0; i < changes.size();) {
    Change& first = changes[i];
    const std::string& name = std::get<std::string>(first.path->elements[depth]);
    if (first.path->elements.size() > depth + 1) {
      const Changes inner = within(changes, i, depth);
      change(*map.find(name), inner, depth + 1);
      i += inner.size();
      continue;
    }
    ++i;
    if (one_by_one && first.value) {
      map.set(name, build(*std::move(first.value)));
    } else if (one_by_one) {
      map.erase(name);
    } else if (first.value) {
      set.push_back({name, build(*std::move(first.value))});
    } else {
      erased.push_back(name);
    }
  }
  if (!set.empty() || !erased.empty()) map.change(std::move(set), erased);
}

// Requires: the changes are sorted by path, and their paths lead through the list at `depth`.
void change(List& list, Changes changes, std::size_t depth) {
  std::vector<std::uint32_t> erased;  // ascending
  const std::size_t old_size = list.size();
  for (std::size_t i = 0; i < changes.size();) {
    Change& first = changes[i];
    const std::uint32_t index = std::get<std::uint32_t>(first.path->elements[depth]);
    if (first.path->elements.size() > depth + 1) {
      const Changes inner = within(changes, i, depth);
      change(list[index], inner, depth + 1);
      i += inner.size();
      continue;
    }
    ++i;
    if (!first.value) {
      erased.push_back(index);
    } else if (index < old_size) {
      list[index] = build(*std::move(first.value));
    } else {
      list.push_back(build(*std::move(first.value)));
    }
  }
  if (erased.empty()) return;
  auto next = erased.begin();
  std::size_t kept = erased.front();
  for (std::size_t at = kept; at < list.size(); ++at) {
    if (next != erased.end() && *next == at) {
      ++next;
    } else {
      list[kept++] = std::move(list[at]);
    }
  }
  list.resize(kept);
}

template <class Visit>
void for_each_changed_path(const Update& update, Visit visit) {
  for (const SetAction& set : update.sets) visit(set.path);
  for (const RemoveAction& remove : update.removes) visit(remove.path);
  for (const AddAction& add : update.adds) visit(add.path);
  for (const DeleteAction& action : update.deletes) visit(action.path);
}

}  // namespace

Unexpected<Error> update_too_large() {
  return error::validation("Item size to update has exceeded the maximum allowed size");
}

Result<Item> apply(const Update& update, const Item& old_item, bool item_exists) {
  TRY(std::vector<Change> changes, draft_changes(update, old_item, item_exists));
  // Sort the changes by path, so that elements are appended in the order of their indexes and changes to the
  // same value are adjacent.
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.path->elements < b.path->elements; });
  if (!can_fit(changes)) return update_too_large();
  Item item = old_item;
  change(item, changes, 0);
  if (engine::item_size(item) > engine::item_bytes_max) return update_too_large();
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
  if (paths.empty()) return {};  // an empty projection would select everything
  return project(paths, item);
}

}  // namespace mayfly::compat::expression
