// GET /_mayfly/functions, PUT and DELETE /_mayfly/functions/{name}: the URLs of an account's functions
// (docs/triggers.md).
//
//   {"url":"http://127.0.0.1:9000/","timeout_seconds":3}
//   -> {"name":"reminder","url":"http://127.0.0.1:9000/","timeout_seconds":3}
#include <cmath>
#include <nlohmann/json.hpp>

#include "compat/control/families.h"
#include "compat/memory_room.h"
#include "compat/triggers/triggers.h"

namespace mayfly::compat::control {
namespace {

using triggers::Function;

constexpr std::size_t url_bytes_max = 2048;

json::Tree show_function(const std::string& name, const Function& function) {
  return {{"name", name},
          {"url", function.url.text},
          {"timeout_seconds", json::seconds(function.time_max.count())}};
}

Result<json::Tree> show_functions(Call& call) {
  json::Tree functions = json::Tree::array();
  for (const auto& [name, function] : call.emulator.triggers().functions().list(call.scope.account)) {
    functions.push_back(show_function(name, function));
  }
  return json::Tree{{"functions", std::move(functions)}};
}

Result<json::Tree> put_function(Call& call) {
  const std::string text = *call.body.text("url");
  const auto seconds = call.body.number("timeout_seconds");
  const std::string& name = call.parameters[0];
  const auto parsed = triggers::FunctionName::parse(name, call.scope);
  if (!parsed || parsed->name != name)
    return error::validation("'" + name + "' is not a valid function name.");
  auto url = outbound::Url::parse(text);
  if (!url) return error::validation(url.error() + ".");
  Function function{*std::move(url)};
  if (seconds) function.time_max = std::chrono::milliseconds(std::llround(*seconds * 1000));
  CHECK_OK(check_room(call.database()));
  triggers::Functions& functions = call.emulator.triggers().functions();
  if (!functions.set(call.scope.account, name, function)) {
    return error::limit_exceeded("Too many functions on this server (limit " +
                                 std::to_string(functions.functions_max()) + ", set by --functions-max).");
  }
  return show_function(name, function);
}

Result<json::Tree> remove_function(Call& call) {
  const std::string& name = call.parameters[0];
  if (!call.emulator.triggers().functions().remove(call.scope.account, name)) {
    return not_found("The account has no registered function '" + name + "'.");
  }
  return json::Tree::object();
}

}  // namespace

std::span<const ControlCall> function_calls() {
  static constexpr Member place[] = {{"name", Kind::text, "Name of the function", Given::always}};
  static constexpr Member body[] = {
      Member{"url", Kind::text, "URL of the function, such as http://127.0.0.1:9000/", Given::always}
          .within(1, url_bytes_max)
          .as("FUNCTION_URL"),
      Member{"timeout_seconds", Kind::seconds, "Time limit for one call"}
          .within(0.001, Function::time_max_max.count())
          .by_default("60")
          .as("--timeout")};
  static constexpr Member function_members[] = {
      {"name", Kind::text, "Name of the function", Given::always},
      {"url", Kind::text, "Its URL", Given::always},
      {"timeout_seconds", Kind::number, "Time limit for one call", Given::always}};
  static constexpr Member list_answer[] = {
      Member{"functions", Kind::list, "The account's functions", Given::always}.with(function_members)};

  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/functions",
       .name = "list_functions",
       .about = "List registered functions",
       .answer = list_answer,
       .handle = &show_functions,
       .command = "function list",
       .rows = "functions",
       .when_empty = "No functions in account {account}."},
      {.method = "PUT",
       .path = "/_mayfly/functions/{name}",
       .name = "put_function",
       .about = "Register a function or change its URL",
       .effect = Effect::sets,
       .waits = Waits::for_changes,
       .place = place,
       .body = body,
       .answer = function_members,
       .handle = &put_function,
       .is_secret = true,
       .command = "function put"},
      {.method = "DELETE",
       .path = "/_mayfly/functions/{name}",
       .name = "remove_function",
       .about = "Remove a function",
       .effect = Effect::destroys,
       .place = place,
       .handle = &remove_function,
       .is_secret = true,
       .command = "function remove",
       .when_empty = "Removed."},
  };
  return calls;
}

}  // namespace mayfly::compat::control
