// The programs that run the functions of a deployment description.
#pragma once

#include "cli/deployment/code_directories.h"
#include "cli/schemas/schema.h"
#include "http/functions/function.h"

namespace mayfly::deployment {

// Unpacks the function's code if it is packed. If the function cannot be run, the program's `problem` says
// why.
http::FunctionProgram program_of(const schemas::FunctionSchema& function, CodeDirectories& directories);

}  // namespace mayfly::deployment
