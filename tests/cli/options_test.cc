// Tests every option on the command line and in the environment. The table of options in this test is
// compared with the manual page.
#include "cli/options/options.h"

#include <catch2/catch.hpp>
#include <cctype>
#include <functional>
#include <map>
#include <set>

#include "embed/options_json.h"
#include "tests/cli/process.h"
#include "tests/support/variables.h"

namespace mayfly::testing {

using cli::CommandLine;
using cli::ServeOptions;

namespace {

CommandLine parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "mayfly");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return cli::parse_command_line(static_cast<int>(pointers.size()), pointers.data());
}

CommandLine parse_with(const std::string& variable, const std::string& value,
                       const std::vector<std::string>& arguments) {
  set_variable(variable, value);
  CommandLine parsed = parse(arguments);
  unset_variable(variable);
  return parsed;
}

std::string manual_page() { return printed({"manual"}); }

// Maps each option to its variable, such as "--port" to "MAYFLY_PORT", or to "" if the option has no
// variable.
std::map<std::string, std::string> listed_options(const std::string& command) {
  std::map<std::string, std::string> options;
  std::string text = manual_page();
  for (const char* escape : {"\\fB", "\\fI", "\\fR", "\\"})
    for (std::size_t at = 0; (at = text.find(escape, at)) != std::string::npos;)
      text.erase(at, std::string_view(escape).size());
  const std::string heading = "\n.SS mayfly " + command + "\n";
  const auto begin = text.find(heading);
  REQUIRE(begin != std::string::npos);
  text = text.substr(begin + heading.size());
  std::string last;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with(".SS ") || line.starts_with(".SH ")) break;
    if (line.starts_with("--")) {
      last = line.substr(0, line.find_first_of(" ,"));
      options[last];
    }
    constexpr std::string_view mark = "[MAYFLY_";
    if (const auto variable = line.find(mark); variable != std::string::npos && !last.empty())
      options[last] = line.substr(variable + 1, line.find(']', variable) - variable - 1);
  }
  return options;
}

struct Row {
  std::string option, value;  // empty: the option is a flag
  std::function<bool(const ServeOptions&)> set;
  std::string refused = "";  // an invalid value; empty: every string is valid
};

const std::vector<Row> rows = {
    {"--host", "::1", [](const ServeOptions& o) { return o.server.host == "::1"; }},
    {"--port", "1234", [](const ServeOptions& o) { return o.server.port == 1234; }, "70000"},
    {"--port-file", "/x", [](const ServeOptions& o) { return o.port_file == "/x"; }},
    {"--exit-with-parent", "", [](const ServeOptions& o) { return o.exit_with_parent; }},
    {"--data", "/x", [](const ServeOptions& o) { return o.data_directory == "/x"; }},
    {"--fsync", "", [](const ServeOptions& o) { return o.fsync; }},
    {"--region", "eu-west-1", [](const ServeOptions& o) { return o.region == "eu-west-1"; }},
    {"--shared-regions", "", [](const ServeOptions& o) { return o.shared_regions; }},
    {"--threads", "3", [](const ServeOptions& o) { return o.server.threads == 3; }, "0"},
    {"--table-delay-ms", "7", [](const ServeOptions& o) { return o.table_delay_ms == 7; }, "-1"},
    {"--collection-bytes-max", "7", [](const ServeOptions& o) { return o.collection_bytes_max == 7; }, "x"},
    {"--stream-shards", "2", [](const ServeOptions& o) { return o.stream_shards == 2; }, "0"},
    {"--function", "a=http://x/,b=http://y/",
     [](const ServeOptions& o) {
       return o.functions.functions == std::vector<std::string>{"a=http://x/", "b=http://y/"};
     }},
    {"--function-env", "A=b",
     [](const ServeOptions& o) { return o.functions.variables == std::vector<std::string>{"A=b"}; }, "A"},
    {"--function-inspect", "a,b=7",
     [](const ServeOptions& o) {
       return o.functions.inspected == std::vector<std::string>{"a", "b=7"};
     },
     "a=x"},
    {"--function-clock", "follow", [](const ServeOptions& o) { return o.functions.follow_clock; }, "real"},
    {"--functions", "", [](const ServeOptions& o) { return o.schema_functions; }},
    {"--watch", "", [](const ServeOptions& o) { return o.functions.watch; }},
    {"--function-seconds-max", "0",
     [](const ServeOptions& o) { return o.functions.time_max == std::chrono::milliseconds(0); }, "901"},
    {"--function-processes-max", "2", [](const ServeOptions& o) { return o.functions.processes_max == 2; },
     "0"},
    {"--destination-dir", "/d", [](const ServeOptions& o) { return o.destination_directory == "/d"; }},
    {"--kinesis-endpoint", "http://x/",
     [](const ServeOptions& o) { return o.kinesis_endpoint == "http://x/"; }},
    {"--bucket", "a=/x,b=/y",
     [](const ServeOptions& o) {
       return o.buckets == std::vector<std::string>{"a=/x", "b=/y"};
     }},
    {"--s3-endpoint", "http://x/", [](const ServeOptions& o) { return o.s3_endpoint == "http://x/"; }},
    {"--schema", "a.yaml,b",
     [](const ServeOptions& o) {
       return o.schemas == std::vector<std::string>{"a.yaml", "b"};
     }},
    {"--schema-parameter", "A=1,B=2",
     [](const ServeOptions& o) {
       return o.schema_parameters == std::vector<std::string>{"A=1", "B=2"};
     }},
    {"--schema-strict", "", [](const ServeOptions& o) { return o.schema_strict; }},
    {"--log-level", "error", [](const ServeOptions& o) { return o.log_level == http::log::Level::error; },
     "loud"},
    {"--connections-max", "7", [](const ServeOptions& o) { return o.server.connections_max == 7; }, "0"},
    {"--request-seconds-max", "7",
     [](const ServeOptions& o) { return o.server.request_max == std::chrono::seconds(7); }, "0"},
    {"--waiting-max", "7", [](const ServeOptions& o) { return o.server.waiting_max == 7; }, "0"},
    {"--request-bytes-max", "40000000",
     [](const ServeOptions& o) { return o.server.request_bytes_max == 40'000'000; }, "1"},
    {"--unread-bytes-max", "40000000",
     [](const ServeOptions& o) { return o.server.unread_bytes_max == 40'000'000; }, "1"},
    {"--accounts-max", "7", [](const ServeOptions& o) { return o.limits.accounts_max == 7; }, "0"},
    {"--tables-max", "7", [](const ServeOptions& o) { return o.limits.tables_max == 7; }, "0"},
    {"--snapshots-max", "7", [](const ServeOptions& o) { return o.limits.snapshots_max == 7; }, "0"},
    {"--backups-max", "7", [](const ServeOptions& o) { return o.limits.backups_max == 7; }, "0"},
    {"--functions-max", "7", [](const ServeOptions& o) { return o.functions_max == 7; }, "0"},
    {"--memory-max", "67108864", [](const ServeOptions& o) { return o.memory_bytes_max == 64 << 20; },
     "1000"},
    {"--history-max", "1048576", [](const ServeOptions& o) { return o.history_bytes_max == 1 << 20; }, "1"},
    {"--mapping-filters-max", "10", [](const ServeOptions& o) { return o.mapping_filters_max == 10; }, "11"},
    {"--mappings-max", "7", [](const ServeOptions& o) { return o.mappings_max == 7; }, "0"},
    {"--shutdown-seconds-max", "7", [](const ServeOptions& o) { return o.shutdown_seconds_max == 7; }, "0"},
    {"--no-control", "", [](const ServeOptions& o) { return !o.server.access.control; }},
    {"--mcp-read-only", "", [](const ServeOptions& o) { return o.server.access.mcp_read_only; }},
    {"--allowed-host", "a.test,b.test",
     [](const ServeOptions& o) {
       return o.server.access.hosts == std::vector<std::string>{"a.test", "b.test"};
     }},
    {"--cors-origin", "http://a,http://b",
     [](const ServeOptions& o) {
       return o.server.access.origins == std::vector<std::string>{"http://a", "http://b"};
     }},
    {"--require-signature", "", [](const ServeOptions& o) { return o.require_signature; }},
    {"--keys", "/k", [](const ServeOptions& o) { return o.keys_file == "/k"; }},
    {"--tls-cert", "/c", [](const ServeOptions& o) { return o.server.tls_cert_file == "/c"; }},
    {"--tls-key", "/k", [](const ServeOptions& o) { return o.server.tls_key_file == "/k"; }},
    {"--clock", "frozen",
     [](const ServeOptions& o) { return o.clocks.setting.mode == engine::ClockSetting::Mode::frozen; },
     "late"},
    {"--now", "2031-01-01T00:00:00Z", [](const ServeOptions& o) { return o.clocks.now == 1'924'992'000'000; },
     "soon"},
    {"--ttl-mode", "manual",
     [](const ServeOptions& o) { return o.expiry.kind == engine::ExpiryMode::Kind::manual; }, "never"},
    {"--ttl-delay-seconds", "1,2",
     [](const ServeOptions& o) { return o.expiry.delay_ms_min == 1000 && o.expiry.delay_ms_max == 2000; },
     "2,1"},
    {"--ttl-seed", "77", [](const ServeOptions& o) { return o.expiry.seed == 77; }, "x"},
    {"--ttl-window-seconds", "7", [](const ServeOptions& o) { return o.ttl_window_seconds == 7; }, "0"},
    {"--ttl-cooldown-seconds", "7", [](const ServeOptions& o) { return o.ttl_cooldown_seconds == 7; }, "-1"},
    {"--exact-recovery", "", [](const ServeOptions& o) { return o.exact_recovery; }},
};

// Converts "--s3-endpoint" to "MAYFLY_S3_ENDPOINT".
std::string variable_of(const std::string& option) {
  std::string variable = "MAYFLY";
  for (const char c : option.substr(1)) variable += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return variable;
}

}  // namespace

TEST_CASE("every option of serve has a matching environment variable and a row in this test's table") {
  std::map<std::string, std::string> expected;
  for (const Row& row : rows) expected[row.option] = variable_of(row.option);
  CHECK(listed_options("serve") == expected);
}

TEST_CASE("every option means the same on the command line and in the environment") {
  for (const Row& row : rows) {
    INFO(row.option);
    CHECK_FALSE(row.set(*parse({"serve"}).serve));
    const bool flag = row.value.empty();
    CHECK(row.set(*parse(flag ? std::vector<std::string>{"serve", row.option}
                              : std::vector<std::string>{"serve", row.option, row.value})
                       .serve));
    const auto by_variable = [&](const std::string& value) {
      return parse_with(variable_of(row.option), value, {"serve"});
    };
    CHECK_FALSE(row.set(*by_variable("").serve));
    if (!flag) {
      CHECK(row.set(*by_variable(row.value).serve));
      if (row.refused.empty()) continue;
      const CommandLine refused = by_variable(row.refused);
      CHECK(!refused.serve);
      CHECK(refused.exit_code != 0);
      continue;
    }
    for (const char* value : {"1", "true", "on", "yes", "TRUE"}) {
      INFO(value);
      CHECK(row.set(*by_variable(value).serve));
    }
    for (const char* value : {"0", "false", "off", "no", "False"}) {
      INFO(value);
      CHECK_FALSE(row.set(*by_variable(value).serve));
      // The command line takes precedence.
      CHECK(row.set(*parse_with(variable_of(row.option), value, {"serve", row.option}).serve));
    }
    for (const char* value : {"maybe", "x1", "yess"}) {
      INFO(value);
      CHECK(by_variable(value).exit_code != 0);
    }
  }
}

TEST_CASE("mayfly_c.h has all options of serve except those that concern the process") {
  std::set<std::string> here = {"--exit-with-parent",
                                "--port-file",
                                "--schema",
                                "--schema-parameter",
                                "--schema-strict",
                                "--shutdown-seconds-max",
                                "--function-env",
                                "--function-seconds-max",
                                "--function-processes-max",
                                "--function-inspect",
                                "--function-clock",
                                "--functions",
                                "--watch"};
  for (const std::string_view name : embed::names_of_open_options()) here.insert("--" + std::string(name));
  for (const std::string_view name : embed::names_of_serve_options()) here.insert("--" + std::string(name));
  std::set<std::string> listed;
  for (const auto& [name, variable] : listed_options("serve")) listed.insert(name);
  CHECK(here == listed);
}

TEST_CASE("the command of a function can contain commas") {
  const auto parsed =
      parse({"serve", "--function", "a=exec:run --only=x,y z=1,b=http://y/", "--function", "c=exec:d"});
  REQUIRE(parsed.serve);
  CHECK(parsed.serve->functions.functions ==
        std::vector<std::string>{"a=exec:run --only=x,y z=1", "b=http://y/", "c=exec:d"});
}

TEST_CASE("a repeated option and a comma-separated variable give the same list") {
  for (const auto& [option, values] : {std::pair{"--allowed-host", std::pair{"a.test", "b.test"}},
                                       {"--cors-origin", {"http://a", "http://b"}},
                                       {"--function", {"a=http://x/", "b=http://y/"}}}) {
    const auto parsed = parse({"serve", option, values.first, option, values.second});
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&, &option = option](const Row& one) { return one.option == option; });
    CHECK(row->set(*parsed.serve));
  }
}

TEST_CASE("DynamoDB Local's arguments become options of serve whether the program is called mayfly or java") {
  for (const char* program : {"mayfly", "/usr/bin/java"}) {
    std::vector<std::string> words = {program,     "-Xmx1g", "-jar", "DynamoDBLocal.jar",
                                      "-sharedDb", "-port",  "1234"};
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    const auto parsed = cli::parse_command_line(static_cast<int>(pointers.size()), pointers.data());
    REQUIRE(parsed.serve);
    CHECK(parsed.serve->server.port == 1234);
    CHECK(parsed.serve->shared_regions);
    CHECK(parsed.serve->data_directory == "./mayfly");
    CHECK(parsed.serve->server.access.root_refuses);
    CHECK(parsed.serve->notes.back() == "Ignored: -Xmx1g");
  }
}

TEST_CASE("every command reads its connection options from the environment") {
  const std::map<std::string, std::string> expected = {{"--url", "MAYFLY_URL"},
                                                       {"--ca-file", "MAYFLY_CA_FILE"},
                                                       {"--account", "MAYFLY_ACCOUNT"},
                                                       {"--region", "MAYFLY_REGION"},
                                                       {"--json", ""}};
  for (const char* command : {"clock show", "snapshot list", "replication show", "reset", "table list"})
    CHECK(listed_options(command) == expected);
  CHECK(parse_with("MAYFLY_URL", "http://127.0.0.1:1", {"clock", "show"}).control->server.url ==
        "http://127.0.0.1:1");
  CHECK(parse_with("MAYFLY_CA_FILE", "/c", {"clock", "show"}).control->server.ca_file == "/c");
  CHECK(parse_with("MAYFLY_ACCOUNT", "000000000042", {"reset"}).control->server.account == "000000000042");
  CHECK(parse_with("MAYFLY_REGION", "eu-west-1", {"ttl", "show"}).control->server.region == "eu-west-1");
}

TEST_CASE("function run takes a program after -- or one argument for a runtime") {
  const auto run = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"function", "run"});
    return parse(std::move(words));
  };
  const auto words = run({"reminder", "--env", "A=1", "--env", "B=x=y", "--seconds-max", "0",
                          "--processes-max", "2", "--", "node", "--eval", "[1,2]", "run", "-h"})
                         .run;
  REQUIRE(words);
  CHECK(words->program.name == "reminder");
  CHECK(words->program.command == std::vector<std::string>{"node", "--eval", "[1,2]", "run", "-h"});
  CHECK(words->program.handler.empty());
  CHECK(words->program.variables ==
        std::vector<std::pair<std::string, std::string>>{{"A", "1"}, {"B", "x=y"}});
  CHECK(words->program.time_max.count() == 0);
  CHECK(words->program.processes_max == 2);
  CHECK(words->server.url == "http://127.0.0.1:8000");

  const auto python = run({"list", "python:app.handler", "--url", "http://localhost:1"}).run;
  REQUIRE(python);
  CHECK(python->program.name == "list");
  CHECK(python->program.command == std::vector<std::string>{"python3", "-m", "awslambdaric", "app.handler"});
  CHECK(python->program.handler == "app.handler");
  CHECK(python->program.time_max.count() == 60'000);
  CHECK(python->program.processes_max == 8);
  CHECK(python->server.url == "http://localhost:1");
  CHECK(run({"f", "--handler", "app.handler", "exec:./bootstrap 'a b'"}).run->program.command ==
        std::vector<std::string>{"./bootstrap", "a b"});

  for (const auto& [wrong, sentence] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"f"}, "COMMAND is required. Run 'mayfly function run --help' for its options."},
           {{"f", "python:app"}, "COMMAND must be python:MODULE.HANDLER, got 'python:app'"},
           {{"f", "exec:./bootstrap", "a"},
            "COMMAND must be one argument if it begins with exec:, python:, node: or java:, got 2. Put it in "
            "quotes."},
           {{"f", "--handler", "x.y", "node:app.handler"},
            "--handler cannot be combined with node:app.handler."},
           {{"f", "--env", "A", "./bootstrap"}, "--env must be NAME=VALUE, got 'A'"},
           {{"f", "./bootstrap", "--processes-max", "0"},
            "--processes-max must be between 1 and 100, got 0"}}) {
    std::vector<std::string> all = wrong;
    all.insert(all.begin(), {"function", "run"});
    CHECK(refused(all, 2) == "mayfly: " + sentence + "\n");
  }
}

TEST_CASE("invoke and event read their server from the environment") {
  using How = cli::InvokeCommand::How;
  const auto invoke = parse_with("MAYFLY_URL", "http://127.0.0.1:1", {"invoke", "reset", "-"}).invoke;
  REQUIRE(invoke);
  CHECK(invoke->server.url == "http://127.0.0.1:1");
  CHECK(invoke->function == "reset");
  CHECK(invoke->event == "-");
  CHECK(invoke->how == How::response);
  CHECK(parse({"invoke", "f"}).invoke->event.empty());
  CHECK(parse({"invoke", "f", "--async"}).invoke->how == How::later);
  CHECK(parse({"invoke", "f", "--dry-run"}).invoke->how == How::check);
  const auto event =
      parse_with("MAYFLY_ACCOUNT", "000000000042", {"event", "dynamodb", "--from", "carts", "--limit", "7"});
  REQUIRE(event.event);
  CHECK(event.event->server.account == "000000000042");
  CHECK(event.event->table == "carts");
  CHECK(event.event->limit == 7);
  CHECK(parse({"event", "dynamodb", "--from", "carts"}).event->limit == 1);
  CHECK(parse({"event", "dynamodb"}).exit_code == 2);
}

TEST_CASE("mayfly export reads from the server that --url names and mayfly import writes to that server") {
  const CommandLine out = parse({"export", "--all", "--to", "backup"});
  REQUIRE(out.transfer);
  CHECK(out.transfer->from.place == "http://127.0.0.1:8000");
  CHECK(out.transfer->to.place == "backup");
  const CommandLine in = parse({"import", "--from", "backup", "--account", "000000000042"});
  REQUIRE(in.transfer);
  CHECK(in.transfer->to.place == "http://127.0.0.1:8000");
  CHECK(in.transfer->to.account == "000000000042");
  CHECK(in.transfer->from.account.empty());

  const auto transfer =
      parse_with("MAYFLY_URL", "http://127.0.0.1:1", {"export", "--all", "--to", "x"}).transfer;
  REQUIRE(transfer);
  CHECK(transfer->from.place == "http://127.0.0.1:1");
  CHECK(transfer->to.place == "x");
  CHECK(parse({"export", "--all"}).exit_code == 2);
  CHECK(parse({"import"}).exit_code == 2);
  CHECK(parse({"export", "--all", "--to", "x", "--if-exists", "merge"}).exit_code == 2);
}

TEST_CASE("the sweep commands share options and reject invalid values") {
  using What = sweep::SweepCommand::What;
  const std::vector<std::string> common = {"--endpoint",       "http://127.0.0.1:8000",
                                           "--region",         "eu-west-1",
                                           "--table",          "carts",
                                           "--ttl-attribute",  "ttl",
                                           "--shards",         "64",
                                           "--window-seconds", "30",
                                           "--clock",          "mayfly",
                                           "--mark-attribute", "by"};
  const auto told = [&](std::vector<std::string> words, const std::vector<std::string>& more = {}) {
    words.insert(words.end(), common.begin(), common.end());
    words.insert(words.end(), more.begin(), more.end());
    return parse(words);
  };
  for (const auto& [words, what] : {std::pair(std::vector<std::string>{"sweep"}, What::sweep),
                                    {{"sweep", "plan"}, What::plan},
                                    {{"sweep", "backfill"}, What::backfill}}) {
    const CommandLine parsed = told(words);
    REQUIRE(parsed.sweep);
    CHECK(parsed.sweep->what == what);
    CHECK(parsed.sweep->given.endpoint == "http://127.0.0.1:8000");
    CHECK(parsed.sweep->given.region == "eu-west-1");
    CHECK(parsed.sweep->layout.table == "carts");
    CHECK(parsed.sweep->layout.shards == 64);
    CHECK(parsed.sweep->layout.window_seconds == 30);
    CHECK(parsed.sweep->mark_attribute == "by");
    CHECK(parsed.sweep->mayfly_clock);
  }
  CHECK(told({"sweep"}, {"--once", "--dry-run", "--metrics", "127.0.0.1:1"}).sweep->once);
  CHECK_FALSE(told({"sweep", "plan"}, {"--no-scan"}).sweep->scans);
  CHECK(told({"sweep", "plan"}, {"--apply"}).sweep->apply);
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--shards", "0"},
                                                {"--window-seconds", "0"},
                                                {"--lease-seconds", "0"},
                                                {"--clock", "sun"},
                                                {"--write-units-max", "-1"},
                                                {"--workers", "0"}})
    CHECK(parse({"sweep", wrong[0], wrong[1]}).exit_code == 2);
}

}  // namespace mayfly::testing
