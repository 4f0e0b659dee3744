// GET /_mayfly/functions, PUT and DELETE /_mayfly/functions/{name}: the URLs of an account's functions
// (docs/triggers.md).
//
//   {"url":"http://127.0.0.1:9000/","timeout_seconds":3}
//   -> {"name":"reminder","url":"http://127.0.0.1:9000/","timeout_seconds":3}
#include <cmath>
#include <nlohmann/json.hpp>

#include "compat/control/handlers.h"
#include "compat/tables/room.h"
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

}  // namespace

Result<json::Tree> show_functions(Call& call) {
  json::Tree functions = json::Tree::array();
  for (const auto& [name, function] : call.emulator.triggers().functions().list(call.scope.account)) {
    functions.push_back(show_function(name, function));
  }
  return json::Tree{{"functions", std::move(functions)}};
}

Result<json::Tree> put_function(Call& call) {
  TRY(const auto text, call.body.required_string("url"));
  TRY(const auto seconds, call.body.number("timeout_seconds", 0.001, Function::time_max_max.count()));
  CHECK_OK(call.body.nothing_else());
  const std::string& name = call.parameters[0];
  const auto parsed = triggers::FunctionName::parse(name, call.scope);
  if (!parsed || parsed->name != name)
    return error::validation("'" + name + "' is not a valid function name.");
  if (text.size() > url_bytes_max)
    return error::validation("'url' must have at most " + std::to_string(url_bytes_max) + " bytes.");
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
  CHECK_OK(call.body.nothing_else());
  const std::string& name = call.parameters[0];
  if (!call.emulator.triggers().functions().remove(call.scope.account, name)) {
    return not_found("The account has no registered function '" + name + "'.");
  }
  return json::Tree::object();
}

}  // namespace mayfly::compat::control
