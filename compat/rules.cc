#include "compat/rules.h"

#include <array>
#include <cassert>
#include <vector>

#include "compat/table_changes.h"
#include "engine/key_codec.h"

namespace mayfly::compat {
namespace {

using engine::AttributeValue;
using engine::Item;
using engine::KeyAttribute;
using engine::ScalarType;
using engine::Table;

constexpr std::string_view arn_prefix = "arn:aws:dynamodb:";

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
  if (partition && scalar_bytes(value) > partition_key_bytes_max) {
    return error::validation(
        "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 "
        "bytes");
  }
  if (!partition && scalar_bytes(value) > sort_key_bytes_max) {
    return error::validation(
        "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit "
        "of 1024 bytes");
  }
  return {};
}

Unexpected<Error> empty_item_key(const KeyAttribute& attribute) {
  return error::validation(
      "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
      "empty " + std::string(emptiness(attribute.type)) + " value. Key: " + attribute.name);
}

Unexpected<Error> empty_index_key(const engine::Index& index, const KeyAttribute& attribute) {
  return error::validation(
      "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
      "The AttributeValue for a key attribute cannot contain an empty " +
      std::string(emptiness(attribute.type)) + " value. IndexName: " + index.name + ", IndexKey: " + attribute.name);
}

Result<void> check_item_key_attribute(const Item& item, const KeyAttribute& attribute, bool partition) {
  const AttributeValue* value = item.find(attribute.name);
  if (value == nullptr) {
    return error::validation("One or more parameter values were invalid: Missing the key " + attribute.name +
                             " in the item");
  }
  if (!has_type(*value, attribute.type)) {
    return error::validation("One or more parameter values were invalid: Type mismatch for key " + attribute.name +
                             " expected: " + std::string(type_name(attribute.type)) +
                             " actual: " + std::string(engine::type_name(value->type())));
  }
  if (is_empty(*value)) return empty_item_key(attribute);
  return check_key_size(*value, partition);
}

Result<void> check_index_key_attribute(const Item& item, const engine::Index& index, const KeyAttribute& attribute,
                                       bool partition, bool updated) {
  const AttributeValue* value = item.find(attribute.name);
  if (value == nullptr) return {};
  if (!has_type(*value, attribute.type)) {
    return error::validation("One or more parameter values were invalid: Type mismatch for Index Key " +
                             attribute.name + " Expected: " + std::string(type_name(attribute.type)) +
                             " Actual: " + std::string(engine::type_name(value->type())) +
                             " IndexName: " + index.name);
  }
  if (is_empty(*value) && updated) {
    return error::validation(
        "One or more parameter values are not valid. The update expression attempted to update a secondary index "
        "key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty " +
        std::string(emptiness(attribute.type)) + " value.");
  }
  if (is_empty(*value)) return empty_index_key(index, attribute);
  return check_key_size(*value, partition);
}

std::vector<const AttributeValue*> values_of(const std::vector<KeyAttribute>& attributes, const Item& item) {
  std::vector<const AttributeValue*> values;
  for (const auto& attribute : attributes) {
    values.push_back(item.find(attribute.name));
    assert(values.back() != nullptr);
  }
  return values;
}

std::shared_ptr<engine::LiveTable> look_up(const Context& context, std::string_view name) {
  return context.database.find_table(context.scope, name);
}

}  // namespace

std::string table_arn(const engine::Scope& scope, std::string_view table_name) {
  return std::string(arn_prefix) + scope.region + ":" + scope.account + ":table/" + std::string(table_name);
}

std::string table_arn(const Table& table) { return table_arn({table.account, table.region}, table.name); }

std::string index_arn(const Table& table, std::string_view index_name) {
  return table_arn(table) + "/index/" + std::string(index_name);
}

std::optional<TableArn> parse_table_arn(std::string_view arn) {
  if (!arn.starts_with(arn_prefix)) return std::nullopt;
  arn.remove_prefix(arn_prefix.size());
  const auto region_end = arn.find(':');
  if (region_end == std::string_view::npos || region_end == 0) return std::nullopt;
  const auto region = arn.substr(0, region_end);
  arn.remove_prefix(region_end + 1);
  const auto account_end = arn.find(':');
  if (account_end == std::string_view::npos || account_end == 0) return std::nullopt;
  const auto account = arn.substr(0, account_end);
  if (account.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  arn.remove_prefix(account_end + 1);
  constexpr std::string_view kind = "table/";
  if (!arn.starts_with(kind)) return std::nullopt;
  const auto name = arn.substr(kind.size());
  if (name.size() < 3 || name.size() > 255 || name.find('/') != std::string_view::npos) return std::nullopt;
  return TableArn{region, account, name};
}

Unexpected<Error> table_not_found() { return error::resource_not_found("Requested resource not found"); }

Unexpected<Error> named_table_not_found(std::string_view table_name) {
  return error::resource_not_found("Requested resource not found: Table: " + std::string(table_name) + " not found");
}

Result<std::string> resolve_table_name(const Context& context, std::string_view name_or_arn) {
  if (!name_or_arn.starts_with("arn:")) return std::string(name_or_arn);
  const auto arn = parse_table_arn(name_or_arn);
  if (!arn) {
    return error::validation("Invalid TableArn: Invalid ResourceArn provided as input " + std::string(name_or_arn));
  }
  if (arn->region != context.scope.region) {
    return error::validation("1 validation error detected: Invalid AWS region in '" + std::string(name_or_arn) + "'");
  }
  if (arn->account != context.scope.account) return table_not_found();
  return std::string(arn->name);
}

Result<std::shared_ptr<engine::LiveTable>> find_table(const Context& context, std::string_view name_or_arn) {
  TRY(const auto name, resolve_table_name(context, name_or_arn));
  auto table = look_up(context, name);
  if (table == nullptr || context.table_changes.status(context.scope, name) == TableStatus::creating) {
    return table_not_found();
  }
  return table;
}

Result<std::shared_ptr<engine::LiveTable>> find_named_table(const Context& context, std::string_view name_or_arn) {
  TRY(const auto name, resolve_table_name(context, name_or_arn));
  auto table = look_up(context, name);
  if (table == nullptr) return named_table_not_found(name);
  return table;
}

Result<void> check_settled(const Context& context, std::string_view table_name) {
  const auto status = context.table_changes.status(context.scope, table_name);
  if (!status) return {};
  const std::string_view what = *status == TableStatus::creating   ? "created"
                                : *status == TableStatus::updating ? "updated"
                                                                   : "deleted";
  return error::resource_in_use("Attempt to change a resource which is still in use: Table is being " +
                                std::string(what) + ": " + std::string(table_name));
}

Result<std::string> item_key(const Table& table, const Item& item) {
  for (const auto& attribute : table.keys.partition) CHECK_OK(check_item_key_attribute(item, attribute, true));
  for (const auto& attribute : table.keys.sort) CHECK_OK(check_item_key_attribute(item, attribute, false));
  return encode_key(table, item);
}

Result<void> check_no_empty_keys(const Table& table, const Item& item) {
  const auto is_empty_key = [&](const KeyAttribute& attribute) {
    const AttributeValue* value = item.find(attribute.name);
    return value != nullptr && has_type(*value, attribute.type) && is_empty(*value);
  };
  for (const auto* attributes : {&table.keys.partition, &table.keys.sort}) {
    for (const auto& attribute : *attributes) {
      if (is_empty_key(attribute)) return empty_item_key(attribute);
    }
  }
  for (const auto& index : table.indexes) {
    for (const auto* attributes : {&index.keys.partition, &index.keys.sort}) {
      for (const auto& attribute : *attributes) {
        if (is_empty_key(attribute)) return empty_index_key(index, attribute);
      }
    }
  }
  return {};
}

Result<void> check_request_key_attribute(const Item& key, const KeyAttribute& attribute, bool partition) {
  const AttributeValue* value = key.find(attribute.name);
  if (value == nullptr || !has_type(*value, attribute.type)) {
    return error::validation("The provided key element does not match the schema");
  }
  if (is_empty(*value)) {
    return error::validation(
        "One or more parameter values were invalid: The AttributeValue for a key attribute cannot contain an empty " +
        std::string(emptiness(attribute.type)) + " value. Key: " + attribute.name);
  }
  return check_key_size(*value, partition);
}

Result<std::string> request_key(const Table& table, const Item& key) {
  if (key.size() != table.keys.partition.size() + table.keys.sort.size()) {
    return error::validation("The provided key element does not match the schema");
  }
  for (const auto& attribute : table.keys.partition) CHECK_OK(check_request_key_attribute(key, attribute, true));
  for (const auto& attribute : table.keys.sort) CHECK_OK(check_request_key_attribute(key, attribute, false));
  return encode_key(table, key);
}

Item key_attributes(const Table& table, const Item& item) {
  Item keys;
  for (const auto* attributes : {&table.keys.partition, &table.keys.sort}) {
    for (const auto& attribute : *attributes) {
      const AttributeValue* value = item.find(attribute.name);
      assert(value != nullptr);
      keys.set(attribute.name, *value);
    }
  }
  return keys;
}

std::string encode_key(const Table& table, const Item& item) {
  std::string key;
  engine::append_key(key, values_of(table.keys.partition, item), values_of(table.keys.sort, item));
  return key;
}

Result<void> check_index_keys(const Table& table, const Item& item, bool updated) {
  for (const auto kind : {engine::Index::Kind::global, engine::Index::Kind::local}) {
    for (const auto& index : table.indexes) {
      if (index.kind != kind) continue;
      // A local index's partition key is the table's, which was checked before.
      if (kind == engine::Index::Kind::global) {
        for (const auto& attribute : index.keys.partition) {
          CHECK_OK(check_index_key_attribute(item, index, attribute, true, updated));
        }
      }
      for (const auto& attribute : index.keys.sort) {
        CHECK_OK(check_index_key_attribute(item, index, attribute, false, updated));
      }
    }
  }
  return {};
}

std::string_view type_name(ScalarType type) {
  switch (type) {
    case ScalarType::string: return "S";
    case ScalarType::number: return "N";
    case ScalarType::binary: break;
  }
  return "B";
}

bool has_type(const AttributeValue& value, ScalarType type) {
  switch (type) {
    case ScalarType::string: return value.type() == engine::Type::string;
    case ScalarType::number: return value.type() == engine::Type::number;
    case ScalarType::binary: break;
  }
  return value.type() == engine::Type::binary;
}

}  // namespace mayfly::compat
