#include "cli/schemas/workbench.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace mayfly::schemas {

namespace {

using json::Tree;

// Returns the list `name` of a table or an index, or an empty list if `object` has no such list.
const Tree& list_of(const Tree& object, std::string_view name) {
  static const Tree nothing = Tree::array();
  const Tree* const list = json::member(object, name);
  return list != nullptr && list->is_array() ? *list : nothing;
}

// Returns the key schema, and adds the key's attributes to `definitions` without duplicates.
Tree key_schema(const Tree& keyed, Tree& definitions) {
  Tree schema = Tree::array();
  const Tree* const attributes = json::member(keyed, "KeyAttributes");
  if (attributes == nullptr) return schema;
  for (const auto& [part, kind] : {std::pair("PartitionKey", "HASH"), std::pair("SortKey", "RANGE")}) {
    const Tree* const attribute = json::member(*attributes, part);
    if (attribute == nullptr) continue;
    Tree definition = members_of(*attribute, {"AttributeName", "AttributeType"});
    schema.push_back({{"AttributeName", definition.value("AttributeName", Tree())}, {"KeyType", kind}});
    if (std::find(definitions.begin(), definitions.end(), definition) == definitions.end())
      definitions.push_back(std::move(definition));
  }
  return schema;
}

Tree create_table(const Tree& table, const std::string& name) {
  Tree request = {{"TableName", name}};
  Tree definitions = Tree::array();
  request["KeySchema"] = key_schema(table, definitions);
  const Tree* const settings = json::member(table, "ProvisionedCapacitySettings");
  const Tree* const given = settings != nullptr ? json::member(*settings, "ProvisionedThroughput") : nullptr;
  const bool provisioned =
      json::string_member(table, "BillingMode").value_or(given != nullptr ? "PROVISIONED" : "") ==
      "PROVISIONED";
  const Tree throughput = given != nullptr ? members_of(*given, {"ReadCapacityUnits", "WriteCapacityUnits"})
                                           : Tree{{"ReadCapacityUnits", 5}, {"WriteCapacityUnits", 5}};
  request["BillingMode"] = provisioned ? "PROVISIONED" : "PAY_PER_REQUEST";
  if (provisioned) request["ProvisionedThroughput"] = throughput;
  for (const char* kind : {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"}) {
    for (const Tree& index : list_of(table, kind)) {
      Tree made = members_of(index, {"IndexName", "Projection"});
      made["KeySchema"] = key_schema(index, definitions);
      if (provisioned && std::string_view(kind).starts_with('G')) made["ProvisionedThroughput"] = throughput;
      request[kind].push_back(std::move(made));
    }
  }
  request["AttributeDefinitions"] = std::move(definitions);
  return request;
}

}  // namespace

bool is_workbench(const Tree& tree) {
  const Tree* const model = json::member(tree, "DataModel");
  return model != nullptr && model->is_array();
}

Expected<void, std::string> read_workbench(const Tree& tree, const std::string& file,
                                           std::vector<TableSchema>& tables) {
  for (const Tree& table : *json::member(tree, "DataModel")) {
    const auto name = json::string_member(table, "TableName");
    if (!name) {
      return Unexpected{file + ": a table of DataModel has no TableName"};
    }
    TableSchema schema{.where = file + ": " + std::string(*name), .table = std::string(*name)};
    schema.requests.push_back({"CreateTable", create_table(table, schema.table)});
    for (const Tree& item : list_of(table, "TableData"))
      schema.requests.push_back({"PutItem", {{"TableName", schema.table}, {"Item", item}}});
    tables.push_back(std::move(schema));
  }
  return {};
}

}  // namespace mayfly::schemas
