// Keys and items as people type and read them.
//
//   mayfly item get carts 1                     a value for each key attribute, in the order of the key
//   schema mayfly item get carts id=1 at=5             by name, in any order mayfly item put carts id=1
//   ttl=+48h paid=true mayfly item put carts '{"id": "1", "tags": ["a"]}'            plain JSON mayfly item
//   put carts '{"id": {"S": "1"}}'                    DynamoDB JSON
//
// A key attribute has the type of the key schema, however it is written. docs/commands.md has the rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/wire/json_tree.h"
#include "engine/clock.h"
#include "engine/expected.h"

namespace mayfly::http {

struct KeyAttribute {
  std::string name;
  std::string type;  // "S", "N" or "B"
};

struct KeySchema {
  std::string table;                     // or index: for messages
  std::vector<KeyAttribute> attributes;  // partition key, sort key
};

// {"TableName": …}'s KeySchema as DescribeTable has it: `described` is a table or one of its indexes, `table`
// has the attribute definitions. Nothing: the answer is malformed.
std::optional<KeySchema> key_schema_of(const json::Tree& table, const json::Tree& described,
                                       std::string name);

// {"id":{"S":"1"}} if `text` is an object of typed values, which needs no key schema. Nothing: it is not.
std::optional<json::Tree> typed_key(std::string_view text);

// DynamoDB JSON of the key. `whole`: the sort key is required. The error is a sentence.
Expected<json::Tree, std::string> read_key(const KeySchema& schema, const std::vector<std::string>& words,
                                           bool whole = true);
// One key attribute's value, {"N":"5"}.
Expected<json::Tree, std::string> read_key_value(const KeySchema& schema, const KeyAttribute& attribute,
                                                 const std::string& text);

// Whether an item's words need the TTL attribute and the account's time to be read.
bool may_have_time_to_live(const std::vector<std::string>& words);

// DynamoDB JSON of an item. `ttl_attribute`: empty if the table has none. `now`: of the account's clock.
Expected<json::Tree, std::string> read_item(const KeySchema& schema, const std::vector<std::string>& words,
                                            const std::string& ttl_attribute, engine::Instant now);

// A typed value, {"S":"1"}, as text for people: 1. Sets, lists, maps and binary values as JSON. Printable.
std::string plain_text(const json::Tree& typed);
// "id=1 at=5"
std::string plain_key(const json::Tree& key);
// Whether it is an object of which each member is a typed value.
bool is_typed_item(const json::Tree& value);

}  // namespace mayfly::http
