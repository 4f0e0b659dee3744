#include "compat/mcp/tool_call.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "compat/dispatch.h"
#include "compat/json/json.h"

namespace mayfly::compat::mcp {
namespace {

Outcome not_asked(const std::string& why) { return failure("Cannot reach the server: " + why); }

// The text is inserted verbatim into a one-line message, so it is validated: a server other than Mayfly can
// return anything.
bool is_object_text(std::string_view body) {
  return body.starts_with('{') && body.find_first_of("\r\n") == std::string_view::npos &&
         json::parse(body) != nullptr;
}

// Returns a failure with text such as "ResourceNotFoundException: Requested resource not found". The text
// also has the whole response if the response has more members.
Outcome refused(const Answer& answer) {
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

}  // namespace

Outcome failure(std::string sentence) { return {.failed = true, .text = std::move(sentence)}; }

Outcome outcome_of(Asked asked) {
  if (!asked) return not_asked(asked.error());
  if (asked->status < 200 || asked->status > 299) return refused(*asked);
  std::string body = asked->body.empty() ? "{}" : std::move(asked->body);
  const bool is_object = is_object_text(body);
  return {.text = std::move(body), .is_object = is_object};
}

Asked operate(ToolCall& call, const Operation& operation, const json::Tree& request) {
  return call.world.operate(call.scope, std::string(operation.service) + "." + std::string(operation.name),
                            json::print(request), call.stop);
}

const Operation* find_operation(std::string_view name) {
  const auto number = operation_named(name);
  return number ? all_operations()[*number] : nullptr;
}

control::MemberText take_text(json::Tree& arguments, std::string_view name) {
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

}  // namespace mayfly::compat::mcp
