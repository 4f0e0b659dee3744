// Tests mayfly invoke, mayfly event and mayfly function run against a server. This test program is the
// function: its tests with the tag [.runtime] are runtimes, which speak the Runtime API.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/functions/event_command.h"
#include "cli/functions/function_run.h"
#include "cli/functions/invoke_command.h"
#include "http/outbound/client.h"
#include "tests/cli/process.h"
#include "tests/support/http_client.h"
#include "tests/support/one_answer.h"
#include "tests/support/signed_request.h"
#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

namespace {

using Tree = nlohmann::ordered_json;

// Answers invocations with what `handle` returns; a result {"errorType":…} is an error.
template <class Handle>
void run_handler(Handle handle) {
  const auto api =
      *compat::outbound::Url::parse("http://" + std::string(std::getenv("AWS_LAMBDA_RUNTIME_API")));
  const auto ask = [&](const std::string& method, const std::string& path, std::string body) {
    auto answer = http::fetch(api, {.method = method,
                                    .path = "/2018-06-01/runtime/invocation/" + path,
                                    .content_type = "application/json",
                                    .headers = {},
                                    .body = std::move(body)});
    if (!answer) std::exit(3);  // the command has ended
    return *std::move(answer);
  };
  for (;;) {
    const http::ClientAnswer event = ask("GET", "next", {});
    if (event.status != 200) std::exit(4);
    const std::string id(event.header("lambda-runtime-aws-request-id"));
    std::string result = handle(event.body);
    const bool failed = result.starts_with(R"({"errorType")");
    ask("POST", id + (failed ? "/error" : "/response"), std::move(result));
  }
}

// A server and commands that use it.
class FunctionServer {
 public:
  explicit FunctionServer(const std::vector<std::string>& options = {})
      : server_(frozen_server(options)), port_(server_.port()), url_(local_url(port_)) {}

  std::string operator()(std::vector<std::string> words) const {
    return printed(at_server(std::move(words)));
  }
  [[nodiscard]] std::string refused(std::vector<std::string> words) const {
    return testing::refused(at_server(std::move(words)));
  }
  [[nodiscard]] Process start(std::vector<std::string> words,
                              std::vector<std::string> environment = {}) const {
    return Process(at_server(std::move(words)), std::move(environment));
  }
  // Starts `mayfly function run NAME` with a test of this program as the handler. Returns once the function
  // is registered.
  [[nodiscard]] Process run(const std::string& name, const std::string& handler,
                            const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words = at_server({"function", "run", name});
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    for (const std::string& word : own_command({handler})) words.push_back(word);
    Process command(std::move(words), {"SECRET=x"});
    CHECK(command.line() == "mayfly runs " + name + " for " + url_ + ", account 000000000000");
    return command;
  }
  void map_stream(const std::string& function, const std::string& arn) const {
    HttpClient client(port_);
    client.send(signed_bytes(
        {.target = "/2015-03-31/event-source-mappings/",
         .headers = {},
         .body =
             Tree{{"FunctionName", function}, {"EventSourceArn", arn}, {"StartingPosition", "TRIM_HORIZON"}}
                 .dump()}));
    CHECK(client.receive().status == 202);
  }
  [[nodiscard]] const std::string& url() const { return url_; }
  int end(End how) { return server_.end(how); }
  ~FunctionServer() = default;
  FunctionServer(const FunctionServer&) = delete;
  FunctionServer& operator=(const FunctionServer&) = delete;

 private:
  [[nodiscard]] std::vector<std::string> at_server(std::vector<std::string> words) const {
    words.insert(words.end(), {"--url", url_});
    return words;
  }

  Process server_;
  std::uint16_t port_;
  std::string url_;
};

// A directory with an event in a file.
class EventFile {
 public:
  explicit EventFile(const std::string& text) { std::ofstream(path(), std::ios::binary) << text; }
  [[nodiscard]] std::string path() const { return directory_.path() + "/event.json"; }

 private:
  TemporaryDirectory directory_;
};

}  // namespace

TEST_CASE("a handler echoes its event", "[.runtime]") {
  run_handler([](const std::string& event) { return event; });
}
TEST_CASE("a handler raises a ValueError", "[.runtime]") {
  run_handler([](const std::string&) {
    return std::string(R"({"errorType":"ValueError","errorMessage":"no\nid"})");
  });
}
TEST_CASE("a handler returns the event before", "[.runtime]") {
  run_handler([before = std::string("null")](const std::string& event) mutable {
    return std::exchange(before, event);
  });
}
TEST_CASE("a handler returns variables of its environment", "[.runtime]") {
  run_handler([](const std::string&) {
    Tree variables = Tree::object();
    for (const char* name :
         {"STAGE", "_HANDLER", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ACCESS_KEY_ID", "AWS_REGION", "SECRET"})
      if (const char* value = std::getenv(name)) variables[name] = value;
    return variables.dump();
  });
}

TEST_CASE("invoke prints a function's response and exits with 1 if the function fails") {
  const FunctionServer mayfly;
  const Process echo = mayfly.run("echo", "a handler echoes its event");
  CHECK(mayfly({"invoke", "echo"}) == "{}\n");
  const EventFile event("{\"n\": 1.50, \"text\": \"\u009b\"}\n");
  CHECK(mayfly({"invoke", "echo", event.path()}) == "{\"n\":1.50,\"text\":\"\\u009b\"}\n");
  CHECK(mayfly({"invoke", "arn:aws:lambda:us-east-1:000000000000:function:echo"}) == "{}\n");
  CHECK(mayfly({"invoke", "echo", "--async"}) == "Queued the event for 'echo'.\n");
  CHECK(mayfly({"invoke", "echo", "--dry-run"}) == "The function 'echo' exists.\n");

  const Process broken = mayfly.run("broken", "a handler raises a ValueError");
  Process failing = mayfly.start({"invoke", "broken"});
  CHECK(failing.rest() == "{\"errorType\":\"ValueError\",\"errorMessage\":\"no\\nid\"}\n");
  CHECK(failing.errors() == "mayfly: the function 'broken' failed with ValueError.\n");
  CHECK(failing.wait() == 1);

  mayfly({"function", "put", "gone", "http://127.0.0.1:1/"});
  CHECK(mayfly.refused({"invoke", "gone"}) ==
        "mayfly: the function 'gone' could not be called: http://127.0.0.1:1/ failed: Connection refused\n");
}

TEST_CASE("invoke explains an event that is not JSON and a function that does not exist") {
  const FunctionServer mayfly;
  mayfly({"function", "put", "reminder", "http://127.0.0.1:1/"});
  CHECK(mayfly.refused({"invoke", "remindre"}) ==
        "mayfly: There is no function 'remindre' in account 000000000000. Did you mean 'reminder'?\n");
  CHECK(mayfly.refused({"invoke", "other", "--account", "000000000042"}) ==
        "mayfly: There is no function 'other' in account 000000000042. Register a URL with 'mayfly function "
        "put', or run a handler with 'mayfly function run'.\n");
  CHECK(mayfly.refused({"invoke", "reminder", "/no/such/file"}) ==
        "mayfly: /no/such/file: No such file or directory\n");
  CHECK(mayfly.refused({"invoke", "reminder", "-"}) ==
        "mayfly: standard input is empty. An event must be JSON, such as {}.\n");
  const EventFile text("{\"id\": }"), large("\"" + std::string(cli::event_bytes_max, 'x') + "\"");
  CHECK(mayfly.refused({"invoke", "reminder", text.path()}) ==
        "mayfly: " + text.path() + " is not JSON, so it cannot be an event.\n");
  CHECK(mayfly.refused({"invoke", "reminder", large.path()}) ==
        "mayfly: " + large.path() + " is larger than 6 MB, Lambda's limit for an event.\n");
  CHECK(testing::refused({"invoke", "reminder", "--async", "--dry-run"}, 2) ==
        "mayfly: --async and --dry-run cannot be combined.\n");
}

TEST_CASE("the event that the command prints equals the event that a mapping delivers") {
  const FunctionServer mayfly({"--stream-shards", "3"});
  const Process function = mayfly.run("seen", "a handler returns the event before", {"--processes-max", "1"});
  mayfly({"table", "create", "carts", "--ttl", "ttl", "--sort", "at:N"});
  mayfly({"item", "put", "carts",
          R"({"id":{"S":"1"},"at":{"N":"5"},"set":{"NS":["1.50","2"]},)"
          R"("text":{"S":"\u00e9\n"},"bytes":{"B":"AAE="},"ttl":{"N":"1924992060"}})"});
  mayfly({"item", "put", "carts", "id=1", "at=5", "ttl=+1m", "note=changed"});
  mayfly({"clock", "advance", "1h"});
  const auto table = Tree::parse(mayfly({"table", "describe", "carts", "--json"}))["Table"];
  mayfly.map_stream("seen", table["LatestStreamArn"]);
  CHECK(Tree::parse(mayfly({"clock", "advance", "0s", "--settle", "--json"}))["settled"] == true);
  const auto delivered = Tree::parse(mayfly({"invoke", "seen"}));
  REQUIRE(delivered["Records"].size() == 3);
  const std::string event = mayfly({"event", "dynamodb", "--from", "carts", "--limit", "100"});
  CHECK(Tree::parse(event) == delivered);
  CHECK_THAT(event, Catch::Contains("\"ApproximateCreationDateTime\": 1924992000.0,"));
  const auto newest = Tree::parse(mayfly({"event", "dynamodb", "--from", "carts"}));
  CHECK(newest == Tree{{"Records", {delivered["Records"][2]}}});
  CHECK(newest["Records"][0]["userIdentity"]["principalId"] == "dynamodb.amazonaws.com");
}

TEST_CASE("the newest records of a stream with several shards are in the order of the changes") {
  const FunctionServer mayfly({"--stream-shards", "4"});
  mayfly({"table", "create", "carts"});
  for (int id = 0; id < 9; ++id) mayfly({"item", "put", "carts", "id=" + std::to_string(id)});
  mayfly({"stream", "roll", "carts"});
  for (int id = 9; id < 12; ++id) mayfly({"item", "put", "carts", "id=" + std::to_string(id)});
  const auto event = Tree::parse(mayfly({"event", "dynamodb", "--from", "carts", "--limit", "5"}));
  std::string ids;
  for (const auto& record : event["Records"])
    ids += record["dynamodb"]["Keys"]["id"]["S"].get<std::string>() + " ";
  CHECK(ids == "7 8 9 10 11 ");
}

TEST_CASE("an event of a table without stream records has INSERT records of its items") {
  const FunctionServer mayfly;
  mayfly({"table", "create", "plain", "--no-stream", "--sort", "at:N"});
  CHECK(mayfly.refused({"event", "dynamodb", "--from", "plain"}) ==
        "mayfly: table 'plain' has neither items nor stream records to make an event of.\n");
  for (const char* at : {"1", "2", "3"})
    mayfly({"item", "put", "plain", "id=1", std::string("at=") + at, "note=x"});
  Process command = mayfly.start({"event", "dynamodb", "--from", "plain", "--limit", "2"});
  const auto event = Tree::parse(command.rest());
  CHECK(command.errors() ==
        "mayfly: Table 'plain' has no stream, so the event has INSERT records of its items.\n");
  CHECK(command.wait() == 0);
  REQUIRE(event["Records"].size() == 2);
  const auto& record = event["Records"][1];
  CHECK(record["eventName"] == "INSERT");
  CHECK(record["dynamodb"] == Tree::parse(R"({"ApproximateCreationDateTime":1924992000.0,
      "Keys":{"at":{"N":"2"},"id":{"S":"1"}},
      "NewImage":{"at":{"N":"2"},"id":{"S":"1"},"note":{"S":"x"}},
      "SequenceNumber":"100000000000000000300","SizeBytes":19,"StreamViewType":"NEW_AND_OLD_IMAGES"})"));
  CHECK(record["eventSourceARN"] ==
        "arn:aws:dynamodb:us-east-1:000000000000:table/plain/stream/2031-01-01T00:00:00.000");
  CHECK(mayfly.refused({"event", "dynamodb", "--from", "plan"}) ==
        "mayfly: There is no table 'plan' in account 000000000000, region us-east-1. Did you mean "
        "'plain'?\n");
  CHECK(testing::refused({"event", "dynamodb", "--from", "plain", "--limit", "101"}, 2) ==
        "mayfly: --limit must be between 1 and 100, got 101\n");
}

TEST_CASE("an event of items has the images of the stream's view") {
  const FunctionServer mayfly;
  mayfly({"table", "create", "carts", "--no-stream"});
  mayfly({"item", "put", "carts", "id=1"});
  HttpClient client(static_cast<std::uint16_t>(std::stoi(mayfly.url().substr(mayfly.url().rfind(':') + 1))));
  client.send(operation_request(
      "UpdateTable",
      R"({"TableName":"carts","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}})"));
  CHECK(client.receive().status == 200);
  Process command = mayfly.start({"event", "dynamodb", "--from", "carts"});
  const auto event = Tree::parse(command.rest());
  CHECK(command.errors() ==
        "mayfly: Table 'carts' has an empty stream, so the event has INSERT records of its items.\n");
  const auto& change = event["Records"][0]["dynamodb"];
  CHECK(change["StreamViewType"] == "KEYS_ONLY");
  CHECK(change["SizeBytes"] == 3);
  CHECK_FALSE(change.contains("NewImage"));
}

TEST_CASE("function run gives a handler its variables and none of the developer's") {
  const FunctionServer mayfly;
  const Process function =
      mayfly.run("shows", "a handler returns variables of its environment",
                 {"--env", "STAGE=a=b", "--env", "AWS_REGION=eu-west-1", "--handler", "app.handler"});
  CHECK(Tree::parse(mayfly({"invoke", "shows"})) == Tree({{"STAGE", "a=b"},
                                                          {"_HANDLER", "app.handler"},
                                                          {"AWS_ENDPOINT_URL_DYNAMODB", mayfly.url()},
                                                          {"AWS_ACCESS_KEY_ID", "000000000000"},
                                                          {"AWS_REGION", "eu-west-1"}}));
}

TEST_CASE("function run removes its registration after a signal", "[posix]") {
  for (const End how : {End::terminate, End::interrupt}) {
    const FunctionServer mayfly;
    Process function = mayfly.run("echo", "a handler echoes its event");
    CHECK(mayfly({"invoke", "echo"}) == "{}\n");
    CHECK(function.end(how) == 0);
    const std::string log = function.errors();
    CHECK_THAT(log, Catch::Contains("info function echo: START RequestId: "));
    CHECK_THAT(log, Catch::Contains("info function echo: REPORT RequestId: "));
    CHECK_THAT(log, Catch::EndsWith(how == End::terminate ? "SIGTERM: exiting\n" : "SIGINT: exiting\n"));
    CHECK(mayfly({"function", "list"}) == "No functions in account 000000000000.\n");
  }
}

TEST_CASE("a second function run replaces the first, which ends") {
  FunctionServer mayfly;
  Process first = mayfly.run("echo", "a handler echoes its event");
  Process second = mayfly.run("echo", "a handler raises a ValueError");
  CHECK(first.wait() == 1);
  CHECK_THAT(first.errors(),
             Catch::Contains("mayfly: the function 'echo' is now registered with another URL"));
  CHECK_THAT(mayfly({"function", "list"}), Catch::Contains("echo"));
  mayfly({"function", "remove", "echo"});
  CHECK(second.wait() == 1);
  const std::string errors = second.errors();
  CHECK_THAT(errors, Catch::Contains("warning the function echo was registered with the URL "));
  CHECK_THAT(errors,
             Catch::EndsWith("mayfly: the function 'echo' is no longer registered: it was removed, or "
                             "the server was restarted.\n"));
}

TEST_CASE("function run ends when the server has ended") {
  FunctionServer mayfly;
  Process function = mayfly.run("echo", "a handler echoes its event");
  mayfly.end(End::kill);
  CHECK(function.wait() == 1);
  CHECK_THAT(function.errors(), Catch::Contains("mayfly: the server no longer answers: cannot connect to "));
}

TEST_CASE("function run explains a server that it cannot use and a program that does not exist") {
  const FunctionServer mayfly;
  CHECK(mayfly.refused({"function", "run", "f", "/no/such/program"}) ==
        "mayfly: function f: there is no program /no/such/program\n");
  CHECK(testing::refused({"function", "run", "f", "/bin/true", "--url", "http://192.0.2.1:8000"}) ==
        "mayfly: --url must name a server on this machine, such as http://127.0.0.1:8000, got "
        "'http://192.0.2.1:8000'. Only this machine can reach the function's processes.\n");
  const FunctionServer quiet({"--no-control"});
  CHECK(quiet.refused({"function", "run", "f", "/bin/true"}) ==
        "mayfly: The control API is disabled (--no-control). Start the server without this option, or with "
        "--function.\n");
  OneAnswer other("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  CHECK(testing::refused({"function", "run", "f", "/bin/true", "--url", other.url()}) ==
        "mayfly: the server's response has no list of functions. Is it Mayfly?\n");
  CHECK(mayfly.refused({"function", "run", "no/name", own_command({}).front()}) ==
        "mayfly: 'no/name' is not a valid function name.\n");
}

TEST_CASE("localhost and loopback addresses name this machine") {
  for (const char* host : {"localhost", "127.0.0.1", "127.1.2.3", "::1"}) CHECK(cli::is_loopback(host));
  for (const char* host : {"127.0.0.1.example.com", "192.168.0.1", "::", "host", "0.0.0.0", ""})
    CHECK_FALSE(cli::is_loopback(host));
}

}  // namespace mayfly::testing
