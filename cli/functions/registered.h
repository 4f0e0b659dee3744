// The functions that are registered with a running server, as its control API lists them.
#pragma once

#include <map>
#include <string>

#include "cli/calls/server_calls.h"

namespace mayfly::cli {

// Returns the names and URLs of the functions that the account's calls find.
Expected<std::map<std::string, std::string>, CallFailure> registered_functions(const ServerCalls& server);

// Returns the path of the function in the control API.
std::string function_path(const std::string& name);

}  // namespace mayfly::cli
