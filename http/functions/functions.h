// Functions that are programs on this machine. Each has a URL for invocations, which Mayfly calls like the
// URL of any other function, and starts processes for them, one for each concurrent invocation. Processes are
// kept and used again.
//
//   ProgramFunctions functions;
//   auto url = functions.add({.name = "reminder", .command = {"python3", "-m", "awslambdaric",
//   "app.handler"}}); emulator_options.triggers.functions["reminder"] = {*Url::parse(*url)}; …
//   functions.serve_from(server->url());   // processes start with the first invocation after this
//
// One thread serves all functions; it starts with the first one. Not thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "engine/base/expected.h"
#include "http/functions/function.h"

namespace mayfly::http {

class ProgramFunctions {
 public:
  ProgramFunctions();
  ~ProgramFunctions();  // ends all processes
  ProgramFunctions(const ProgramFunctions&) = delete;
  ProgramFunctions& operator=(const ProgramFunctions&) = delete;

  // Returns the URL for invocations. The error is a sentence: the program does not exist, or no port is free.
  Expected<std::string, std::string> add(FunctionProgram program);
  // The URL of the server that the functions use. Invocations wait for it.
  void serve_from(const std::string& url);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace mayfly::http
