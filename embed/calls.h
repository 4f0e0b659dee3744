// How a call by name reaches an emulator in this process: what mayfly.h and mayfly_c.h have in common.
//
//   execute(emulator, scope, "PutItem", body)                       -> 200 {}
//   control(emulator, scope, "GET", "/_mayfly/jobs?limit=1", {})    -> 200 {"jobs":[]}
#pragma once

#include <functional>
#include <stop_token>
#include <string_view>

#include "compat/emulator.h"

namespace mayfly::embed {

// Whose tables. Empty: the default account, the emulator's region.
engine::Scope scope_of(std::string_view account, std::string_view region, const compat::Emulator& emulator);

// By an operation's name alone, of DynamoDB's or of its streams'. One that no service has is refused. `stop`:
// nobody waits for the answer any more.
compat::Answer execute(compat::Emulator& emulator, const engine::Scope& scope, std::string_view operation,
                       std::string_view body, const std::stop_token& stop = {});

// `path` with its query. Events are refused: they are for HTTP.
compat::Answer control(compat::Emulator& emulator, const engine::Scope& scope, std::string_view method,
                       std::string_view path, std::string_view body, const std::stop_token& stop = {});

// What the database reports goes to the log.
std::function<void(std::string_view)> reports_to_the_log();
// The same of warnings.
std::function<void(std::string_view)> warns_in_the_log();

}  // namespace mayfly::embed
