#include "compat/mcp/tools.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "compat/calls/call_path.h"
#include "compat/calls/openapi.h"
#include "compat/control/index.h"
#include "compat/dispatch.h"
#include "compat/json/json.h"
#include "compat/json/utf8.h"
#include "compat/mcp/known_errors.h"
#include "compat/mcp/plain_items.h"
#include "compat/mcp/world.h"
#include "compat/outbound/page_keys.h"
#include "engine/values/account_id.h"
#include "engine/values/region.h"

namespace mayfly::compat::mcp {

struct ToolCall {
  const Tool& tool;
  World& world;
  engine::Scope scope;
  json::Tree arguments;
  bool read_only;
  const std::stop_token& stop;
};

namespace {

using json::Tree;

// --- arguments

constexpr std::string_view text = R"("type":"string")", whole = R"("type":"integer","minimum":1)",
                           number = R"("type":"number","minimum":0)", yes = R"("type":"boolean")",
                           object = R"("type":"object")",
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

// Every tool has the first two arguments; tools with items also have `plain`.
constexpr Argument account{"account", R"("type":"string","pattern":"^[0-9]{12}$")",
                           "Account to use; each account has its own tables, streams and clock"};
constexpr Argument region{"region", text};
constexpr Argument plain{
    "plain", yes,
    R"(Use plain JSON for items, keys and values, {"id":"7","ttl":1924992000}, instead of DynamoDB JSON)"};

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
constexpr Argument of_describe_stream[] = {{"StreamArn", text, "LatestStreamArn of describe_table", true},
                                           {"ExclusiveStartShardId", text}};
constexpr Argument of_read_stream[] = {
    table_name,
    {"next", object, "next of the previous result, to continue from there"},
    {"last", yes, "Read the newest records instead of the oldest"},
    {"limit", R"("type":"integer","minimum":1,"maximum":200)", "Maximum records to read (default: 25)"}};
constexpr Argument of_metrics[] = {{"contains", text, "Only lines that contain this text"}};
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
    {"UUID", control::Kind::text, "UUID of list_triggers", control::Given::always}};
constexpr control::ControlCall delete_mapping{
    .method = "DELETE", .path = "/2015-03-31/event-source-mappings/{UUID}", .place = mapping_place};

// --- results

Outcome failure(std::string sentence) { return {.failed = true, .text = std::move(sentence)}; }

Outcome not_asked(const std::string& why) { return failure("Cannot reach the server: " + why); }

// The text is inserted verbatim into a message of one line, so it is validated: a foreign server can return
// anything.
bool is_object_text(std::string_view body) {
  return body.starts_with('{') && body.find_first_of("\r\n") == std::string_view::npos &&
         json::parse(body) != nullptr;
}

// "ResourceNotFoundException: Requested resource not found", plus the whole response if it has more members.
Outcome refused(const WorldAnswer& answer) {
  const auto tree = json::parse_tree(answer.body, json::Decimals::as_written);
  if (!tree || !tree->is_object())
    return failure("HTTP status " + std::to_string(answer.status) + " " + answer.body);
  const auto either = [&](const char* small, const char* large) {
    const auto found = json::string_member(*tree, small);
    return found ? found : json::string_member(*tree, large);
  };
  const std::string_view type = either("__type", "Type").value_or("");
  const std::string_view message = either("message", "Message").value_or("");
  std::string sentence(type.substr(type.find('#') == std::string_view::npos ? 0 : type.find('#') + 1));
  if (!message.empty()) sentence += (sentence.empty() ? "" : ": ") + std::string(message);
  if (sentence.empty()) sentence = "HTTP status " + std::to_string(answer.status);
  Outcome outcome = failure(std::move(sentence));
  if (tree->size() > 2) outcome.more = answer.body;
  return outcome;
}

Outcome outcome_of(Asked asked) {
  if (!asked) return not_asked(asked.error());
  if (asked->status < 200 || asked->status > 299) return refused(*asked);
  std::string body = asked->body.empty() ? "{}" : std::move(asked->body);
  const bool is_object = is_object_text(body);
  return {.text = std::move(body), .is_object = is_object};
}

Asked operate(ToolCall& call, const Operation& operation, const Tree& request) {
  return call.world.operate(call.scope, std::string(operation.service) + "." + std::string(operation.name),
                            json::print(request), call.stop);
}

// nullptr if there is no such operation.
const Operation* find_operation(std::string_view name) {
  const auto number = operation_named(name);
  return number ? all_operations()[*number] : nullptr;
}

// Removes the argument and returns its text. On failure, the error is a sentence.
control::MemberText take_text(Tree& arguments, std::string_view name) {
  const auto found = arguments.find(std::string(name));
  if (found == arguments.end() || found->is_null()) return std::optional<std::string>();
  std::string taken;
  if (found->is_string()) {
    taken = found->get<std::string>();
  } else if (found->is_number_integer()) {  // agents sometimes write a snapshot's id as a number
    taken = json::print(*found);
  } else {
    return Unexpected{"'" + std::string(name) + "' must be a string."};
  }
  arguments.erase(found);
  return std::optional(std::move(taken));
}

// --- operations

// Halves the limit until the page fits. Items that do not fit remain for the next page.
void shorten_page(ToolCall& call, const Operation& operation, Outcome& outcome) {
  bool shortened = false;
  while (!outcome.failed && outcome.text.size() > result_bytes_max && !call.stop.stop_requested()) {
    const auto limit = json::integer_member(call.arguments, "Limit").value_or(page_items_default);
    if (limit <= 1) break;
    call.arguments["Limit"] = limit / 2;
    shortened = true;
    outcome = outcome_of(operate(call, operation, call.arguments));
  }
  if (shortened && !outcome.failed) {
    outcome.more = "The page was shortened to fit: Limit " + json::print(call.arguments["Limit"]) +
                   ". Pass LastEvaluatedKey as ExclusiveStartKey to continue. A ProjectionExpression makes "
                   "items smaller.";
  }
}

Outcome run_operation(ToolCall& call, const Operation& operation, bool pages) {
  if (pages && !call.arguments.contains("Limit")) call.arguments["Limit"] = page_items_default;
  Outcome outcome = outcome_of(operate(call, operation, call.arguments));
  if (pages) shorten_page(call, operation, outcome);
  return outcome;
}

bool reads_only(const Operation& operation) {
  const std::string_view name = operation.name;
  return name.starts_with("Describe") || name.starts_with("List") ||
         (operation.access == Access::reads && !name.ends_with("Statement"));
}

// Whether a statement reads, judged by its first word.
bool selects(const Tree& arguments) {
  std::string_view statement = json::string_member(arguments, "Statement").value_or("");
  statement.remove_prefix(std::min(statement.find_first_not_of(" \t\r\n"), statement.size()));
  constexpr std::string_view word = "select";
  return statement.size() > word.size() &&
         std::equal(word.begin(), word.end(), statement.begin(),
                    [](char a, char b) { return a == (b | 0x20); }) &&
         std::string_view(" \t\r\n*").find(statement[word.size()]) != std::string_view::npos;
}

Outcome any_operation(ToolCall& call) {
  auto name = take_text(call.arguments, "operation");
  if (!name) return failure(name.error());
  const Operation* operation = *name ? find_operation(**name) : nullptr;
  if (operation == nullptr) {
    std::string known;
    for (const Operation* one : all_operations())
      known += (known.empty() ? "" : ", ") + std::string(one->name);
    return failure((*name ? "Unknown operation '" + **name + "'" : std::string("'operation' is required")) +
                   "; the operations are " + known);
  }
  if (call.read_only && !reads_only(*operation))
    return failure(std::string(operation->name) + " is not available in read-only mode.");
  const Tree* request = json::member(call.arguments, "request");
  if (request != nullptr && !request->is_object()) return failure("'request' must be an object.");
  call.arguments = request != nullptr ? Tree(*request) : Tree::object();
  return run_operation(call, *operation, false);
}

// --- control calls

// Removes the arguments that are part of the path or the query, and returns their text.
control::MemberText take_member(Tree& arguments, const control::Member& member) {
  if (member.given == control::Given::always) {
    TRY(auto part, take_text(arguments, member.name));
    if (part && part->empty()) part.reset();
    return part;
  }
  // Of the query, only the server checks the types.
  const auto found = arguments.find(std::string(member.name));
  if (found == arguments.end()) return std::nullopt;
  std::string value = found->is_string() ? found->get<std::string>() : json::print(*found);
  arguments.erase(found);
  return value;
}

Outcome make_call(ToolCall& call, const control::ControlCall& described) {
  const auto path = control::call_path(
      described, [&](const control::Member& member) { return take_member(call.arguments, member); });
  if (!path) return failure(path.error());
  const std::string body = call.arguments.empty() ? "" : json::print(call.arguments);
  return outcome_of(call.world.call(call.scope, described.method, *path, body, call.stop));
}

Outcome show_metrics(ToolCall& call) {
  auto contains = take_text(call.arguments, "contains");
  if (!contains) return failure(contains.error());
  Outcome outcome = outcome_of(call.world.call(call.scope, "GET", "/_mayfly/metrics", "", call.stop));
  if (outcome.failed || !*contains) return outcome;
  std::string kept;
  for (std::string_view left = outcome.text; !left.empty();) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    if (line.find(**contains) != std::string_view::npos) kept.append(line) += '\n';
  }
  outcome.text = std::move(kept);
  outcome.is_object = false;
  return outcome;
}

// --- streams

// One page of a shard, and where to continue.
struct ShardPage {
  Tree records = Tree::array();
  std::optional<std::string> next;
};

constexpr std::int64_t records_default = 25, records_max = 200;
constexpr int shards_max = 1000, pages_max = 1000;  // per call

class StreamReader {
 public:
  explicit StreamReader(ToolCall& call) : call_(call) {}

  // Returns records from `next` on, or from the stream's beginning:
  // {"records":[…],"next":{"shard":"iterator"}}.
  Outcome read(const std::string& table, const Tree* next, std::int64_t limit, bool last) {
    if (!find_stream(table)) return std::move(*failed_);
    if (!find_shards()) return std::move(*failed_);
    Tree iterators = Tree::object();
    if (next != nullptr) iterators = *next;
    std::vector<Tree> records;
    bool more = false;
    for (const std::string& shard : shards_) {
      auto iterator = json::string_member(iterators, shard).value_or("");
      if (iterator == "closed") continue;
      std::string at(iterator);
      if (at.empty() && !first_iterator(shard, at)) return std::move(*failed_);
      for (;;) {
        if (!last && static_cast<std::int64_t>(records.size()) >= limit) {
          more = true;
          break;
        }
        if (++pages_ > pages_max || call_.stop.stop_requested()) {
          more = true;
          break;
        }
        const auto wanted = last ? std::int64_t{1000} : limit - static_cast<std::int64_t>(records.size());
        ShardPage page;
        if (!read_page(at, wanted, page)) return std::move(*failed_);
        for (Tree& record : page.records) records.push_back(std::move(record));
        if (last && static_cast<std::int64_t>(records.size()) > limit)
          records.erase(records.begin(), records.end() - limit);
        const bool was_empty = page.records.empty();
        at = page.next.value_or("closed");
        if (at == "closed" || was_empty) break;
      }
      iterators[shard] = at;
    }
    Tree shown = Tree::array();
    for (Tree& record : records) shown.push_back(std::move(record));
    Outcome outcome{.text = json::print({{"records", std::move(shown)}, {"next", std::move(iterators)}}),
                    .is_object = true};
    if (more) outcome.more = "There are more records; call again with next.";
    return outcome;
  }

 private:
  // Returns false on failure; `failed_` then has the error.
  bool ask(std::string_view operation, const Tree& request, Tree& answer) {
    Outcome outcome = outcome_of(operate(call_, *find_operation(operation), request));
    auto tree = outcome.failed ? std::nullopt : json::parse_tree(outcome.text, json::Decimals::as_written);
    if (!tree) {
      failed_ = outcome.failed ? std::move(outcome) : failure("The server's response is not JSON.");
      return false;
    }
    answer = *std::move(tree);
    return true;
  }

  bool find_stream(const std::string& table) {
    Tree answer;
    if (!ask("DescribeTable", {{"TableName", table}}, answer)) return false;
    const Tree* description = json::member(answer, "Table");
    const auto arn =
        description != nullptr ? json::string_member(*description, "LatestStreamArn") : std::nullopt;
    if (!arn) {
      failed_ = failure("Table '" + table +
                        "' has no stream; enable one with update_table and StreamSpecification.");
      return false;
    }
    arn_ = *arn;
    return true;
  }

  bool find_shards() {
    Tree request{{"StreamArn", arn_}};
    outbound::PageKeys keys;
    while (static_cast<int>(shards_.size()) < shards_max) {
      Tree answer;
      if (!ask("DescribeStream", request, answer)) return false;
      const Tree* description = json::member(answer, "StreamDescription");
      const Tree* shards = description != nullptr ? json::member(*description, "Shards") : nullptr;
      if (shards == nullptr || !shards->is_array()) return true;
      for (const Tree& shard : *shards)
        if (const auto id = json::string_member(shard, "ShardId")) shards_.emplace_back(*id);
      const auto last = json::string_member(*description, "LastEvaluatedShardId");
      if (!last) return true;
      if (!keys.advance(*last)) {
        failed_ = failure("DescribeStream: " + std::string(outbound::PageKeys::repeated) + ".");
        return false;
      }
      request["ExclusiveStartShardId"] = std::string(*last);
    }
    return true;
  }

  bool first_iterator(const std::string& shard, std::string& iterator) {
    Tree answer;
    if (!ask("GetShardIterator",
             {{"StreamArn", arn_}, {"ShardId", shard}, {"ShardIteratorType", "TRIM_HORIZON"}}, answer))
      return false;
    iterator = json::string_member(answer, "ShardIterator").value_or("closed");
    return true;
  }

  bool read_page(const std::string& iterator, std::int64_t limit, ShardPage& page) {
    Tree answer;
    if (!ask("GetRecords", {{"ShardIterator", iterator}, {"Limit", limit}}, answer)) return false;
    if (const auto found = answer.find("Records"); found != answer.end() && found->is_array())
      page.records = std::move(*found);
    if (const auto next = json::string_member(answer, "NextShardIterator")) page.next = std::string(*next);
    return true;
  }

  ToolCall& call_;
  std::string arn_;
  std::vector<std::string> shards_;
  int pages_ = 0;
  std::optional<Outcome> failed_;
};

Outcome read_stream(ToolCall& call) {
  const auto name = take_text(call.arguments, "TableName");
  if (!name) return failure(name.error());
  if (!*name) return failure("'TableName' is required and must be a string.");
  const Tree* next = json::member(call.arguments, "next");
  if (next != nullptr && !next->is_object()) return failure("'next' must be an object.");
  const auto limit = json::integer_member(call.arguments, "limit").value_or(records_default);
  if (limit < 1 || limit > records_max)
    return failure("'limit' must be between 1 and " + std::to_string(records_max) + ".");
  return StreamReader(call).read(**name, next, limit,
                                 json::boolean_member(call.arguments, "last").value_or(false));
}

// --- errors

Outcome explain(ToolCall& call) {
  const auto error = take_text(call.arguments, "error");
  if (!error) return failure(error.error());
  const Tree known = explain_error(error->value_or(""));
  if (!known.is_null()) return {.text = json::print(known), .is_object = true};
  std::string names_known;
  for (const KnownError& one : known_errors())
    names_known += (names_known.empty() ? "" : ", ") + std::string(error_name(one.kind));
  return failure("Unknown error. The known errors are " + names_known);
}

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
    {"update_time_to_live", "Switch TTL",
     "Enable TTL and choose its attribute, which holds epoch seconds, or disable it.", Effect::sets,
     "UpdateTimeToLive", of_update_ttl},

    {"get_item", "Get an item", "Read one item.", Effect::reads, "GetItem", of_get_item, true},
    {"put_item", "Put an item", "Write an item, replacing one with the same key.", Effect::destroys,
     "PutItem", of_put_item, true},
    {"update_item", "Update an item", "Change attributes of an item; creates it if it does not exist.",
     Effect::destroys, "UpdateItem", of_update_item, true},
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

    {"metrics", "Metrics", "Get metrics in Prometheus' format.", Effect::reads, "", of_metrics, false,
     &show_metrics},
    {"explain_error", "Explain an error", "Explain when DynamoDB or Mayfly raises an error, and what to do.",
     Effect::reads, "", of_explain_error, false, &explain},
};

bool has_items(std::span<const control::Member> members) {
  return std::any_of(members.begin(), members.end(), [](const control::Member& member) {
    return member.kind == control::Kind::key || member.kind == control::Kind::image ||
           has_items(member.members);
  });
}

// The tool for a control call. Agents read and write its keys and items.
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
  static const std::vector<Tool> all = [] {
    std::vector<Tool> tools(std::begin(written_tools), std::end(written_tools));
    for (const control::ControlCall* call : control::all_calls())
      if (call->is_tool) tools.push_back(tool_of(*call));
    return tools;
  }();
  return all;
}

// --- checking arguments

void each_argument(const Tool& tool, const auto& visit) {
  for (const Argument& argument : tool.arguments) visit(argument);
  if (tool.call != nullptr) {
    for (const auto members : {tool.call->place, tool.call->query, tool.call->body})
      for (const control::Member& member : members) {
        Tree schema = control::json_schema(member);
        schema.erase("description");
        const std::string text = json::print(schema);  // {…}
        visit(Argument{member.name, std::string_view(text).substr(1, text.size() - 2), member.about,
                       member.given == control::Given::always});
      }
  }
  if (tool.has_items) visit(plain);
  visit(account);
  visit(region);
}

// The form of a control call's answer, without its details, which would take up an agent's context.
Tree output_schema(const control::ControlCall& call) {
  Tree properties = Tree::object(), needed = Tree::array();
  for (const control::Member& member : call.answer) {
    properties[std::string(member.name)] = control::json_type(member);
    if (member.given != control::Given::sometimes) needed.push_back(member.name);
  }
  Tree schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!needed.empty()) schema["required"] = std::move(needed);
  return schema;
}

// "Advance clock"
std::string title_of(const Tool& tool) {
  if (!tool.title.empty()) return std::string(tool.title);
  std::string title(tool.name);
  std::replace(title.begin(), title.end(), '_', ' ');
  title[0] = static_cast<char>(title[0] & ~0x20);
  return title;
}

// Detects misspelled arguments. An operation accepts every member that its API has, whether or not the tool
// lists it.
std::optional<std::string> unknown_argument(const Tool& tool, const Operation* operation,
                                            const Tree& arguments) {
  for (auto member = arguments.begin(); member != arguments.end(); ++member) {
    const std::string& name = member.key();
    bool known = false;
    std::string listed;
    each_argument(tool, [&](const Argument& argument) {
      known = known || argument.name == name;
      listed += (listed.empty() ? "" : ", ") + std::string(argument.name);
    });
    if (!known && operation != nullptr)
      for (const Member& one : operation->shape->members) known = known || one.name == name;
    if (!known)
      return "Unknown argument '" + name + "'; " + std::string(tool.name) + " accepts " + listed + ".";
  }
  return std::nullopt;
}

std::optional<std::string> take_scope(Tree& arguments, engine::Scope& scope) {
  const auto own_account = take_text(arguments, "account");
  if (!own_account) return own_account.error();
  if (*own_account) scope.account = **own_account;
  if (!engine::is_account_id(scope.account)) return "'account' must be twelve digits.";
  const auto own_region = take_text(arguments, "region");
  if (!own_region) return own_region.error();
  if (*own_region && !(*own_region)->empty()) scope.region = **own_region;
  if (!engine::is_region(scope.region))
    return "'region' must be " + std::string(engine::region_letters) + ".";
  return std::nullopt;
}

// Returns how many bytes were removed.
std::size_t cut(std::string& text) {
  const std::size_t kept = whole_characters(text, result_bytes_max).size();
  const std::size_t left = text.size() - kept;
  text.resize(kept);
  return left;
}

void cut(Outcome& outcome) {
  if (const std::size_t left = cut(outcome.more); left > 0)
    outcome.more += " ... and " + std::to_string(left) + " more bytes.";
  const std::size_t left = cut(outcome.text);
  if (left == 0) return;
  outcome.is_object = false;
  outcome.more = "The result was truncated; " + std::to_string(left) +
                 " bytes are missing. Request less: use Limit, a ProjectionExpression or fewer keys.";
}

}  // namespace

std::span<const Tool> all_tools() { return tools(); }

bool is_offered(const Tool& tool, bool read_only) {
  return !read_only || tool.effect == Effect::reads || tool.run == &any_operation ||
         tool.operation == "ExecuteStatement";
}

const Tool* find_tool(std::string_view name) {
  for (const Tool& tool : tools())
    if (tool.name == name) return &tool;
  return nullptr;
}

json::Tree describe(const Tool& tool, bool read_only) {
  std::string properties = "{";
  Tree needed = Tree::array();
  each_argument(tool, [&](const Argument& argument) {
    Tree about = std::string(argument.about);
    properties += (properties.size() > 1 ? ",\"" : "\"") + std::string(argument.name) + "\":{" +
                  std::string(argument.schema) +
                  (argument.about.empty() ? "" : ",\"description\":" + json::print(about)) + "}";
    if (argument.needed) needed.push_back(argument.name);
  });
  Tree input{{"type", "object"}, {"properties", json::raw(properties + "}")}};
  if (!needed.empty()) input["required"] = std::move(needed);
  if (tool.operation.empty()) input["additionalProperties"] = false;
  const bool reads = read_only || tool.effect == Effect::reads;
  Tree annotations{{"readOnlyHint", reads}};
  if (!reads) {
    annotations["destructiveHint"] = tool.effect == Effect::destroys;
    annotations["idempotentHint"] = tool.effect == Effect::sets;
  }
  annotations["openWorldHint"] = false;
  Tree shown{{"name", tool.name},
             {"title", title_of(tool)},
             {"description", std::string(tool.about) + (tool.about.ends_with('.') ? "" : ".")},
             {"inputSchema", std::move(input)}};
  if (tool.has_answer_schema) shown["outputSchema"] = output_schema(*tool.call);
  shown["annotations"] = std::move(annotations);
  return shown;
}

Outcome call_tool(const Tool& tool, World& world, const engine::Scope& scope, json::Tree arguments,
                  bool read_only, const std::stop_token& stop) {
  ToolCall call{.tool = tool,
                .world = world,
                .scope = scope,
                .arguments = std::move(arguments),
                .read_only = read_only,
                .stop = stop};
  const Operation* operation = find_operation(tool.operation);
  if (const auto wrong = unknown_argument(tool, operation, call.arguments)) return failure(*wrong);
  if (const auto wrong = take_scope(call.arguments, call.scope)) return failure(*wrong);
  const bool pages = tool.name == "query" || tool.name == "scan";
  const bool is_plain = tool.has_items && json::boolean_member(call.arguments, "plain").value_or(false);
  if (tool.has_items) call.arguments.erase("plain");
  if (is_plain) write_types(call.arguments);
  if (read_only && tool.name == "execute_statement" && !selects(call.arguments))
    return failure("Only SELECT is available in read-only mode.");
  Outcome outcome = tool.run != nullptr    ? tool.run(call)
                    : operation != nullptr ? run_operation(call, *operation, pages)
                                           : make_call(call, *tool.call);
  if (is_plain && outcome.is_object) {
    if (auto tree = json::parse_tree(outcome.text, json::Decimals::as_written)) {
      drop_types(*tree);
      outcome.text = json::print(*tree);
    }
  }
  if (!is_utf8(outcome.text)) outcome = failure("The server's response is not UTF-8 text.");
  cut(outcome);
  if (tool.has_answer_schema && !outcome.is_object) outcome.failed = true;  // it does not follow the schema
  return outcome;
}

}  // namespace mayfly::compat::mcp
