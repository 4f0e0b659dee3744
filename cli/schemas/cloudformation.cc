#include "cli/schemas/cloudformation.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "cli/schemas/cloudformation_functions.h"
#include "cli/schemas/intrinsics.h"
#include "engine/base/text.h"

namespace mayfly::schemas {

namespace {

using json::Tree;

constexpr std::string_view table_type = "AWS::DynamoDB::Table";
constexpr std::string_view global_table_type = "AWS::DynamoDB::GlobalTable";
constexpr std::string_view simple_table_type = "AWS::Serverless::SimpleTable";

// Converts each scalar to an integer or a boolean if its member has that type, and to a string otherwise.
Tree coerced(Tree value, std::string_view member) {
  static const std::set<std::string_view> integers = {
      "ReadCapacityUnits",  "WriteCapacityUnits",  "MaxReadRequestUnits",  "MaxWriteRequestUnits",
      "ReadUnitsPerSecond", "WriteUnitsPerSecond", "RecoveryPeriodInDays", "MinCapacity"};
  static const std::set<std::string_view> booleans = {
      "Enabled", "SSEEnabled", "StreamEnabled", "DeletionProtectionEnabled", "PointInTimeRecoveryEnabled"};
  if (value.is_object()) {
    for (const auto& [name, inner] : value.items()) inner = coerced(std::move(inner), name);
    return value;
  }
  if (value.is_array()) {
    for (Tree& element : value) element = coerced(std::move(element), member);
    return value;
  }
  if (value.is_null()) return value;
  if (integers.contains(member)) {
    constexpr double exact_max = 9'007'199'254'740'992;
    const double number = value.is_number_float() ? value.get<double>() : 0.5;
    if (std::trunc(number) == number && std::abs(number) < exact_max)
      return static_cast<std::int64_t>(number);
    return with_numbers(std::move(value));
  }
  if (booleans.contains(member)) {
    for (const char* text : {"true", "True", "TRUE"})
      if (value == text) return true;
    for (const char* text : {"false", "False", "FALSE"})
      if (value == text) return false;
    return value;
  }
  return value.is_string() ? value : Tree(json::print(value));
}

constexpr std::int64_t units_if_unsaid = 5;

// Returns the entry for the index `name` in a list of indexes, or nullptr if the list has no such entry.
const Tree* index_in(const Tree* indexes, std::string_view name) {
  if (indexes == nullptr || !indexes->is_array()) return nullptr;
  for (const Tree& index : *indexes)
    if (json::string_member(index, "IndexName") == name) return &index;
  return nullptr;
}

const Tree* member_of(const Tree* object, const char* name) {
  return object != nullptr ? json::member(*object, name) : nullptr;
}

// A global table's capacity has two parts: writes for all replicas, and reads for each replica. `written` is
// the table or an index. `here` is the same table or index in this region's replica, or nullptr if the
// template does not describe that table or index for this region.
void add_global_throughput(const Tree& written, const Tree* here, Tree& made) {
  const auto least = [](const Tree* scaling) {
    const Tree* const units = member_of(scaling, "MinCapacity");
    return units != nullptr ? *units : Tree(units_if_unsaid);
  };
  if (const Tree* const writes = json::member(written, "WriteProvisionedThroughputSettings")) {
    const Tree* const reads = member_of(here, "ReadProvisionedThroughputSettings");
    const Tree* const units = member_of(reads, "ReadCapacityUnits");
    made["ProvisionedThroughput"] = {
        {"ReadCapacityUnits",
         units != nullptr ? *units : least(member_of(reads, "ReadCapacityAutoScalingSettings"))},
        {"WriteCapacityUnits", least(json::member(*writes, "WriteCapacityAutoScalingSettings"))}};
  }
  Tree limits = Tree::object();
  if (const Tree* const writes = json::member(written, "WriteOnDemandThroughputSettings"))
    limits.update(members_of(*writes, {"MaxWriteRequestUnits"}));
  if (const Tree* const reads = member_of(here, "ReadOnDemandThroughputSettings"))
    limits.update(members_of(*reads, {"MaxReadRequestUnits"}));
  if (!limits.empty()) made["OnDemandThroughput"] = std::move(limits);
}

// `here` is this region's replica of a global table, or nullptr for other tables.
Tree create_table(const Tree& properties, const std::string& name, const Tree* here) {
  Tree request = {{"TableName", name}};
  request.update(
      members_of(properties, {"AttributeDefinitions", "KeySchema", "BillingMode", "TableClass", "Tags",
                              "ProvisionedThroughput", "OnDemandThroughput", "WarmThroughput"}));
  add_global_throughput(properties, here, request);
  for (const char* indexes : {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"}) {
    const Tree* list = json::member(properties, indexes);
    if (list == nullptr || !list->is_array()) continue;
    for (const Tree& index : *list) {
      Tree made = members_of(index, {"IndexName", "KeySchema", "Projection", "ProvisionedThroughput",
                                     "OnDemandThroughput", "WarmThroughput"});
      const auto index_name = json::string_member(index, "IndexName").value_or("");
      add_global_throughput(index, index_in(member_of(here, indexes), index_name), made);
      request[indexes].push_back(std::move(made));
    }
  }
  const Tree* stream = json::member(properties, "StreamSpecification");
  if (const Tree* view = member_of(stream, "StreamViewType"))
    request["StreamSpecification"] = {{"StreamEnabled", true}, {"StreamViewType", *view}};
  const Tree* encryption = json::member(properties, "SSESpecification");
  if (is_true(member_of(encryption, "SSEEnabled"))) request["SSESpecification"] = {{"Enabled", true}};
  request.update(members_of(properties, {"DeletionProtectionEnabled"}));
  return request;
}

void add_settings(const Tree& properties, TableSchema& schema) {
  const Tree* expiry = json::member(properties, "TimeToLiveSpecification");
  if (is_true(member_of(expiry, "Enabled"))) {
    schema.requests.push_back(
        time_to_live(schema.table, std::string(json::string_member(*expiry, "AttributeName").value_or(""))));
  }
  const Tree* recoverable = json::member(properties, "PointInTimeRecoverySpecification");
  if (is_true(member_of(recoverable, "PointInTimeRecoveryEnabled")))
    schema.requests.push_back(recovery(schema.table, json::member(*recoverable, "RecoveryPeriodInDays")));
}

void read_table(const Tree& properties, TableSchema& schema) {
  schema.requests.push_back({"CreateTable", create_table(properties, schema.table, nullptr)});
  add_settings(properties, schema);
}

// The replicas and witnesses of a strongly consistent global table are created in one request.
SchemaRequest strong_replicas(const std::string& table, const std::vector<std::string>& elsewhere,
                              const Tree* witnesses) {
  SchemaRequest request{"UpdateTable", {{"TableName", table}, {"MultiRegionConsistency", "STRONG"}}};
  for (const std::string& region : elsewhere)
    request.body["ReplicaUpdates"].push_back({{"Create", {{"RegionName", region}}}});
  if (witnesses != nullptr && witnesses->is_array()) {
    for (const Tree& witness : *witnesses) {
      Tree create = {{"RegionName", std::string(json::string_member(witness, "Region").value_or(""))}};
      request.body["GlobalTableWitnessUpdates"].push_back({{"Create", std::move(create)}});
    }
  }
  return request;
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
  Tree request = create_table(properties, schema.table, here);
  if (here != nullptr) request.update(members_of(*here, {"TableClass", "Tags", "DeletionProtectionEnabled"}));
  schema.requests.push_back({"CreateTable", std::move(request)});
  add_settings(properties, schema);
  if (here != nullptr) add_settings(*here, schema);
  if (json::string_member(properties, "MultiRegionConsistency") == "STRONG") {
    schema.requests.push_back(
        strong_replicas(schema.table, elsewhere, json::member(properties, "GlobalTableWitnesses")));
    return;
  }
  for (const std::string& region : elsewhere) schema.requests.push_back(replica(schema.table, region));
}

// A SAM SimpleTable has one key attribute, and is on-demand unless throughput is given.
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

// Resolves the properties that become part of a request.
Expected<Tree, std::string> properties_of(const Template::Resource& resource, Template& values) {
  static const std::set<std::string_view> used = {"TableName",
                                                  "AttributeDefinitions",
                                                  "KeySchema",
                                                  "PrimaryKey",
                                                  "BillingMode",
                                                  "TableClass",
                                                  "ProvisionedThroughput",
                                                  "OnDemandThroughput",
                                                  "WarmThroughput",
                                                  "WriteProvisionedThroughputSettings",
                                                  "WriteOnDemandThroughputSettings",
                                                  "GlobalSecondaryIndexes",
                                                  "LocalSecondaryIndexes",
                                                  "StreamSpecification",
                                                  "SSESpecification",
                                                  "TimeToLiveSpecification",
                                                  "PointInTimeRecoverySpecification",
                                                  "DeletionProtectionEnabled",
                                                  "Replicas",
                                                  "MultiRegionConsistency",
                                                  "GlobalTableWitnesses",
                                                  "Tags"};
  const Tree* const written = json::member(*resource.body, "Properties");
  if (written == nullptr) return Tree::object();
  Tree properties = Tree::object();
  // Resolves each property separately, so that an error can name it.
  if (written->is_object() && !(written->size() == 1 && written->begin().key().starts_with("Fn::"))) {
    for (const auto& [name, value] : written->items()) {
      if (!used.contains(name) && !name.starts_with("Fn::ForEach::")) continue;
      const auto resolved = values.resolve(Tree{{name, value}}, resource);
      if (!resolved) return Unexpected{"." + name + ": " + resolved.error()};
      if (*resolved && (*resolved)->is_object()) properties.update(**resolved);
    }
  } else {
    const auto resolved = values.resolve(*written, resource);
    if (!resolved) return Unexpected{".Properties: " + resolved.error()};
    if (!*resolved || !(*resolved)->is_object())
      return Unexpected{std::string(".Properties is not a mapping")};
    properties = **resolved;
  }
  return coerced(std::move(properties), "");
}

// Whether the text contains a variable of the Serverless Framework. Templates that are part of that
// framework's configuration can contain its variables.
bool has_serverless_variable(std::string_view text) {
  for (const std::string_view begin : {"${self:", "${opt:", "${sls:", "${env:", "${param:", "${file(",
                                       "${ssm:", "${aws:", "${cf:", "${strToBool("})
    if (text.find(begin) != std::string_view::npos) return true;
  return false;
}

}  // namespace

bool is_cloudformation(const Tree& tree) {
  const Tree* resources = json::member(tree, "Resources");
  return resources != nullptr && resources->is_object();
}

Expected<void, std::string> read_cloudformation(const Tree& tree, const std::string& file,
                                                const SchemaContext& context, SchemaFiles& files) {
  auto values = Template::open(tree, context);
  if (!values) return Unexpected{file + ": " + values.error()};
  bool is_any_made = false;
  std::string unmade;
  for (const Template::Resource& resource : values->resources()) {
    if (!resource.is_table()) continue;
    TableSchema schema{.where = file + ": Resources." + resource.name};
    const auto is_made = values->is_made(resource);
    if (!is_made) return Unexpected{schema.where + ".Condition: " + is_made.error()};
    if (!*is_made) {
      unmade += (unmade.empty() ? "" : ", ") + resource.name;
      continue;
    }
    is_any_made = true;
    const auto properties = properties_of(resource, *values);
    if (!properties) return Unexpected{schema.where + properties.error()};
    schema.table = json::string_member(*properties, "TableName").value_or(resource.name);
    if (has_serverless_variable(schema.table)) {
      return Unexpected{
          schema.where + ".TableName: '" + schema.table +
          "' has a variable of the Serverless Framework. Run 'sls package' and pass the template "
          "that it writes: --schema .serverless/cloudformation-template-update-stack.json"};
    }
    const auto type = json::string_member(*resource.body, "Type");
    if (type == table_type) read_table(*properties, schema);
    if (type == global_table_type) read_global_table(*properties, context, schema);
    if (type == simple_table_type) read_simple_table(*properties, schema);
    files.tables.push_back(std::move(schema));
  }
  if (!is_any_made && !unmade.empty()) {
    files.warnings.push_back(file + ": no table is created, because the Condition of each table is false: " +
                             unmade + ". Set parameters with --schema-parameter NAME=VALUE");
  }
  if (context.functions) CHECK_OK(read_cloudformation_functions(tree, *values, file, files));
  if (values->unknown().empty()) return {};
  files.warnings.push_back(
      file + ": " + (context.functions ? "tags and environments" : "tags") +
      " have placeholders for unknown values: " + engine::joined(values->unknown(), ", ") +
      ". Set them with --schema-parameter NAME=VALUE");
  return {};
}

}  // namespace mayfly::schemas
