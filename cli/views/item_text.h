// Converts keys and items from the text that people type, and to the text that people read.
//
//   mayfly item get carts 1              a value for each key attribute, in the order of the key schema
//   mayfly item get carts id=1 at=5      by name, in any order
//   mayfly item put carts id=1 ttl=+48h paid=true
//   mayfly item put carts '{"id": "1", "tags": ["a"]}'      plain JSON
//   mayfly item put carts '{"id": {"S": "1"}}'              DynamoDB JSON
//
// A key attribute always gets its type from the key schema, whichever notation is used. docs/commands.md has
// the rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/json/json_tree.h"
#include "engine/base/clock.h"
#include "engine/base/expected.h"

namespace mayfly::cli {

struct KeyAttribute {
  std::string name;
  std::string type;  // "S", "N" or "B"
};

struct KeySchema {
  std::string table;                     // the table's or index's name, for messages
  std::vector<KeyAttribute> attributes;  // partition key, sort key
};

// The key schema of `described`, which is a table or one of its indexes. `table` is DescribeTable's Table and
// has the attribute definitions. nullopt if the answer is malformed.
std::optional<KeySchema> key_schema_of(const json::Tree& table, const json::Tree& described,
                                       std::string name);

// Parses a key such as {"id":{"S":"1"}}, whose typed values need no key schema. Returns nullopt if `text` is
// not such an object.
std::optional<json::Tree> typed_key(std::string_view text);

// Returns the key as DynamoDB JSON. If `whole` is true, the sort key is required. Errors are human-readable
// sentences.
Expected<json::Tree, std::string> read_key(const KeySchema& schema, const std::vector<std::string>& words,
                                           bool whole = true);
// Returns one key attribute's value, {"N":"5"}.
Expected<json::Tree, std::string> read_key_value(const KeySchema& schema, const KeyAttribute& attribute,
                                                 const std::string& text);

// Whether reading an item from `words` needs the TTL attribute and the account's time.
bool may_have_time_to_live(const std::vector<std::string>& words);

// Returns an item as DynamoDB JSON. `ttl_attribute` is empty if the table has none. `now` is the time of the
// account's clock.
Expected<json::Tree, std::string> read_item(const KeySchema& schema, const std::vector<std::string>& words,
                                            const std::string& ttl_attribute, engine::Instant now);

// A typed value as printable text: {"S":"1"} becomes 1. Sets, lists, maps and binary values become JSON.
std::string plain_text(const json::Tree& typed);
// Returns the key as text: "id=1 at=5".
std::string plain_key(const json::Tree& key);
// Whether `value` is an object whose members are all typed values.
bool is_typed_item(const json::Tree& value);

}  // namespace mayfly::cli
