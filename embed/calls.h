// Calls an emulator in this process by operation name; shared by mayfly.h and mayfly_c.h.
//
//   execute(emulator, scope, "PutItem", body)                       -> 200 {}
//   control(emulator, scope, "GET", "/_mayfly/jobs?limit=1", {})    -> 200 {"jobs":[]}
#pragma once

#include <functional>
#include <stop_token>
#include <string_view>

#include "compat/emulator.h"

namespace mayfly::embed {

// Returns the scope of a call. Empty arguments mean the default account and region.
engine::Scope scope_of(std::string_view account, std::string_view region, const compat::Emulator& emulator);

// Executes an operation of DynamoDB or of DynamoDB Streams by its bare name. Unknown operations are rejected.
// `stop` is requested when the caller no longer waits for the answer.
compat::Answer execute(compat::Emulator& emulator, const engine::Scope& scope, std::string_view operation,
                       std::string_view body, const std::stop_token& stop = {});

// Calls the control API. `path` includes the query. Event streams are rejected, because they need HTTP.
compat::Answer control(compat::Emulator& emulator, const engine::Scope& scope, std::string_view method,
                       std::string_view path, std::string_view body, const std::stop_token& stop = {});

// Returns a function that logs the database's error reports.
std::function<void(std::string_view)> reports_to_the_log();
// Returns a function that logs the emulator's warnings.
std::function<void(std::string_view)> warns_in_the_log();

}  // namespace mayfly::embed
