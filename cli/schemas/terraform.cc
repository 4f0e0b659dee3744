#include "cli/schemas/terraform.h"

#include <optional>
#include <string_view>
#include <utility>

#include "cli/schemas/terraform_functions.h"
#include "cli/schemas/terraform_plan.h"

namespace mayfly::schemas {

namespace {

using json::Tree;

// Terraform writes unset values as null or as empty text.
std::optional<std::string> text_member(const Tree& values, const char* name) {
  const auto text = json::string_member(values, name);
  return text && !text->empty() ? std::optional<std::string>(*text) : std::nullopt;
}

// A block that can occur only once is written as a list with one element.
const Tree* block(const Tree& values, const char* name) {
  const Tree* list = json::member(values, name);
  return list != nullptr && list->is_array() && !list->empty() ? &(*list)[0] : nullptr;
}

Tree key_schema(const Tree& values, const std::optional<std::string>& inherited = {}) {
  Tree keys = Tree::array();
  const auto add = [&](const std::string& name, const char* kind) {
    keys.push_back({{"AttributeName", name}, {"KeyType", kind}});
  };
  // Indexes may have several attributes in each part of their key.
  if (const Tree* parts = json::member(values, "key_schema");
      parts != nullptr && parts->is_array() && !parts->empty()) {
    for (const Tree& part : *parts) {
      const auto name = text_member(part, "attribute_name");
      const auto kind = text_member(part, "key_type");
      if (name && kind) add(*name, *kind == "RANGE" ? "RANGE" : "HASH");
    }
    return keys;
  }
  if (const auto name = inherited ? inherited : text_member(values, "hash_key")) add(*name, "HASH");
  if (const auto name = text_member(values, "range_key")) add(*name, "RANGE");
  return keys;
}

Tree throughput(const Tree& values) {
  const auto units = [&](const char* name) { return json::integer_member(values, name).value_or(0); };
  return {{"ReadCapacityUnits", units("read_capacity")}, {"WriteCapacityUnits", units("write_capacity")}};
}

std::optional<Tree> on_demand_throughput(const Tree& values) {
  const Tree* limits = block(values, "on_demand_throughput");
  if (limits == nullptr) return std::nullopt;
  Tree result = Tree::object();
  if (const auto units = json::integer_member(*limits, "max_read_request_units"))
    result["MaxReadRequestUnits"] = *units;
  if (const auto units = json::integer_member(*limits, "max_write_request_units"))
    result["MaxWriteRequestUnits"] = *units;
  return result;
}

Tree index_of(const Tree& values, bool provisioned, const std::optional<std::string>& table_hash_key) {
  Tree projection = {{"ProjectionType", text_member(values, "projection_type").value_or("ALL")}};
  if (const Tree* names = json::member(values, "non_key_attributes"); names != nullptr && !names->empty())
    projection["NonKeyAttributes"] = *names;
  Tree index = {{"IndexName", text_member(values, "name").value_or("")},
                {"KeySchema", key_schema(values, table_hash_key)},
                {"Projection", std::move(projection)}};
  if (provisioned && !table_hash_key) index["ProvisionedThroughput"] = throughput(values);
  if (auto limits = on_demand_throughput(values)) index["OnDemandThroughput"] = *std::move(limits);
  return index;
}

Tree create_table(const Tree& values, const std::string& name) {
  Tree request = {{"TableName", name}, {"KeySchema", key_schema(values)}};
  request["AttributeDefinitions"] = Tree::array();
  if (const Tree* attributes = json::member(values, "attribute")) {
    for (const Tree& attribute : *attributes) {
      request["AttributeDefinitions"].push_back(
          {{"AttributeName", text_member(attribute, "name").value_or("")},
           {"AttributeType", text_member(attribute, "type").value_or("")}});
    }
  }
  const bool provisioned = text_member(values, "billing_mode").value_or("PROVISIONED") == "PROVISIONED";
  request["BillingMode"] = provisioned ? "PROVISIONED" : "PAY_PER_REQUEST";
  if (provisioned) request["ProvisionedThroughput"] = throughput(values);
  if (auto limits = on_demand_throughput(values)) request["OnDemandThroughput"] = *std::move(limits);
  if (const Tree* indexes = json::member(values, "global_secondary_index")) {
    for (const Tree& index : *indexes)
      request["GlobalSecondaryIndexes"].push_back(index_of(index, provisioned, {}));
  }
  if (const Tree* indexes = json::member(values, "local_secondary_index")) {
    for (const Tree& index : *indexes) {
      request["LocalSecondaryIndexes"].push_back(
          index_of(index, provisioned, text_member(values, "hash_key").value_or("")));
    }
  }
  if (is_true(json::member(values, "stream_enabled"))) {
    request["StreamSpecification"] = {
        {"StreamEnabled", true},
        {"StreamViewType", text_member(values, "stream_view_type").value_or("NEW_AND_OLD_IMAGES")}};
  }
  if (const Tree* encryption = block(values, "server_side_encryption");
      encryption != nullptr && is_true(json::member(*encryption, "enabled")))
    request["SSESpecification"] = {{"Enabled", true}};
  if (const auto table_class = text_member(values, "table_class")) request["TableClass"] = *table_class;
  if (is_true(json::member(values, "deletion_protection_enabled")))
    request["DeletionProtectionEnabled"] = true;
  const Tree* tags = json::member(values, "tags_all");
  if (tags == nullptr) tags = json::member(values, "tags");
  if (tags != nullptr && tags->is_object()) {
    for (const auto& [key, value] : tags->items())
      request["Tags"].push_back({{"Key", key}, {"Value", value}});
  }
  return request;
}

TableSchema read_table(const Tree& values, const std::string& name, std::string where) {
  TableSchema schema{.where = std::move(where), .table = name};
  schema.requests.push_back({"CreateTable", create_table(values, name)});
  if (const Tree* expiry = block(values, "ttl"); expiry != nullptr &&
                                                 text_member(*expiry, "attribute_name") &&
                                                 !(json::boolean_member(*expiry, "enabled") == false))
    schema.requests.push_back(time_to_live(name, *text_member(*expiry, "attribute_name")));
  if (const Tree* recoverable = block(values, "point_in_time_recovery");
      recoverable != nullptr && is_true(json::member(*recoverable, "enabled")))
    schema.requests.push_back(recovery(name, json::member(*recoverable, "recovery_period_in_days")));
  if (const Tree* replicas = json::member(values, "replica"); replicas != nullptr && replicas->is_array()) {
    for (const Tree& one : *replicas)
      if (const auto region = text_member(one, "region_name"))
        schema.requests.push_back(replica(name, *region));
  }
  return schema;
}

// A plan has the root module in "planned_values", and a state has it in "values".
const Tree* root_module(const Tree& tree) {
  for (const char* name : {"planned_values", "values"}) {
    const Tree* values = json::member(tree, name);
    const Tree* root = values != nullptr ? json::member(*values, "root_module") : nullptr;
    if (root != nullptr) return root;
  }
  return nullptr;
}

}  // namespace

bool is_terraform(const Tree& tree) { return root_module(tree) != nullptr; }

Expected<void, std::string> read_terraform(const Tree& tree, const std::string& file,
                                           const SchemaContext& context, SchemaFiles& files) {
  const auto plan = Plan::open(tree);
  if (!plan) return Unexpected{file + ": " + plan.error()};
  for (const Plan::Resource& resource : plan->resources()) {
    if (resource.type != "aws_dynamodb_table" || resource.is_data) continue;
    const std::string where = file + ": " + resource.address;
    const auto name = text_member(*resource.values, "name");
    if (!name) {
      return Unexpected{where +
                        " has no name before the plan is applied. Name the table, or pass the state after "
                        "the plan is applied"};
    }
    files.tables.push_back(read_table(*resource.values, *name, where));
  }
  if (context.functions) read_terraform_functions(*plan, file, context, files);
  return {};
}

}  // namespace mayfly::schemas
