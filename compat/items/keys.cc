#include "compat/items/keys.h"

#include <algorithm>
#include <boost/container/static_vector.hpp>

#include "engine/base/check.h"
#include "engine/values/key_codec.h"

namespace mayfly::compat {
namespace {

using engine::AttributeValue;
using engine::Item;
using engine::KeyAttribute;
using engine::ScalarType;
using engine::Table;

std::size_t scalar_bytes(const AttributeValue& value) {
  if (const auto* text = value.get_if<std::string>()) return text->size();
  if (const auto* binary = value.get_if<engine::Binary>()) return binary->bytes.size();
  return 0;  // numbers always fit
}

bool is_empty(const AttributeValue& value) {
  return value.type() != engine::Type::number && scalar_bytes(value) == 0;
}

std::string_view emptiness(ScalarType type) { return type == ScalarType::string ? "string" : "binary"; }

Result<void> check_key_size(const AttributeValue& value, bool partition) {
  if (partition && scalar_bytes(value) > engine::partition_key_bytes_max) {
    return error::validation(
        "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit "
        "of2048 "
        "bytes");
  }
  if (!partition && scalar_bytes(value) > engine::sort_key_bytes_max) {
    return error::validation(
        "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size "
        "limit "
        "of 1024 bytes");
  }
  return {};
}

bool is_empty_key(const Item& item, const KeyAttribute& attribute) {
  const AttributeValue* value = item.find(attribute.name);
  return value != nullptr && engine::has_type(*value, attribute.type) && is_empty(*value);
}

Result<void> check_item_key_attribute(const Item& item, const KeyAttribute& attribute, bool partition) {
  const AttributeValue* value = item.find(attribute.name);
  if (value == nullptr) {
    return error::validation(
        "One or more parameter values were invalid: Missing the key " + attribute.name + " in the item",
        Error::About::key_schema);
  }
  if (!engine::has_type(*value, attribute.type)) {
    return error::validation("One or more parameter values were invalid: Type mismatch for key " +
                                 attribute.name +
                                 " expected: " + std::string(engine::type_name(attribute.type)) +
                                 " actual: " + std::string(engine::type_name(value->type())),
                             Error::About::key_schema);
  }
  if (is_empty(*value)) return empty_item_key(attribute);
  return check_key_size(*value, partition);
}

Result<void> check_index_key_attribute(const Item& item, const engine::Index& index,
                                       const KeyAttribute& attribute, bool partition, bool updated) {
  const AttributeValue* value = item.find(attribute.name);
  if (value == nullptr) return {};
  if (!engine::has_type(*value, attribute.type)) {
    return error::validation("One or more parameter values were invalid: Type mismatch for Index Key " +
                             attribute.name + " Expected: " + std::string(engine::type_name(attribute.type)) +
                             " Actual: " + std::string(engine::type_name(value->type())) +
                             " IndexName: " + index.name);
  }
  if (is_empty(*value))
    return updated ? empty_updated_key(attribute) : empty_index_key(index.name, attribute);
  return check_key_size(*value, partition);
}

using KeyValues = boost::container::static_vector<const AttributeValue*, engine::key_attributes_max>;

KeyValues values_of(std::span<const KeyAttribute> attributes, const Item& item) {
  KeyValues values;
  for (const auto& attribute : attributes) {
    values.push_back(item.find(attribute.name));
    MAYFLY_CHECK(values.back() != nullptr);
  }
  return values;
}

}  // namespace

Result<std::string> item_key(const Table& table, const Item& item) {
  for (const auto& attribute : table.keys.partition())
    CHECK_OK(check_item_key_attribute(item, attribute, true));
  for (const auto& attribute : table.keys.sort()) CHECK_OK(check_item_key_attribute(item, attribute, false));
  return encode_key(table, item);
}

Result<void> check_no_empty_keys(const Table& table, const Item& item) {
  for (const auto& attribute : table.keys.all()) {
    if (is_empty_key(item, attribute)) return empty_item_key(attribute);
  }
  const engine::Index* first = nullptr;
  const KeyAttribute* of_first = nullptr;
  for (const auto& index : table.indexes) {
    if (first != nullptr && first->name < index.name) continue;
    const auto attributes = index.keys.all();
    const auto found = std::find_if(attributes.begin(), attributes.end(), [&](const KeyAttribute& attribute) {
      return is_empty_key(item, attribute);
    });
    if (found == attributes.end()) continue;
    first = &index;
    of_first = &*found;
  }
  if (first != nullptr) return empty_index_key(first->name, *of_first);
  return {};
}

Result<void> check_no_empty_update(const KeyAttribute& attribute, const AttributeValue& given) {
  if (engine::has_type(given, attribute.type) && is_empty(given)) return empty_updated_key(attribute);
  return {};
}

Result<void> check_request_key_attribute(const Item& key, const KeyAttribute& attribute, bool partition) {
  const AttributeValue* value = key.find(attribute.name);
  if (value == nullptr || !engine::has_type(*value, attribute.type)) {
    return error::validation("The provided key element does not match the schema");
  }
  if (is_empty(*value)) {
    return empty_item_key(attribute);
  }
  return check_key_size(*value, partition);
}

Result<std::string> request_key(const Table& table, const Item& key) {
  if (key.size() != table.keys.all().size()) {
    return error::validation("The provided key element does not match the schema");
  }
  for (const auto& attribute : table.keys.partition())
    CHECK_OK(check_request_key_attribute(key, attribute, true));
  for (const auto& attribute : table.keys.sort())
    CHECK_OK(check_request_key_attribute(key, attribute, false));
  return encode_key(table, key);
}

std::string encode_key(const Table& table, const Item& item) {
  constexpr std::size_t usual_bytes_max = 64;
  std::string key;
  key.reserve(usual_bytes_max);
  engine::append_key(key, values_of(table.keys.partition(), item), values_of(table.keys.sort(), item));
  return key;
}

Unexpected<Error> empty_item_key(const KeyAttribute& attribute) {
  return error::validation(
      "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
      "empty " +
      std::string(emptiness(attribute.type)) + " value. Key: " + attribute.name);
}

Unexpected<Error> empty_index_key(std::string_view index_name, const KeyAttribute& attribute) {
  return error::validation(
      "One or more parameter values are not valid. A value specified for a secondary index key is not "
      "supported. "
      "The AttributeValue for a key attribute cannot contain an empty " +
      std::string(emptiness(attribute.type)) + " value. IndexName: " + std::string(index_name) +
      ", IndexKey: " + attribute.name);
}

Unexpected<Error> empty_updated_key(const KeyAttribute& attribute) {
  return error::validation(
      "One or more parameter values are not valid. The update expression attempted to update a secondary "
      "index "
      "key to a value that is not supported. The AttributeValue for a key attribute cannot contain an "
      "empty " +
      std::string(emptiness(attribute.type)) + " value.");
}

Result<void> check_index_keys(const Table& table, const Item& item, bool updated) {
  for (const auto kind : {engine::Index::Kind::global, engine::Index::Kind::local}) {
    for (const auto& index : table.indexes) {
      if (index.kind != kind) continue;
      // A local index shares the table's partition key, which has already been checked.
      if (kind == engine::Index::Kind::global) {
        for (const auto& attribute : index.keys.partition()) {
          CHECK_OK(check_index_key_attribute(item, index, attribute, true, updated));
        }
      }
      for (const auto& attribute : index.keys.sort()) {
        CHECK_OK(check_index_key_attribute(item, index, attribute, false, updated));
      }
    }
  }
  return {};
}

}  // namespace mayfly::compat
