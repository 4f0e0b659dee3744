#include "http/functions/functions.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/attempt.h"
#include "engine/base/random.h"
#include "engine/base/text.h"
#include "engine/base/uuid.h"
#include "engine/values/account_id.h"
#include "http/base/log.h"
#include "http/functions/code_version.h"
#include "http/functions/sandbox.h"
#include "os/child.h"
#include "os/path.h"

namespace mayfly::http {
namespace {

namespace asio = boost::asio;

// Limits of Lambda's Invoke, for a synchronous call.
constexpr std::size_t event_bytes_max = std::size_t{6} * 1024 * 1024;
// Calls that wait for a process of one function, and the size of their events.
constexpr std::size_t waiting_max = 1000, waiting_bytes_max = std::size_t{64} * 1024 * 1024;

// "arn:aws:lambda:eu-west-1:123456789012:function:reminder" has the region and the account of the caller.
FunctionScope scope_of(std::string_view arn) {
  constexpr std::size_t region = 3, account = 4;
  std::vector<std::string> parts;
  while (parts.size() <= account) {
    const auto end = std::min(arn.find(':'), arn.size());
    parts.emplace_back(arn.substr(0, end));
    arn.remove_prefix(std::min(end + 1, arn.size()));
  }
  // Some ARNs have no account and no region, such as that of a bucket. Any program on the machine can send
  // others.
  constexpr std::size_t region_bytes_max = 50;
  const std::string& id = parts[account];
  const bool is_account = engine::is_account_id(id);
  const bool is_region = !parts[region].empty() && parts[region].size() <= region_bytes_max;
  return {is_account ? id : "000000000000", is_region ? parts[region] : "us-east-1"};
}

// One function: its port for invocations, the calls that wait, and its processes.
class Function final : public Sandbox::Owner, public std::enable_shared_from_this<Function> {
 public:
  Function(asio::io_context& io, FunctionProgram program, const FunctionEndpoints& endpoints,
           const FunctionClock& clock, engine::Random& random)
      : io_(io), program_(std::move(program)), endpoints_(endpoints), clock_(clock), random_(random) {}
  ~Function() override {
    for (const auto& sandbox : std::exchange(sandboxes_, {})) sandbox->end();
    port_.reset();  // its connections may change `waiting_`
  }
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  Expected<std::string, std::string> listen() {
    auto port = LocalPort::open(
        io_, [this](const std::shared_ptr<Exchange>& exchange) { invoked(exchange); }, event_bytes_max);
    if (!port) return Unexpected{port.error()};
    port_ = *std::move(port);
    return "http://" + port_->address() + path();
  }

  // Gives waiting calls to processes, and starts processes for them.
  void proceed() {
    if (endpoints_.mayfly.empty()) return;
    for (auto call = waiting_.begin(); call != waiting_.end();) {
      if (Sandbox* idle = find(Sandbox::State::idle, call->scope)) {
        FunctionCall next = std::move(*call);
        call = waiting_.erase(call);
        idle->invoke(std::move(next));
      } else {
        ++call;
      }
    }
    // Each call that still waits needs another process.
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const FunctionScope scope = waiting_[i].scope;
      const auto of_scope = [&](const auto& one) { return one.scope == scope; };
      const auto needed =
          std::count_if(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(i) + 1, of_scope);
      const auto starting = std::count_if(sandboxes_.begin(), sandboxes_.end(), [&](const auto& sandbox) {
        return sandbox->state() == Sandbox::State::starting && sandbox->scope() == scope;
      });
      if (starting >= needed) continue;
      if (sandboxes_.size() >= program_.processes_max && !end_idle()) return;
      const auto sandbox = std::make_shared<Sandbox>(io_, program_, clock_, scope, *this, random_);
      sandboxes_.push_back(sandbox);
      sandbox->start(endpoints_);
      if (sandbox->state() == Sandbox::State::ended) return;  // `ended` continues
    }
  }

  void ready(Sandbox& sandbox) override {
    if (sandbox.is_retired()) {
      sandbox.end();
      remove(sandbox);
    }
    proceed();
  }

  // Ends the processes once they are idle. The next invocations start new ones, with the changed code.
  void reload() {
    log::write(log::Level::info, "function " + program_.name +
                                     ": its code has changed; the next invocation starts a new process");
    for (const auto& sandbox : sandboxes_) sandbox->retire();
    while (end_idle()) {}
  }

  [[nodiscard]] const FunctionProgram& program() const { return program_; }

  void ended(Sandbox& sandbox, const std::optional<Sandbox::StartFailure>& failure) override {
    const FunctionScope scope = sandbox.scope();
    remove(sandbox);
    if (failure) {
      const auto call =
          std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& one) { return one.scope == scope; });
      if (call != waiting_.end()) {
        const auto exchange = call->exchange;
        std::string body = failure->body;
        if (body.empty())
          body = error_body(failure->type, "RequestId: " + call->id + " Error: " + failure->message);
        waiting_.erase(call);
        exchange->answer(unhandled(std::move(body)));
      }
    }
    asio::post(io_, [self = weak_from_this()] {
      if (const auto function = self.lock()) function->proceed();
    });
  }

 private:
  [[nodiscard]] std::string path() const { return "/2015-03-31/functions/" + program_.name + "/invocations"; }

  void invoked(const std::shared_ptr<Exchange>& exchange) {
    if (exchange->method != "POST" || exchange->target != path())
      return exchange->answer(
          error_reply(404, "ResourceNotFoundException", "POST " + path() + " calls the function."));
    if (!program_.problem.empty())
      return exchange->answer(unhandled(error_body("Runtime.InvalidEntrypoint", program_.problem)));
    if (exchange->is_too_large)
      return exchange->answer(error_reply(413, "RequestTooLargeException", "An event can have 6 MB."));
    std::size_t bytes = exchange->body.size();
    for (const FunctionCall& one : waiting_) bytes += one.event.size();
    if (waiting_.size() >= waiting_max || bytes > waiting_bytes_max)
      return exchange->answer(
          error_reply(429, "TooManyRequestsException", "Too many calls wait for the function."));
    FunctionCall call;
    call.id = engine::random_uuid(random_);
    call.arn = exchange->header("Lambda-Runtime-Invoked-Function-Arn");
    if (call.arn.empty()) call.arn = "arn:aws:lambda:us-east-1:000000000000:function:" + program_.name;
    call.scope = scope_of(call.arn);
    call.event = exchange->body;
    call.client_context = exchange->header("X-Amz-Client-Context");
    call.exchange = exchange;
    exchange->when_gone([this, id = call.id] {
      std::erase_if(waiting_, [&](const FunctionCall& one) { return one.id == id; });
    });
    waiting_.push_back(std::move(call));
    proceed();
  }

  void remove(Sandbox& sandbox) {
    const auto place = std::find_if(sandboxes_.begin(), sandboxes_.end(),
                                    [&](const auto& one) { return one.get() == &sandbox; });
    if (place == sandboxes_.end()) return;
    asio::post(io_, [held = *place] {});  // the sandbox may be running
    sandboxes_.erase(place);
  }

  Sandbox* find(Sandbox::State state, const FunctionScope& scope) {
    const auto found = std::find_if(sandboxes_.begin(), sandboxes_.end(), [&](const auto& sandbox) {
      return sandbox->state() == state && sandbox->scope() == scope;
    });
    return found == sandboxes_.end() ? nullptr : found->get();
  }

  // Makes room for a process of another account.
  bool end_idle() {
    const auto idle = std::find_if(sandboxes_.begin(), sandboxes_.end(), [](const auto& sandbox) {
      return sandbox->state() == Sandbox::State::idle;
    });
    if (idle == sandboxes_.end()) return false;
    (*idle)->end();
    sandboxes_.erase(idle);
    return true;
  }

  asio::io_context& io_;
  const FunctionProgram program_;
  const FunctionEndpoints& endpoints_;
  const FunctionClock& clock_;
  engine::Random& random_;
  std::unique_ptr<LocalPort> port_;
  std::deque<FunctionCall> waiting_;
  std::vector<std::shared_ptr<Sandbox>> sandboxes_;
};

// The service that a request is signed for: "s3"; empty: it is not signed.
std::string service_of(const Exchange& exchange) {
  const std::string_view authorization = exchange.header("Authorization");
  constexpr std::string_view begin = "Credential=";
  constexpr int parts_before = 3;  // KEY/20261127/us-east-1/s3/aws4_request
  auto at = authorization.find(begin);
  for (int part = 0; at != authorization.npos && part < parts_before; ++part)
    at = authorization.find('/', at + 1);
  if (at == authorization.npos) return {};
  const std::string_view rest = authorization.substr(at + 1);
  std::string service(rest.substr(0, rest.find('/')));
  const bool is_name = service.size() <= 50 && std::ranges::all_of(service, [](char c) {
                         return engine::is_alphanumeric(c) || c == '-';
                       });
  return is_name ? service : "";
}

// Tells a function that calls another service of AWS what to do, in the form of that service's errors.
LocalReply no_such_service(const Exchange& exchange, const std::string& variable_option) {
  const std::string service = service_of(exchange);
  const std::string sentence = "Mayfly has only DynamoDB, its streams and Lambda" +
                               (service.empty() ? "" : ", not " + service) +
                               ". To let a function call another service, give its endpoint, as in " +
                               variable_option + " AWS_ENDPOINT_URL_S3=http://127.0.0.1:9000";
  const std::string error =
      "<Error><Code>ServiceNotEmulated</Code><Message>" + sentence + "</Message></Error>";
  if (service == "s3") return {.status = 400, .body = error, .content_type = "application/xml"};
  if (exchange.header("Content-Type").starts_with("application/x-www-form-urlencoded"))
    return {
        .status = 400, .body = "<ErrorResponse>" + error + "</ErrorResponse>", .content_type = "text/xml"};
  return {.status = 400,
          .headers = {{"x-amzn-ErrorType", "ServiceNotEmulated"}},
          .body = R"({"__type":"ServiceNotEmulated","message":")" + sentence + "\"}"};
}

// Replaces the program by its path.
Expected<void, std::string> find_program(FunctionProgram& program) {
  if (program.command.empty())
    return Unexpected<std::string>{"the command of function " + program.name + " is empty"};
  const std::string& name = program.command.front();
  const std::string path = os::program_path(name, host_variable("PATH"));
  std::error_code error;
  if (path.empty() && name.find('/') != name.npos && std::filesystem::exists(os::path_of(name), error))
    return Unexpected<std::string>{"function " + program.name + ": the program " + name +
                                   " is not executable"};
  if (path.empty())
    return Unexpected<std::string>{"function " + program.name + ": there is no program " + name +
                                   (program.missing.empty() ? "" : ". " + program.missing)};
  // Absolute, because the program runs in another directory.
  program.command.front() = os::text_of(std::filesystem::absolute(os::path_of(path), error));
  return {};
}

// Calls Function::reload when the code of a function changes.
class CodeWatch {
 public:
  CodeWatch(asio::io_context& io, const std::vector<std::shared_ptr<Function>>& functions) {
    for (const auto& function : functions)
      for (const std::string& path : function->program().watched)
        watched_[path].functions.push_back(function);
    for (auto& [path, one] : watched_) one.version = code_version(path);
    thread_ = std::jthread([this, &io](const std::stop_token& stop) { watch(io, stop); });
  }

 private:
  static constexpr std::chrono::milliseconds pause{300};
  struct Watched {
    std::vector<std::weak_ptr<Function>> functions;
    std::uint64_t version = 0;
  };

  void watch(asio::io_context& io, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, pause, [] { return false; }) && !stop.stop_requested()) {
      for (auto& [path, one] : watched_) {
        const std::uint64_t version = code_version(path, stop);
        if (stop.stop_requested()) return;
        if (std::exchange(one.version, version) == version) continue;
        for (const auto& function : one.functions)
          asio::post(io, [function] {
            if (const auto live = function.lock()) live->reload();
          });
      }
    }
  }

  std::map<std::string, Watched> watched_;  // by path; several functions can have the same code
  std::jthread thread_;
};

}  // namespace

struct ProgramFunctions::State {
  explicit State(std::string option) : variable_option(std::move(option)) {}

  const std::string variable_option;
  engine::SystemRandom random;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  FunctionEndpoints endpoints;
  FunctionClock clock;
  std::unique_ptr<LocalPort> others;
  std::vector<std::shared_ptr<Function>> functions;
  std::thread thread;
  std::optional<CodeWatch> watch;

  // An exception in a handler, for lack of memory, ends only that handler.
  void serve() {
    while (!io.stopped())
      engine::attempt([this] { io.run(); },
                      [](std::string_view why) {
                        log::write(log::Level::error, "a call of a function failed: " + std::string(why));
                      });
  }
  // Runs `task` on the io thread, and waits for it.
  template <class Task>
  auto run(Task task) {
    std::packaged_task<decltype(task())()> packaged(std::move(task));
    auto result = packaged.get_future();
    asio::post(io, [&packaged] { packaged(); });
    return result.get();
  }
};

ProgramFunctions::ProgramFunctions(std::string variable_option)
    : state_(std::make_unique<State>(std::move(variable_option))) {}

ProgramFunctions::~ProgramFunctions() {
  state_->watch.reset();
  if (!state_->thread.joinable()) return;
  state_->run([this] {
    state_->functions.clear();
    state_->others.reset();
  });
  state_->work.reset();
  state_->thread.join();
}

Expected<std::string, std::string> ProgramFunctions::add(FunctionProgram program) {
  if (program.problem.empty()) CHECK_OK(find_program(program));
  try {
    if (!state_->thread.joinable()) state_->thread = std::thread([this] { state_->serve(); });
  } catch (const std::system_error& failure) {
    return Unexpected<std::string>{std::string("cannot start a thread: ") + failure.what()};
  }
  return state_->run([&]() -> Expected<std::string, std::string> {
    if (!state_->others) {
      auto others = LocalPort::open(
          state_->io,
          [option = state_->variable_option](const std::shared_ptr<Exchange>& exchange) {
            exchange->answer(no_such_service(*exchange, option));
          },
          event_bytes_max);
      if (!others) return Unexpected{others.error()};
      state_->others = *std::move(others);
      state_->endpoints.others = "http://" + state_->others->address();
    }
    auto function = std::make_shared<Function>(state_->io, std::move(program), state_->endpoints,
                                               state_->clock, state_->random);
    auto url = function->listen();
    if (url) state_->functions.push_back(std::move(function));
    return url;
  });
}

Expected<void, std::string> ProgramFunctions::follow_clock(Ahead ahead) {
  const std::string library = fake_time_library();
  if (library.empty())
    return Unexpected<std::string>{
        "--function-clock follow needs libfaketime, which is not installed. On Debian: apt-get install "
        "libfaketime"};
  state_->clock.library = library;
  state_->clock.ahead = std::move(ahead);
  return {};
}

void ProgramFunctions::unfollow_clock() {
  if (state_->thread.joinable()) state_->run([this] { state_->clock.ahead = nullptr; });
}

void ProgramFunctions::watch() { state_->watch.emplace(state_->io, state_->functions); }

void ProgramFunctions::serve_from(const std::string& url, const std::string& certificates) {
  if (!state_->thread.joinable()) return;
  state_->run([&] {
    state_->endpoints.mayfly = url;
    state_->endpoints.certificates = certificates;
    for (const auto& function : state_->functions) function->proceed();
  });
}

}  // namespace mayfly::http
