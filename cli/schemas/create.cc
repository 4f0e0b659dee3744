#include "cli/schemas/create.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "compat/lambda/function_name.h"
#include "compat/triggers/rest.h"
#include "compat/triggers/triggers.h"

namespace mayfly::schemas {

namespace {

using compat::Answer;
using json::Tree;

constexpr std::chrono::milliseconds pause{1};

Answer ask(compat::Emulator& emulator, const SchemaContext& context, const SchemaRequest& request) {
  return emulator.execute({context.account, context.region}, "DynamoDB_20120810." + request.operation,
                          json::print(request.body));
}

// Returns a member of DescribeTable's response, or an empty string if the table does not exist.
std::string described(compat::Emulator& emulator, const SchemaContext& context, const std::string& table,
                      const char* member) {
  const Answer answer = ask(emulator, context, {"DescribeTable", {{"TableName", table}}});
  const auto tree = json::parse_tree(answer.body);
  const Tree* described = answer.status == 200 && tree ? json::member(*tree, "Table") : nullptr;
  return described != nullptr ? std::string(json::string_member(*described, member).value_or("")) : "";
}

std::string status_of(compat::Emulator& emulator, const SchemaContext& context, const std::string& table) {
  return described(emulator, context, table, "TableStatus");
}

// Returns the error's name and message: "ValidationException: One or more parameter values were invalid: …".
std::string message_of(const Answer& answer) {
  const auto tree = json::parse_tree(answer.body);
  if (!tree) return answer.body;
  const std::string type(json::string_member(*tree, "__type").value_or(""));
  auto message = json::string_member(*tree, "message");
  if (!message) message = json::string_member(*tree, "Message");
  return type.substr(type.find('#') + 1) + ": " + std::string(message.value_or(""));
}

// Returns why DynamoDB rejects the table's tags, or an empty string if the answer is not about tags. Nothing
// depends on tags, so a table can be created without them.
std::string problem_with_tags(const Answer& answer) {
  if (answer.status != 400) return {};
  std::string problem = message_of(answer);
  for (const char* begin : {"ValidationException: The Tag ", "ValidationException: Tag Key "})
    if (problem.starts_with(begin)) return problem;
  return {};
}

// A provisioned table can get replicas only if its write capacity is auto-scaled. AWS accepted this
// definition, so the table on AWS is auto-scaled. This server does not model auto scaling, so the table is
// created on-demand and made provisioned after its replicas have been added.
bool is_auto_scaled(const std::vector<SchemaRequest>& requests) {
  return json::string_member(requests.front().body, "BillingMode") != "PAY_PER_REQUEST" &&
         std::any_of(requests.begin(), requests.end(),
                     [](const SchemaRequest& request) { return request.body.contains("ReplicaUpdates"); });
}

std::vector<SchemaRequest> provisioned_last(std::vector<SchemaRequest> requests) {
  Tree& create = requests.front().body;
  SchemaRequest provision{"UpdateTable",
                          {{"TableName", create["TableName"]}, {"BillingMode", "PROVISIONED"}}};
  provision.body.update(members_of(create, {"ProvisionedThroughput"}));
  create.erase("ProvisionedThroughput");
  create["BillingMode"] = "PAY_PER_REQUEST";
  if (create.contains("GlobalSecondaryIndexes")) {
    for (Tree& index : create["GlobalSecondaryIndexes"]) {
      Tree update = members_of(index, {"IndexName", "ProvisionedThroughput"});
      index.erase("ProvisionedThroughput");
      provision.body["GlobalSecondaryIndexUpdates"].push_back({{"Update", std::move(update)}});
    }
  }
  requests.push_back(std::move(provision));
  return requests;
}

}  // namespace

Expected<void, std::string> create_tables(compat::Emulator& emulator, const std::vector<TableSchema>& schemas,
                                          const SchemaContext& context, const Reports& reports) {
  for (const TableSchema& schema : schemas) {
    if (!status_of(emulator, context, schema.table).empty()) {
      reports.notice("table " + schema.table + " already exists and is unchanged (" + schema.where + ")");
      continue;
    }
    std::size_t items = 0;
    std::vector<SchemaRequest> reordered;
    if (is_auto_scaled(schema.requests)) reordered = provisioned_last(schema.requests);
    for (const SchemaRequest& request : reordered.empty() ? schema.requests : reordered) {
      const bool is_item = request.operation == "PutItem";
      items += is_item;
      Answer answer = ask(emulator, context, request);
      if (const std::string problem = problem_with_tags(answer); !problem.empty()) {
        reports.warning(schema.where + ": table " + schema.table +
                        " is created without its tags, which DynamoDB rejects: " + problem);
        SchemaRequest untagged = request;
        untagged.body.erase("Tags");
        answer = ask(emulator, context, untagged);
      }
      if (answer.status != 200) {
        return Unexpected{schema.where + ": " + request.operation +
                          (is_item ? " of item " + std::to_string(items) : "") + ": " + message_of(answer)};
      }
      if (is_item) continue;
      // With --table-delay-ms, the table does not become ACTIVE immediately.
      while (status_of(emulator, context, schema.table) != "ACTIVE") std::this_thread::sleep_for(pause);
    }
    const std::string with_items = items > 0 ? " with " + std::to_string(items) + " items" : "";
    reports.notice("created table " + schema.table + with_items + " (" + schema.where + ")");
  }
  return {};
}

Expected<void, std::string> create_mappings(compat::Emulator& emulator,
                                            const std::vector<MappingSchema>& mappings,
                                            const SchemaContext& context, const Reports& reports) {
  for (const MappingSchema& mapping : mappings) {
    const std::string table = table_of_stream(mapping.stream).value_or("");
    const std::string function(json::string_member(mapping.request, "FunctionName").value_or(""));
    if (status_of(emulator, context, table).empty())
      return Unexpected{mapping.where + ": table " + table +
                        " does not exist. Pass the file that defines it with another --schema"};
    Tree request = mapping.request;
    request["EventSourceArn"] = described(emulator, context, table, "LatestStreamArn");
    if (request["EventSourceArn"] == "")
      return Unexpected{mapping.where + ": table " + table + " has no stream"};
    const engine::Scope scope{context.account, context.region};
    const std::string body = json::print(request);
    const Answer answer = compat::triggers::answer_rest(
        emulator.triggers(),
        {.scope = scope, .method = "POST", .path = "/2015-03-31/event-source-mappings/", .body = body});
    constexpr int accepted = 202, conflict = 409;
    if (answer.status != accepted && answer.status != conflict)
      return Unexpected{mapping.where + ": CreateEventSourceMapping: " + message_of(answer)};
    const auto parsed = compat::triggers::FunctionName::parse(function, scope);
    const std::string name = parsed ? parsed->name : function;
    if (!emulator.triggers().functions().find(context.account, name))
      reports.warning(mapping.where + ": no function has the name " + function +
                      ". The mapping waits until there is one");
    reports.notice((answer.status == conflict ? "already mapped" : "mapped") +
                   (" the stream of table " + table) + " to function " + name + " (" + mapping.where + ")");
  }
  return {};
}

}  // namespace mayfly::schemas
