// GET /_mayfly/functions, PUT and DELETE /_mayfly/functions/{name}: where an account's functions are
// (docs/triggers.md).
//
// {"url":"http://127.0.0.1:9000/","timeout_seconds":3} ->
// {"name":"reminder","url":"http://127.0.0.1:9000/","timeout_seconds":3}
#include <cmath>

#include "compat/control/handlers.h"
#include "compat/triggers/triggers.h"

namespace mayfly::compat::control {
namespace {

using triggers::Function;

void write_function(json::Writer& out, const std::string& name, const Function& function) {
  out.begin_object();
  out.key("name");
  out.string(name);
  out.key("url");
  out.string(function.url.text);
  out.key("timeout_seconds");
  out.seconds(function.time_max.count());
  out.end_object();
}

}  // namespace

Result<void> show_functions(Call& call, json::Writer& out) {
  out.begin_object();
  out.key("functions");
  out.begin_array();
  for (const auto& [name, function] : call.emulator.triggers().functions().list(call.scope.account)) {
    write_function(out, name, function);
  }
  out.end_array();
  out.end_object();
  return {};
}

Result<void> put_function(Call& call, json::Writer& out) {
  TRY(const auto text, call.body.required_string("url"));
  TRY(const auto seconds, call.body.number("timeout_seconds", 0.001, Function::time_max_max.count()));
  CHECK_OK(call.body.nothing_else());
  const std::string& name = call.parameters[0];
  const auto parsed = triggers::FunctionName::parse(name, call.scope);
  if (!parsed || parsed->name != name) return error::validation("'" + name + "' is no function's name.");
  auto url = outbound::Url::parse(text);
  if (!url) return error::validation(url.error() + ".");
  Function function{*std::move(url)};
  if (seconds) function.time_max = std::chrono::milliseconds(std::llround(*seconds * 1000));
  call.emulator.triggers().functions().set(call.scope.account, name, function);
  write_function(out, name, function);
  return {};
}

Result<void> remove_function(Call& call, json::Writer& out) {
  CHECK_OK(call.body.nothing_else());
  const std::string& name = call.parameters[0];
  if (!call.emulator.triggers().functions().remove(call.scope.account, name)) {
    return not_found("The account has registered no function '" + name + "'.");
  }
  out.begin_object();
  out.end_object();
  return {};
}

}  // namespace mayfly::compat::control
