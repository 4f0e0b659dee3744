// The commands that run functions: those that are written on the command line, and those that a deployment
// description gives to one of Lambda's runtimes.
//
//   exec:./bootstrap                a program that speaks the Runtime API, such as one in Go or Rust
//   python:app.handler              `handler` in app.py, with Python's runtime client (awslambdaric)
//   node:app.handler                `handler` in app.js, app.mjs or app.cjs, with Mayfly's client
//   java:app.jar::com.example.Cart  a handler class, with Java's runtime client, which the jar contains
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/expected.h"
#include "http/functions/function.h"

namespace mayfly::http {

// Whether the text begins with one of these forms, and is not a URL.
bool is_function_program(std::string_view text);

// Sets name, command, handler and `missing`. The error continues a sentence: "must be …".
Expected<FunctionProgram, std::string> function_program(std::string name, std::string_view text);

// Lets a debugger connect to the function's process on 127.0.0.1: with debugpy (Python), Node.js's inspector
// or JDWP (Java). The process waits for the debugger before it loads the handler. The function then has one
// process and no time limits. Returns how to connect, for the log; port 0 is the debugger's usual port. The
// error continues a sentence: "runs a program, for which …".
Expected<std::string, std::string> inspect(FunctionProgram& program, std::uint16_t port);

// A function as a deployment description has it.
struct ManagedFunction {
  std::string runtime, handler;  // "python3.12", "app.handler"
  std::string code;              // the path of a directory, or of a jar
};

// Sets everything but the name. The error is a sentence without its subject: the code does not have the
// handler, or the runtime is not supported.
Expected<FunctionProgram, std::string> managed_program(const ManagedFunction& function);

}  // namespace mayfly::http
