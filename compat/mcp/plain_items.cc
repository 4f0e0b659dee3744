#include "compat/mcp/plain_items.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace mayfly::compat::mcp {
namespace {

using json::Tree;
using Change = void (*)(Tree& value);

Tree typed(std::string_view type, Tree value) {
  Tree one = Tree::object();
  one[std::string(type)] = std::move(value);
  return one;
}

void write_type(Tree& value) {
  switch (value.type()) {
    case Tree::value_t::null:
    case Tree::value_t::discarded: value = typed("NULL", true); return;
    case Tree::value_t::boolean: value = typed("BOOL", value.get<bool>()); return;
    case Tree::value_t::string: value = typed("S", std::move(value)); return;
    case Tree::value_t::number_integer:
    case Tree::value_t::number_unsigned:
    case Tree::value_t::number_float:
    case Tree::value_t::binary: value = typed("N", json::print(value)); return;  // binary: json::raw
    case Tree::value_t::array:
      for (Tree& element : value) write_type(element);
      value = typed("L", std::move(value));
      return;
    case Tree::value_t::object:
      for (Tree& member : value) write_type(member);
      value = typed("M", std::move(value));
      return;
  }
}

// Converts a number's text to a JSON number; other text stays a string.
Tree number_of(Tree text) {
  const auto& digits = text.get_ref<const std::string&>();
  const bool is_number = !digits.empty() &&
                         digits.find_first_not_of("0123456789+-.eE") == std::string::npos &&
                         json::parse_tree(digits, json::Decimals::as_written).has_value();
  return is_number ? json::raw(digits) : std::move(text);
}

void drop_type(Tree& value) {
  if (!value.is_object() || value.size() != 1) return;
  const std::string type = value.begin().key();
  Tree held = std::move(*value.begin());
  if (type == "N" && held.is_string()) {
    held = number_of(std::move(held));
  } else if (type == "NULL") {
    held = nullptr;
  } else if (type == "NS" && held.is_array()) {
    for (Tree& number : held)
      if (number.is_string()) number = number_of(std::move(number));
  } else if (type == "L" || type == "M") {
    for (Tree& element : held) drop_type(element);
  }
  value = std::move(held);
}

void change_members(Tree& item, Change change) {
  if (item.is_object())
    for (Tree& value : item) change(value);
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
// The members of these are named after tables, so a member named "Items" there is a table.
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
      for (Tree& parameter : value) change(parameter);
    else
      walk(value, change);
  }
}

}  // namespace

void write_types(Tree& request) { walk(request, &write_type); }
void drop_types(Tree& answer) { walk(answer, &drop_type); }

}  // namespace mayfly::compat::mcp
