// One process of a function, and its Runtime API, the protocol of
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html. Each process has a separate port, so a
// request that arrives there comes from this process.
//
//   starting ──next──▶ idle ──invoke()──▶ busy ──response, error──▶ answered ──next──▶ idle …
//
// Any state ends when the process exits, breaks the protocol or runs out of time. The sandbox then fails the
// invocation that it has, with Lambda's errors. All functions run on the io thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/random.h"
#include "engine/base/stopwatch.h"
#include "http/functions/fake_time.h"
#include "http/functions/function.h"
#include "http/functions/local_port.h"
#include "os/child.h"

namespace mayfly::http {

// A call to a function. It is answered once, as Lambda's Invoke responds.
struct FunctionCall {
  std::string id;  // the request id
  FunctionScope scope;
  std::string arn, event, client_context;
  std::shared_ptr<Exchange> exchange;
};

// The answer of Lambda's Invoke for a call that failed.
LocalReply unhandled(std::string body);

class Sandbox : public std::enable_shared_from_this<Sandbox> {
 public:
  enum class State : unsigned char { starting, idle, busy, answered, ended };

  // Why a process never asked for an invocation: an error with a type and a message, or the body of the
  // runtime's own error.
  struct StartFailure {
    std::string type, message, body;
  };

  // Called when the sandbox changes.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void ready(Sandbox& sandbox) = 0;  // it is idle now
    // It has ended. `failure` is set if it never became idle.
    virtual void ended(Sandbox& sandbox, const std::optional<StartFailure>& failure) = 0;
  };

  // `owner`, `program` and `clock` outlive the sandbox's process, that is, they live until `ended` or end().
  Sandbox(boost::asio::io_context& io, const FunctionProgram& program, const FunctionClock& clock,
          FunctionScope scope, Owner& owner, engine::Random& random);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // Calls Owner::ended if the process cannot be started.
  void start(const FunctionEndpoints& endpoints);
  // Requires: the state is idle.
  void invoke(FunctionCall call);
  // Ends the process without a call to the owner.
  void end();
  // The owner ends the sandbox when it is idle, because its code has changed.
  void retire() { is_retired_ = true; }
  [[nodiscard]] bool is_retired() const { return is_retired_; }

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const FunctionScope& scope() const { return scope_; }

 private:
  void handle(const std::shared_ptr<Exchange>& exchange);
  void next(const std::shared_ptr<Exchange>& exchange);
  void answered(const std::shared_ptr<Exchange>& exchange, const std::string& id, bool failed);
  void init_error(const std::shared_ptr<Exchange>& exchange);
  void give();                    // the call to the process
  void finish(LocalReply reply);  // the call
  void set_time_limit(std::chrono::milliseconds time);
  void timed_out();
  void look();        // whether the process has exited
  void look_often();  // for a moment, because a connection ends before its process
  void exited(int status);
  void fail(std::string_view type, const std::string& message);
  void stop();  // the process and its port
  void read_output();

  boost::asio::io_context& io_;
  const FunctionProgram& program_;
  const FunctionScope scope_;
  Owner& owner_;
  engine::Random& random_;
  FakeTime time_;
  State state_ = State::starting;
  bool is_retired_ = false;
  std::unique_ptr<LocalPort> port_;
  std::shared_ptr<os::Child> child_;
  std::shared_ptr<Exchange> waiting_;  // the request for the next invocation
  std::optional<FunctionCall> call_;
  std::optional<std::string> init_failure_;  // the body of init/error
  boost::asio::steady_timer limit_, looks_;
  unsigned limits_ = 0;  // number of the current time limit
  int looks_left_ = 0;
  engine::Stopwatch since_start_, since_call_;
  std::optional<std::chrono::nanoseconds> init_time_;  // until it is reported
};

}  // namespace mayfly::http
