#include "cli/sweep/table_facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/sweep/request_text.h"

namespace mayfly::sweep {

namespace {

constexpr int index_looks_max = 3600, index_beginning_looks_max = 30;

// Returns the key of a table or an index: {partition key, sort key}.
std::vector<std::string> key_names(const Tree& described) {
  std::vector<std::string> names;
  const Tree* const schema = json::member(described, "KeySchema");
  if (schema == nullptr || !schema->is_array()) return names;
  for (const char* kind : {"HASH", "RANGE"})
    for (const Tree& each : *schema)
      if (json::string_member(each, "KeyType") == kind)
        names.emplace_back(json::string_member(each, "AttributeName").value_or(""));
  return names;
}

void read_index(const Tree& table, const Layout& layout, TableFacts& facts) {
  const Tree* const indexes = json::member(table, "GlobalSecondaryIndexes");
  if (indexes == nullptr || !indexes->is_array()) return;
  for (const Tree& index : *indexes) {
    if (json::string_member(index, "IndexName") != layout.index) continue;
    facts.index = json::string_member(index, "IndexStatus") == "ACTIVE" ? TableFacts::Index::ready
                                                                        : TableFacts::Index::building;
    if (key_names(index) != std::vector<std::string>{layout.window_attribute, layout.at_attribute})
      facts.index = TableFacts::Index::other_key;
    const Tree* const projection = json::member(index, "Projection");
    if (projection == nullptr) continue;
    facts.index_has_ttl =
        json::string_member(*projection, "ProjectionType") == "ALL" || layout.looks_by_ttl();
    const Tree* const more = json::member(*projection, "NonKeyAttributes");
    if (more != nullptr && more->is_array())
      for (const Tree& name : *more)
        if (name.is_string() && name.get_ref<const std::string&>() == layout.ttl_attribute)
          facts.index_has_ttl = true;
  }
}

std::string isolation_of(aws::Client& client, const std::string& arn) {
  const auto tagged = client.call("ListTagsOfResource", "{\"ResourceArn\":" + json_text(arn) + "}");
  const Tree* const tags = tagged ? json::member(*tagged, "Tags") : nullptr;
  if (tags != nullptr && tags->is_array())
    for (const Tree& tag : *tags)
      if (json::string_member(tag, "Key") == "system:write_isolation")
        return std::string(json::string_member(tag, "Value").value_or(""));
  // A table without this tag uses the server's setting, which is stored in a system table.
  const auto setting =
      client.call("GetItem", std::string(R"({"TableName":".scylla.alternator.system.config",)"
                                         R"("Key":{"name":{"S":"alternator_write_isolation"}}})"));
  const Tree* const item = setting ? json::member(*setting, "Item") : nullptr;
  std::string value(item == nullptr ? "" : attribute(*item, "value", "S").value_or(""));
  std::erase(value, '"');
  return value.empty() ? "not known" : value;
}

std::string problem_of(const TableFacts& facts, const Layout& layout) {
  if (!facts.isolation.empty() && !is_safe_isolation(facts.isolation))
    return "its write isolation is " + facts.isolation +
           ", which does not check conditions against all writers, so a renewed item could be deleted; it "
           "must be always_use_lwt (tag system:write_isolation)";
  switch (facts.index) {
    case TableFacts::Index::absent:
      return "it has no index " + layout.index + ". Create it with 'mayfly sweep plan --apply'";
    case TableFacts::Index::building:
      return "its index " + layout.index + " is being created. Wait until it is ACTIVE";
    case TableFacts::Index::other_key:
      return "its index " + layout.index + " has a different key than " + layout.window_attribute + " and " +
             layout.at_attribute;
    case TableFacts::Index::ready: break;
  }
  return {};
}

}  // namespace

bool is_safe_isolation(std::string_view name) {
  return name == "always_use_lwt" || name == "always" || name == "a";
}

Expected<TableFacts, std::string> read_facts(aws::Client& client, const Layout& layout) {
  const std::string named = "{\"TableName\":" + json_text(layout.table) + "}";
  const auto answer = client.call("DescribeTable", named);
  if (!answer) return Unexpected{"table " + layout.table + ": " + answer.error().sentence()};
  const Tree* const table = json::member(*answer, "Table");
  if (table == nullptr) return Unexpected{"table " + layout.table + ": the endpoint returned no description"};
  TableFacts facts;
  facts.key = key_names(*table);
  if (facts.key.empty()) return Unexpected{"table " + layout.table + ": the endpoint returned no key schema"};
  for (const std::string& name : {layout.window_attribute, layout.at_attribute, layout.ttl_attribute})
    if (std::find(facts.key.begin(), facts.key.end(), name) != facts.key.end())
      return Unexpected{"table " + layout.table + ": " + name +
                        " is a key attribute, which cannot be changed"};
  facts.items = json::integer_member(*table, "ItemCount").value_or(0);
  facts.bytes = json::integer_member(*table, "TableSizeBytes").value_or(0);
  const Tree* const billing = json::member(*table, "BillingModeSummary");
  facts.on_demand = billing != nullptr && json::string_member(*billing, "BillingMode") == "PAY_PER_REQUEST";
  if (const Tree* const units = json::member(*table, "ProvisionedThroughput"))
    facts.write_units = json::integer_member(*units, "WriteCapacityUnits").value_or(0);
  read_index(*table, layout, facts);
  if (const auto ttl = client.call("DescribeTimeToLive", named)) {
    const Tree* const described = json::member(*ttl, "TimeToLiveDescription");
    if (described != nullptr && json::string_member(*described, "TimeToLiveStatus") == "ENABLED")
      facts.ttl_attribute = json::string_member(*described, "AttributeName").value_or("");
  }
  const std::string arn(json::string_member(*table, "TableArn").value_or(""));
  if (arn.starts_with("arn:scylla:")) facts.isolation = isolation_of(client, arn);
  facts.problem = problem_of(facts, layout);
  return facts;
}

Expected<void, std::string> create_index(aws::Client& client, const Layout& layout, const TableFacts& facts) {
  const auto definition = [](const std::string& name, const char* type) {
    return "{\"AttributeName\":" + json_text(name) + ",\"AttributeType\":\"" + type + "\"}";
  };
  const auto key = [](const std::string& name, const char* kind) {
    return "{\"AttributeName\":" + json_text(name) + ",\"KeyType\":\"" + kind + "\"}";
  };
  const std::int64_t reads = std::max(layout.shards, 5);
  const std::string throughput =
      facts.on_demand
          ? ""
          : ",\"ProvisionedThroughput\":{\"ReadCapacityUnits\":" + std::to_string(reads) +
                ",\"WriteCapacityUnits\":" + std::to_string(std::max<std::int64_t>(facts.write_units, 1)) +
                "}";
  const auto answer = client.call(
      "UpdateTable",
      "{\"TableName\":" + json_text(layout.table) + ",\"AttributeDefinitions\":[" +
          definition(layout.window_attribute, "S") + "," + definition(layout.at_attribute, "N") +
          "],\"GlobalSecondaryIndexUpdates\":[{\"Create\":{\"IndexName\":" + json_text(layout.index) +
          ",\"KeySchema\":[" + key(layout.window_attribute, "HASH") + "," +
          key(layout.at_attribute, "RANGE") + R"(],"Projection":{"ProjectionType":"KEYS_ONLY"})" +
          throughput + "}}]}");
  if (!answer && facts.index == TableFacts::Index::absent)
    return Unexpected{"index " + layout.index + ": " + answer.error().sentence()};
  for (int look = 0; look < index_looks_max; ++look) {
    TRY(const TableFacts now, read_facts(client, layout));
    if (now.index == TableFacts::Index::ready) return {};
    if (now.index == TableFacts::Index::absent && look >= index_beginning_looks_max)
      return Unexpected{"index " + layout.index +
                        ": the endpoint accepted the request but did not create the index; create it "
                        "together with the table"};
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  return Unexpected{"index " + layout.index + " is not ACTIVE yet"};
}

}  // namespace mayfly::sweep
