#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "cli/control_options.h"
#include "cli/dynamodb_local.h"
#include "cli/fail.h"
#include "cli/help_files.h"
#include "cli/sweep_options.h"
#include "cli/transfer_options.h"
#include "compat/control/call.h"
#include "compat/control/clock_setting.h"
#include "engine/account_id.h"
#include "engine/region.h"
#include "engine/shards.h"

namespace mayfly::http {

namespace {

void add_directory_commands(CLI::App& app, DirectoryCommand& command) {
  const auto add = [&](const std::string& name, const std::string& help, DirectoryCommand::What what) {
    CLI::App* added = app.add_subcommand(name, help);
    added->add_option("--data", command.directory, "The data directory, which no server has open")
        ->envname("MAYFLY_DATA")
        ->type_name("DIR")
        ->required();
    added->callback([&command, what] { command.what = what; });
    return added;
  };
  add("verify", "Say what is wrong in a data directory, and change nothing", DirectoryCommand::What::verify);
  CLI::App* repair =
      add("repair", "Mend a data directory as far as its items say how", DirectoryCommand::What::repair);
  repair
      ->add_option(
          "--move-out", command.repair.move_out_file,
          "File to move to what cannot be mended, as lines of a key and its value; without it, it stays")
      ->type_name("FILE");
  repair->add_flag("--give-up-damaged-files", command.repair.give_up_damaged_files,
                   "Move files that cannot be read to DIR/lost, and go on without what they held");
}

void add_signature_and_tls_options(CLI::App& serve, ServeOptions& options) {
  serve
      .add_flag(
          "--require-signature", options.require_signature,
          "Answer only who signs with a key of --keys, or of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
      ->envname("MAYFLY_REQUIRE_SIGNATURE");
  serve.add_option("--keys", options.keys_file, "Keys that may sign, as AWS's credentials files have them")
      ->envname("MAYFLY_KEYS")
      ->type_name("FILE");
  serve
      .add_option("--tls-cert", options.server.tls_cert_file,
                  "Certificate (PEM, its issuers' behind it) to serve https:// with")
      ->envname("MAYFLY_TLS_CERT")
      ->type_name("FILE");
  serve.add_option("--tls-key", options.server.tls_key_file, "The certificate's private key (PEM)")
      ->envname("MAYFLY_TLS_KEY")
      ->type_name("FILE");
}

constexpr std::size_t megabyte = 1024 * 1024;

void add_bounds_options(CLI::App& serve, ServeOptions& options) {
  ServerSettings& server = options.server;
  serve
      .add_option("--connections-max", server.connections_max,
                  "How many connections may be open; more wait to be accepted")
      ->envname("MAYFLY_CONNECTIONS_MAX")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->capture_default_str();
  serve
      .add_option_function<std::int64_t>(
          "--request-seconds-max",
          [&server](std::int64_t seconds) { server.request_max = std::chrono::seconds(seconds); },
          "How long a request may take to come, and its answer to go, from first byte to last")
      ->envname("MAYFLY_REQUEST_SECONDS_MAX")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{24 * 3600}))
      ->default_str(
          std::to_string(std::chrono::duration_cast<std::chrono::seconds>(server.request_max).count()));
  serve
      .add_option(
          "--waiting-max", server.waiting_max,
          "How many awaits, event streams, invocations and control calls may wait at once, of each kind")
      ->envname("MAYFLY_WAITING_MAX")
      ->check(CLI::Range(std::size_t{1}, std::size_t{4096}))
      ->capture_default_str();
  serve
      .add_option("--request-bytes-max", server.request_bytes_max,
                  "How much all requests under way may hold; who has been sending for longest is refused")
      ->envname("MAYFLY_REQUEST_BYTES_MAX")
      ->check(CLI::Range(32 * megabyte, std::size_t{1} << 40))
      ->type_name("BYTES")
      ->capture_default_str();
  serve
      .add_option(
          "--unread-bytes-max", server.unread_bytes_max,
          "How much all answers may hold that clients do not read; who took nothing for longest is closed")
      ->envname("MAYFLY_UNREAD_BYTES_MAX")
      ->check(CLI::Range(32 * megabyte, std::size_t{1} << 40))
      ->type_name("BYTES")
      ->capture_default_str();
  serve
      .add_option(
          "--memory-max", options.memory_bytes_max,
          "Without --data: how much tables and streams may hold in memory; then nothing more is taken")
      ->envname("MAYFLY_MEMORY_MAX")
      ->check(CLI::Range(std::uint64_t{64 * megabyte}, std::uint64_t{1} << 50))
      ->type_name("BYTES")
      ->default_str("half of what the process may have");
  serve
      .add_option(
          "--history-max", options.history_bytes_max,
          "How much old versions of items may take, for backups and for going back in time; beyond it "
          "the oldest instants are given up, and no more backups taken")
      ->envname("MAYFLY_HISTORY_MAX")
      ->check(CLI::Range(std::uint64_t{megabyte}, std::uint64_t{1} << 50))
      ->type_name("BYTES")
      ->capture_default_str();
  const auto add_count = [&](const std::string& name, const std::string& variable, std::size_t& count,
                             const std::string& help) {
    serve.add_option(name, count, help)
        ->envname(variable)
        ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
        ->capture_default_str();
  };
  add_count("--accounts-max", "MAYFLY_ACCOUNTS_MAX", options.limits.accounts_max,
            "How many accounts there may be; one begins with the first request that names it");
  add_count("--tables-max", "MAYFLY_TABLES_MAX", options.limits.tables_max,
            "How many tables an account may have in a region");
  add_count("--snapshots-max", "MAYFLY_SNAPSHOTS_MAX", options.limits.snapshots_max,
            "How many snapshots an account may have");
  add_count("--backups-max", "MAYFLY_BACKUPS_MAX", options.limits.backups_max,
            "How many backups an account may have");
  add_count("--functions-max", "MAYFLY_FUNCTIONS_MAX", options.functions_max,
            "How many functions all accounts may register");
  add_count("--mappings-max", "MAYFLY_MAPPINGS_MAX", options.mappings_max,
            "How many event source mappings there may be");
  serve
      .add_option("--shutdown-seconds-max", options.shutdown_seconds_max,
                  "How long SIGTERM and SIGINT wait for what is under way before the process ends anyway")
      ->envname("MAYFLY_SHUTDOWN_SECONDS_MAX")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{3600}))
      ->capture_default_str();
}

void add_time_options(CLI::App& serve, ServeOptions& options) {
  serve
      .add_option_function<std::string>(
          "--clock",
          [&options](const std::string& text) {
            const auto setting = compat::control::parse_clock_setting(text);
            if (!setting) throw CLI::ValidationError("--clock", std::string(compat::control::clock_settings));
            options.clocks.setting = *setting;
          },
          "How an account's time goes at first: real, frozen, offset, rate=60")
      ->envname("MAYFLY_CLOCK");
  serve
      .add_option_function<std::string>(
          "--now",
          [&options](const std::string& text) {
            options.clocks.now = compat::control::parse_time(text);
            if (!options.clocks.now)
              throw CLI::ValidationError("--now", "must be a time such as 2031-01-01T00:00:00Z");
          },
          "What an account's clock says at first, if not the host's time")
      ->envname("MAYFLY_NOW");
  const std::map<std::string, engine::ExpiryMode::Kind> modes = {
      {"exact", engine::ExpiryMode::Kind::exact},
      {"aws", engine::ExpiryMode::Kind::aws},
      {"manual", engine::ExpiryMode::Kind::manual}};
  serve
      .add_option("--ttl-mode", options.expiry.kind,
                  "When what is due is deleted, in new tables: at once, late, when told")
      ->envname("MAYFLY_TTL_MODE")
      ->transform(CLI::Transformer(modes, CLI::ignore_case).description("exact|aws|manual"))
      ->default_str("exact");
  serve
      .add_option_function<std::vector<std::int64_t>>(
          "--ttl-delay-seconds",
          [&options](const std::vector<std::int64_t>& seconds) {
            if (seconds[0] < 0 || seconds[0] > seconds[1] || seconds[1] > 30 * 24 * 3600) {
              throw CLI::ValidationError("--ttl-delay-seconds",
                                         "must be the least and the most, at most 30 days");
            }
            options.expiry.delay_ms_min = seconds[0] * 1000;
            options.expiry.delay_ms_max = seconds[1] * 1000;
          },
          "In the mode aws: how late, at least and at most (600,1680)")
      ->envname("MAYFLY_TTL_DELAY_SECONDS")
      ->expected(2)
      ->delimiter(',');
  serve.add_option("--ttl-seed", options.expiry.seed, "In the mode aws: what the delays are drawn from")
      ->envname("MAYFLY_TTL_SEED")
      ->capture_default_str();
  serve
      .add_option("--ttl-window-seconds", options.ttl_window_seconds,
                  "Span of the windows that expiries are counted in")
      ->envname("MAYFLY_TTL_WINDOW_SECONDS")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{24 * 3600}))
      ->capture_default_str();
  serve
      .add_option(
          "--ttl-cooldown-seconds", options.ttl_cooldown_seconds,
          "How long UpdateTimeToLive refuses to change a table again, by the account's clock; AWS: 1800")
      ->envname("MAYFLY_TTL_COOLDOWN_SECONDS")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{24 * 3600}))
      ->capture_default_str();
  serve
      .add_flag("--exact-recovery", options.exact_recovery,
                "Let tables be restored to any instant up to now, not only up to five minutes ago")
      ->envname("MAYFLY_EXACT_RECOVERY");
}

void add_log_level_option(CLI::App& app, ServeOptions& options) {
  const std::map<std::string, log::Level> levels = {{"debug", log::Level::debug},
                                                    {"info", log::Level::info},
                                                    {"warning", log::Level::warning},
                                                    {"error", log::Level::error},
                                                    {"off", log::Level::off}};
  app.add_option("--log-level", options.log_level, "Least level to log on stderr")
      ->envname("MAYFLY_LOG_LEVEL")
      ->transform(CLI::Transformer(levels, CLI::ignore_case).description("debug|info|warning|error|off"))
      ->default_str("info");
}

// With the options that most who start a server need.
CLI::App* add_serve_command(CLI::App& app, ServeOptions& options) {
  CLI::App* serve = app.add_subcommand("serve", "Serve DynamoDB's API over HTTP until SIGTERM or SIGINT");
  serve->add_option("--host", options.server.host, "Address to listen on")
      ->envname("MAYFLY_HOST")
      ->capture_default_str();
  serve->add_option("--port", options.server.port, "Port to listen on; 0 picks a free one")
      ->envname("MAYFLY_PORT")
      ->capture_default_str();
  serve->add_option("--port-file", options.port_file, "File to write the port to, once requests are answered")
      ->envname("MAYFLY_PORT_FILE")
      ->type_name("FILE");
  serve
      ->add_flag("--exit-with-parent", options.exit_with_parent,
                 "End when the process that started this one has ended, however that was")
      ->envname("MAYFLY_EXIT_WITH_PARENT");
  serve->add_option("--data", options.data_directory, "Directory to keep everything in; without it, memory")
      ->envname("MAYFLY_DATA")
      ->type_name("DIR");
  serve
      ->add_flag("--fsync", options.fsync, "Make an acknowledged write survive a power cut, not only kill -9")
      ->envname("MAYFLY_FSYNC");
  options.region = "us-east-1";
  serve->add_option("--region", options.region, "Region of requests that name none")
      ->envname("MAYFLY_REGION")
      ->check(CLI::Validator(
          [](std::string& region) {
            return engine::is_region(region)
                       ? std::string()
                       : "a region has " + std::string(engine::region_letters) + ", not '" + region + "'";
          },
          ""))
      ->capture_default_str();
  add_log_level_option(*serve, options);
  return serve;
}

void add_rarer_serve_options(CLI::App& serve, ServeOptions& options, bool& no_control) {
  serve
      .add_flag("--shared-regions", options.shared_regions,
                "Have one set of tables for all regions, as DynamoDB Local's -sharedDb: all requests are "
                "about --region")
      ->envname("MAYFLY_SHARED_REGIONS");
  serve.add_option("--threads", options.server.threads, "Threads that serve connections")
      ->envname("MAYFLY_THREADS")
      ->check(CLI::Range(1u, 256u))
      ->capture_default_str();
  serve
      .add_option("--table-delay-ms", options.table_delay_ms,
                  "How long tables stay CREATING, UPDATING and DELETING, in real time")
      ->envname("MAYFLY_TABLE_DELAY_MS")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{3'600'000}))
      ->capture_default_str();
  serve
      .add_option("--collection-bytes-max", options.collection_bytes_max,
                  "How large the items of one partition of a table with local indexes may grow; AWS: 10 GB")
      ->envname("MAYFLY_COLLECTION_BYTES_MAX")
      ->type_name("BYTES");
  serve.add_option("--stream-shards", options.stream_shards, "Shards with which a new stream begins")
      ->envname("MAYFLY_STREAM_SHARDS")
      ->check(CLI::Range(1u, engine::first_shards_max))
      ->capture_default_str();
  serve
      .add_option("--function", options.functions,
                  "A function that event source mappings and Invoke can call; may be repeated")
      ->envname("MAYFLY_FUNCTION")
      ->delimiter(',')
      ->type_name("NAME=URL");
  serve
      .add_option("--destination-dir", options.destination_directory,
                  "Directory below which event source mappings may write failed batches to files; without "
                  "it, none may")
      ->envname("MAYFLY_DESTINATION_DIR")
      ->type_name("DIR");
  serve
      .add_option("--kinesis-endpoint", options.kinesis_endpoint,
                  "Where the changes of tables with a Kinesis destination are put")
      ->envname("MAYFLY_KINESIS_ENDPOINT")
      ->type_name("URL");
  serve
      .add_option("--bucket", options.buckets,
                  "A directory that stands for an S3 bucket of exports and imports; may be repeated")
      ->envname("MAYFLY_BUCKET")
      ->delimiter(',')
      ->type_name("NAME=DIR");
  serve
      .add_option("--s3-endpoint", options.s3_endpoint,
                  "Where buckets of all other names are; requests are signed with the environment's key")
      ->envname("MAYFLY_S3_ENDPOINT")
      ->type_name("URL");
  serve
      .add_option("--schema", options.schemas,
                  "Tables to create at the start: a CloudFormation template, `terraform show -json`, what "
                  "describe-table prints, or a directory of such files; may be repeated")
      ->envname("MAYFLY_SCHEMA")
      ->delimiter(',')
      ->type_name("FILE|DIR");
  serve
      .add_option("--schema-parameter", options.schema_parameters,
                  "A parameter of templates that has no Default, or another value than that; may be repeated")
      ->envname("MAYFLY_SCHEMA_PARAMETER")
      ->delimiter(',')
      ->type_name("NAME=VALUE");
  add_bounds_options(serve, options);
  serve
      .add_flag("--no-control", no_control,
                "Answer nothing under /_mayfly/ but health, change no event source mappings")
      ->envname("MAYFLY_NO_CONTROL");
  serve
      .add_flag("--mcp-read-only", options.server.access.mcp_read_only,
                "Offer agents no tool that changes something, under /_mayfly/mcp")
      ->envname("MAYFLY_MCP_READ_ONLY");
  serve
      .add_option("--allowed-host", options.server.access.hosts,
                  "A name with a dot that requests may have in Host; may be repeated")
      ->envname("MAYFLY_ALLOWED_HOST")
      ->delimiter(',')
      ->type_name("NAME");
  serve
      .add_option(
          "--cors-origin", options.server.access.origins,
          "Whose pages may use the server from a browser (http://localhost:3000); * is all; may be repeated")
      ->envname("MAYFLY_CORS_ORIGIN")
      ->delimiter(',')
      ->type_name("ORIGIN");
  add_signature_and_tls_options(serve, options);
  add_time_options(serve, options);
}

// Whether the words behind `serve`, or the environment, may be about options that it does not have yet.
bool names_others(const CLI::App& serve, int argc, char** argv) {
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::string_view(*variable).starts_with("MAYFLY_")) return true;
  return std::any_of(argv + 2, argv + argc, [&](std::string_view word) {
    const auto name = word.substr(0, word.find('='));
    return word.starts_with('-') && (!word.starts_with("--") || name == "--help" ||
                                     serve.get_option_no_throw(std::string(name)) == nullptr);
  });
}

constexpr int usage_error = 2;

// How many letters must be added, left out or changed to make one word of the other.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({changed, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

// The first word that is no command, as a sentence; empty: there is none.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  std::string path = "mayfly";
  for (int i = 1; i < argc && argv[i][0] != '-' && at->get_require_subcommand_min() > 0; ++i) {
    const std::string word = argv[i];
    const auto commands = at->get_subcommands([](const CLI::App*) { return true; });
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const CLI::App* command) { return command->get_name() == word; });
    if (found != commands.end()) {
      at = *found;
      path += " " + word;
      continue;
    }
    std::string names;
    for (const CLI::App* command : commands) names += (names.empty() ? "" : ", ") + command->get_name();
    const auto nearest =
        std::min_element(commands.begin(), commands.end(), [&](const CLI::App* one, const CLI::App* other) {
          return distance(word, one->get_name()) < distance(word, other->get_name());
        });
    const bool is_near = distance(word, (*nearest)->get_name()) <= 2;
    return "there is no '" + path + " " + word + "'" +
           (is_near ? "; did you mean '" + path + " " + (*nearest)->get_name() + "'?" : ", but: " + names);
  }
  return {};
}

void add_mcp_command(CLI::App& app, McpCommand& command, ServeOptions& options) {
  CLI::App* mcp = app.add_subcommand(
      "mcp",
      "Speak the Model Context Protocol on standard input and output: tools for agents, about a server");
  mcp->add_option("--url", command.url, "The server")->envname("MAYFLY_URL")->capture_default_str();
  mcp->add_option("--ca-file", command.ca_file,
                  "Whose certificates an https:// server may show; without it, the system's issuers'")
      ->envname("MAYFLY_CA_FILE")
      ->type_name("FILE");
  mcp->add_option("--account", command.account, "Account that tools are about if they name none")
      ->envname("MAYFLY_ACCOUNT")
      ->check([](const std::string& text) {
        return engine::is_account_id(text) ? std::string() : "'" + text + "' is no account of twelve digits";
      });
  mcp->add_option("--region", command.region, "Region that tools are about if they name none")
      ->envname("MAYFLY_REGION");
  mcp->add_flag("--read-only", command.read_only, "Offer no tool that changes something")
      ->envname("MAYFLY_MCP_READ_ONLY");
  CLI::Option* in_memory = mcp->add_flag_function(
      "--in-memory", [](std::int64_t) {}, "Ask no server, but tables of this process, in memory");
  CLI::Option* data = mcp->add_option("--data", options.data_directory,
                                      "Ask no server, but tables of this process, in this directory")
                          ->type_name("DIR");
  in_memory->excludes(data);
  mcp->add_option("--port", options.server.port,
                  "Of tables of this process: also serve them over HTTP, on this port of 127.0.0.1; 0 picks "
                  "a free one")
      ->type_name("PORT");
  mcp->add_option("--schema", options.schemas, "Of tables of this process: what to create, as for serve")
      ->type_name("FILE|DIR");
  add_time_options(*mcp, options);
  add_log_level_option(*mcp, options);
  mcp->callback([mcp, &command] {
    command.own = mcp->count("--in-memory") + mcp->count("--data") > 0;
    command.listens = mcp->count("--port") > 0;
    if (!command.own && (command.listens || mcp->count("--schema") > 0))
      throw CLI::ValidationError("--port and --schema", "are for --in-memory and --data");
  });
}

}  // namespace

namespace {

CommandLine parse_as_dynamodb_local(const DynamoDbLocal& local) {
  if (!local.problem.empty()) {
    fail(local.problem);
    return {.exit_code = usage_error};
  }
  std::vector<std::string> words = local.serve;
  words.insert(words.begin(), "mayfly");  // not java, whose arguments would be read so once more
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
  std::string shell;

  CLI::App app("Mayfly: DynamoDB for tests, whose items disappear at the instant their TTL passes.",
               "mayfly");
  app.set_version_flag("--version", "mayfly " MAYFLY_VERSION);
  app.require_subcommand(1);

  bool no_control = false;
  CLI::App* serve = add_serve_command(app, options);
  // A server's start waits for this: where it is asked for, what nobody names is not made to be passed by.
  const bool serves = argc >= 2 && argv[1] == std::string_view("serve");
  if (!serves || names_others(*serve, argc, argv)) add_rarer_serve_options(*serve, options, no_control);
  if (!serves) {
    add_control_commands(app, command);
    add_mcp_command(app, mcp_command, options);
    add_directory_commands(app, directory_command);
    add_sweep_commands(app, sweep_command);
    add_transfer_commands(app, transfer_command);
    app.add_subcommand("completion",
                       "Print what completes commands and options: source <(mayfly completion bash)")
        ->add_option("shell", shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    app.add_subcommand("manual", "Print the manual page, for man -l");
  }

  if (const std::string wrong = unknown_command(app, argc, argv); !wrong.empty()) {
    fail(wrong);
    return {.exit_code = usage_error};
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& outcome) {
    return {.exit_code = app.exit(outcome) == 0 ? 0 : usage_error};
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
    std::fputs((shell.empty() ? manual_page(app) : completion(app, shell)).c_str(), stdout);
    return {};
  }
  for (const char* name : {"verify", "repair"})
    if (app.got_subcommand(name)) return {.directory = std::move(directory_command)};
  if (app.got_subcommand("sweep")) return {.sweep = std::move(sweep_command)};
  for (const char* name : {"export", "import"})
    if (app.got_subcommand(name)) return {.transfer = std::move(transfer_command)};
  return {.control = std::move(command)};
}

}  // namespace mayfly::http
