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
#include <functional>
#include <memory>
#include <string>

#include "engine/base/expected.h"
#include "http/functions/function.h"

namespace mayfly::http {

class ProgramFunctions {
 public:
  // `variable_option` is the user's option for variables of functions, which messages name.
  explicit ProgramFunctions(std::string variable_option = "--function-env");
  ~ProgramFunctions();  // ends all processes
  ProgramFunctions(const ProgramFunctions&) = delete;
  ProgramFunctions& operator=(const ProgramFunctions&) = delete;

  // Returns the URL for invocations. The error is a sentence: the program does not exist, or no port is free.
  Expected<std::string, std::string> add(FunctionProgram program);
  // Lets the processes see a time that is `ahead` of the host's, through libfaketime. Each process sees the
  // time of the account that has called it, and again at each invocation. `ahead` is called on another
  // thread, until end(). Requires: no process has started. The error is a sentence: libfaketime is not
  // installed.
  using Ahead = std::function<std::chrono::milliseconds(const std::string& account)>;
  Expected<void, std::string> follow_clock(Ahead ahead);
  void unfollow_clock();
  // Looks several times per second whether the functions' code has changed, and then ends their processes
  // once they are idle. Requires: all functions have been added.
  void watch();
  // The URL of the server that the functions use, and the path of the certificates that they trust if it is
  // https. Invocations wait for it.
  void serve_from(const std::string& url, const std::string& certificates = {});

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace mayfly::http
