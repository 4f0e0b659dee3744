// The functions of `mayfly serve`: those of the command line, and those of deployment descriptions.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/deployment/code_directories.h"
#include "cli/schemas/create.h"
#include "cli/schemas/schema.h"
#include "compat/lambda/functions.h"
#include "engine/base/expected.h"
#include "http/functions/functions.h"

namespace mayfly::deployment {

struct FunctionOptions {
  std::vector<std::string> functions;  // NAME=URL, NAME=exec:COMMAND, …
  std::vector<std::string> variables;  // NAME=VALUE
  // For one invocation. nullopt: a function's own limit, or 60 s on the command line. Zero: no limit.
  std::optional<std::chrono::milliseconds> time_max;
  std::size_t processes_max = http::FunctionProgram().processes_max;
  std::vector<std::string> inspected;  // NAME or NAME=PORT: a debugger can connect
  bool follow_clock = false;           // processes see the account's time
  bool watch = false;                  // start new processes when the code has changed
};

using NamedFunctions = std::map<std::string, compat::triggers::Function>;

// A function of the command line replaces a described function of the same name. A described function that
// cannot be run causes a warning, and fails each invocation with the same sentence. The error is a sentence.
Expected<NamedFunctions, std::string> start_functions(const FunctionOptions& options,
                                                      const std::vector<schemas::FunctionSchema>& described,
                                                      CodeDirectories& directories,
                                                      http::ProgramFunctions& programs,
                                                      const schemas::Reports& reports);

}  // namespace mayfly::deployment
