// {"S":"x"} <-> AttributeValue.
//
// Reading expects what shape has checked for types, and checks what DynamoDB checks of values: exactly one
// type, numbers, sets without duplicates and not empty, NULL true, nesting of at most 32 levels. Messages are
// DynamoDB's, in the words of the operation's frame.
#pragma once

#include <string>
#include <string_view>

#include "compat/wire/error.h"
#include "compat/wire/frame.h"
#include "compat/wire/json.h"
#include "engine/attribute_value.h"

namespace mayfly::compat {

inline constexpr int nesting_max = 32;

Result<engine::AttributeValue> read_attribute_value(const json::Value& value, Frame frame = Frame::older);
// The text of a number: "Number overflow. …", "The parameter cannot be converted to a numeric value: a".
Result<engine::Number> read_number(std::string_view text, Frame frame = Frame::older);
// {"name":{"S":"x"},…} as an item: Item, Key, ExpressionAttributeValues, ExclusiveStartKey.
Result<engine::Item> read_item(const json::Value& object, Frame frame = Frame::older);
// The same, as it is stored (engine/item_codec.h), mostly without building the tree.
Result<std::string> read_stored_item(const json::Value& object, Frame frame = Frame::older);
// An attribute has a name, in items as in the parameters that ask for it or change it.
Unexpected<Error> empty_attribute_name();

void write_attribute_value(json::Writer& out, const engine::AttributeValue& value);
void write_item_object(json::Writer& out, const engine::Item& item);
// Straight from stored bytes (engine/item_codec.h), without the tree.
void write_stored_item(json::Writer& out, std::string_view stored);

}  // namespace mayfly::compat
