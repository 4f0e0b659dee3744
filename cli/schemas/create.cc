#include "cli/schemas/create.h"

#include <chrono>
#include <thread>

namespace mayfly::schemas {

namespace {

using compat::Answer;

constexpr std::chrono::milliseconds pause{1};

Answer ask(compat::Emulator& emulator, const SchemaContext& context, const SchemaRequest& request) {
  return emulator.execute({context.account, context.region}, "DynamoDB_20120810." + request.operation,
                          json::print(request.body));
}

std::string status_of(compat::Emulator& emulator, const SchemaContext& context, const std::string& table) {
  const Answer answer = ask(emulator, context, {"DescribeTable", {{"TableName", table}}});
  const auto tree = json::parse_tree(answer.body);
  const json::Tree* described = answer.status == 200 && tree ? json::member(*tree, "Table") : nullptr;
  return described != nullptr ? std::string(json::string_member(*described, "TableStatus").value_or("")) : "";
}

// "ValidationException: One or more parameter values were invalid: …"
std::string message_of(const Answer& answer) {
  const auto tree = json::parse_tree(answer.body);
  if (!tree) return answer.body;
  const std::string type(json::string_member(*tree, "__type").value_or(""));
  auto message = json::string_member(*tree, "message");
  if (!message) message = json::string_member(*tree, "Message");
  return type.substr(type.find('#') + 1) + ": " + std::string(message.value_or(""));
}

}  // namespace

Expected<void, std::string> create_tables(compat::Emulator& emulator, const std::vector<TableSchema>& schemas,
                                          const SchemaContext& context,
                                          const std::function<void(const std::string&)>& report) {
  for (const TableSchema& schema : schemas) {
    if (!status_of(emulator, context, schema.table).empty()) {
      report("table " + schema.table + " is there already (" + schema.where + ")");
      continue;
    }
    for (const SchemaRequest& request : schema.requests) {
      const Answer answer = ask(emulator, context, request);
      if (answer.status != 200)
        return Unexpected{schema.where + ": " + request.operation + ": " + message_of(answer)};
      // --table-delay-ms: tables take as long here as at any other time.
      while (status_of(emulator, context, schema.table) != "ACTIVE") std::this_thread::sleep_for(pause);
    }
    report("created table " + schema.table + " (" + schema.where + ")");
  }
  return {};
}

}  // namespace mayfly::schemas
