// `mayfly function run NAME COMMAND`: runs a function's processes on this terminal, for a server that is
// already running on this machine.
//
//   mayfly function run reminder python:app.handler
//   mayfly function run reminder --handler app.handler -- ./bootstrap
//
// The command registers the function's URL for one account and removes it when SIGTERM or SIGINT arrives. It
// ends with an error if the server stops answering, or if the registration is removed or replaced.
#pragma once

#include <string_view>

#include "cli/calls/server_calls.h"
#include "http/functions/function.h"

namespace mayfly::cli {

struct FunctionRun {
  ServerPlace server;
  http::FunctionProgram program;
};

// Returns the exit code: 0 after a signal, or 1 with a sentence on stderr.
int run_function(const FunctionRun& run);

// Whether the host of a URL can only be this machine: localhost or a loopback address.
bool is_loopback(std::string_view host);

}  // namespace mayfly::cli
