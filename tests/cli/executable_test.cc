// Tests the executable as a child process: its options, first line, port file and exit.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/process.h"
#include "tests/support/http_client.h"
#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

namespace fs = std::filesystem;

namespace {

int health(std::uint16_t port) {
  HttpClient client(port);
  client.send(http_request("GET", "/"));
  return client.receive().status;
}

}  // namespace

TEST_CASE("mayfly --version prints the program's name and version") {
  Process mayfly({"--version"});
  CHECK(mayfly.line() == "mayfly " MAYFLY_VERSION);
  CHECK(mayfly.wait() == 0);
}

TEST_CASE("SIGTERM and SIGINT end the server cleanly even with open connections") {
  for (const End how : {End::terminate, End::interrupt}) {
    Process mayfly({"serve", "--port", "0"});
    HttpClient client(mayfly.port());
    client.send(http_request("GET", "/"));
    CHECK(client.receive().status == 200);
    CHECK(mayfly.end(how) == 0);
    CHECK(client.closed_by_server());
  }
}

TEST_CASE("with --exit-with-parent a server exits when its parent exits for any reason", "[posix]") {
  const std::string script = "\"" + executable() + "\" serve --port 0 $0 & wait";
  Process shell({"-c", script, "--exit-with-parent"}, {}, "/bin/sh");
  CHECK(health(shell.port()) == 200);
  CHECK(shell.end(End::kill) == killed_status);
  const std::string said = shell.errors();  // returns only after the server has also exited
  CHECK(said.find("the parent process has exited: exiting\n") != std::string::npos);
}

TEST_CASE("with --exit-with-parent a server exits if its standard output is already closed", "[posix]") {
  const std::string script = "\"" + executable() + "\" serve --port 0 --exit-with-parent >&-; echo $?";
  Process shell({"-c", script}, {}, "/bin/sh");
  CHECK(shell.line() == "1");
  CHECK(shell.wait() == 0);
  CHECK(shell.errors().ends_with(
      "\nmayfly: exiting, because the parent process does not read standard output\n"));
}

TEST_CASE("without --exit-with-parent a server outlives its parent", "[posix]") {
  const std::string script = "\"" + executable() + "\" serve --port 0 2>/dev/null & echo $! >&2; wait";
  Process shell({"-c", script}, {}, "/bin/sh");
  const std::uint16_t port = shell.port();
  CHECK(shell.end(End::kill) == killed_status);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  CHECK(health(port) == 200);
  CHECK(Process({"-c", "kill " + shell.errors()}, {}, "/bin/sh").wait() == 0);
}

TEST_CASE("DynamoDB Local's arguments start a server that passes DynamoDB Local's readiness checks") {
  TemporaryDirectory directory;
  Process mayfly({"-jar", "DynamoDBLocal.jar", "-port", "0", "-dbPath", directory.path()});
  CHECK(mayfly.line() == "Initializing DynamoDB Local with the following configuration:");
  while (!mayfly.line().empty()) {}
  const std::uint16_t port = mayfly.port();
  HttpClient client(port);
  client.send(http_request("GET", "/"));
  const HttpAnswer answer = client.receive();
  CHECK(answer.status == 400);
  CHECK(answer.body ==
        R"({"__type":"com.amazonaws.dynamodb.v20120810#MissingAuthenticationToken","message":"Request must )"
        R"(contain either a valid (registered) AWS access key ID or X.509 certificate."})");
  CHECK(mayfly.end_cleanly());
  CHECK(fs::exists(directory.path() + "/mayfly"));
  CHECK(mayfly.errors().find("info Unlike DynamoDB Local without -sharedDb") != std::string::npos);
}

TEST_CASE("invalid DynamoDB Local arguments are rejected with status 2 and a message") {
  Process mayfly({"-jar", "DynamoDBLocal.jar", "-inMemory", "-dbPath", "."});
  CHECK(mayfly.wait() == 2);
  CHECK(mayfly.errors() == "mayfly: -dbPath and -inMemory cannot be combined\n");
}

TEST_CASE("once the server prints its first line it accepts requests and its port file is complete") {
  TemporaryDirectory directory;
  const fs::path file = directory.path() + "/port";
  Process mayfly({"serve", "--port", "0", "--port-file", file.string()});
  const std::uint16_t port = mayfly.port();
  CHECK(health(port) == 200);
  CHECK(mayfly.end_cleanly());
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  CHECK(text == std::to_string(port) + "\n");
  CHECK(std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("the log names the console's URL except with --no-control") {
  for (const bool control : {true, false}) {
    std::vector<std::string> arguments{"serve", "--port", "0"};
    if (!control) arguments.emplace_back("--no-control");
    Process mayfly(arguments);
    const std::string line =
        "info the console is at http://127.0.0.1:" + std::to_string(mayfly.port()) + "/_mayfly/console\n";
    CHECK(mayfly.end_cleanly());
    CHECK((mayfly.errors().find(line) != std::string::npos) == control);
  }
}

TEST_CASE("a port file that cannot be written is an error") {
  Process mayfly({"serve", "--port", "0", "--port-file", "/nonexistent/port"});
  CHECK(mayfly.wait() == 1);
  CHECK(mayfly.errors() ==
        "mayfly: cannot write the port file /nonexistent/port: No such file or directory\n");
}

TEST_CASE("a directory that a server has open is rejected by every other command") {
  TemporaryDirectory directory;
  const std::string data = directory.path() + "/data";
  const std::string refusal = "mayfly: the data directory " + data + " is in use by another process\n";
  Process server({"serve", "--port", "0", "--data", data});
  CHECK(health(server.port()) == 200);
  for (const char* command : {"verify", "repair"}) {
    Process other({command, "--data", data});
    CHECK(other.wait() == 2);
    CHECK(other.errors() == refusal);
  }
  Process second({"serve", "--port", "0", "--data", data});
  CHECK(second.wait() == 1);
  CHECK(second.errors() == refusal);
  CHECK(server.end_cleanly());
}

TEST_CASE("verify and repair print their findings and return matching exit codes") {
  TemporaryDirectory directory;
  const std::string data = directory.path() + "/data";
  {
    Process server({"serve", "--port", "0", "--data", data});
    CHECK(health(server.port()) == 200);
    CHECK(server.end(End::kill) == killed_status);
  }
  const std::string nothing =
      "checked 0 tables, 0 items, 0 index entries, 0 expiry entries, 0 streams with 0 records, 0 snapshots "
      "with 0 images, 0 tokens, 0 documents, 0 points with 0 old versions";
  Process verify({"verify"}, {"MAYFLY_DATA=" + data});
  CHECK(verify.line() == nothing);
  CHECK(verify.line() == "0 problems");
  CHECK(verify.wait() == 0);
  Process repair({"repair", "--data", data});
  CHECK(repair.line() == nothing);
  CHECK(repair.line() == "0 repaired, 0 not repaired");
  CHECK(repair.wait() == 0);
  const auto intact = nlohmann::json::parse(printed({"repair", "--data", data, "--json"}));
  CHECK(intact["checked"]["tables"] == 0);
  CHECK(intact["wrong"] == nlohmann::json::parse(R"({"count":0,"listed":[]})"));
  CHECK(intact["mended"] == intact["wrong"]);

  fs::path manifest;
  for (const auto& file : fs::directory_iterator(data))
    if (file.path().filename().string().starts_with("MANIFEST")) manifest = file.path();
  REQUIRE_FALSE(manifest.empty());
  fs::resize_file(manifest, 10);
  Process damaged({"verify", "--data", data});
  CHECK(damaged.line().starts_with("cannot open the data directory " + data + ": Corruption: "));
  CHECK(damaged.line() == "only the files were checked, because some of them cannot be read");
  CHECK(damaged.line() == "1 problem");
  CHECK(damaged.wait() == 1);
  Process told({"verify", "--data", data, "--json"});
  const auto damage = nlohmann::json::parse(told.rest());
  CHECK(told.wait() == 1);
  CHECK(damage["checked"].is_null());
  CHECK(damage["wrong"]["count"] == 1);
  CHECK_THAT(damage["wrong"]["listed"][0]["message"].get<std::string>(), Catch::Contains("Corruption: "));

  Process missing({"verify", "--data", data + "/missing"});
  CHECK(missing.wait() == 2);
  CHECK(missing.errors() ==
        "mayfly: cannot read the data directory " + data + "/missing: No such file or directory\n");
}

TEST_CASE("every option can be given in the environment") {
  TemporaryDirectory directory;
  const fs::path file = directory.path() + "/port";
  Process mayfly({"serve"}, {"MAYFLY_PORT=0", "MAYFLY_PORT_FILE=" + file.string(), "MAYFLY_REGION=eu-north-1",
                             "MAYFLY_HOST=127.0.0.1", "MAYFLY_THREADS=2", "MAYFLY_LOG_LEVEL=off",
                             "MAYFLY_DATA=" + directory.path() + "/data", "MAYFLY_FSYNC=true"});
  const std::uint16_t port = mayfly.port();
  HttpClient client(port);
  client.send(http_request("GET", "/"));
  CHECK(client.receive().body == "healthy: dynamodb.eu-north-1.amazonaws.com ");
  CHECK(mayfly.end_cleanly());
  CHECK(mayfly.errors().empty());
  CHECK(fs::exists(file));
  CHECK(fs::is_directory(directory.path() + "/data"));
}

TEST_CASE(
    "an invalid environment variable is rejected with its name unless the command line has its option") {
  Process wrong({"serve"}, {"MAYFLY_PORT=99999"});
  CHECK(wrong.wait() == 2);
  CHECK(wrong.errors() == "mayfly: --port must be between 0 and 65535, got 99999 (set by MAYFLY_PORT)\n");
  Process both({"serve", "--port", "0", "--threads", "x"}, {"MAYFLY_PORT=99999", "MAYFLY_THREADS=2"});
  CHECK(both.wait() == 2);
  CHECK(both.errors() == "mayfly: --threads must be a number between 1 and 256, got 'x'\n");
}

TEST_CASE("invalid options are rejected") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"clock"},
                                                    {"serve", "--port", "70000"},
                                                    {"serve", "--port", "x"},
                                                    {"serve", "--threads", "0"},
                                                    {"serve", "--log-level", "loud"},
                                                    {"serve", "--nonsense"}}) {
    Process mayfly(arguments);
    CHECK(mayfly.wait() == 2);
    CHECK(!mayfly.errors().empty());
  }
}

TEST_CASE("a mistyped word is quoted with a suggestion if a known word is similar") {
  const std::string usage = " Run 'mayfly serve --help' for its options.";
  for (const auto& [arguments, sentence] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"clok", "show"}, "unknown command 'mayfly clok'. Did you mean 'mayfly clock'?"},
           {{"clock", "advnce", "1h"},
            "unknown command 'mayfly clock advnce'. Did you mean 'mayfly clock advance'?"},
           {{"faults", "xyzzy"},
            "unknown command 'mayfly faults xyzzy'. The commands of 'mayfly faults' are show, set, clear."},
           {{"xyzzy"}, "unknown command 'mayfly xyzzy'. Run 'mayfly help' for all commands."},
           {{"help", "clok"}, "unknown command 'mayfly clok'. Did you mean 'mayfly clock'?"},
           {{"serve", "--prot", "1"},
            "unknown option '--prot' of 'mayfly serve'. Did you mean '--port'?" + usage},
           {{"serve", "--data", "--prot", "-x"}, "unknown option '-x' of 'mayfly serve'." + usage},
           {{"serve", "--nonsense=1"}, "unknown option '--nonsense' of 'mayfly serve'." + usage},
           {{"ttl", "explain", "--tabel", "carts"},
            "unknown option '--tabel' of 'mayfly ttl explain'. Run 'mayfly ttl explain --help' for its "
            "options."},
           {{"jobs", "--wacth"},
            "unknown option '--wacth' of 'mayfly jobs'. Did you mean '--watch'? Run 'mayfly jobs --help' for "
            "its options."},
           {{"\x1b[2J"}, "unknown command 'mayfly \\x1b[2J'. Run 'mayfly help' for all commands."},
           {{"serve", "--port", "99999"}, "--port must be between 0 and 65535, got 99999"},
           {{"serve", "--port", "-1"}, "--port must be between 0 and 65535, got -1"},
           {{"serve", "--port", "x"}, "--port must be a number between 0 and 65535, got 'x'"},
           {{"serve", "--log-level", "loud"},
            "--log-level must be debug, info, warning, error or off, got 'loud'"},
           {{"serve", "--clock", "late"}, "--clock must be real, frozen, offset or rate=N, got 'late'"},
           {{"serve", "--kinesis-endpoint", "x"},
            "--kinesis-endpoint must be a URL such as http://127.0.0.1:4566, got 'x'"},
           {{"serve", "--s3-endpoint", "ftp://x"},
            "--s3-endpoint must be a URL such as http://127.0.0.1:4566, got 'ftp://x'"},
           {{"serve", "--function", "a=foo"},
            "--function must be NAME=URL such as reminder=http://127.0.0.1:9000/, or NAME=exec:COMMAND, got "
            "'a=foo'"},
           {{"serve", "--function", "a=python:app"},
            "--function must be python:MODULE.HANDLER, got 'python:app'"},
           {{"serve", "--function-env", "A"}, "--function-env must be NAME=VALUE, got 'A'"},
           {{"serve", "--bucket", "=foo"},
            "--bucket must be NAME=DIR such as exports=/tmp/exports, got '=foo'"},
           {{"mcp", "--in-memory", "--port", "99999"}, "--port must be between 0 and 65535, got 99999"},
           {{"serve", "--port"}, "--port needs a value." + usage},
           {{"serve", "--port", "1", "--port", "2"}, "--port was given more than once." + usage},
           {{"serve", "word"}, "unexpected argument 'word' of 'mayfly serve'." + usage},
           {{"mcp", "--in-memory", "--data", "x"}, "--in-memory and --data cannot be combined."},
           {{"faults", "set", "throtle"},
            "FAULT must be throttle, internal_server_error, latency, connection_closed, unprocessed, "
            "transaction_conflict, stale_reads or "
            "replicated_write_conflict, got 'throtle'. Did you mean 'throttle'?"},
           {{"item", "get", "carts"}, "KEY is required. Run 'mayfly item get --help' for its options."},
           {{"item", "get", "carts", "1", "2", "3"},
            "KEY has too many values. Run 'mayfly item get --help' for its options."},
           {{"clock", "show", "--account", "42"}, "--account must be twelve digits, got 42"}}) {
    Process mayfly(arguments);
    CHECK(mayfly.wait() == 2);
    CHECK(mayfly.errors() == "mayfly: " + sentence + "\n");
  }
}

TEST_CASE("mayfly without arguments prints an introduction and a command group lists its commands") {
  Process alone(std::vector<std::string>{});
  CHECK(alone.line() == "Mayfly " MAYFLY_VERSION
                        ": DynamoDB for tests. Items disappear at the instant their TTL passes.");
  CHECK(alone.wait() == 0);
  Process group({"clock"});
  CHECK(group.wait() == 2);
  const std::string said = group.errors();
  CHECK_THAT(said, Catch::StartsWith("mayfly: 'mayfly clock' needs a command.\n"));
  CHECK_THAT(said, Catch::Contains("\n  advance  "));
}

TEST_CASE("the help command prints what --help prints and the version command prints what --version prints") {
  const auto all = [](std::vector<std::string> arguments) {
    Process command(std::move(arguments));
    std::string text = command.rest();
    CHECK(command.wait() == 0);
    return text;
  };
  CHECK(all({"help"}) == all({"--help"}));
  CHECK(all({"help", "clock", "advance"}) == all({"clock", "advance", "--help"}));
  CHECK(all({"help", "serve"}) == all({"serve", "--help"}));
  CHECK_THAT(
      all({"help", "serve"}),
      Catch::Contains("\n  --port N                           Port to listen on; 0 picks a free port (0 to "
                      "65535, default: 8000)\n"));
  CHECK_THAT(all({"help"}), Catch::Contains("\nTables and items:\n  table  "));
  CHECK(all({"version"}) == "mayfly " MAYFLY_VERSION "\n");
}

TEST_CASE("a command succeeds if its reader closes the pipe and fails if the disk is full", "[posix]") {
  Process server({"serve", "--port", "0"});
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port());
  for (const std::string& command :
       {std::string("metrics --url ") + url, "calls --url " + url, std::string("help"), std::string("manual"),
        "table list --json --url " + url}) {
    INFO(command);
    // The reader exits before anything is written.
    Process closed({"-c", "exec 4> >(:); wait $!; \"" + executable() + "\" " + command + " >&4; echo $? >&2"},
                   {}, "/bin/bash");
    CHECK(closed.wait() == 0);
    CHECK(closed.errors() == "0\n");
    Process full({"-c", "exec \"" + executable() + "\" " + command + " >/dev/full"}, {}, "/bin/bash");
    CHECK(full.wait() == 1);
    CHECK(full.errors() == "mayfly: cannot write to standard output: No space left on device\n");
  }
}

TEST_CASE("a port in use is reported in one sentence") {
  Process first({"serve", "--port", "0"});
  const std::string port = std::to_string(first.port());
  Process second({"serve", "--port", port});
  CHECK(second.wait() == 1);
  CHECK(second.errors() == "mayfly: cannot listen on 127.0.0.1:" + port + ": the port is taken\n");
  CHECK(second.line().empty());
  CHECK(first.end_cleanly());
}

TEST_CASE("only one process at a time can use a data directory and another process can use it afterward") {
  TemporaryDirectory directory;
  const std::string data = directory.path() + "/data";
  {
    Process first({"serve", "--port", "0", "--data", data});
    const std::uint16_t port = first.port();
    Process second({"serve", "--port", "0", "--data", data});
    CHECK(second.wait() == 1);
    const std::string said = second.errors();
    CHECK(said.starts_with("mayfly: "));
    CHECK(said.find(data) != std::string::npos);
    CHECK(said.find("in use by another process") != std::string::npos);
    CHECK(health(port) == 200);
    CHECK(first.end_cleanly());
  }
  Process next({"serve", "--port", "0", "--data", data});
  CHECK(health(next.port()) == 200);
  CHECK(next.end_cleanly());
}

namespace {

std::string answered(std::uint16_t port, const std::string& path) {
  HttpClient client(port);
  client.send(http_request("GET", path));
  return client.receive().body;
}

void execute(std::uint16_t port, std::string_view operation, std::string_view body) {
  HttpClient client(port);
  client.send(operation_request(operation, body));
  CHECK(client.receive().status == 200);
}

}  // namespace

TEST_CASE("commands call a running server and print its errors") {
  Process server(
      {"serve", "--port", "0", "--clock", "frozen", "--now", "2031-01-01T00:00:00Z", "--ttl-mode", "manual"});
  const std::string url = local_url(server.port());
  CHECK(printed({"clock", "show", "--url", url}) == "mode  frozen\nnow   2031-01-01T00:00:00Z\n");
  CHECK(printed({"clock", "show", "--json", "--url", url}) ==
        "{\n  \"mode\": \"frozen\",\n  \"now\": \"2031-01-01T00:00:00Z\"\n}\n");
  CHECK_THAT(printed({"clock", "advance", "1d12h", "--url", url, "--account", "000000000042"}),
             Catch::StartsWith("now          2031-01-02T12:00:00Z\nexpired      0\n"));
  CHECK(printed({"clock", "show", "--url", url}).find("2031-01-01T00:00:00Z") != std::string::npos);
  for (const auto& [arguments, sentence] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"ttl", "explain", "carts", R"({"id":{"S":"1"}})"},
            "mayfly: There is no table 'carts' in account 000000000000, region us-east-1."},
           {{"ttl", "explain", "carts", "1"},
            "mayfly: There is no table 'carts' in account 000000000000, region us-east-1."},
           {{"snapshot", "restore", "7"}, "mayfly: Account 000000000000 has no snapshot 7."}}) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--url", url});
    Process command(all);
    CHECK(command.wait() == 1);
    CHECK(command.errors() == sentence + "\n");
  }
  CHECK(server.end_cleanly());
  Process alone({"clock", "show"}, {"MAYFLY_URL=" + url});
  CHECK(alone.wait() == 1);
  CHECK(alone.errors() ==
        "mayfly: cannot connect to " + url.substr(7) +
            ": Connection refused. Start a server with 'mayfly serve', or name a running one with "
            "--url.\n");
}

TEST_CASE("invalid arguments are rejected before any request is sent") {
  const std::string ways =
      "SPAN must be a duration such as 90s, 15m, 48h, 2d or 1d12h, a time such as 2031-01-01T00:00:00Z, or "
      "next-expiry, "
      "got ";
  for (const auto& [arguments, sentence] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"clock", "advance", "soon"}, ways + "'soon'"},
           {{"clock", "advance", "inf"}, ways + "inf"},
           {{"clock", "advance", "1e308d"}, ways + "'1e308d'"},
           {{"clock", "advance", "-1h"}, ways + "'-1h'. The clock cannot go back."},
           {{"ttl", "explain", "carts", "{"},
            R"(KEY must be a value, NAME=VALUE or a JSON object such as '{"id":"1"}', got '{')"}}) {
    Process command(arguments);
    CHECK(command.wait() == 2);
    CHECK(command.errors() == "mayfly: " + sentence + "\n");
  }
}

TEST_CASE("every call of the control API is a command") {
  Process server({"serve", "--port", "0", "--clock", "frozen", "--now", "2031-01-01T00:00:00Z"});
  const std::uint16_t port = server.port();
  execute(port, "CreateTable",
          R"({"TableName":"carts","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
          R"("StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},)"
          R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"})");
  execute(port, "UpdateTimeToLive",
          R"({"TableName":"carts","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})");
  execute(
      port, "ImportTable",
      R"({"ClientToken":"t","S3BucketSource":{"S3Bucket":"nobodys"},"InputFormat":"CSV","TableCreationParameters":{)"
      R"("TableName":"ghost","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
      R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}})");
  const auto ask = [&](std::vector<std::string> arguments, bool as_json = true) {
    arguments.insert(arguments.end(), {"--url", local_url(port)});
    if (as_json) arguments.emplace_back("--json");
    return printed(std::move(arguments));
  };
  CHECK(ask({"jobs", "await"}).find("\"settled\": true") != std::string::npos);
  const auto job = nlohmann::json::parse(answered(port, "/_mayfly/jobs"))["jobs"][0];
  const std::string id = job["id"], key = R"({"id":{"S":"1"}})";
  CHECK(ask({"snapshot", "take"}, false) == "1\n");

  // Each row has a control API call, a command that makes the call, and a part of the command's output.
  struct Row {
    std::string call;
    std::vector<std::string> command;
    std::string printed;
  };
  const std::vector<Row> rows = {
      {"GET /_mayfly/", {"calls"}, "\"GET /_mayfly/faults\": \"List fault rules"},
      {"GET /_mayfly/openapi.json", {"openapi"}, "\"openapi\": \"3.1.0\""},
      {"GET /_mayfly/health", {"health"}, "\"status\": \"ok\""},
      {"GET /_mayfly/metrics", {"metrics"}, "\"mayfly_accounts\": ["},
      {"GET /_mayfly/clock", {"clock", "show"}, "\"frozen\""},
      {"PUT /_mayfly/clock", {"clock", "set", "2031-01-01T01:00:00Z"}, "2031-01-01T01:00:00Z"},
      {"POST /_mayfly/clock/advance", {"clock", "advance", "1h", "--settle"}, "\"settled\": true"},
      {"GET /_mayfly/accounts", {"accounts"}, "\"us-east-1\": 1"},
      {"GET /_mayfly/triggers", {"triggers"}, "\"triggers\": []"},
      {"GET /_mayfly/ttl", {"ttl", "show", "--window-seconds", "3600"}, "\"carts\""},
      {"GET /_mayfly/ttl/{table}", {"ttl", "show", "carts"}, "\"ENABLED\""},
      {"PUT /_mayfly/ttl/{table}",
       {"ttl", "set", "carts", "aws", "--delay", "60", "90", "--seed", "7"},
       "\"aws\""},
      {"POST /_mayfly/ttl/{table}/sweep", {"ttl", "sweep", "carts"}, "\"expired\": 0"},
      {"GET /_mayfly/ttl/{table}/upcoming", {"ttl", "upcoming", "carts", "--limit", "3"}, "\"items\": []"},
      {"POST /_mayfly/ttl/{table}/explain", {"ttl", "explain", "carts", key}, "\"no_item\""},
      {"GET /_mayfly/snapshots", {"snapshot", "list"}, "\"id\": \"1\""},
      {"POST /_mayfly/snapshots", {"snapshot", "take", "--name", "fixtures"}, "\"id\": \"2\""},
      {"GET /_mayfly/snapshots", {"snapshot", "list"}, "\"name\": \"fixtures\""},
      {"POST /_mayfly/snapshots/{id}/restore", {"snapshot", "restore", "1"}, "\"now\""},
      {"DELETE /_mayfly/snapshots/{id}", {"snapshot", "delete", "1"}, "{}"},
      {"GET /_mayfly/streams/{table}/shards", {"stream", "shards", "carts"}, "\"open\": true"},
      {"POST /_mayfly/streams/{table}/split", {"stream", "split", "carts"}, "\"open\": false"},
      {"POST /_mayfly/streams/{table}/roll", {"stream", "roll", "carts"}, "\"parent\""},
      {"GET /_mayfly/jobs", {"jobs"}, "S3NoSuchBucket"},
      {"GET /_mayfly/jobs/{id}", {"jobs", "show", id}, "\"FAILED\""},
      {"GET /_mayfly/jobs/{id}/log", {"jobs", "log", id}, "\"lines\": []"},
      {"POST /_mayfly/jobs/await", {"jobs", "await", "--timeout", "1s"}, "\"settled\": true"},
      {"GET /_mayfly/replication", {"replication", "show"}, "\"routes\": []"},
      {"PUT /_mayfly/replication",
       {"replication", "set", "--from", "us-east-1", "--to", "eu-west-1", "--lag-ms", "500", "--pause"},
       "\"paused\": true"},
      {"POST /_mayfly/replication/settle", {"replication", "settle"}, "{"},
      {"DELETE /_mayfly/replication", {"replication", "reset"}, "{"},
      {"PUT /_mayfly/functions/{name}",
       {"function", "put", "reminder", "http://127.0.0.1:9000/", "--timeout", "3s"},
       "\"timeout_seconds\": 3"},
      {"GET /_mayfly/functions", {"function", "list"}, "\"reminder\""},
      {"DELETE /_mayfly/functions/{name}", {"function", "remove", "reminder"}, "{}"},
      {"PUT /_mayfly/faults",
       {"faults", "set", "throttle", "--operation", "PutItem", "--count", "2", "--rule",
        R"({"fault":"latency","milliseconds":1,"probability":0.1,"seed":7})"},
       "\"probability\": 0.1"},
      {"PUT /_mayfly/faults",
       {"faults", "set", "connection_closed", "--applied", "true", "--count", "2"},
       "\"applied\": true"},
      {"GET /_mayfly/faults", {"faults", "show"}, "\"count\": 2"},
      {"DELETE /_mayfly/faults", {"faults", "clear"}, "{"},
      {"PUT /_mayfly/failpoints", {"failpoint", "arm", "carts", key}, "{"},
      {"GET /_mayfly/failpoints", {"failpoint", "list"}, "\"armed\""},
      {"DELETE /_mayfly/failpoints", {"failpoint", "release", "carts", key}, "{"},
      {"POST /_mayfly/reset", {"reset"}, "\"now\""},
  };
  std::set<std::string> calls, tried = {"GET /_mayfly/events", "POST /_mayfly/await"};  // tested below
  const nlohmann::json index = nlohmann::json::parse(answered(port, "/_mayfly/"));
  for (const auto& [call, about] : index["calls"].items()) calls.insert(call);
  for (const Row& row : rows) {
    tried.insert(row.call);
    CHECK_THAT(ask(row.command), Catch::Contains(row.printed));
  }
  CHECK(tried == calls);
  CHECK(server.end_cleanly());
}

TEST_CASE("await prints the record of a change or reports that no change occurred") {
  Process server({"serve", "--port", "0", "--clock", "frozen", "--now", "2031-01-01T00:00:00Z"});
  const std::uint16_t port = server.port();
  execute(port, "CreateTable",
          R"({"TableName":"carts","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
          R"("StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},)"
          R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"})");
  execute(port, "PutItem", R"({"TableName":"carts","Item":{"id":{"S":"1"}}})");
  const std::vector<std::string> arguments = {"await",  "carts", R"({"id":{"S":"1"}})", "--event",
                                              "INSERT", "--url", local_url(port)};
  std::vector<std::string> since = arguments, brief = arguments;
  since.insert(since.end(), {"--since", "2031-01-01T00:00:00Z"});
  CHECK(printed(since) == "2031-01-01T00:00:00Z INSERT carts id=1 id=1\n");
  since.emplace_back("--json");
  CHECK_THAT(printed(since), Catch::Contains("\"eventName\": \"INSERT\""));
  brief.insert(brief.end(), {"--timeout", "0.01s"});
  Process none(brief);
  CHECK(none.wait() == 1);
  CHECK_THAT(none.errors(), Catch::StartsWith("mayfly: "));
  CHECK(server.end_cleanly());
}

TEST_CASE("completions and the manual page cover all options") {
  for (const char* shell : {"bash", "zsh", "fish"})
    CHECK_THAT(printed({"completion", shell}), Catch::Contains("mayfly"));
  const std::string page = printed({"manual"});
  CHECK_THAT(page, Catch::StartsWith(".TH MAYFLY 1"));
  CHECK_THAT(page, Catch::Contains(".SS mayfly clock advance SPAN\n"));
  CHECK_THAT(page, Catch::Contains("MAYFLY_EXIT_WITH_PARENT"));
}

TEST_CASE("jobs are shown with a progress bar and --watch waits until the jobs finish") {
  Process server({"serve", "--port", "0"});
  const std::uint16_t port = server.port();
  const std::string url = local_url(port);
  CHECK(printed({"jobs", "--url", url}) == "No exports, imports or bulk puts in account 000000000000.\n");
  execute(
      port, "ImportTable",
      R"({"ClientToken":"t","S3BucketSource":{"S3Bucket":"nobodys"},"InputFormat":"CSV","TableCreationParameters":{)"
      R"("TableName":"ghost","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
      R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}})");
  const std::string line = printed({"jobs", "--watch", "--url", url});
  CHECK_THAT(line,
             Catch::StartsWith("import   ghost  [####################] 100 %  FAILED  S3NoSuchBucket  "));
  const std::string id = line.substr(line.rfind(' ') + 1, line.size() - line.rfind(' ') - 2);
  CHECK_THAT(printed({"jobs", "show", id, "--url", url}), Catch::Contains("ghost"));
  CHECK(server.end_cleanly());
}

TEST_CASE(
    "tail prints changes without color if its output is not a terminal and exits when the server exits") {
  Process server({"serve", "--port", "0", "--clock", "frozen", "--now", "2031-01-01T00:00:00Z"});
  const std::uint16_t port = server.port();
  execute(port, "CreateTable",
          R"({"TableName":"carts","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
          R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"})");
  execute(port, "UpdateTimeToLive",
          R"({"TableName":"carts","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})");
  Process tail({"tail", "carts", "--url", local_url(port)});
  // The tail command misses changes that are made before it listens, so keep writing until it prints a
  // change.
  std::atomic<bool> heard{false};
  std::thread writing([&] {
    for (int n = 0; !heard; ++n)
      execute(port, "PutItem",
              R"({"TableName":"carts","Item":{"id":{"S":"1"},"n":{"N":")" + std::to_string(n) +
                  R"("},"ttl":{"N":"1924992060"}}})");
  });
  const std::string first = tail.line();
  heard = true;
  writing.join();
  CHECK(first.starts_with("2031-01-01T00:00:00Z "));
  CHECK(first.find(" carts id=1 id=1 n=") != std::string::npos);
  CHECK(first.find('\x1b') == std::string::npos);
  printed({"clock", "advance", "next-expiry", "--url", local_url(port)});
  std::string last;
  do {
    last = tail.line();
  } while (last.find(" MODIFY ") != std::string::npos);
  CHECK(last.starts_with("2031-01-01T00:01:00Z REMOVE carts id=1 expired id=1 n="));
  CHECK(server.end_cleanly());
  CHECK(tail.wait() == 0);
}

TEST_CASE("tail exits with 0 when its reader closes the pipe and prints one change per line with --json",
          "[posix]") {
  Process server({"serve", "--port", "0"});
  const std::uint16_t port = server.port();
  const std::string url = local_url(port);
  printed({"table", "create", "carts", "--url", url});
  Process closed(
      {"-c", "exec 4> >(:); wait $!; \"" + executable() + "\" tail carts --url " + url + " >&4; echo $? >&2"},
      {}, "/bin/bash");
  Process json({"tail", "carts", "--json", "--url", url});
  std::atomic<bool> over{false};
  std::thread writing([&] {
    for (int n = 0; !over; ++n)
      execute(port, "PutItem",
              R"({"TableName":"carts","Item":{"id":{"S":"1"},"n":{"N":")" + std::to_string(n) + R"("}}})");
  });
  const int code = closed.wait();
  const std::string line = json.line();
  over = true;
  writing.join();
  CHECK(code == 0);
  CHECK(closed.errors() == "0\n");
  const auto change = nlohmann::json::parse(line);
  CHECK(change["table"] == "carts");
  CHECK(change["record"]["dynamodb"]["Keys"]["id"]["S"] == "1");
  CHECK(server.end_cleanly());
}

}  // namespace mayfly::testing
