// The table of all tools.
#include <algorithm>
#include <vector>

#include "compat/control/index.h"
#include "compat/mcp/own_tools.h"
#include "compat/mcp/tools.h"

namespace mayfly::compat::mcp {
namespace {

// --- arguments

constexpr std::string_view text = R"("type":"string")", whole = R"("type":"integer","minimum":1)",
                           yes = R"("type":"boolean")", object = R"("type":"object")",
                           objects = R"("type":"array","items":{"type":"object"})",
                           values = R"("type":"array")";

constexpr Argument table_name{"TableName", text, "", true};
constexpr Argument key{"Key", object, "The primary key", true};
constexpr Argument condition{"ConditionExpression", text};
constexpr Argument names{"ExpressionAttributeNames", object};
constexpr Argument expression_values{"ExpressionAttributeValues", object};
constexpr Argument projection{"ProjectionExpression", text};
constexpr Argument consistent{"ConsistentRead", yes};
constexpr Argument start_key{"ExclusiveStartKey", object, "LastEvaluatedKey of the previous page"};
constexpr Argument return_values{"ReturnValues", text,
                                 "NONE or ALL_OLD; updates also take UPDATED_OLD, ALL_NEW and UPDATED_NEW"};
constexpr Argument limit_of_page{"Limit", whole, "Maximum items to read (default: 50)"};

constexpr Argument attributes{"AttributeDefinitions", objects,
                              R"([{"AttributeName":"id","AttributeType":"S"}])", true};
constexpr Argument key_schema{"KeySchema", objects, R"([{"AttributeName":"id","KeyType":"HASH"}])", true};

constexpr Argument of_list_tables[] = {{"Limit", whole}, {"ExclusiveStartTableName", text}};
constexpr Argument of_table[] = {table_name};
constexpr Argument of_create_table[] = {
    table_name,
    attributes,
    key_schema,
    {"BillingMode", text, "PAY_PER_REQUEST, or PROVISIONED with ProvisionedThroughput"},
    {"GlobalSecondaryIndexes", objects},
    {"LocalSecondaryIndexes", objects},
    {"StreamSpecification", object, R"({"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"})"},
    {"ProvisionedThroughput", object}};
constexpr Argument of_update_table[] = {table_name,
                                        {"AttributeDefinitions", objects},
                                        {"GlobalSecondaryIndexUpdates", objects},
                                        {"StreamSpecification", object},
                                        {"BillingMode", text},
                                        {"ProvisionedThroughput", object},
                                        {"ReplicaUpdates", objects}};
constexpr Argument of_update_ttl[] = {
    table_name, {"TimeToLiveSpecification", object, R"({"Enabled":true,"AttributeName":"ttl"})", true}};
constexpr Argument of_get_item[] = {table_name, key, consistent, projection, names};
constexpr Argument of_put_item[] = {table_name, {"Item", object, "", true}, condition,
                                    names,      expression_values,          return_values};
constexpr Argument of_update_item[] = {
    table_name,        key,          {"UpdateExpression", text, "SET #n = :v REMOVE x"}, condition, names,
    expression_values, return_values};
constexpr Argument of_delete_item[] = {table_name, key, condition, names, expression_values, return_values};
constexpr Argument of_query[] = {table_name,
                                 {"KeyConditionExpression", text, "id = :id AND begins_with(sk, :prefix)"},
                                 names,
                                 expression_values,
                                 {"FilterExpression", text},
                                 {"IndexName", text},
                                 projection,
                                 limit_of_page,
                                 {"ScanIndexForward", yes, "false reads in descending order"},
                                 consistent,
                                 {"Select", text, "COUNT: return only the number of items"},
                                 start_key};
constexpr Argument of_scan[] = {table_name,
                                {"FilterExpression", text},
                                names,
                                expression_values,
                                {"IndexName", text},
                                projection,
                                limit_of_page,
                                consistent,
                                {"Select", text, "COUNT: return only the number of items"},
                                start_key};
constexpr Argument of_batch_get[] = {
    {"RequestItems", object, R"({"TABLE":{"Keys":[KEY]}}, up to 100)", true}};
constexpr Argument of_batch_write[] = {
    {"RequestItems", object,
     R"({"TABLE":[{"PutRequest":{"Item":ITEM}},{"DeleteRequest":{"Key":KEY}}]}, up to 25)", true}};
constexpr Argument of_transact_get[] = {
    {"TransactItems", objects, R"([{"Get":{"TableName":"TABLE","Key":KEY}}], up to 100)", true}};
constexpr Argument of_transact_write[] = {
    {"TransactItems", objects,
     R"([{"Put":{…}},{"Update":{…}},{"Delete":{…}},{"ConditionCheck":{…}}], up to 100)", true},
    {"ClientRequestToken", text}};
constexpr Argument of_statement[] = {{"Statement", text, R"(SELECT * FROM "carts" WHERE id = ?)", true},
                                     {"Parameters", values},
                                     {"NextToken", text},
                                     {"Limit", whole},
                                     consistent};
constexpr Argument of_statements[] = {
    {"TransactStatements", objects, R"([{"Statement":"…","Parameters":[…]}])", true},
    {"ClientRequestToken", text}};
constexpr Argument of_operation[] = {
    {"operation", text, "Name of the operation: CreateBackup, ExportTableToPointInTime, TagResource, …",
     true},
    {"request", object, "Request of the operation, as in the API"}};

constexpr Argument of_list_streams[] = {
    {"TableName", text}, {"Limit", whole}, {"ExclusiveStartStreamArn", text}};
constexpr Argument of_describe_stream[] = {{"StreamArn", text, "LatestStreamArn from describe_table", true},
                                           {"ExclusiveStartShardId", text}};
constexpr Argument of_read_stream[] = {
    table_name,
    {"next", object, "'next' from the previous result, to continue where it ended"},
    {"last", yes, "Read the newest records instead of the oldest"},
    {"limit", R"("type":"integer","minimum":1,"maximum":200)", "Maximum records to read (default: 25)"}};
constexpr Argument of_metrics[] = {{"contains", text, "Only lines that contain this string"}};
constexpr Argument of_explain_error[] = {
    {"error", text, "The error's name, message or both, as the client printed them", true}};

// --- calls of Lambda's API

constexpr std::string_view mappings_path = "/2015-03-31/event-source-mappings/";

constexpr control::Member list_query[] = {{"FunctionName"}, {"EventSourceArn"}, {"Marker"}};
constexpr control::ControlCall list_mappings{.method = "GET", .path = mappings_path, .query = list_query};

constexpr control::Member filter_members[] = {{"Pattern"}};
constexpr control::Member criteria_members[] = {
    control::Member{"Filters", control::Kind::list}.with(filter_members)};
constexpr control::Member create_body[] = {
    {"EventSourceArn", control::Kind::text, "The stream's ARN", control::Given::always},
    {"FunctionName", control::Kind::text, "", control::Given::always},
    {"StartingPosition", control::Kind::text, "TRIM_HORIZON or LATEST", control::Given::always},
    control::Member{"BatchSize", control::Kind::whole}.within(1, 10'000),
    {"Enabled", control::Kind::flag},
    {"MaximumRetryAttempts", control::Kind::whole},
    {"BisectBatchOnFunctionError", control::Kind::flag},
    control::Member{"FilterCriteria", control::Kind::object}.with(criteria_members)};
constexpr control::ControlCall create_mapping{.method = "POST", .path = mappings_path, .body = create_body};

constexpr control::Member mapping_place[] = {
    {"UUID", control::Kind::text, "The UUID from list_triggers", control::Given::always}};
constexpr control::ControlCall delete_mapping{
    .method = "DELETE", .path = "/2015-03-31/event-source-mappings/{UUID}", .place = mapping_place};

// --- the table

constexpr std::span<const Argument> none{};

// The tools that do not come from a description of a control call.
constexpr Tool written_tools[] = {
    {"list_tables", "List tables", "List the names of all tables.", Effect::reads, "ListTables",
     of_list_tables},
    {"describe_table", "Describe a table", "Get a table's keys, indexes, stream and counts.", Effect::reads,
     "DescribeTable", of_table},
    {"create_table", "Create a table", "Create a table. It is ready immediately.", Effect::adds,
     "CreateTable", of_create_table},
    {"update_table", "Change a table", "Add or drop indexes, a stream or replicas, or change throughput.",
     Effect::destroys, "UpdateTable", of_update_table},
    {"delete_table", "Delete a table", "Delete a table and its items.", Effect::destroys, "DeleteTable",
     of_table},
    {"update_time_to_live", "Enable or disable TTL",
     "Enable TTL and choose its attribute, which holds epoch seconds, or disable TTL.", Effect::sets,
     "UpdateTimeToLive", of_update_ttl},

    {"get_item", "Get an item", "Read one item.", Effect::reads, "GetItem", of_get_item, true},
    {"put_item", "Put an item", "Write an item, replacing any item with the same key.", Effect::destroys,
     "PutItem", of_put_item, true},
    {"update_item", "Update an item",
     "Change attributes of an item, or create the item if it does not exist.", Effect::destroys, "UpdateItem",
     of_update_item, true},
    {"delete_item", "Delete an item", "Delete one item.", Effect::destroys, "DeleteItem", of_delete_item,
     true},
    {"query", "Query", "Read one page of a partition's items, in sort key order.", Effect::reads, "Query",
     of_query, true},
    {"scan", "Scan", "Read one page of all items of a table or an index.", Effect::reads, "Scan", of_scan,
     true},
    {"batch_get_item", "Get items", "Read several items.", Effect::reads, "BatchGetItem", of_batch_get, true},
    {"batch_write_item", "Write items", "Put and delete several items, each independently.", Effect::destroys,
     "BatchWriteItem", of_batch_write, true},
    {"transact_get_items", "Read transaction", "Read several items in one transaction.", Effect::reads,
     "TransactGetItems", of_transact_get, true},
    {"transact_write_items", "Write transaction", "Change several items in one transaction, all or none.",
     Effect::destroys, "TransactWriteItems", of_transact_write, true},
    {"execute_statement", "Run PartiQL", "Run one PartiQL statement: SELECT, INSERT, UPDATE or DELETE.",
     Effect::destroys, "ExecuteStatement", of_statement, true},
    {"execute_transaction", "Run PartiQL in a transaction",
     "Run several PartiQL statements in one transaction, all or none.", Effect::destroys,
     "ExecuteTransaction", of_statements, true},
    {"operation", "Any operation", "Call any other operation of DynamoDB or DynamoDB Streams by name.",
     Effect::destroys, "", of_operation, true, &any_operation},

    {"list_streams", "List streams", "List the streams of one table or of all tables.", Effect::reads,
     "ListStreams", of_list_streams},
    {"describe_stream", "Describe a stream", "Get a stream's status and shards.", Effect::reads,
     "DescribeStream", of_describe_stream},
    {"read_stream", "Read a stream",
     "Read records of a table's stream, with old and new images. Deletions by TTL have userIdentity.",
     Effect::reads, "", of_read_stream, true, &read_stream},
    {"list_triggers", "List triggers", "List event source mappings with their state and last result.",
     Effect::reads, "", none, false, nullptr, &list_mappings},
    {"create_trigger", "Create a trigger", "Send a stream's records to a function.", Effect::adds, "", none,
     false, nullptr, &create_mapping},
    {"delete_trigger", "Delete a trigger", "Delete an event source mapping.", Effect::destroys, "", none,
     false, nullptr, &delete_mapping},

    {"metrics", "Metrics", "Get metrics in Prometheus format.", Effect::reads, "", of_metrics, false,
     &show_metrics},
    {"explain_error", "Explain an error",
     "Explain what causes an error of DynamoDB or Mayfly, and what to do about it.", Effect::reads, "",
     of_explain_error, false, &explain},
};

bool has_items(std::span<const control::Member> members) {
  return std::any_of(members.begin(), members.end(), [](const control::Member& member) {
    return member.kind == control::Kind::key || member.kind == control::Kind::image ||
           has_items(member.members);
  });
}

// Returns the tool for a control call. A call whose body or answer has keys or items also accepts the
// argument `plain`.
Tool tool_of(const control::ControlCall& call) {
  return {.name = call.name,
          .title = {},
          .about = call.about,
          .effect = call.effect,
          .operation = {},
          .arguments = {},
          .has_items = has_items(call.body) || has_items(call.answer),
          .call = &call,
          .has_answer_schema = true};
}

const std::vector<Tool>& tools() {
  static const auto* const all = [] {
    auto* const tools = new std::vector<Tool>(std::begin(written_tools), std::end(written_tools));
    for (const control::ControlCall* call : control::all_calls())
      if (call->is_tool) tools->push_back(tool_of(*call));
    return tools;
  }();
  return *all;
}

}  // namespace

std::span<const Tool> all_tools() { return tools(); }

const Tool* find_tool(std::string_view name) {
  for (const Tool& tool : tools())
    if (tool.name == name) return &tool;
  return nullptr;
}

}  // namespace mayfly::compat::mcp
