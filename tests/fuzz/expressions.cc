// Parses a string as each kind of expression. Every expression that parses can be evaluated on any item, and
// the results are consistent.
//
//   Input: a byte that selects an item, then the string
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compat/expression/evaluate.h"
#include "compat/expression/key_condition.h"
#include "compat/expression/projection.h"
#include "compat/expression/update.h"
#include "compat/syntax/parser.h"
#include "compat/syntax/resolve.h"
#include "compat/wire/attribute_value_json.h"
#include "engine/values/checked_item.h"
#include "engine/values/item_codec.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"

namespace mayfly::testing {

using namespace compat::expression;
using engine::Item;

namespace {

constexpr std::string_view item_texts[] = {
    "{}",
    R"({"a":{"L":[{"N":"1"},{"M":{"b":{"S":"s"}}}]},"b":{"SS":["a","b"]},"c":{"M":{"c":{"N":"1"}}},"[3]":{"S":"x"}})",
    R"({"a":{"N":"9.9e125"},"b":{"NS":["1","2"]},"c":{"B":"YWI="},"d":{"BOOL":false},"e":{"NULL":true}})",
    R"({"a":{"S":"abc"},"b":{"BS":["YQ==","Yg=="]},"c":{"L":[{"L":[{"L":[]}]},{"SS":["x"]}]},"d":{"M":{}}})"};

// The placeholders :s, :n, … are named after the types of their values.
constexpr std::string_view value_texts =
    R"({":s":{"S":"s"},":t":{"S":"t"},":n":{"N":"1"},":m":{"N":"-2.5"},":b":{"B":"YQ=="},":bool":{"BOOL":true},
        ":null":{"NULL":true},":ss":{"SS":["a"]},":ns":{"NS":["1"]},":bs":{"BS":["YQ=="]},":list":{"L":[{"S":"s"}]},
        ":map":{"M":{"b":{"N":"1"}}},":type":{"S":"N"}})";

Item item_of(std::string_view text) {
  const auto document = json::parse(text);
  auto item = compat::read_item(document->root());
  must(bool(item), "an initial item is valid", text);
  return *std::move(item);
}

const std::vector<Item>& all_items() {
  static const std::vector<Item> items = [] {
    std::vector<Item> made;
    for (const auto text : item_texts) made.push_back(item_of(text));
    return made;
  }();
  return items;
}

Substitutions substitutions() {
  static const Substitutions defined = [] {
    Substitutions made;
    for (const char* name : {"a", "b", "c", "d"}) made.define_name(std::string("#") + name, name);
    made.define_name("#three", "[3]");
    for (const auto& [name, value] : item_of(value_texts)) made.define_value(name, value);
    return made;
  }();
  return defined;
}

// Checks that the item is unchanged after it is encoded and decoded.
void must_be_storable(const Item& item) {
  std::string bytes;
  engine::encode_item(item, bytes);
  const auto decoded = engine::checked_item(bytes);
  must(decoded && *decoded == item, "the result of an expression can be stored", bytes);
}

void try_condition(std::string_view text, const Item& item) {
  auto defined = substitutions();
  const auto condition = parse_condition("ConditionExpression", text, defined);
  if (!condition) return;
  const bool holds = evaluate(*condition, item);
  const auto denied = parse_condition("FilterExpression", "NOT (" + std::string(text) + ")", defined);
  if (denied) must(evaluate(*denied, item) != holds, "NOT negates a condition", text);
}

void try_update(std::string_view text, const Item& item) {
  auto defined = substitutions();
  const auto update = parse_update(text, defined);
  if (!update) return;
  (void)apply(*update, {}, false);
  const auto changed = apply(*update, item);
  if (!changed) return;
  must_be_storable(*changed);
  must_be_storable(updated_parts(*update, item));
  must_be_storable(updated_parts(*update, *changed));
  const auto touched = touched_attributes(*update);
  const auto untouched_are_in = [&](const Item& one, const Item& other) {
    return std::all_of(one.begin(), one.end(), [&](const engine::Attribute& attribute) {
      if (std::binary_search(touched.begin(), touched.end(), attribute.name)) return true;
      const engine::AttributeValue* const same = other.find(attribute.name);
      return same != nullptr && *same == attribute.value;
    });
  };
  must(untouched_are_in(item, *changed) && untouched_are_in(*changed, item),
       "an update changes only the attributes that it names", text);
}

void try_projection(std::string_view text, const Item& item) {
  auto defined = substitutions();
  const auto projection = parse_projection(text, defined);
  if (!projection) return;
  const Item projected = project(*projection, item);
  must_be_storable(projected);
  must_be_storable(project_flat(*projection, item));
  for (const Path& path : *projection) {
    if (find(path, item) == nullptr) continue;
    // A projected path exists in the result, unless it contains a list index, because a projection moves the
    // elements of a list up.
    const bool in_list = std::any_of(path.elements.begin(), path.elements.end(),
                                     [](const auto& element) { return element.index() == 1; });
    if (!in_list) must(find(path, projected) != nullptr, "a projection contains its paths", text);
  }
  for (const engine::Attribute& attribute : projected)
    must(item.find(attribute.name) != nullptr, "a projection has only attributes of the item", text);
}

void try_key_condition(std::string_view text) {
  static const engine::KeySchema schema({{"a", engine::ScalarType::string}},
                                        {{"b", engine::ScalarType::number}});
  auto defined = substitutions();
  auto condition = parse_condition("KeyConditionExpression", text, defined);
  if (!condition) return;
  auto predicates = key_predicates(*std::move(condition));
  if (predicates) (void)match_key_schema(*std::move(predicates), schema);
}

}  // namespace

void fuzz_expressions(std::string_view input) {
  const Item& item = all_items()[take_byte(input) % all_items().size()];
  try_condition(input, item);
  try_update(input, item);
  try_projection(input, item);
  try_key_condition(input);
}

}  // namespace mayfly::testing
