// Keeps the processes of Java functions from disturbing each other.
#pragma once

#include "cli/deployment/code_directories.h"
#include "http/functions/function.h"

namespace mayfly::deployment {

// Java's client of the Runtime API unpacks a native library to a fixed path and loads it from there, so
// processes that start at the same time crash. If the class path has the client, gives the function its own
// copy of the library. https://github.com/aws/aws-lambda-java-libs, NativeClient.java
void give_own_java_library(http::FunctionProgram& program, CodeDirectories& directories);

}  // namespace mayfly::deployment
