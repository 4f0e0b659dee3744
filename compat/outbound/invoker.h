// How a function, or a bucket, is reached: one HTTP request, and what came of it. The sockets are http's.
//
//   invoker.start({.url = url, .body = event, .time_max = 60s}, stop.get_token(),
//                 [=](Invoker::Answer answer) { … });
//   Invoker::Answer answer = invoker.post({.url = url, .body = event}, stop.get_token());  // waits
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/outbound/url.h"
#include "engine/expected.h"

namespace mayfly::compat::outbound {

// Whose requests a signature is for (AWS Signature Version 4).
struct SigningScope {
  std::string service, region;  // "s3", "eu-west-1"
};

struct Invocation {
  Url url;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // beside Host, Content-Type and Content-Length
  std::string method = "POST";
  std::string content_type = "application/json";  // empty: says none
  std::chrono::milliseconds time_max{60'000};     // for all of it, in real time
  std::optional<SigningScope> signing{};          // set: it is signed, by an invoker that has a key
};

struct InvocationAnswer {
  int status = 200;
  std::string function_error;    // X-Amz-Function-Error; empty: none
  std::string executed_version;  // X-Amz-Executed-Version
  std::string log_result;        // X-Amz-Log-Result
  std::string content_type;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers{};  // all, as they were sent

  // The first header of that name, in whatever case; empty: there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
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
