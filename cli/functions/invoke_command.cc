#include "cli/functions/invoke_command.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/base/fail.h"
#include "cli/base/nearest.h"
#include "cli/base/output.h"
#include "cli/functions/registered.h"
#include "cli/table_files/files.h"
#include "cli/views/answer_view.h"
#include "compat/json/json.h"
#include "os/terminal.h"

namespace mayfly::cli {
namespace {

std::string invocation_type(InvokeCommand::How how) {
  switch (how) {
    case InvokeCommand::How::response: return "RequestResponse";
    case InvokeCommand::How::later: return "Event";
    case InvokeCommand::How::check: return "DryRun";
  }
  return {};
}

// Returns the event's text, which is JSON. The error is a human-readable sentence.
Expected<std::string, std::string> event_text(const std::string& path) {
  if (path.empty()) return std::string("{}");
  const bool is_standard = path == "-";
  const std::string name = is_standard ? "standard input" : path;
  os::File file = is_standard ? os::standard_input() : os::File();
  if (!is_standard) {
    TRY(file, transfer::open_to_read(path));
  }
  std::string text;
  for (;;) {
    TRY(const std::string piece, transfer::read_some(file, name));
    if (piece.empty()) break;
    text += piece;
    if (text.size() > event_bytes_max)
      return Unexpected{name + " is larger than 6 MB, Lambda's limit for an event."};
  }
  if (text.empty()) return Unexpected{name + " is empty. An event must be JSON, such as {}."};
  if (json::parse(text) == nullptr) return Unexpected{name + " is not JSON, so it cannot be an event."};
  return text;
}

std::string no_such_function(ServerCalls& server, const std::string& name) {
  std::string sentence = "There is no function " + in_quotes(name) + " in account " + server.account() + ".";
  std::vector<std::string> names;
  if (const auto functions = registered_functions(server))
    for (const auto& [known, url] : *functions) names.push_back(known);
  if (const std::string meant = nearest(name, names); !meant.empty())
    return sentence + " Did you mean " + in_quotes(meant) + "?";
  return sentence +
         " Register a URL with 'mayfly function put', or run a handler with 'mayfly function run'.";
}

std::string call_failed(ServerCalls& server, const std::string& function, const CallFailure& failure) {
  if (failure.name == "ResourceNotFoundException") return no_such_function(server, function);
  if (failure.name == "ServiceException")
    return "the function " + in_quotes(function) + " could not be called: " + failure.sentence;
  return failure.sentence;
}

// Prints a JSON payload on one line, with control characters escaped.
void print_payload(const std::string& payload) {
  if (payload.empty()) return;
  const auto tree = json::parse_tree(payload, json::Decimals::as_written);
  print(tree ? print_json_line(*tree) : printable_lines(payload));
}

int function_failed(const std::string& function, const std::string& payload) {
  const auto tree = json::parse_tree(payload, json::Decimals::as_written);
  const auto type = tree ? json::string_member(*tree, "errorType") : std::nullopt;
  const int code = printed(1);  // the payload comes first
  fail("the function " + in_quotes(function) + " failed" + (type ? " with " + std::string(*type) : "") + ".");
  return code;
}

}  // namespace

int run_invoke_command(const InvokeCommand& command) {
  using How = InvokeCommand::How;
  auto server = ServerCalls::to(command.server);
  if (!server) return fail(server.error());
  auto event = event_text(command.event);
  if (!event) return fail(event.error());
  const auto answer = server->invoke(command.function, invocation_type(command.how), *std::move(event));
  if (!answer) return fail(call_failed(*server, command.function, answer.error()));
  if (command.how == How::later) print("Queued the event for " + in_quotes(command.function) + ".\n");
  if (command.how == How::check) print("The function " + in_quotes(command.function) + " exists.\n");
  print_payload(answer->payload);
  return answer->error.empty() ? printed(0) : function_failed(command.function, answer->payload);
}

}  // namespace mayfly::cli
