// How functions are written on the command line, and the command that runs each of them.
//
//   exec:./bootstrap                a program that speaks the Runtime API, such as one in Go or Rust
//   python:app.handler              `handler` in app.py, with Python's runtime client (awslambdaric)
//   node:app.handler                `handler` in app.js, app.mjs or app.cjs, with Mayfly's client
//   java:app.jar::com.example.Cart  a handler class, with Java's runtime client, which the jar contains
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/expected.h"
#include "http/functions/function.h"

namespace mayfly::http {

// Whether the text begins with one of these forms, and is not a URL.
bool is_function_program(std::string_view text);

// Sets name, command, handler and `missing`. The error continues a sentence: "must be …".
Expected<FunctionProgram, std::string> function_program(std::string name, std::string_view text);

}  // namespace mayfly::http
