#include "http/functions/sandbox.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstdio>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/uuid.h"
#include "http/base/log.h"

namespace mayfly::http {
namespace {

using std::chrono::milliseconds;

// Lambda's limit for a response.
constexpr std::size_t response_bytes_max = 6'291'556;
constexpr std::size_t line_bytes_max = 16 * 1024;
constexpr std::string_view version_path = "/2018-06-01/runtime/";

// How often to look whether a process has exited. Usually, the end of its connection tells first.
constexpr milliseconds look_pause{100}, quick_look_pause{2};
constexpr int quick_looks = 50;
// How long a runtime that has failed to start may take to exit.
constexpr milliseconds exit_time_max{1000};

LocalReply accepted() {
  return {.status = 202,
          .body = R"({"status":"OK"})"
                  "\n"};
}

// "3.00"
std::string seconds_of(milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", static_cast<double>(time.count()) / 1000);
  return text;
}

// "12.34"
std::string milliseconds_of(std::chrono::nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", std::chrono::duration<double, std::milli>(time).count());
  return text;
}

// Runtimes compare deadlines with the host's clock.
std::int64_t unix_milliseconds() {
  return std::chrono::duration_cast<milliseconds>(engine::host_time().time_since_epoch()).count();
}

// "2026/11/27/[$LATEST]3b241101e2bb42558caf4136c566a962"
std::string log_stream(engine::Random& random) {
  constexpr std::size_t day_bytes = 10;
  std::string day = engine::iso8601(unix_milliseconds()).substr(0, day_bytes);
  std::replace(day.begin(), day.end(), '-', '/');
  std::string id = engine::random_uuid(random);
  std::erase(id, '-');
  return day + "/[$LATEST]" + id;
}

// "1-58406520-a006649127e371903a2de979"
std::string trace_id(engine::Random& random) {
  std::string id = engine::random_uuid(random);
  std::erase(id, '-');
  char seconds[16];
  std::snprintf(seconds, sizeof seconds, "%08llx",
                static_cast<unsigned long long>(unix_milliseconds() / 1000));
  return "Root=1-" + std::string(seconds) + "-" + id.substr(0, 24) + ";Sampled=0";
}

// As Lambda describes the end of a process. The status of a process that a signal has ended is 128 plus the
// signal's number.
constexpr int signals_from = 128;
std::string how_it_exited(int status) {
  if (status == 0) return "Runtime exited without providing a reason";
  constexpr std::pair<int, const char*> signals[] = {{1, "hangup"},
                                                     {2, "interrupt"},
                                                     {3, "quit"},
                                                     {4, "illegal instruction"},
                                                     {6, "aborted"},
                                                     {7, "bus error"},
                                                     {8, "floating point exception"},
                                                     {9, "killed"},
                                                     {11, "segmentation fault"},
                                                     {13, "broken pipe"},
                                                     {15, "terminated"}};
  for (const auto& [number, name] : signals)
    if (status == signals_from + number) return std::string("Runtime exited with error: signal: ") + name;
  return "Runtime exited with error: exit status " + std::to_string(status);
}

}  // namespace

LocalReply unhandled(std::string body) {
  return {.headers = {{"X-Amz-Function-Error", "Unhandled"}, {"X-Amz-Executed-Version", "$LATEST"}},
          .body = std::move(body)};
}

Sandbox::Sandbox(boost::asio::io_context& io, const FunctionProgram& program, const FunctionClock& clock,
                 FunctionScope scope, Owner& owner, engine::Random& random)
    : io_(io),
      program_(program),
      scope_(std::move(scope)),
      owner_(owner),
      random_(random),
      time_(clock),
      limit_(io),
      looks_(io) {}

Sandbox::~Sandbox() { end(); }

void Sandbox::start(const FunctionEndpoints& endpoints) {
  const std::weak_ptr<Sandbox> self = weak_from_this();
  auto port = LocalPort::open(
      io_,
      [self](const std::shared_ptr<Exchange>& exchange) {
        if (const auto sandbox = self.lock()) sandbox->handle(exchange);
      },
      response_bytes_max,
      [self] {
        if (const auto sandbox = self.lock()) sandbox->look_often();
      });
  if (!port) return fail("Sandbox.Failure", port.error());
  port_ = *std::move(port);
  time_.set(scope_.account);
  auto environment = function_environment(program_, scope_, endpoints, port_->address(), log_stream(random_));
  for (const auto& [name, value] : time_.variables()) environment.push_back(name + "=" + value);
  std::error_code error;
  child_ = std::make_shared<os::Child>(os::Child::start({.command = program_.command,
                                                         .environment = std::move(environment),
                                                         .directory = program_.directory,
                                                         .errors_to_output = true,
                                                         .ends_with_this_process = true},
                                                        error));
  if (error) {
    child_.reset();
    return fail("Runtime.InvalidEntrypoint",
                "cannot run " + program_.command.front() + ": " + error.message());
  }
  try {
    read_output();
  } catch (const std::system_error& failure) {
    return fail("Sandbox.Failure", std::string("cannot start a thread: ") + failure.what());
  }
  set_time_limit(program_.time_max.count() == 0 ? milliseconds(0) : program_.init_time_max);
  look();
}

void Sandbox::invoke(FunctionCall call) {
  call_ = std::move(call);
  state_ = State::busy;
  give();
  look();
}

void Sandbox::give() {
  since_call_ = {};
  const milliseconds time =
      program_.time_max.count() == 0 ? milliseconds(std::chrono::hours(24)) : program_.time_max;
  const milliseconds ahead = time_.set(scope_.account);
  log::write(log::Level::info,
             "function " + program_.name + ": START RequestId: " + call_->id + " Version: $LATEST");
  LocalReply reply{.headers = {{"Lambda-Runtime-Aws-Request-Id", call_->id},
                               {"Lambda-Runtime-Deadline-Ms",
                                std::to_string(unix_milliseconds() + (time + ahead).count())},
                               {"Lambda-Runtime-Invoked-Function-Arn", call_->arn},
                               {"Lambda-Runtime-Trace-Id", trace_id(random_)}},
                   .body = call_->event};
  if (!call_->client_context.empty())
    reply.headers.emplace_back("Lambda-Runtime-Client-Context", call_->client_context);
  std::exchange(waiting_, nullptr)->answer(std::move(reply));
  set_time_limit(program_.time_max);
}

void Sandbox::handle(const std::shared_ptr<Exchange>& exchange) {
  const std::string_view target = exchange->target;
  if (!target.starts_with(version_path)) {
    const bool extends = target.find("/extension/") != target.npos || target.find("/logs") != target.npos ||
                         target.find("/telemetry") != target.npos;
    return exchange->answer(extends
                                ? error_reply(403, "Extension.NotSupported",
                                              "Mayfly has no extensions, and no APIs for logs and telemetry.")
                                : error_reply(404, "NotFound", "There is no such call of the Runtime API."));
  }
  const std::string_view call = target.substr(version_path.size());
  constexpr std::string_view of_invocation = "invocation/", response = "/response", error = "/error";
  if (exchange->method == "GET" && call == "invocation/next") return next(exchange);
  if (exchange->method == "POST" && call == "init/error") return init_error(exchange);
  if (exchange->method == "POST" && call.starts_with(of_invocation)) {
    const std::string_view rest = call.substr(of_invocation.size());
    if (rest.ends_with(response))
      return answered(exchange, std::string(rest.substr(0, rest.size() - response.size())), false);
    if (rest.ends_with(error))
      return answered(exchange, std::string(rest.substr(0, rest.size() - error.size())), true);
  }
  exchange->answer(error_reply(404, "NotFound", "There is no such call of the Runtime API."));
}

void Sandbox::next(const std::shared_ptr<Exchange>& exchange) {
  if (state_ == State::ended) return;
  if (state_ == State::busy || waiting_) {
    const std::string sentence =
        "The runtime asked for another invocation " +
        std::string(waiting_ ? "while it was waiting for one." : "before it answered the current one.");
    exchange->answer(error_reply(403, "InvalidStateTransition", sentence));
    return fail("Runtime.InvalidStateTransition", sentence);
  }
  waiting_ = exchange;
  exchange->when_gone([self = weak_from_this()] {
    const auto sandbox = self.lock();
    if (!sandbox) return;
    sandbox->waiting_ = nullptr;
    if (sandbox->state_ == State::idle) sandbox->state_ = State::answered;  // it may ask again
  });
  if (state_ == State::starting) init_time_ = since_start_.elapsed();
  set_time_limit(milliseconds(0));
  state_ = State::idle;
  owner_.ready(*this);
}

void Sandbox::answered(const std::shared_ptr<Exchange>& exchange, const std::string& id, bool failed) {
  if (state_ != State::busy || call_->id != id)
    return exchange->answer(error_reply(400, "InvalidRequestID", "Invalid request ID"));
  if (!exchange->header("Lambda-Runtime-Function-Response-Mode").empty()) {
    const std::string sentence = "Mayfly does not support response streaming: return the whole response.";
    exchange->answer(error_reply(400, "InvalidFunctionResponseMode", sentence));
    finish(unhandled(error_body("Runtime.InvalidResponseModeHeader", sentence)));
  } else if (exchange->is_too_large) {
    exchange->answer(error_reply(
        413, "RequestEntityTooLarge",
        "Exceeded maximum allowed payload size (" + std::to_string(response_bytes_max) + " bytes)."));
    finish(unhandled(error_body("Function.ResponseSizeTooLarge",
                                "Response payload size exceeded maximum allowed payload size (" +
                                    std::to_string(response_bytes_max) + " bytes).")));
  } else if (failed) {
    finish(unhandled(exchange->body));
    exchange->answer(accepted());
  } else {
    finish({.headers = {{"X-Amz-Executed-Version", "$LATEST"}}, .body = std::move(exchange->body)});
    exchange->answer(accepted());
  }
}

void Sandbox::init_error(const std::shared_ptr<Exchange>& exchange) {
  if (state_ != State::starting)
    return exchange->answer(error_reply(403, "InvalidStateTransition", "The runtime has already started."));
  init_failure_ = std::move(exchange->body);
  exchange->answer(accepted());
  set_time_limit(exit_time_max);
}

void Sandbox::finish(LocalReply reply) {
  set_time_limit(program_.time_max);  // until the runtime asks for the next invocation
  state_ = State::answered;
  const FunctionCall call = *std::exchange(call_, std::nullopt);
  const auto time = since_call_.elapsed();
  const std::string name = "function " + program_.name;
  log::write(log::Level::info, name + ": END RequestId: " + call.id);
  std::string report = name + ": REPORT RequestId: " + call.id + " Duration: " + milliseconds_of(time) +
                       " ms Memory Size: " + std::to_string(program_.memory_mb) + " MB";
  if (init_time_) report += " Init Duration: " + milliseconds_of(*init_time_) + " ms";
  init_time_.reset();
  log::write(log::Level::info, report);
  call.exchange->answer(std::move(reply));
}

void Sandbox::set_time_limit(milliseconds time) {
  ++limits_;
  limit_.cancel();
  if (time.count() == 0) return;
  limit_.expires_after(time);
  limit_.async_wait([self = weak_from_this(), limit = limits_](const boost::system::error_code& canceled) {
    const auto sandbox = self.lock();
    if (!canceled && sandbox && sandbox->limits_ == limit) sandbox->timed_out();
  });
}

void Sandbox::timed_out() {
  const bool starts = state_ == State::starting;
  fail("Sandbox.Timedout", "Task timed out after " +
                               seconds_of(starts ? program_.init_time_max : program_.time_max) + " seconds");
}

void Sandbox::look() {
  if (state_ == State::ended || !child_) return;
  if (const auto status = child_->wait(milliseconds(0))) return exited(*status);
  if (state_ == State::idle && looks_left_ == 0) return;  // the end of its connection will tell
  looks_.expires_after(looks_left_ > 0 ? quick_look_pause : look_pause);
  looks_left_ = std::max(looks_left_ - 1, 0);
  looks_.async_wait([self = weak_from_this()](const boost::system::error_code& canceled) {
    if (const auto sandbox = self.lock(); sandbox && !canceled) sandbox->look();
  });
}

void Sandbox::look_often() {
  if (state_ == State::ended) return;
  looks_left_ = quick_looks;
  look();
}

void Sandbox::exited(int status) {
  std::string how = how_it_exited(status);
  const bool was_killed = status > signals_from;
  if (state_ == State::starting && !program_.missing.empty() && !was_killed) how += ". " + program_.missing;
  fail("Runtime.ExitError", how);
}

void Sandbox::fail(std::string_view type, const std::string& message) {
  if (state_ == State::ended) return;
  const std::string id = call_ ? call_->id : "";
  log::write(log::Level::warning,
             "function " + program_.name + ": " + (id.empty() ? "" : "RequestId: " + id + " ") + message);
  std::optional<StartFailure> failure;
  if (state_ == State::starting)
    failure = StartFailure{std::string(type), message, std::move(init_failure_).value_or("")};
  if (call_) finish(unhandled(error_body(type, "RequestId: " + id + " Error: " + message)));
  state_ = State::ended;
  stop();
  owner_.ended(*this, failure);
}

void Sandbox::end() {
  if (call_) finish(unhandled(error_body("Sandbox.Failure", "The function's processes end.")));
  state_ = State::ended;
  stop();
}

void Sandbox::stop() {
  limit_.cancel();
  looks_.cancel();
  waiting_ = nullptr;
  if (child_) {
    child_->kill();
    child_.reset();  // the thread that reads its output ends it
  }
  // The port may be calling this object.
  if (port_) boost::asio::post(io_, [port = std::shared_ptr(std::move(port_))] {});
}

// The process's output ends when all programs that hold it have ended, which a stopped sandbox need not wait
// for. The thread therefore owns what it uses.
void Sandbox::read_output() {
  std::thread([child = child_, name = program_.name] {
    std::string line;
    std::error_code error;
    char piece[4096];
    const auto write = [&] {
      if (!line.empty()) log::write(log::Level::info, "function " + name + ": " + line);
      line.clear();
    };
    while (const std::size_t got = child->output().read(piece, error)) {
      for (const char c : std::string_view(piece, got)) {
        const bool ends = c == '\n' || c == '\r';  // Python's client separates lines by returns
        if (!ends) line += c == '\t' ? ' ' : c;
        if (ends || line.size() == line_bytes_max) write();
      }
    }
    write();
  }).detach();
}

}  // namespace mayfly::http
