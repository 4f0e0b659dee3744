#include "compat/mcp/plain_items.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "compat/wire/plain_values.h"

namespace mayfly::compat::mcp {
namespace {

using json::Tree;
using Change = Tree (*)(Tree value);

void change_members(Tree& item, Change change) {
  if (item.is_object())
    for (Tree& value : item) value = change(std::move(value));
}

void change_all(Tree& items, Change change) {
  if (items.is_array())
    for (Tree& item : items) change_members(item, change);
}

constexpr std::array<std::string_view, 9> items_by_name = {"Item",
                                                           "Key",
                                                           "key",
                                                           "Attributes",
                                                           "ExclusiveStartKey",
                                                           "LastEvaluatedKey",
                                                           "ExpressionAttributeValues",
                                                           "NewImage",
                                                           "OldImage"};
constexpr std::array<std::string_view, 2> lists_by_name = {"Items",
                                                           "Keys"};  // in a stream record, "Keys" is one item
// The members of these objects are named after tables, so a member named "Items" in them is a table.
constexpr std::array<std::string_view, 4> by_table = {"RequestItems", "UnprocessedItems", "UnprocessedKeys",
                                                      "Responses"};

template <std::size_t size>
bool is_one_of(const std::array<std::string_view, size>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void walk(Tree& tree, Change change);

void walk_tables(Tree& tables, bool answers, Change change) {
  for (Tree& of_table : tables) {
    if (answers)
      change_all(of_table, change);
    else
      walk(of_table, change);
  }
}

void walk(Tree& tree, Change change) {
  if (tree.is_array())
    for (Tree& element : tree) walk(element, change);
  if (!tree.is_object()) return;
  for (auto member = tree.begin(); member != tree.end(); ++member) {
    const std::string& name = member.key();
    Tree& value = *member;
    if (is_one_of(by_table, name) && value.is_object())
      walk_tables(value, name == "Responses", change);
    else if (is_one_of(items_by_name, name) && value.is_object())
      change_members(value, change);
    else if (is_one_of(lists_by_name, name) && value.is_object())
      change_members(value, change);
    else if (is_one_of(lists_by_name, name))
      change_all(value, change);
    else if (name == "Parameters" && value.is_array())
      for (Tree& parameter : value) parameter = change(std::move(parameter));
    else
      walk(value, change);
  }
}

}  // namespace

void write_types(Tree& request) { walk(request, &typed_value); }
void drop_types(Tree& answer) { walk(answer, &plain_value); }

}  // namespace mayfly::compat::mcp
