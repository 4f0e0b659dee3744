// Converts between DynamoDB's JSON ({"S":"x"}) and AttributeValue.
//
// Requires, for reading: check_types (shape.h) has accepted the JSON. The readers check what DynamoDB checks
// in values: exactly one type, valid numbers, sets that are not empty and have no duplicates, NULL true, at
// most 32 levels of nesting. Messages are DynamoDB's, in the wording of the operation's frame (frame.h).
#pragma once

#include <string>
#include <string_view>

#include "compat/json/json.h"
#include "compat/wire/error.h"
#include "compat/wire/frame.h"
#include "engine/values/attribute_value.h"
#include "engine/values/stored_item.h"

namespace mayfly::compat {

inline constexpr int nesting_max = 32;

Result<engine::AttributeValue> read_attribute_value(const json::Value& value, Frame frame = Frame::older);
// Reads the text of a number. Errors: "Number overflow. …", "The parameter cannot be converted to a numeric
// value: a".
Result<engine::Number> read_number(std::string_view text, Frame frame = Frame::older);
// Reads {"name":{"S":"x"},…} as an item: Item, Key, ExpressionAttributeValues, ExclusiveStartKey.
Result<engine::Item> read_item(const json::Value& object, Frame frame = Frame::older);
// Like read_item, but returns the stored form, usually without building the tree.
Result<engine::StoredItem> read_stored_item(const json::Value& object, Frame frame = Frame::older);
// The error for an empty attribute name, in an item or in a parameter that names attributes.
Unexpected<Error> empty_attribute_name();

void write_attribute_value(json::Writer& out, const engine::AttributeValue& value);
void write_item_object(json::Writer& out, const engine::Item& item);
// Writes stored bytes (engine/values/item_codec.h) directly, without building the tree.
void write_stored_item(json::Writer& out, std::string_view stored);

}  // namespace mayfly::compat
