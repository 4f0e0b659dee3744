#include "cli/options/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/base/fail.h"
#include "cli/base/output.h"
#include "cli/options/completion.h"
#include "cli/options/control_options.h"
#include "cli/options/dynamodb_local.h"
#include "cli/options/function_options.h"
#include "cli/options/help_files.h"
#include "cli/options/item_options.h"
#include "cli/options/option_text.h"
#include "cli/options/sweep_options.h"
#include "cli/options/transfer_options.h"
#include "compat/calls/clock_setting.h"
#include "compat/calls/times.h"
#include "compat/outbound/url.h"
#include "engine/schema/shards.h"
#include "engine/values/account_id.h"
#include "engine/values/region.h"
#include "http/functions/runtimes.h"
#include "os/process.h"

namespace mayfly::cli {

namespace {

void add_directory_commands(CLI::App& app, DirectoryCommand& command) {
  const auto add = [&](const std::string& name, const std::string& help, DirectoryCommand::What what) {
    CLI::App* added = app.add_subcommand(name, help);
    added->add_option("--data", command.directory, "Data directory; no server may have it open")
        ->envname("MAYFLY_DATA")
        ->type_name("DIR")
        ->required();
    added->add_flag("--json", command.json, "Print the result as JSON");
    added->callback([&command, what] { command.what = what; });
    return added;
  };
  add("verify", "Check a data directory without changing it", DirectoryCommand::What::verify);
  CLI::App* repair = add("repair", "Repair a damaged data directory", DirectoryCommand::What::repair);
  repair
      ->add_option("--move-out", command.repair.move_out_file,
                   "Move entries that cannot be repaired to FILE (default: leave them)")
      ->type_name("FILE");
  repair->add_flag("--give-up-damaged-files", command.repair.give_up_damaged_files,
                   "Move unreadable files to DIR/lost and continue without their contents");
}

void add_signature_and_tls_options(CLI::App& serve, ServeOptions& options) {
  serve
      .add_flag("--require-signature", options.require_signature,
                "Reject requests that are not signed with a key from --keys or the environment")
      ->envname("MAYFLY_REQUIRE_SIGNATURE");
  serve.add_option("--keys", options.keys_file, "Access keys to accept, in the format of ~/.aws/credentials")
      ->envname("MAYFLY_KEYS")
      ->type_name("FILE");
  serve
      .add_option("--tls-cert", options.server.tls_cert_file,
                  "Serve https:// with this certificate (PEM, followed by its issuers' certificates)")
      ->envname("MAYFLY_TLS_CERT")
      ->type_name("FILE");
  serve.add_option("--tls-key", options.server.tls_key_file, "Private key of the certificate (PEM)")
      ->envname("MAYFLY_TLS_KEY")
      ->type_name("FILE");
}

std::string check_url(const std::string& text) {
  return compat::outbound::Url::parse(text) ? "" : must_be("a URL such as http://127.0.0.1:4566", text);
}

std::string check_bucket(const std::string& text) {
  const auto equals = text.find('=');
  return equals != 0 && equals != std::string::npos ? ""
                                                    : must_be("NAME=DIR such as exports=/tmp/exports", text);
}

std::string check_function(const std::string& text) {
  const auto equals = text.find('=');
  if (equals != 0 && equals != std::string::npos) {
    const std::string_view what = std::string_view(text).substr(equals + 1);
    if (http::is_function_program(what)) {
      const auto program = http::function_program(text.substr(0, equals), what);
      return program ? "" : program.error();
    }
    if (compat::outbound::Url::parse(what)) return "";
  }
  return must_be("NAME=URL such as reminder=http://127.0.0.1:9000/, or NAME=exec:COMMAND", text);
}

// A comma separates functions, unless the text after it cannot be one: commands can contain commas.
std::vector<std::string> whole_functions(const std::vector<std::string>& pieces) {
  std::vector<std::string> functions;
  for (const std::string& piece : pieces) {
    const auto equals = piece.find('=');
    const std::string_view what =
        equals == std::string::npos ? "" : std::string_view(piece).substr(equals + 1);
    const bool begins_one = http::is_function_program(what) || compat::outbound::Url::parse(what);
    if (functions.empty() || begins_one)
      functions.push_back(piece);
    else
      functions.back() += "," + piece;
  }
  return functions;
}

std::string check_function_inspect(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos && !text.empty()) return {};
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] =
      std::from_chars(text.data() + std::min(equals, text.size() - 1) + 1, end, port);
  if (equals == 0 || text.empty() || failure != std::errc{} || stop != end || port == 0)
    return "must be NAME or NAME=PORT, got '" + text + "'";
  return {};
}

constexpr std::int64_t megabyte = 1024 * 1024;

void add_bounds_options(CLI::App& serve, ServeOptions& options) {
  serve.option_defaults()->group("Limits");
  http::ServerSettings& server = options.server;
  serve
      .add_option("--connections-max", server.connections_max, "Maximum open connections; further ones wait")
      ->envname("MAYFLY_CONNECTIONS_MAX")
      ->check(between(1, 1'000'000))
      ->capture_default_str();
  serve
      .add_option_function<std::int64_t>(
          "--request-seconds-max",
          [&server](std::int64_t seconds) { server.request_max = std::chrono::seconds(seconds); },
          "Time limit for receiving a request or sending a response")
      ->envname("MAYFLY_REQUEST_SECONDS_MAX")
      ->type_name("N")
      ->check(between(1, 24 * 3600))
      ->default_str(
          std::to_string(std::chrono::duration_cast<std::chrono::seconds>(server.request_max).count()));
  serve.add_option("--waiting-max", server.waiting_max, "Maximum blocked calls of each kind, such as awaits")
      ->envname("MAYFLY_WAITING_MAX")
      ->check(between(1, 4096))
      ->capture_default_str();
  serve.add_option("--request-bytes-max", server.request_bytes_max, "Memory limit for in-flight requests")
      ->envname("MAYFLY_REQUEST_BYTES_MAX")
      ->check(between(32 * megabyte, std::int64_t{1} << 40))
      ->type_name("BYTES")
      ->capture_default_str();
  serve.add_option("--unread-bytes-max", server.unread_bytes_max, "Memory limit for unread responses")
      ->envname("MAYFLY_UNREAD_BYTES_MAX")
      ->check(between(32 * megabyte, std::int64_t{1} << 40))
      ->type_name("BYTES")
      ->capture_default_str();
  serve.add_option("--memory-max", options.memory_bytes_max, "Memory limit without --data")
      ->envname("MAYFLY_MEMORY_MAX")
      ->check(between(64 * megabyte, std::int64_t{1} << 50))
      ->type_name("BYTES")
      ->default_str("half of memory");
  serve.add_option("--history-max", options.history_bytes_max, "Size limit for old item versions")
      ->envname("MAYFLY_HISTORY_MAX")
      ->check(between(megabyte, std::int64_t{1} << 50))
      ->type_name("BYTES")
      ->capture_default_str();
  const auto add_count = [&](const std::string& name, const std::string& variable, std::size_t& count,
                             const std::string& help) {
    serve.add_option(name, count, help)
        ->envname(variable)
        ->check(between(1, 1'000'000))
        ->capture_default_str();
  };
  add_count("--accounts-max", "MAYFLY_ACCOUNTS_MAX", options.limits.accounts_max, "Maximum accounts");
  add_count("--tables-max", "MAYFLY_TABLES_MAX", options.limits.tables_max,
            "Maximum tables per account and region");
  add_count("--snapshots-max", "MAYFLY_SNAPSHOTS_MAX", options.limits.snapshots_max,
            "Maximum snapshots per account");
  add_count("--backups-max", "MAYFLY_BACKUPS_MAX", options.limits.backups_max, "Maximum backups per account");
  add_count("--functions-max", "MAYFLY_FUNCTIONS_MAX", options.functions_max,
            "Maximum registered functions across all accounts");
  add_count("--mappings-max", "MAYFLY_MAPPINGS_MAX", options.mappings_max,
            "Maximum event source mappings across all accounts");
  serve
      .add_option("--mapping-filters-max", options.mapping_filters_max,
                  "Maximum filters per event source mapping")
      ->envname("MAYFLY_MAPPING_FILTERS_MAX")
      ->check(between(1, compat::triggers::filters_quota_raised))
      ->capture_default_str();
}

void add_time_options(CLI::App& serve, ServeOptions& options) {
  serve.option_defaults()->group("Time and TTL");
  using Kind = engine::ExpiryMode::Kind;
  serve
      .add_option_function<std::string>(
          "--clock",
          [&options](const std::string& text) {
            const auto setting = compat::control::parse_clock_setting(text);
            if (!setting)
              throw CLI::ValidationError("--clock", must_be("real, frozen, offset or rate=N", text));
            options.clocks.setting = *setting;
          },
          "Initial clock of new accounts: real, frozen, offset or rate=N (default: real)")
      ->envname("MAYFLY_CLOCK")
      ->type_name("CLOCK");
  serve
      .add_option_function<std::string>(
          "--now",
          [&options](const std::string& text) {
            options.clocks.now = compat::control::parse_time(text);
            if (!options.clocks.now)
              throw CLI::ValidationError("--now", must_be("a time such as 2031-01-01T00:00:00Z", text));
          },
          "Initial time of new accounts, such as 2031-01-01T00:00:00Z (default: the host's)")
      ->envname("MAYFLY_NOW")
      ->type_name("TIME");
  serve
      .add_option("--ttl-mode", options.expiry.kind,
                  "Expiry in new tables: exact (immediately), aws (late) or manual")
      ->envname("MAYFLY_TTL_MODE")
      ->transform(choice<Kind>({{"exact", Kind::exact}, {"aws", Kind::aws}, {"manual", Kind::manual}}))
      ->type_name("MODE")
      ->default_str("exact");
  serve
      .add_option_function<std::vector<std::int64_t>>(
          "--ttl-delay-seconds",
          [&options](const std::vector<std::int64_t>& seconds) {
            if (seconds[0] < 0 || seconds[0] > seconds[1] || seconds[1] > 30 * 24 * 3600) {
              throw CLI::ValidationError(
                  "--ttl-delay-seconds",
                  must_be("a minimum and a maximum of at most 2592000 (30 days)",
                          std::to_string(seconds[0]) + " " + std::to_string(seconds[1])));
            }
            options.expiry.delay_ms_min = seconds[0] * 1000;
            options.expiry.delay_ms_max = seconds[1] * 1000;
          },
          "Minimum and maximum delay of deletions in mode aws (default: 600 1680)")
      ->envname("MAYFLY_TTL_DELAY_SECONDS")
      ->type_name("MIN MAX")
      ->expected(2)
      ->delimiter(',');
  serve.add_option("--ttl-seed", options.expiry.seed, "Random seed for the delays in mode aws")
      ->envname("MAYFLY_TTL_SEED")
      ->check(whole_number())
      ->capture_default_str();
  serve
      .add_option("--ttl-window-seconds", options.ttl_window_seconds,
                  "Length of the windows in which expiries are counted")
      ->envname("MAYFLY_TTL_WINDOW_SECONDS")
      ->type_name("N")
      ->check(between(1, 24 * 3600))
      ->capture_default_str();
  serve
      .add_option("--ttl-cooldown-seconds", options.ttl_cooldown_seconds,
                  "Minimum time between calls to UpdateTimeToLive; AWS: 1800")
      ->envname("MAYFLY_TTL_COOLDOWN_SECONDS")
      ->type_name("N")
      ->check(between(0, 24 * 3600))
      ->capture_default_str();
  serve
      .add_flag("--exact-recovery", options.exact_recovery,
                "Allow restores to any point in time up to now, not only up to five minutes ago")
      ->envname("MAYFLY_EXACT_RECOVERY");
}

void add_log_level_option(CLI::App& app, ServeOptions& options) {
  app.add_option("--log-level", options.log_level, "Minimum log level: debug, info, warning, error or off")
      ->envname("MAYFLY_LOG_LEVEL")
      ->transform(choice<http::log::Level>({{"debug", http::log::Level::debug},
                                            {"info", http::log::Level::info},
                                            {"warning", http::log::Level::warning},
                                            {"error", http::log::Level::error},
                                            {"off", http::log::Level::off}}))
      ->type_name("LEVEL")
      ->default_str("info");
}

// Adds the command `serve` and its most common options.
CLI::App* add_serve_command(CLI::App& app, ServeOptions& options) {
  CLI::App* serve = app.add_subcommand("serve", "Start a server; it runs until SIGTERM or SIGINT");
  serve->add_option("--host", options.server.host, "Address to listen on; localhost means 127.0.0.1 and ::1")
      ->envname("MAYFLY_HOST")
      ->type_name("ADDRESS")
      ->capture_default_str();
  serve->add_option("--port", options.server.port, "Port to listen on; 0 picks a free port")
      ->envname("MAYFLY_PORT")
      ->check(between(0, 65535))
      ->capture_default_str();
  serve
      ->add_option("--port-file", options.port_file,
                   "Write the port number to FILE once the server accepts requests")
      ->envname("MAYFLY_PORT_FILE")
      ->type_name("FILE");
  serve->add_option("--data", options.data_directory, "Keep all data in DIR (default: in memory)")
      ->envname("MAYFLY_DATA")
      ->type_name("DIR");
  serve
      ->add_flag("--fsync", options.fsync,
                 "Make acknowledged writes survive a power failure, not only kill -9")
      ->envname("MAYFLY_FSYNC");
  options.region = "us-east-1";
  serve->add_option("--region", options.region, "Default region for unsigned requests")
      ->envname("MAYFLY_REGION")
      ->type_name("NAME")
      ->check(CLI::Validator(
          [](std::string& region) {
            return engine::is_region(region) ? std::string() : must_be(engine::region_letters, region);
          },
          ""))
      ->capture_default_str();
  add_log_level_option(*serve, options);
  serve
      ->add_flag("--exit-with-parent", options.exit_with_parent,
                 "Exit when the parent process exits for any reason")
      ->envname("MAYFLY_EXIT_WITH_PARENT");
  return serve;
}

void add_table_options(CLI::App& serve, ServeOptions& options) {
  serve.option_defaults()->group("Tables");
  serve
      .add_option("--schema", options.schemas,
                  "Create tables from CloudFormation, Terraform, Workbench or describe-table files")
      ->envname("MAYFLY_SCHEMA")
      ->delimiter(',')
      ->type_name("FILE|DIR");
  serve
      .add_option("--schema-parameter", options.schema_parameters,
                  "Set a template's parameter, import or attribute (Role.Arn)")
      ->envname("MAYFLY_SCHEMA_PARAMETER")
      ->delimiter(',')
      ->type_name("NAME=VALUE");
  serve
      .add_flag("--schema-strict", options.schema_strict,
                "Stop if a file of a --schema directory cannot be read, instead of skipping it")
      ->envname("MAYFLY_SCHEMA_STRICT");
  serve
      .add_flag("--functions", options.schema_functions,
                "Also create the functions and event source mappings of --schema files")
      ->envname("MAYFLY_FUNCTIONS");
  serve
      .add_flag("--shared-regions", options.shared_regions,
                "Use one set of tables for all regions, like DynamoDB Local's -sharedDb")
      ->envname("MAYFLY_SHARED_REGIONS");
  serve
      .add_option("--table-delay-ms", options.table_delay_ms,
                  "How long tables stay CREATING, UPDATING or DELETING")
      ->envname("MAYFLY_TABLE_DELAY_MS")
      ->check(between(0, 3'600'000))
      ->capture_default_str();
  serve.add_option("--stream-shards", options.stream_shards, "Number of shards of a new stream")
      ->envname("MAYFLY_STREAM_SHARDS")
      ->check(between(1, engine::first_shards_max))
      ->capture_default_str();
  serve
      .add_option("--collection-bytes-max", options.collection_bytes_max,
                  "Maximum size of an item collection; AWS: 10 GB (default: no limit)")
      ->envname("MAYFLY_COLLECTION_BYTES_MAX")
      ->check(whole_number())
      ->type_name("BYTES");
}

void add_endpoint_options(CLI::App& serve, ServeOptions& options) {
  serve.option_defaults()->group("Functions, Kinesis and S3");
  serve
      .add_option_function<std::vector<std::string>>(
          "--function",
          [&options](const std::vector<std::string>& pieces) {
            options.functions.functions = whole_functions(pieces);
            for (const std::string& function : options.functions.functions)
              if (const std::string problem = check_function(function); !problem.empty())
                throw CLI::ValidationError("--function", problem);
          },
          "Register a function that event source mappings and Invoke can call")
      ->envname("MAYFLY_FUNCTION")
      ->delimiter(',')
      ->type_name("NAME=URL");
  serve
      .add_option("--function-env", options.functions.variables,
                  "Set a variable in the environment of functions that are programs")
      ->envname("MAYFLY_FUNCTION_ENV")
      ->check(check_function_env)
      ->delimiter(',')
      ->type_name("NAME=VALUE");
  serve
      .add_option_function<std::int64_t>(
          "--function-seconds-max",
          [&options](std::int64_t seconds) { options.functions.time_max = std::chrono::seconds(seconds); },
          "Time limit for an invocation of a function that is a program (default: 60, or a described "
          "function's Timeout; 0: none, for debuggers)")
      ->envname("MAYFLY_FUNCTION_SECONDS_MAX")
      ->check(between(0, 900));
  serve
      .add_option(
          "--function-processes-max", options.functions.processes_max,
          "Maximum processes of each function that is a program; one process for each concurrent invocation")
      ->envname("MAYFLY_FUNCTION_PROCESSES_MAX")
      ->check(between(1, 100))
      ->capture_default_str();
  serve
      .add_option("--function-inspect", options.functions.inspected,
                  "Make the function NAME wait for a debugger: debugpy, Node.js's inspector or JDWP")
      ->envname("MAYFLY_FUNCTION_INSPECT")
      ->check(check_function_inspect)
      ->delimiter(',')
      ->type_name("NAME[=PORT]");
  serve
      .add_option_function<std::string>(
          "--function-clock",
          [&options](const std::string& clock) { options.functions.follow_clock = clock == "follow"; },
          "Time that functions see: host, or follow for the account's time, with libfaketime (default: host)")
      ->envname("MAYFLY_FUNCTION_CLOCK")
      ->check([](const std::string& clock) {
        return clock == "host" || clock == "follow" ? std::string()
                                                    : "must be host or follow, got '" + clock + "'";
      })
      ->type_name("CLOCK");
  serve.add_flag("--watch", options.functions.watch, "Use the new code of functions when their files change")
      ->envname("MAYFLY_WATCH");
  serve
      .add_option("--destination-dir", options.destination_directory,
                  "Let event source mappings write failed batches to files in DIR (default: disabled)")
      ->envname("MAYFLY_DESTINATION_DIR")
      ->type_name("DIR");
  serve
      .add_option("--kinesis-endpoint", options.kinesis_endpoint,
                  "Kinesis endpoint that receives the changes of tables with a Kinesis destination")
      ->envname("MAYFLY_KINESIS_ENDPOINT")
      ->check(check_url)
      ->type_name("URL");
  serve.add_option("--bucket", options.buckets, "Use DIR as the S3 bucket NAME in exports and imports")
      ->envname("MAYFLY_BUCKET")
      ->check(check_bucket)
      ->delimiter(',')
      ->type_name("NAME=DIR");
  serve
      .add_option("--s3-endpoint", options.s3_endpoint,
                  "S3 endpoint for all other buckets; requests are signed with the environment's key")
      ->envname("MAYFLY_S3_ENDPOINT")
      ->check(check_url)
      ->type_name("URL");
}

void add_access_options(CLI::App& serve, ServeOptions& options, bool& no_control) {
  serve.option_defaults()->group("Access");
  add_signature_and_tls_options(serve, options);
  serve
      .add_option("--allowed-host", options.server.access.hosts,
                  "Accept requests with this Host header (default: addresses and names without a dot)")
      ->envname("MAYFLY_ALLOWED_HOST")
      ->delimiter(',')
      ->type_name("NAME");
  serve
      .add_option("--cors-origin", options.server.access.origins,
                  "Let web pages of ORIGIN, such as http://localhost:3000 or * (all), use the server")
      ->envname("MAYFLY_CORS_ORIGIN")
      ->delimiter(',')
      ->type_name("ORIGIN");
  serve
      .add_flag("--no-control", no_control,
                "Disable the control API, except health, and make event source mappings read-only")
      ->envname("MAYFLY_NO_CONTROL");
  serve
      .add_flag("--mcp-read-only", options.server.access.mcp_read_only,
                "Offer only read-only tools to agents at /_mayfly/mcp")
      ->envname("MAYFLY_MCP_READ_ONLY");
}

void add_rarer_serve_options(CLI::App& serve, ServeOptions& options, bool& no_control) {
  serve.add_option("--threads", options.server.threads, "Number of threads that serve connections")
      ->envname("MAYFLY_THREADS")
      ->check(between(1, 256))
      ->capture_default_str();
  serve
      .add_option("--shutdown-seconds-max", options.shutdown_seconds_max,
                  "Time limit for work in progress after SIGTERM or SIGINT")
      ->envname("MAYFLY_SHUTDOWN_SECONDS_MAX")
      ->type_name("N")
      ->check(between(1, 3600))
      ->capture_default_str();
  add_time_options(serve, options);
  add_table_options(serve, options);
  add_endpoint_options(serve, options);
  add_access_options(serve, options, no_control);
  add_bounds_options(serve, options);
  serve.footer("Options with ... can be repeated. In their variables, separate the values with commas.");
}

// Whether the words after `serve`, or the environment, may name options that have not been added yet.
bool names_others(const CLI::App& serve, int argc, char** argv) {
  for (const std::string& variable : os::environment())
    if (variable.starts_with("MAYFLY_")) return true;
  return std::any_of(argv + 2, argv + argc, [&](std::string_view word) {
    const auto name = word.substr(0, word.find('='));
    return word.starts_with('-') && (!word.starts_with("--") || name == "--help" ||
                                     serve.get_option_no_throw(std::string(name)) == nullptr);
  });
}

constexpr int usage_error = 2;

void add_mcp_command(CLI::App& app, McpCommand& command, ServeOptions& options) {
  CLI::App* mcp = app.add_subcommand(
      "mcp",
      "Offer a server's tables and clock to agents (Model Context Protocol on standard input and output)");
  mcp->add_option("--url", command.url, "Server to use")
      ->envname("MAYFLY_URL")
      ->type_name("URL")
      ->capture_default_str();
  mcp->add_option("--ca-file", command.ca_file,
                  "Trust the certificates in FILE for https:// (default: the system's)")
      ->envname("MAYFLY_CA_FILE")
      ->type_name("FILE");
  mcp->add_option("--account", command.account, "Default account of the tools, twelve digits")
      ->envname("MAYFLY_ACCOUNT")
      ->type_name("ID")
      ->check([](const std::string& text) {
        return engine::is_account_id(text) ? std::string() : must_be("twelve digits", text);
      });
  mcp->add_option("--region", command.region, "Default region of the tools")
      ->envname("MAYFLY_REGION")
      ->type_name("NAME");
  mcp->add_flag("--read-only", command.read_only, "Offer only tools that change nothing")
      ->envname("MAYFLY_MCP_READ_ONLY");
  CLI::Option* in_memory = mcp->add_flag_function(
      "--in-memory", [](std::int64_t) {}, "Keep tables in this process's memory instead of using a server");
  CLI::Option* data = mcp->add_option("--data", options.data_directory,
                                      "Serve tables from DIR in this process instead of using a server")
                          ->type_name("DIR");
  in_memory->excludes(data);
  mcp->add_option("--port", options.server.port,
                  "With --in-memory or --data: serve HTTP as well; 0 picks a free port")
      ->check(between(0, 65535))
      ->type_name("N");
  mcp->add_option("--schema", options.schemas,
                  "With --in-memory or --data: create tables, as serve --schema does")
      ->type_name("FILE|DIR");
  add_log_level_option(*mcp, options);
  add_time_options(*mcp, options);
  mcp->callback([mcp, &command] {
    command.own = mcp->count("--in-memory") + mcp->count("--data") > 0;
    command.listens = mcp->count("--port") > 0;
    if (!command.own && (command.listens || mcp->count("--schema") > 0))
      throw CLI::ValidationError("--port and --schema", "require --in-memory or --data.");
  });
}

// Adds help, version, completion and manual.
void add_commands_about_commands(CLI::App& app, std::string& shell, std::vector<std::string>& line) {
  app.add_subcommand("help", "Print help for a command")
      ->add_option("COMMAND", line, "Command, such as clock advance");
  app.add_subcommand("version", "Print the version");
  CLI::App& completion = *app.add_subcommand("completion", "Print a shell's completion script");
  completion.add_option("SHELL", shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  completion.footer("Example:\n  source <(mayfly completion bash)");
  app.add_subcommand("manual", "Print the manual page: mayfly manual | man -l -");
  // Only the completion scripts use this command. Help does not list a command without a group.
  app.add_subcommand(completing_command, "Print completions of a command line")
      ->group("")
      ->add_option("LINE", line, "Command line up to the cursor");
}

// Sets the headings and footers of command groups.
void finish_group(CLI::App& group, const std::string& path) {
  group.get_help_ptr()->group("Options");
  const auto commands = group.get_subcommands([](const CLI::App*) { return true; });
  if (!commands.empty() && group.get_footer().empty())
    group.footer("Run '" + path + " COMMAND --help' for a command's arguments and options.");
  for (CLI::App* const command : commands) {
    if (command->get_group() == "Subcommands") command->group("Commands");
    finish_group(*command, path + " " + command->get_name());
  }
}

// Sets the headings under which 'mayfly help' lists commands.
void in_groups(CLI::App& app) {
  const std::vector<std::pair<const char*, std::vector<const char*>>> groups = {
      {"Server", {"serve", "health", "metrics", "accounts", "calls"}},
      {"Tables and items", {"table", "item", "tail", "await"}},
      {"Time", {"clock", "ttl"}},
      {"Tests", {"snapshot", "reset", "faults", "failpoint"}},
      {"Streams, functions and regions",
       {"stream", "triggers", "function", "invoke", "event", "jobs", "replication"}},
      {"Data", {"export", "import", "sweep", "verify", "repair"}},
      {"Other", {"mcp", "completion", "manual", "help", "version"}}};
  for (const auto& [group, names] : groups)
    for (const char* const name : names)
      for (CLI::App* const command :
           app.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; }))
        command->group(group);
}

constexpr std::string_view overview =
    "Mayfly " MAYFLY_VERSION
    ": DynamoDB for tests. Items disappear at the instant their TTL passes.\n\n"
    "Start a server:\n"
    "  mayfly serve\n\n"
    "Try it, in another terminal:\n"
    "  mayfly table create carts --ttl ttl\n"
    "  mayfly item put carts id=1 ttl=+48h\n"
    "  mayfly clock advance 72h\n"
    "  mayfly item get carts 1\n\n"
    "Run 'mayfly help' for all commands and 'mayfly help COMMAND' for one of them.\n";

// `mayfly help clock advance`: prints the help of the command that the words name.
int print_help(const CLI::App& app, const std::vector<std::string>& words) {
  if (const std::string wrong = unknown_word(app, words); !wrong.empty()) {
    fail(wrong);
    return usage_error;
  }
  const CLI::App* command = &app;
  std::string path;
  for (const std::string& word : words) {
    const auto named = command->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (named.empty()) break;
    path += (path.empty() ? "" : " ") + command->get_name();
    command = named.front();
  }
  print(command->help(path));
  return printed(0);
}

// Prints what is wrong with the command line. Returns the exit code.
int refused(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  if (command->get_require_subcommand_min() > 0 && std::string_view(error.get_name()) == "RequiredError") {
    fail("'" + parsed_path(app) + "' needs a command.");
    std::fprintf(stderr, "\n%s", app.help().c_str());
  } else {
    std::string sentence = refusal(app, error);
    for (const CLI::Option* option : options_of(*command)) {
      const std::string name = "--" + (option->get_lnames().empty() ? "" : option->get_lnames().front());
      const bool is_given = std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return word.substr(0, word.find('=')) == name;
      });
      if (!option->get_envname().empty() && !is_given && sentence.starts_with(name + " "))
        sentence += " (set by " + option->get_envname() + ")";
    }
    fail(sentence);
  }
  return usage_error;
}

CommandLine parse_as_dynamodb_local(const DynamoDbLocal& local) {
  if (!local.problem.empty()) {
    fail(local.problem);
    return {.exit_code = usage_error};
  }
  std::vector<std::string> words = local.serve;
  words.insert(words.begin(), "mayfly");  // with "java", the arguments would be translated again
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  CommandLine parsed = parse_command_line(static_cast<int>(pointers.size()), pointers.data());
  if (parsed.serve) {
    parsed.serve->banner = local.banner;
    parsed.serve->notes = local.notes;
    parsed.serve->server.access.root_refuses = true;
  }
  return parsed;
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  if (const auto local = read_dynamodb_local(argv[0], {argv + 1, argv + argc})) {
    return parse_as_dynamodb_local(*local);
  }
  ServeOptions options;
  options.server.port = 8000;
  ControlCommand command;
  DirectoryCommand directory_command;
  sweep::SweepCommand sweep_command;
  McpCommand mcp_command;
  transfer::TransferCommand transfer_command;
  ItemCommand item_command;
  InvokeCommand invoke_command;
  EventCommand event_command;
  FunctionRun function_run;
  std::string shell;
  std::vector<std::string> line;

  std::vector<std::string> words(argv + 1, argv + argc);
  const std::vector<std::string> program = cut_program(words);
  if (words.empty()) {
    print(overview);
    return {.exit_code = printed(0)};
  }
  if (words[0] == "version" || words[0] == "--version") {
    print("mayfly " MAYFLY_VERSION "\n");
    return {.exit_code = printed(0)};
  }

  CLI::App app("Mayfly: DynamoDB for tests. Items disappear at the instant their TTL passes.", "mayfly");
  app.allow_windows_style_options(false);  // "/tmp/event.json" is a path on every system
  app.formatter(help_formatter());
  app.option_defaults()->group("Options");  // newer versions of CLI11 have a different default
  app.set_help_flag("-h,--help", "Print help and exit");
  app.set_version_flag("--version", "mayfly " MAYFLY_VERSION, "Print the version and exit");
  app.require_subcommand(1);

  bool no_control = false;
  CLI::App* serve = add_serve_command(app, options);
  // Adding options and commands takes time, which would delay the server's start. If the command is `serve`,
  // its rarer options are therefore added only if the command line or the environment may name them, and no
  // other command is added.
  const bool serves = argc >= 2 && argv[1] == std::string_view("serve");
  if (!serves || names_others(*serve, argc, argv)) add_rarer_serve_options(*serve, options, no_control);
  if (!serves) {
    add_item_commands(app, item_command);
    add_control_commands(app, command);
    add_function_commands(app, invoke_command, event_command, function_run, program);
    add_transfer_commands(app, transfer_command);
    add_sweep_commands(app, sweep_command);
    add_directory_commands(app, directory_command);
    add_mcp_command(app, mcp_command, options);
    add_commands_about_commands(app, shell, line);
  }
  in_groups(app);
  finish_group(app, "mayfly");

  if (words[0] == "help") return {.exit_code = print_help(app, {words.begin() + 1, words.end()})};
  if (words[0] == completing_command) {
    print(completions(app, words.size() > 1 ? words[1] : ""));
    return {.exit_code = printed(0)};
  }
  if (const std::string wrong = unknown_word(app, words); !wrong.empty()) {
    fail(wrong);
    return {.exit_code = usage_error};
  }
  std::vector<std::string> all = with_environment(app, words);
  all.insert(all.begin(), argv[0]);
  std::vector<char*> pointers;
  for (std::string& word : all) pointers.push_back(word.data());
  try {
    app.parse(static_cast<int>(pointers.size()), pointers.data());
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return {.exit_code = printed(0)};
  } catch (const CLI::ParseError& error) {
    return {.exit_code = refused(app, error, words)};
  }
  options.server.access.control = !no_control;
  if (serve->parsed()) return {.serve = std::move(options)};
  if (app.got_subcommand("mcp")) {
    CommandLine parsed{.mcp = std::move(mcp_command)};
    parsed.mcp->log_level = options.log_level;
    if (!parsed.mcp->own) return parsed;
    if (app.get_subcommand("mcp")->count("--in-memory") > 0) options.data_directory.clear();
    if (!parsed.mcp->region.empty()) options.region = parsed.mcp->region;
    parsed.serve = std::move(options);
    return parsed;
  }
  if (app.got_subcommand("completion") || app.got_subcommand("manual")) {
    print(shell.empty() ? manual_page(app) : completion_script(shell));
    return {.exit_code = printed(0)};
  }
  for (const char* name : {"verify", "repair"})
    if (app.got_subcommand(name)) return {.directory = std::move(directory_command)};
  if (app.got_subcommand("sweep")) return {.sweep = std::move(sweep_command)};
  for (const char* name : {"export", "import"})
    if (app.got_subcommand(name)) return {.transfer = std::move(transfer_command)};
  for (const char* name : {"table", "item"})
    if (app.got_subcommand(name)) return {.item = std::move(item_command)};
  if (app.got_subcommand("invoke")) return {.invoke = std::move(invoke_command)};
  if (app.got_subcommand("event")) return {.event = std::move(event_command)};
  if (app.get_subcommand("function")->got_subcommand("run")) return {.run = std::move(function_run)};
  return {.control = std::move(command)};
}

}  // namespace mayfly::cli
