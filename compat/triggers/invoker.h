// How a function is reached: one HTTP POST, and what came of it. The sockets are http's.
//
//   auto answer = invoker.post({.url = url, .body = event, .time_max = 60s}, stop.get_token());
//   if (!answer) complain(answer.error().sentence);
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "compat/triggers/url.h"
#include "engine/expected.h"

namespace mayfly::compat::triggers {

struct Invocation {
  Url url;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // beside Host, Content-Type and Content-Length
  std::string content_type = "application/json";
  std::chrono::milliseconds time_max{60'000};  // for all of it, in real time
};

struct InvocationAnswer {
  int status = 200;
  std::string function_error;    // X-Amz-Function-Error; empty: none
  std::string executed_version;  // X-Amz-Executed-Version
  std::string log_result;        // X-Amz-Log-Result
  std::string content_type;
  std::string body;
};

struct InvocationFailure {
  enum class Kind { unreachable, timed_out, no_answer, stopped };
  Kind kind;
  std::string sentence;  // for people
};

class Invoker {
 public:
  virtual ~Invoker() = default;
  // Waits for the whole answer. Thread-safe; many may be under way. Ends early, as stopped, when `stop` is asked for.
  virtual Expected<InvocationAnswer, InvocationFailure> post(const Invocation& invocation, std::stop_token stop) = 0;
};

}  // namespace mayfly::compat::triggers
