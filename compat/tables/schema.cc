#include "compat/tables/schema.h"

#include <algorithm>
#include <unordered_set>

#include "compat/settings/settings.h"
#include "compat/settings/table_settings.h"
#include "compat/settings/throughput.h"
#include "compat/tables/projection.h"
#include "compat/tables/vector_indexes.h"
#include "compat/wire/java_string.h"
#include "compat/wire/shape.h"
#include "engine/base/text.h"

namespace mayfly::compat {
namespace {

using engine::Index;
using engine::KeyAttribute;
using engine::ScalarType;
using engine::Table;
using json::Value;

std::string text(const Value& object, std::string_view name) {
  return std::string(string_member(object, name).value_or(""));
}

// AWS keeps the names in a Java hash set whose initial capacity is one third more than the number of names.
std::string definition_names(const std::vector<KeyAttribute>& definitions) {
  std::vector<std::string> names;
  for (const auto& attribute : definitions) names.push_back(attribute.name);
  const auto count = static_cast<std::uint32_t>(names.size());
  return engine::joined(in_java_order(std::move(names), count < 3 ? count + 1 : count * 4 / 3 + 1), ", ");
}

// A key schema element as sent.
struct KeyElement {
  std::string name;
  bool hash;
};

std::vector<KeyElement> key_elements(const Value& key_schema) {
  std::vector<KeyElement> elements;
  for (const Value& element : key_schema.items()) {
    elements.push_back({text(element, "AttributeName"), text(element, "KeyType") == "HASH"});
  }
  return elements;
}

Result<void> check_defined(const std::vector<KeyElement>& keys,
                           const std::vector<KeyAttribute>& definitions) {
  const bool all = std::all_of(keys.begin(), keys.end(), [&](const KeyElement& key) {
    return find_definition(definitions, key.name) != nullptr;
  });
  if (all) return {};
  return error::validation(
      "One or more parameter values were invalid: Some index key attributes are not defined in "
      "AttributeDefinitions. Keys: [" +
      engine::joined(keys, ", ", &KeyElement::name) + "], AttributeDefinitions: [" +
      definition_names(definitions) + "]");
}

Unexpected<Error> same_name() {
  return error::validation("Both the Hash Key and the Range Key element in the KeySchema have the same name");
}

Result<void> check_first_is_hash(const std::vector<KeyElement>& keys) {
  if (keys[0].hash) return {};
  return error::validation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
}

Unexpected<Error> second_is_not_range() {
  return error::validation("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
}

// Checks the keys of a table or a local index: HASH, or HASH and RANGE.
Result<void> check_plain_keys(const std::vector<KeyElement>& keys) {
  if (keys.size() > 1 && keys[0].name == keys[1].name) return same_name();
  CHECK_OK(check_first_is_hash(keys));
  if (keys.size() > 1 && keys[1].hash) return second_is_not_range();
  return {};
}

// Checks the keys of a global index: up to four HASH keys, then up to four RANGE keys.
Result<void> check_global_keys(const std::vector<KeyElement>& keys, bool projected) {
  const auto invalid = [](const char* what) {
    return error::validation("One or more parameter values were invalid: " + std::string(what));
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = i + 1; j < keys.size(); ++j) {
      if (keys[i].name != keys[j].name) continue;
      if (keys.size() == 2) return same_name();
      return error::validation("The KeySchema contains multiple key attributes with the same name");
    }
  }
  CHECK_OK(check_first_is_hash(keys));
  // For two HASH keys with an empty projection, AWS still returns the error from before it supported
  // multi-attribute keys. Such a request is invalid either way.
  if (!projected && keys.size() == 2 && keys[1].hash) return second_is_not_range();
  const auto hashes = std::count_if(keys.begin(), keys.end(), [](const KeyElement& key) { return key.hash; });
  const auto first_range =
      std::find_if(keys.begin(), keys.end(), [](const KeyElement& key) { return !key.hash; });
  if (std::any_of(first_range, keys.end(), [](const KeyElement& key) { return key.hash; })) {
    return invalid("All HASH key attributes must precede RANGE key attributes in the KeySchema");
  }
  if (static_cast<std::size_t>(hashes) > index_key_attributes_max) {
    return invalid("The KeySchema exceeds the maximum allowed number of HASH key attributes");
  }
  if (keys.size() - static_cast<std::size_t>(hashes) > index_key_attributes_max) {
    return invalid("The KeySchema exceeds the maximum allowed number of RANGE key attributes");
  }
  return {};
}

engine::KeySchema key_schema_of(const std::vector<KeyElement>& keys,
                                const std::vector<KeyAttribute>& definitions) {
  std::vector<KeyAttribute> partition, sort;
  for (const auto& key : keys)
    (key.hash ? partition : sort).push_back(*find_definition(definitions, key.name));
  return {std::move(partition), sort};
}

Result<Index> read_local_index(const Value& value, const Table& table) {
  Index index;
  index.kind = Index::Kind::local;
  index.name = text(value, "IndexName");
  const auto keys = key_elements(*value.member("KeySchema"));
  CHECK_OK(check_defined(keys, table.attribute_definitions));
  CHECK_OK(check_plain_keys(keys));
  if (keys.size() != 2) {
    return error::validation(
        "One or more parameter values were invalid: Index KeySchema does not have a range key for index: " +
        index.name);
  }
  if (keys[0].name != table.keys.partition()[0].name) {
    return error::validation(
        "One or more parameter values were invalid: Index KeySchema does not have the same leading hash key "
        "as "
        "table KeySchema for index: " +
        index.name + ". index hash key: " + keys[0].name +
        ", table hash key: " + table.keys.partition()[0].name);
  }
  TRY(index.projection, read_projection(*value.member("Projection")));
  index.keys = key_schema_of(keys, table.attribute_definitions);
  return index;
}

Result<void> check_new_name(const Table& table, const Index& index) {
  if (table.find_index(index.name) == nullptr) return {};
  return error::validation("One or more parameter values were invalid: Duplicate index name: " + index.name);
}

Result<void> read_local_indexes(const Value& list, Table& table) {
  if (list.items().empty()) {
    return error::validation(
        "One or more parameter values were invalid: List of LocalSecondaryIndexes is empty");
  }
  if (table.keys.sort().empty()) {
    return error::validation(
        "One or more parameter values were invalid: Table KeySchema does not have a range key, which is "
        "required "
        "when specifying a LocalSecondaryIndex");
  }
  for (const Value& each : list.items()) {
    TRY(auto index, read_local_index(each, table));
    CHECK_OK(check_new_name(table, index));
    table.indexes.push_back(std::move(index));
  }
  if (list.items().size() > local_indexes_max) {
    return error::validation(
        "One or more parameter values were invalid: Number of LocalSecondaryIndexes exceeds per-table limit "
        "of 5");
  }
  return {};
}

Result<void> read_global_indexes(const Value& list, bool on_demand, Table& table) {
  if (list.items().empty()) {
    return error::validation(
        "One or more parameter values were invalid: List of GlobalSecondaryIndexes is empty");
  }
  for (const Value& each : list.items()) {
    TRY(auto index, read_global_index(each, table.attribute_definitions, {on_demand, true}));
    CHECK_OK(check_new_name(table, index));
    table.indexes.push_back(std::move(index));
  }
  if (list.items().size() > global_indexes_max) {
    return error::validation(
        "One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit "
        "of 20");
  }
  if (on_demand) return {};
  for (const Value& each : list.items()) {
    if (each.member("ProvisionedThroughput") != nullptr) continue;
    return error::validation(
        "One or more parameter values were invalid: ProvisionedThroughput is not specified for index: " +
        text(each, "IndexName"));
  }
  return {};
}

Result<void> read_billing(const Value& request, TableSettings& settings) {
  const Value* throughput = request.member("ProvisionedThroughput");
  settings.on_demand = text(request, "BillingMode") == "PAY_PER_REQUEST";
  if (settings.on_demand) {
    if (throughput != nullptr) {
      return error::validation(
          "One or more parameter values were invalid: Neither ReadCapacityUnits nor WriteCapacityUnits can "
          "be "
          "specified when BillingMode is PAY_PER_REQUEST");
    }
    settings.on_demand_since = TableSettings::since_creation;
    TRY(settings.on_demand_limits, read_on_demand_limits(request.member("OnDemandThroughput"), {}, true));
    return {};
  }
  if (throughput == nullptr) {
    return error::validation(
        "One or more parameter values were invalid: ReadCapacityUnits and WriteCapacityUnits must both be "
        "specified "
        "when BillingMode is PROVISIONED");
  }
  CHECK_OK(check_throughput_bounds(*throughput));
  if (const auto given = on_demand_limit_given(request.member("OnDemandThroughput"))) {
    return error::validation(
        "One or more parameter values were invalid: " + std::string(*given) +
        " for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED.");
  }
  settings.throughput = read_throughput(*throughput);
  return {};
}

Result<void> read_keys(const Value& request, Table& table) {
  const auto keys = key_elements(*request.member("KeySchema"));
  const auto& definitions = table.attribute_definitions;
  if (keys.size() > definitions.size()) {
    return error::validation("Invalid KeySchema: Some index key attribute have no definition");
  }
  CHECK_OK(check_defined(keys, definitions));
  CHECK_OK(check_plain_keys(keys));
  const bool indexed = request.member("LocalSecondaryIndexes") != nullptr ||
                       request.member("GlobalSecondaryIndexes") != nullptr ||
                       request.member("VectorIndexes") != nullptr;
  if (!indexed && keys.size() != definitions.size()) {
    return error::validation(
        "One or more parameter values were invalid: Number of attributes in KeySchema does not exactly match "
        "number "
        "of attributes defined in AttributeDefinitions");
  }
  table.keys = key_schema_of(keys, definitions);
  return {};
}

// Every definition must be used by a key or by a search schema. AWS checks this rule after the keys of
// indexes and before everything else about indexes.
Result<void> check_definitions_used(const Value& request) {
  const auto definitions = request.member("AttributeDefinitions")->items();
  std::vector<std::string> used;
  std::unordered_set<std::string> seen;
  const auto add = [&](const Value& key_schema) {
    for (const auto& key : key_elements(key_schema)) {
      if (seen.insert(key.name).second) used.push_back(key.name);
    }
  };
  add(*request.member("KeySchema"));
  for (const char* name : {"LocalSecondaryIndexes", "GlobalSecondaryIndexes"}) {
    const Value* list = request.member(name);
    if (list == nullptr) continue;
    if (list->items().empty()) return {};  // has its own error message
    for (const Value& index : list->items()) {
      const auto keys = key_elements(*index.member("KeySchema"));
      const bool good = std::string_view(name).starts_with("Local")
                            ? check_plain_keys(keys).has_value()
                            : check_global_keys(keys, true).has_value();
      if (!good) return {};
      add(*index.member("KeySchema"));
    }
  }
  if (const Value* list = request.member("VectorIndexes")) {
    for (const std::string& name : searched_attributes(*list)) {
      if (seen.insert(name).second) used.push_back(name);
    }
  }
  TRY(const auto known, read_attribute_definitions(*request.member("AttributeDefinitions")));
  for (const KeyAttribute& attribute : known) seen.erase(attribute.name);
  const bool all_defined = seen.empty();
  if (!all_defined || used.size() == definitions.size()) return {};
  constexpr std::uint32_t buckets = 16;
  return error::validation(
      "One or more parameter values were invalid: Some AttributeDefinitions are not used. "
      "AttributeDefinitions: [" +
      definition_names(known) + "], keys used: [" +
      engine::joined(in_java_order(std::move(used), buckets), ", ") + "]");
}

Result<void> read_stream(const Value& request, Table& table) {
  const Value* stream = request.member("StreamSpecification");
  if (stream == nullptr) return {};
  TRY(const auto view, read_stream_view(*stream, true));
  if (view) table.stream = engine::Stream{.view = *view};
  return {};
}

Result<void> read_settings(const Context& context, const Value& request, TableSettings& settings) {
  for (const TableSetting& setting : table_settings) {
    const Value* given = request.member(setting.member.name);
    if (given != nullptr && setting.create != nullptr) CHECK_OK(setting.create(context, *given, settings));
  }
  return {};
}

}  // namespace

Result<Table> read_new_table(const Context& context, const Value& request) {
  Table table;
  table.account = context.scope.account;
  table.region = context.scope.region;
  table.name = text(request, "TableName");
  if (table.name.starts_with("arn:")) {
    return error::validation(
        "1 validation error detected: Value '" + table.name +
        "' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression "
        "pattern: [a-zA-Z0-9_.-]+");
  }
  TableSettings settings;
  CHECK_OK(check_settings(request, /*creating=*/true));
  CHECK_OK(read_billing(request, settings));
  TRY(table.attribute_definitions, read_attribute_definitions(*request.member("AttributeDefinitions")));
  CHECK_OK(read_keys(request, table));
  if (const Value* list = request.member("VectorIndexes"))
    CHECK_OK(check_vectors_undefined(*list, table.attribute_definitions));
  CHECK_OK(check_definitions_used(request));
  if (const Value* list = request.member("LocalSecondaryIndexes")) CHECK_OK(read_local_indexes(*list, table));
  if (const Value* list = request.member("GlobalSecondaryIndexes"))
    CHECK_OK(read_global_indexes(*list, settings.on_demand, table));
  if (const Value* list = request.member("VectorIndexes")) {
    TRY(settings.vector_indexes, read_vector_indexes(*list, table, settings.on_demand));
  }
  CHECK_OK(check_projected_attributes(table));
  CHECK_OK(read_stream(request, table));
  CHECK_OK(read_settings(context, request, settings));
  keep_settings(table, settings);
  return table;
}

Result<std::vector<KeyAttribute>> read_attribute_definitions(const Value& list) {
  std::vector<KeyAttribute> definitions;
  std::unordered_set<std::string> names;
  for (const Value& each : list.items()) {
    const auto type = text(each, "AttributeType");
    KeyAttribute attribute{text(each, "AttributeName"), type == "S"   ? ScalarType::string
                                                        : type == "N" ? ScalarType::number
                                                                      : ScalarType::binary};
    if (!names.insert(attribute.name).second) {
      return error::validation("Attribute Name is duplicated: " + attribute.name);
    }
    definitions.push_back(std::move(attribute));
  }
  return definitions;
}

Result<Index> read_global_index(const Value& value, const std::vector<KeyAttribute>& definitions,
                                IndexMode mode) {
  Index index;
  index.name = text(value, "IndexName");
  const auto keys = key_elements(*value.member("KeySchema"));
  const Value& projection = *value.member("Projection");
  CHECK_OK(check_defined(keys, definitions));
  CHECK_OK(check_global_keys(keys, projection.member("ProjectionType") != nullptr));
  TRY(index.projection, read_projection(projection));
  IndexSettings settings;
  const Value* throughput = value.member("ProvisionedThroughput");
  if (mode.on_demand && throughput != nullptr) {
    return error::validation(
        "One or more parameter values were invalid: " +
        (mode.creating_table
             ? "ProvisionedThroughput should not be specified for index: " + index.name
             : "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: " + index.name) +
        " when BillingMode is PAY_PER_REQUEST");
  }
  if (throughput != nullptr) {
    CHECK_OK(check_throughput_bounds(*throughput));
    settings.throughput = read_throughput(*throughput);
  }
  const Value* limits = value.member("OnDemandThroughput");
  if (const auto given = on_demand_limit_given(limits); given && !mode.on_demand) {
    return error::validation("One or more parameter values were invalid: " + std::string(*given) +
                             " for OnDemandThroughput for index: " + index.name +
                             " cannot be specified when table BillingMode is PROVISIONED.");
  }
  TRY(settings.on_demand_limits, read_on_demand_limits(limits, {}, true, index.name));
  TRY(settings.warm, read_new_warm_throughput(value.member("WarmThroughput"), mode.on_demand,
                                              settings.throughput, index.name));
  keep_settings(index, settings);
  index.keys = key_schema_of(keys, definitions);
  return index;
}

Result<void> check_index_keys(const Value& index, Index::Kind kind) {
  const auto keys = key_elements(*index.member("KeySchema"));
  if (kind == Index::Kind::local) return check_plain_keys(keys);
  return check_global_keys(keys, index.member("Projection")->member("ProjectionType") != nullptr);
}

Result<void> check_projected_attributes(const Table& table) {
  std::size_t count = 0;
  for (const auto& index : table.indexes) count += index.projection.attributes.size();
  if (count <= projected_attributes_max) return {};
  return error::validation(
      "One or more parameter values were invalid: The total number of projected attributes in all indexes "
      "exceeds "
      "the limit of 100");
}

Result<std::optional<engine::StreamView>> read_stream_view(const Value& specification, bool creating) {
  const auto invalid = [&](const char* new_table, const char* old_table) {
    return error::validation("One or more parameter values were invalid: " +
                             std::string(creating ? new_table : old_table));
  };
  const auto view = string_member(specification, "StreamViewType");
  if (!*boolean_member(specification, "StreamEnabled")) {
    if (view) {
      return invalid("Table is being created with a stream disabled, UpdateViewType should not be specified",
                     "If stream is being disabled, then UpdateViewType must not be specified");
    }
    return std::optional<engine::StreamView>();
  }
  if (!view) {
    return invalid("Table is being created with a stream enabled, UpdateViewType is required",
                   "If stream is being enabled then UpdateViewType is required");
  }
  return std::optional(*view == "KEYS_ONLY"   ? engine::StreamView::keys_only
                       : *view == "NEW_IMAGE" ? engine::StreamView::new_image
                       : *view == "OLD_IMAGE" ? engine::StreamView::old_image
                                              : engine::StreamView::new_and_old_images);
}

}  // namespace mayfly::compat
