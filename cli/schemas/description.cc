#include "cli/schemas/description.h"

#include <string_view>
#include <utility>

namespace mayfly::schemas {

namespace {

using json::Tree;

// Returns the object that describes the table: `tree` or one of its members. Returns nullptr if there is no
// such object.
const Tree* table_in(const Tree& tree) {
  for (const char* name : {"Table", "TableDescription"})
    if (const Tree* table = json::member(tree, name); table != nullptr && json::member(*table, "KeySchema"))
      return table;
  return json::member(tree, "TableName") != nullptr && json::member(tree, "KeySchema") != nullptr ? &tree
                                                                                                  : nullptr;
}

const Tree* list_in(const Tree& tree) {
  if (tree.is_array()) return &tree;
  const Tree* tables = json::member(tree, "Tables");
  return tables != nullptr && tables->is_array() ? tables : nullptr;
}

Tree index_of(const Tree& described, bool provisioned) {
  Tree index = members_of(described, {"IndexName", "KeySchema", "Projection", "OnDemandThroughput"});
  const Tree* throughput = json::member(described, "ProvisionedThroughput");
  if (provisioned && throughput != nullptr)
    index["ProvisionedThroughput"] = members_of(*throughput, {"ReadCapacityUnits", "WriteCapacityUnits"});
  return index;
}

Tree create_table(const Tree& table) {
  Tree request = members_of(table, {"TableName", "AttributeDefinitions", "KeySchema", "StreamSpecification",
                                    "DeletionProtectionEnabled", "OnDemandThroughput", "Tags",
                                    "SSESpecification", "TableClass", "BillingMode"});
  const Tree* summary = json::member(table, "BillingModeSummary");
  if (summary != nullptr) request.update(members_of(*summary, {"BillingMode"}));
  // An on-demand table is described with zero throughput.
  const bool provisioned = !request.contains("BillingMode") || request["BillingMode"] == "PROVISIONED";
  const Tree* throughput = json::member(table, "ProvisionedThroughput");
  if (provisioned && throughput != nullptr)
    request["ProvisionedThroughput"] = members_of(*throughput, {"ReadCapacityUnits", "WriteCapacityUnits"});
  for (const char* indexes : {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"}) {
    const Tree* list = json::member(table, indexes);
    if (list == nullptr || !list->is_array()) continue;
    const bool global = std::string_view(indexes).starts_with('G');
    for (const Tree& index : *list) request[indexes].push_back(index_of(index, provisioned && global));
  }
  if (const Tree* list = json::member(table, "VectorIndexes"); list != nullptr && list->is_array()) {
    for (const Tree& index : *list) {
      request["VectorIndexes"].push_back(members_of(index, {"IndexName", "VectorAttribute", "SearchSchema",
                                                            "Projection", "Dimensions", "DistanceFunction"}));
    }
  }
  const Tree* table_class = json::member(table, "TableClassSummary");
  if (table_class != nullptr) request.update(members_of(*table_class, {"TableClass"}));
  const Tree* encryption = json::member(table, "SSEDescription");
  if (encryption != nullptr && json::string_member(*encryption, "Status") == "ENABLED")
    request["SSESpecification"] = {{"Enabled", true}};
  return request;
}

// Adds the settings from the members next to "Table".
void add_settings(const Tree& tree, TableSchema& schema) {
  if (const Tree* expiry = json::member(tree, "TimeToLiveDescription");
      expiry != nullptr && json::string_member(*expiry, "TimeToLiveStatus").value_or("").starts_with("ENABL"))
    schema.requests.push_back(
        time_to_live(schema.table, std::string(json::string_member(*expiry, "AttributeName").value_or(""))));
  if (const Tree* expiry = json::member(tree, "TimeToLiveSpecification");
      expiry != nullptr && is_true(json::member(*expiry, "Enabled")))
    schema.requests.push_back(
        time_to_live(schema.table, std::string(json::string_member(*expiry, "AttributeName").value_or(""))));
  const Tree* backups = json::member(tree, "ContinuousBackupsDescription");
  const Tree* points =
      backups != nullptr ? json::member(*backups, "PointInTimeRecoveryDescription") : nullptr;
  if (points != nullptr && json::string_member(*points, "PointInTimeRecoveryStatus") == "ENABLED")
    schema.requests.push_back(recovery(schema.table, json::member(*points, "RecoveryPeriodInDays")));
  if (const Tree* list = json::member(tree, "ContributorInsightsSummaries");
      list != nullptr && list->is_array()) {
    for (const Tree& insights : *list) {
      if (!json::string_member(insights, "ContributorInsightsStatus").value_or("").starts_with("ENABL"))
        continue;
      SchemaRequest request{"UpdateContributorInsights",
                            {{"TableName", schema.table}, {"ContributorInsightsAction", "ENABLE"}}};
      request.body.update(members_of(insights, {"IndexName", "ContributorInsightsMode"}));
      schema.requests.push_back(std::move(request));
    }
  }
}

}  // namespace

bool is_description(const Tree& tree) {
  if (const Tree* list = list_in(tree)) return !list->empty() && table_in((*list)[0]) != nullptr;
  return table_in(tree) != nullptr;
}

Expected<std::vector<TableSchema>, std::string> read_descriptions(const Tree& tree, const std::string& file,
                                                                  const std::string& region) {
  const Tree* list = list_in(tree);
  const Tree alone = list == nullptr ? Tree::array({tree}) : Tree();
  std::vector<TableSchema> schemas;
  for (const Tree& one : list != nullptr ? *list : alone) {
    const Tree* table = table_in(one);
    if (table == nullptr)
      return Unexpected{file + ": entry " + std::to_string(schemas.size() + 1) +
                        " is not the description of a table"};
    const std::string name(json::string_member(*table, "TableName").value_or(""));
    TableSchema schema{.where = file + ": " + name, .table = name};
    schema.requests.push_back({"CreateTable", create_table(*table)});
    add_settings(one, schema);
    if (const Tree* replicas = json::member(*table, "Replicas");
        replicas != nullptr && replicas->is_array()) {
      for (const Tree& one_replica : *replicas) {
        const auto elsewhere = json::string_member(one_replica, "RegionName");
        if (elsewhere && *elsewhere != region)
          schema.requests.push_back(replica(name, std::string(*elsewhere)));
      }
    }
    schemas.push_back(std::move(schema));
  }
  return schemas;
}

}  // namespace mayfly::schemas
