// Sends one HTTP request to a function or a bucket and returns the response. The implementation with sockets
// is in http/.
//
//   invoker.start({.url = url, .body = event, .time_max = 60s}, stop.get_token(),
//                 [=](Invoker::Answer answer) { … });
//   Invoker::Answer answer = invoker.post({.url = url, .body = event}, stop.get_token());  // blocks
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
#include "engine/base/expected.h"

namespace mayfly::compat::outbound {

// The service and region that a request is signed for (AWS Signature Version 4).
struct SigningScope {
  std::string service, region;  // "s3", "eu-west-1"
};

struct Invocation {
  Url url;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // in addition to Host, Content-Type and
                                                             // Content-Length
  std::string method = "POST";
  std::string content_type = "application/json";  // empty: no Content-Type
  std::chrono::milliseconds time_max{60'000};     // for the whole call, in real time
  std::optional<SigningScope> signing{};          // if set, an invoker that has a key signs the request
};

struct InvocationAnswer {
  int status = 200;
  std::string function_error;    // X-Amz-Function-Error; empty: no error
  std::string executed_version;  // X-Amz-Executed-Version
  std::string log_result;        // X-Amz-Log-Result
  std::string content_type;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers{};  // all headers, as they were sent

  // Returns the first header with this name, ignoring case; empty if there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

struct InvocationFailure {
  // `unable`: no call could be made for lack of a thread, a file descriptor or memory. It does not mean that
  // the function failed.
  enum class Kind { unreachable, timed_out, no_answer, stopped, unable };
  Kind kind;
  std::string sentence;  // human-readable
};

class Invoker {
 public:
  using Answer = Expected<InvocationAnswer, InvocationFailure>;
  using Done = std::function<void(Answer)>;

  virtual ~Invoker() = default;
  // Starts the call and returns immediately. `done` is called once with the whole response, on any thread; it
  // must only record the response and wake a waiter. Thread-safe; many calls can be in flight. Requesting
  // `stop` ends the call early with Kind::stopped.
  virtual void start(Invocation invocation, std::stop_token stop, Done done) = 0;
  // Acquires the resources that calls need. On failure, returns a human-readable message.
  virtual Expected<void, std::string> prepare() { return {}; }
  // Like start, but waits for the response.
  Answer post(Invocation invocation, std::stop_token stop);
};

}  // namespace mayfly::compat::outbound
