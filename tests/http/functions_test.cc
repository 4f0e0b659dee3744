// Tests functions that are programs. This test program is the function: its tests with the tag [.runtime] are
// runtimes, which speak the Runtime API with the product's HTTP client.
#include "http/functions/functions.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "http/functions/code_version.h"
#include "http/functions/runtimes.h"
#include "http/outbound/client.h"
#include "http/outbound/invoker.h"
#include "os/process.h"
#include "tests/support/own_program.h"
#include "tests/support/running.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/variables.h"

namespace mayfly::testing {

using namespace http;
using namespace std::chrono_literals;
using compat::outbound::Invocation;
using compat::outbound::Url;

namespace {

constexpr const char* server = "http://127.0.0.1:8000";

// A runtime's connection to its Runtime API.
class RuntimeClient {
 public:
  struct Event {
    std::string id, arn, deadline, trace, body;
  };

  ClientAnswer ask(const std::string& method, const std::string& path, std::string body = {},
                   std::vector<std::pair<std::string, std::string>> headers = {}) {
    auto answer = fetch(url_, {.method = method,
                               .path = path.starts_with("/2") ? path : "/2018-06-01/runtime" + path,
                               .content_type = "application/json",
                               .headers = std::move(headers),
                               .body = std::move(body)});
    if (!answer) std::exit(3);  // Mayfly has ended
    return *std::move(answer);
  }
  Event next() {
    const ClientAnswer answer = ask("GET", "/invocation/next");
    if (answer.status != 200) std::exit(4);
    return {std::string(answer.header("lambda-runtime-aws-request-id")),
            std::string(answer.header("lambda-runtime-invoked-function-arn")),
            std::string(answer.header("lambda-runtime-deadline-ms")),
            std::string(answer.header("lambda-runtime-trace-id")), answer.body};
  }
  ClientAnswer respond(const Event& event, std::string body) {
    return ask("POST", "/invocation/" + event.id + "/response", std::move(body));
  }

 private:
  const Url url_ = *Url::parse("http://" + std::string(std::getenv("AWS_LAMBDA_RUNTIME_API")));
};

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

}  // namespace

TEST_CASE("a runtime echoes", "[.runtime]") {
  RuntimeClient client;
  for (int count = 1;; ++count) {
    const auto event = client.next();
    client.respond(event, "[" + event.body + "," + std::to_string(count) + "]");
  }
}
TEST_CASE("a runtime waits until the deadline", "[.runtime]") {
  RuntimeClient client;
  client.next();
  std::this_thread::sleep_for(60s);
}
TEST_CASE("a runtime shows what it got", "[.runtime]") {
  RuntimeClient client;
  const auto event = client.next();
  std::string shown = "[" + quoted(event.arn) + "," + quoted(event.trace.substr(0, 7));
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  const auto left = std::stoll(event.deadline) - now;
  shown += left > 50'000 && left <= 60'000 ? ",true" : ",false";
  for (const std::string& variable : os::environment())
    if (variable.starts_with("AWS_") || variable.starts_with("MAYFLY_") || variable.starts_with("_HANDLER"))
      shown += "," + quoted(variable);
  client.respond(event, shown + "]");
  client.next();
}
TEST_CASE("a runtime does what the event says", "[.runtime]") {
  RuntimeClient client;
  for (;;) {
    const auto event = client.next();
    if (event.body == "\"exit\"") std::exit(0);
    if (event.body == "\"exit 7\"") std::exit(7);
    if (event.body == "\"abort\"") std::abort();
    if (event.body == "\"next\"") client.ask("GET", "/invocation/next");
    if (event.body == "\"large\"") {
      const auto answer = client.respond(event, quoted(std::string(6'291'556, 'x')));
      if (answer.status != 413) std::exit(9);
      continue;
    }
    if (event.body == "\"error\"") {
      client.ask("POST", "/invocation/" + event.id + "/error",
                 R"({"errorMessage":"no","errorType":"Refused"})");
      continue;
    }
    if (event.body == "\"stream\"") {
      client.ask("POST", "/invocation/" + event.id + "/response", "1",
                 {{"Lambda-Runtime-Function-Response-Mode", "streaming"}});
      continue;
    }
    if (event.body == "\"wrong id\"") {
      const auto answer =
          client.ask("POST", "/invocation/00000000-0000-0000-0000-000000000000/response", "1");
      client.respond(event, std::to_string(answer.status));
      continue;
    }
    if (event.body == "\"extend\"") {
      client.respond(event, client.ask("POST", "/2020-01-01/extension/register", "{}").body);
      continue;
    }
    client.respond(event, event.body);
    const auto again = client.respond(event, event.body);
    if (again.status != 400) std::exit(8);
  }
}
TEST_CASE("a runtime fails to start", "[.runtime]") {
  RuntimeClient client;
  client.ask("POST", "/init/error",
             R"({"errorType":"Runtime.ImportModuleError","errorMessage":"No module named 'app'"})");
  std::exit(1);
}
TEST_CASE("a runtime exits at once", "[.runtime]") { std::exit(5); }
TEST_CASE("a runtime never asks for an invocation", "[.runtime]") { std::this_thread::sleep_for(60s); }
TEST_CASE("a runtime meets others", "[.runtime]") {
  RuntimeClient client;
  for (;;) {
    const auto event = client.next();
    std::this_thread::sleep_for(300ms);
    client.respond(event, std::to_string(os::process_id()));
  }
}

namespace {

class TestFunction {
 public:
  explicit TestFunction(const std::string& runtime, FunctionProgram program = {}, bool serves = true) {
    program.name = "tested";
    if (program.command.empty()) program.command = own_command({runtime});
    url_ = *functions_.add(std::move(program));
    if (serves) functions_.serve_from(server);
  }
  struct Result {
    std::string body, error;
  };
  Result call(const std::string& event, const std::string& account = "000000000000") {
    Invocation invocation{.url = *Url::parse(url_), .body = event};
    invocation.headers = {
        {"Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-west-1:" + account + ":function:tested"}};
    const auto answer = invoker_.post(invocation, {});
    REQUIRE(answer);
    REQUIRE(answer->status == 200);
    return {answer->body, answer->function_error};
  }
  ProgramFunctions& functions() { return functions_; }
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  ProgramFunctions functions_;
  std::string url_;
  HttpInvoker invoker_;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("a program answers invocations one after the other in the same process") {
  TestFunction function("a runtime echoes");
  CHECK(function.call("{\"a\":1}").body == "[{\"a\":1},1]");
  CHECK(function.call("2").body == "[2,2]");
  CHECK(function.call("3").error.empty());
}

TEST_CASE("concurrent invocations use separate processes up to the limit") {
  FunctionProgram program;
  program.processes_max = 3;
  TestFunction function("a runtime meets others", program);
  std::vector<std::future<std::string>> calls;
  for (int i = 0; i < 7; ++i)
    calls.push_back(std::async(std::launch::async, [&] { return function.call("1").body; }));
  std::set<std::string> processes;
  for (auto& call : calls) processes.insert(call.get());
  CHECK(processes.size() == 3);
}

TEST_CASE("a function gets the request's headers, and only Mayfly's variables") {
  set_variable("AWS_PROFILE", "production");
  set_variable("AWS_SESSION_TOKEN", "AKIAREAL");
  FunctionProgram program;
  program.handler = "app.handler";
  program.variables = {{"MAYFLY_TEST_GIVEN", "a b"}, {"AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9"}};
  TestFunction function("a runtime shows what it got", program);
  const std::string shown = function.call("1", "111122223333").body;
  unset_variable("AWS_PROFILE");
  unset_variable("AWS_SESSION_TOKEN");
  CAPTURE(shown);
  CHECK(shown.starts_with(R"(["arn:aws:lambda:eu-west-1:111122223333:function:tested","Root=1-",true)"));
  for (const std::string variable :
       {"AWS_ACCESS_KEY_ID=111122223333", "AWS_REGION=eu-west-1", "AWS_LAMBDA_FUNCTION_NAME=tested",
        "_HANDLER=app.handler", "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000", "MAYFLY_TEST_GIVEN=a b",
        "AWS_ENDPOINT_URL_S3=http://127.0.0.1:9", "AWS_EC2_METADATA_DISABLED=true"})
    CHECK(contains(shown, quoted(variable)));
  for (const std::string secret : {"AKIAREAL", "AWS_PROFILE", "AWS_SESSION_TOKEN"})
    CHECK_FALSE(contains(shown, secret));
}

TEST_CASE("other services are refused with a sentence") {
  TestFunction function("a runtime shows what it got");
  const std::string shown = function.call("1").body;
  const auto begin = shown.find("AWS_ENDPOINT_URL=") + 17;
  const auto answer = fetch(*Url::parse(shown.substr(begin, shown.find('"', begin) - begin)),
                            {.method = "GET", .path = "/bucket/key"});
  REQUIRE(answer);
  CHECK(answer->status == 400);
  CHECK(contains(answer->body, "--function-env AWS_ENDPOINT_URL_S3="));
}

TEST_CASE("each account has separate processes") {
  FunctionProgram program;
  program.processes_max = 1;
  TestFunction function("a runtime echoes", program);
  CHECK(function.call("1", "111122223333").body == "[1,1]");
  CHECK(function.call("1", "444455556666").body == "[1,1]");
  CHECK(function.call("2", "444455556666").body == "[2,2]");
}

TEST_CASE("failures of a function have the errors of Lambda, and a new process answers the next call") {
  TestFunction function("a runtime does what the event says");
  const auto [event, type, message] = GENERATE(table<std::string, std::string, std::string>({
      {"\"exit\"", "Runtime.ExitError", "Runtime exited without providing a reason"},
      {"\"exit 7\"", "Runtime.ExitError", "Runtime exited with error: exit status 7"},
      {"\"next\"", "Runtime.InvalidStateTransition", "asked for another invocation before it answered"},
      {"\"stream\"", "Runtime.InvalidResponseModeHeader", "does not support response streaming"},
      {"\"large\"", "Function.ResponseSizeTooLarge",
       "Response payload size exceeded maximum allowed payload size (6291556 bytes)."},
      {"\"error\"", "Refused", "no"},
  }));
  const auto result = function.call(event);
  CAPTURE(event, result.body);
  CHECK(result.error == "Unhandled");
  CHECK(contains(result.body, "\"errorType\":\"" + type + "\""));
  CHECK(contains(result.body, message));
  CHECK(function.call("1").body == "1");
}

TEST_CASE("a function that a signal ends is reported with the signal", "[posix]") {
  TestFunction function("a runtime does what the event says");
  CHECK(contains(function.call("\"abort\"").body, "Runtime exited with error: signal: aborted"));
}

TEST_CASE("a response to another request, and a second response, are rejected") {
  TestFunction function("a runtime does what the event says");
  CHECK(function.call("\"wrong id\"").body == "400");
  CHECK(function.call("5").body == "5");
}

TEST_CASE("extensions are refused with a sentence") {
  TestFunction function("a runtime does what the event says");
  CHECK(contains(function.call("\"extend\"").body, "Mayfly has no extensions"));
}

TEST_CASE("a function that fails to start is reported to the call that waited") {
  SECTION("with its own error") {
    TestFunction function("a runtime fails to start");
    CHECK(function.call("1").body ==
          R"({"errorType":"Runtime.ImportModuleError","errorMessage":"No module named 'app'"})");
    CHECK(function.call("1").error == "Unhandled");
  }
  SECTION("with its exit status") {
    TestFunction function("a runtime exits at once");
    CHECK(contains(function.call("1").body, "Runtime exited with error: exit status 5"));
  }
  SECTION("with the time limit") {
    FunctionProgram program;
    program.init_time_max = 200ms;
    TestFunction function("a runtime never asks for an invocation", program);
    CHECK(contains(function.call("1").body, "Task timed out after 0.20 seconds"));
  }
}

TEST_CASE("an invocation that takes too long ends its process") {
  FunctionProgram program;
  program.time_max = 300ms;
  TestFunction function("a runtime waits until the deadline", program);
  for (int i = 0; i < 2; ++i) {
    const auto result = function.call("1");
    CHECK(result.error == "Unhandled");
    CHECK(contains(result.body, "Sandbox.Timedout"));
    CHECK(contains(result.body, "Error: Task timed out after 0.30 seconds"));
  }
}

TEST_CASE("a call that arrives before the server waits for it") {
  TestFunction function("a runtime echoes", {}, false);
  auto call = std::async(std::launch::async, [&] { return function.call("1").body; });
  CHECK(call.wait_for(100ms) == std::future_status::timeout);
  function.functions().serve_from(server);
  CHECK(call.get() == "[1,1]");
}

TEST_CASE("a call whose caller gives up is not made") {
  FunctionProgram program;
  program.processes_max = 1;
  TestFunction function("a runtime echoes", program, false);
  HttpInvoker hurried;
  Invocation given_up{.url = *Url::parse(function.url()), .body = "\"given up\""};
  given_up.time_max = 100ms;
  CHECK_FALSE(hurried.post(given_up, {}));
  function.functions().serve_from(server);
  CHECK(function.call("1").body == "[1,1]");
}

TEST_CASE("web pages cannot reach a function") {
  TestFunction function("a runtime echoes");
  const Url url = *Url::parse(function.url());
  for (const std::pair<std::string, std::string>& header : std::vector<std::pair<std::string, std::string>>{
           {"Origin", "http://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Host", "evil.example"}}) {
    const auto answer = fetch(url, {.method = "POST",
                                    .path = url.target,
                                    .content_type = "text/plain",
                                    .headers = {header},
                                    .body = "1"});
    REQUIRE(answer);
    CHECK(answer->status >= 400);
  }
  CHECK(function.call("1").body == "[1,1]");
}

TEST_CASE("a function whose program does not exist is rejected with a sentence") {
  ProgramFunctions functions;
  FunctionProgram program{.name = "reminder", .command = {"no-such-program"}};
  const auto url = functions.add(program);
  REQUIRE_FALSE(url);
  CHECK(url.error() == "function reminder: there is no program no-such-program");
}

TEST_CASE("the end of all functions answers the calls that they have") {
  auto function = std::make_unique<TestFunction>("a runtime waits until the deadline");
  auto call = std::async(std::launch::async, [url = function->url()] {
    HttpInvoker invoker;
    return invoker.post({.url = *Url::parse(url), .body = "1"}, {}).has_value();
  });
  CHECK(call.wait_for(300ms) == std::future_status::timeout);
  function.reset();
  call.get();
}

TEST_CASE("functions on the command line name their runtime and handler") {
  using Words = std::vector<std::string>;
  CHECK(function_program("a", "exec:./bootstrap 'a b' \"c\"")->command == Words{"./bootstrap", "a b", "c"});
  CHECK(function_program("a", "python:carts.app.remind")->command ==
        Words{"python3", "-m", "awslambdaric", "carts.app.remind"});
  CHECK(function_program("a", "node:app.handler")->handler == "app.handler");
  const auto java = function_program("a", "java:carts.jar::com.example.Remind::handleRequest");
  CHECK(java->command.back() == "com.example.Remind::handleRequest");
  CHECK(java->command[2] == "carts.jar");
  CHECK(java->handler == "com.example.Remind::handleRequest");
  CHECK(function_program("a", "python:app").error() == "must be python:MODULE.HANDLER, got 'python:app'");
  CHECK(function_program("a", "java:app.jar").error() == "must be java:JAR::CLASS, got 'java:app.jar'");
  CHECK(function_program("a", "exec:").error() == "must be exec:COMMAND, got 'exec:'");
  CHECK(function_program("a", "exec:a 'b").error() == "must be exec:COMMAND, got 'exec:a 'b'");
  CHECK_FALSE(is_function_program("http://127.0.0.1:9000/"));
}

TEST_CASE("a command line is split into words as a shell does") {
  CHECK(command_words("  a  b\t'c d' e\"f\"''g \"\"") ==
        std::vector<std::string>{"a", "b", "c d", "efg", ""});
  CHECK(command_words("").empty());
  CHECK(command_words("\"a").empty());
}

TEST_CASE("a debugger's arguments come first, and the function has one process without time limits") {
  const auto inspected = [](std::string_view form, std::uint16_t port = 0) {
    auto program = *http::function_program("f", form);
    const auto how = http::inspect(program, port);
    CHECK(how);
    CHECK(program.time_max.count() == 0);
    CHECK(program.processes_max == 1);
    return std::pair(program.command, how ? *how : how.error());
  };
  using Words = std::vector<std::string>;
  const auto [python, to_python] = inspected("python:app.handler");
  CHECK(python == Words{"python3", "-m", "debugpy", "--listen", "127.0.0.1:5678", "--wait-for-client", "-m",
                        "awslambdaric", "app.handler"});
  CHECK(to_python == "debugpy on 127.0.0.1:5678");
  const auto [node, to_node] = inspected("node:app.handler", 7);
  CHECK(Words(node.begin(), node.begin() + 3) ==
        Words{"node", "--inspect-brk=127.0.0.1:7", "--input-type=module"});
  CHECK(to_node == "Node.js's inspector on 127.0.0.1:7");
  const auto [java, to_java] = inspected("java:app.jar::com.example.Cart");
  CHECK(java.at(1) == "-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=127.0.0.1:5005");
  CHECK(to_java == "JDWP on 127.0.0.1:5005");
  auto program = *http::function_program("f", "exec:./bootstrap");
  CHECK_FALSE(http::inspect(program, 0));
}

TEST_CASE("functions connect to 127.0.0.1 if the server listens on all addresses") {
  CHECK(http::local_url("http://0.0.0.0:8000") == "http://127.0.0.1:8000");
  CHECK(http::local_url("https://[::]:1") == "https://127.0.0.1:1");
  CHECK(http::local_url("http://localhost:8000") == "http://localhost:8000");
}

TEST_CASE("the version of code changes with its files, but not with what it ignores") {
  namespace fs = std::filesystem;
  const TemporaryDirectory directory;
  const auto write = [&](const char* name, const char* text) {
    const fs::path path = fs::path(directory.path()) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  };
  const auto version = [&] { return http::code_version(directory.path()); };
  const auto empty = version();
  write("src/app.py", "1");
  const auto one = version();
  CHECK(one != empty);
  for (const char* ignored : {".git/index", "node_modules/a/index.js", "src/__pycache__/app.pyc"})
    write(ignored, "x");
  CHECK(version() == one);
  write("src/app.py", "longer");
  const auto two = version();
  CHECK(two != one);
  write("src/other.py", "1");
  CHECK(version() != two);
  CHECK(http::code_version(directory.path() + "/none") == http::code_version(directory.path() + "/none"));
}

}  // namespace mayfly::testing
