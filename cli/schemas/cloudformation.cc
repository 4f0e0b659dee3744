#include "cli/schemas/cloudformation.h"

#include <optional>
#include <string_view>
#include <utility>

#include "cli/schemas/intrinsics.h"

namespace mayfly::schemas {

namespace {

using json::Tree;

constexpr std::string_view table_type = "AWS::DynamoDB::Table";
constexpr std::string_view global_table_type = "AWS::DynamoDB::GlobalTable";
constexpr std::string_view simple_table_type = "AWS::Serverless::SimpleTable";

// A global table's capacity stands in two parts: of writes for all replicas, of reads in each.
Tree least_capacity(const Tree& writes, const Tree* replica) {
  const auto least = [](const Tree* settings, const char* kind) {
    const Tree* scaling = settings != nullptr ? json::member(*settings, kind) : nullptr;
    const Tree* units = scaling != nullptr ? json::member(*scaling, "MinCapacity") : nullptr;
    return units != nullptr ? with_numbers(*units) : Tree(5);
  };
  const Tree* reads =
      replica != nullptr ? json::member(*replica, "ReadProvisionedThroughputSettings") : nullptr;
  Tree read_units = least(reads, "ReadCapacityAutoScalingSettings");
  if (const Tree* units = reads != nullptr ? json::member(*reads, "ReadCapacityUnits") : nullptr)
    read_units = with_numbers(*units);
  return {{"ReadCapacityUnits", std::move(read_units)},
          {"WriteCapacityUnits", least(&writes, "WriteCapacityAutoScalingSettings")}};
}

Tree create_table(const Tree& properties, const std::string& name) {
  Tree request = {{"TableName", name}};
  request.update(
      members_of(properties, {"AttributeDefinitions", "KeySchema", "BillingMode", "TableClass", "Tags"}));
  for (const char* member : {"ProvisionedThroughput", "OnDemandThroughput", "WarmThroughput"}) {
    if (const Tree* found = json::member(properties, member)) request[member] = with_numbers(*found);
  }
  for (const char* indexes : {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"}) {
    const Tree* list = json::member(properties, indexes);
    if (list == nullptr || !list->is_array()) continue;
    for (const Tree& index : *list) {
      Tree made = members_of(index, {"IndexName", "KeySchema", "Projection"});
      for (const char* member : {"ProvisionedThroughput", "OnDemandThroughput", "WarmThroughput"}) {
        if (const Tree* found = json::member(index, member)) made[member] = with_numbers(*found);
      }
      if (const Tree* writes = json::member(index, "WriteProvisionedThroughputSettings"))
        made["ProvisionedThroughput"] = least_capacity(*writes, nullptr);
      request[indexes].push_back(std::move(made));
    }
  }
  const Tree* stream = json::member(properties, "StreamSpecification");
  if (const Tree* view = stream != nullptr ? json::member(*stream, "StreamViewType") : nullptr)
    request["StreamSpecification"] = {{"StreamEnabled", true}, {"StreamViewType", *view}};
  const Tree* encryption = json::member(properties, "SSESpecification");
  if (encryption != nullptr && is_true(json::member(*encryption, "SSEEnabled")))
    request["SSESpecification"] = {{"Enabled", true}};
  if (const Tree* kept = json::member(properties, "DeletionProtectionEnabled"))
    request["DeletionProtectionEnabled"] = is_true(kept);
  return request;
}

void add_settings(const Tree& properties, TableSchema& schema) {
  const Tree* expiry = json::member(properties, "TimeToLiveSpecification");
  if (expiry != nullptr && is_true(json::member(*expiry, "Enabled"))) {
    schema.requests.push_back(
        time_to_live(schema.table, std::string(json::string_member(*expiry, "AttributeName").value_or(""))));
  }
  const Tree* recoverable = json::member(properties, "PointInTimeRecoverySpecification");
  if (recoverable != nullptr && is_true(json::member(*recoverable, "PointInTimeRecoveryEnabled")))
    schema.requests.push_back(recovery(schema.table, json::member(*recoverable, "RecoveryPeriodInDays")));
}

void read_table(const Tree& properties, TableSchema& schema) {
  schema.requests.push_back({"CreateTable", create_table(properties, schema.table)});
  add_settings(properties, schema);
}

void read_global_table(const Tree& properties, const SchemaContext& context, TableSchema& schema) {
  const Tree* replicas = json::member(properties, "Replicas");
  const Tree* here = nullptr;
  std::vector<std::string> elsewhere;
  if (replicas != nullptr && replicas->is_array()) {
    for (const Tree& replica : *replicas) {
      const std::string region(json::string_member(replica, "Region").value_or(""));
      if (region == context.region) {
        here = &replica;
      } else {
        elsewhere.push_back(region);
      }
    }
  }
  Tree request = create_table(properties, schema.table);
  if (const Tree* writes = json::member(properties, "WriteProvisionedThroughputSettings"))
    request["ProvisionedThroughput"] = least_capacity(*writes, here);
  if (here != nullptr) {
    request.update(members_of(*here, {"TableClass", "Tags"}));
    if (const Tree* kept = json::member(*here, "DeletionProtectionEnabled"))
      request["DeletionProtectionEnabled"] = is_true(kept);
  }
  schema.requests.push_back({"CreateTable", std::move(request)});
  add_settings(properties, schema);
  if (here != nullptr) add_settings(*here, schema);
  for (const std::string& region : elsewhere) schema.requests.push_back(replica(schema.table, region));
}

// SAM's: one key, on demand unless throughput is given.
// https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-resource-simpletable.html
void read_simple_table(const Tree& properties, TableSchema& schema) {
  const Tree* key = json::member(properties, "PrimaryKey");
  const std::string name(key != nullptr ? json::string_member(*key, "Name").value_or("id") : "id");
  const std::string_view type =
      key != nullptr ? json::string_member(*key, "Type").value_or("String") : "String";
  const char* letter = type == "Number" ? "N" : type == "Binary" ? "B" : "S";
  Tree table = {
      {"AttributeDefinitions", Tree::array({Tree{{"AttributeName", name}, {"AttributeType", letter}}})},
      {"KeySchema", Tree::array({Tree{{"AttributeName", name}, {"KeyType", "HASH"}}})}};
  if (const Tree* throughput = json::member(properties, "ProvisionedThroughput")) {
    table["ProvisionedThroughput"] = *throughput;
  } else {
    table["BillingMode"] = "PAY_PER_REQUEST";
  }
  table.update(members_of(properties, {"SSESpecification", "PointInTimeRecoverySpecification"}));
  if (const Tree* tags = json::member(properties, "Tags"); tags != nullptr && tags->is_object()) {
    for (const auto& [tag, value] : tags->items()) table["Tags"].push_back({{"Key", tag}, {"Value", value}});
  }
  read_table(table, schema);
}

}  // namespace

bool is_cloudformation(const Tree& tree) {
  const Tree* resources = json::member(tree, "Resources");
  return resources != nullptr && resources->is_object();
}

Expected<std::vector<TableSchema>, std::string> read_cloudformation(const Tree& tree, const std::string& file,
                                                                    const SchemaContext& context) {
  const Template values(tree, context);
  std::vector<TableSchema> schemas;
  for (const auto& [name, resource] : json::member(tree, "Resources")->items()) {
    const auto type = json::string_member(resource, "Type").value_or("");
    if (type != table_type && type != global_table_type && type != simple_table_type) continue;
    TableSchema schema{.where = file + ": Resources." + name};
    const auto failed = [&](const std::string& what) { return Unexpected{schema.where + ": " + what}; };
    if (const auto condition = json::string_member(resource, "Condition")) {
      const auto holds = values.holds(std::string(*condition));
      if (!holds) return failed(holds.error());
      if (!*holds) continue;
    }
    // What is not used is not resolved: a key's or a policy's ARN comes from resources that are not here.
    const Tree* written = json::member(resource, "Properties");
    Tree properties = Tree::object();
    if (written != nullptr && written->is_object()) {
      properties = *written;
      for (const char* unused : {"ResourcePolicy", "KinesisStreamSpecification", "ImportSourceSpecification",
                                 "ContributorInsightsSpecification"})
        properties.erase(unused);
      if (properties.contains("SSESpecification") && properties["SSESpecification"].is_object())
        properties["SSESpecification"].erase("KMSMasterKeyId");
      if (properties.contains("Replicas") && properties["Replicas"].is_array()) {
        for (Tree& replica : properties["Replicas"]) {
          if (!replica.is_object()) continue;
          for (const char* unused : {"ResourcePolicy", "KinesisStreamSpecification", "SSESpecification",
                                     "ContributorInsightsSpecification"})
            replica.erase(unused);
        }
      }
    }
    const auto resolved = values.resolve(properties);
    if (!resolved) return failed(resolved.error());
    if (!*resolved || !(*resolved)->is_object()) return failed("its Properties are none");
    schema.table = json::string_member(**resolved, "TableName").value_or(name);
    if (type == table_type) read_table(**resolved, schema);
    if (type == global_table_type) read_global_table(**resolved, context, schema);
    if (type == simple_table_type) read_simple_table(**resolved, schema);
    schemas.push_back(std::move(schema));
  }
  return schemas;
}

}  // namespace mayfly::schemas
