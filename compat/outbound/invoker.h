// How a function is reached: one HTTP POST, and what came of it. The sockets are http's.
//
//   invoker.start({.url = url, .body = event, .time_max = 60s}, stop.get_token(),
//                 [=](Invoker::Answer answer) { … });
//   Invoker::Answer answer = invoker.post({.url = url, .body = event}, stop.get_token());  // waits
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "compat/outbound/url.h"
#include "engine/expected.h"

namespace mayfly::compat::outbound {

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
  // `unable`: no call could be made, for want of a thread, a file descriptor or memory; it says nothing of
  // the function.
  enum class Kind { unreachable, timed_out, no_answer, stopped, unable };
  Kind kind;
  std::string sentence;  // for people
};

class Invoker {
 public:
  using Answer = Expected<InvocationAnswer, InvocationFailure>;
  using Done = std::function<void(Answer)>;

  virtual ~Invoker() = default;
  // Returns at once, and tells `done` the whole answer, once, from whatever thread: it takes a note and wakes
  // somebody up. Thread-safe; many may be under way. Ends early, as stopped, when `stop` is asked for.
  virtual void start(Invocation invocation, std::stop_token stop, Done done) = 0;
  // What calls need is there; else a sentence for people.
  virtual Expected<void, std::string> prepare() { return {}; }
  // As start, but waits for the answer.
  Answer post(Invocation invocation, std::stop_token stop);
};

}  // namespace mayfly::compat::outbound
