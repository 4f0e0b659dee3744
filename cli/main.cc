// The executable. `mayfly serve` starts the server, prints its address and waits until it is told to exit.
// This file also runs all other commands.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/base/deadline.h"
#include "cli/base/end_signals.h"
#include "cli/base/fail.h"
#include "cli/base/notices.h"
#include "cli/calls/mcp.h"
#include "cli/deployment/code_directories.h"
#include "cli/deployment/functions.h"
#include "cli/options/options.h"
#include "cli/schemas/create.h"
#include "cli/schemas/files.h"
#include "compat/emulator.h"
#include "compat/mcp/world.h"
#include "http/access/keys.h"
#include "http/base/log.h"
#include "http/connections/server.h"
#include "http/functions/functions.h"
#include "http/outbound/invoker.h"
#include "http/requests/route.h"
#include "os/file.h"
#include "os/memory.h"
#include "os/path.h"
#include "os/process.h"
#include "os/terminal.h"

namespace mayfly::cli {
namespace {

constexpr std::chrono::milliseconds parent_pause{200};

// Waits for SIGTERM or SIGINT, or until the parent process has exited. Returns the reason, for the log.
// Polls, because the kernel sends its parent-death signal as soon as the thread that started this process
// exits, even if the parent process is still running.
const char* wait_for_the_end(const EndSignals& end_signals, const std::optional<os::Parent>& parent) {
  for (bool begins = true;; begins = false) {
    const bool looks_up = begins || parent;
    const auto signal = end_signals.wait(looks_up ? std::optional(parent_pause) : std::nullopt);
    if (signal) return os::name_of(*signal);
    if (parent && parent->has_exited()) return "the parent process has exited";
    // Half of the code that is mapped by now was needed only at startup, for parsing options and opening
    // RocksDB. Releasing all code earlier would not help, because the first requests arrive immediately and
    // would map pages again.
    if (begins) os::give_back_code();
  }
}

// Writes the file atomically, because a client that waits for the file must not read half a number. Returns
// an error message, or an empty string if the file was written.
std::string write_port_file(const std::string& path, std::uint16_t port) {
  const std::string temporary = path + "." + std::to_string(os::process_id()) + ".tmp";
  std::error_code error, ignored;
  // A link that another user created at this path is replaced, not followed.
  os::remove(temporary, ignored);
  os::File file = os::File::open(
      temporary, {.access = os::Access::write, .make = os::Make::must_be_new, .is_private = false}, error);
  if (error) return "cannot write the port file " + path + ": " + error.message();
  file.write(std::to_string(port) + "\n", error);
  if (!error) file.close(error);
  if (!error) os::rename(temporary, path, error);
  if (!error) return {};
  os::remove(temporary, ignored);
  return "cannot write the port file " + path + ": " + error.message();
}

// Ends the process in time even if work is in progress. Acknowledged writes survive this as they survive kill
// -9. If nothing reads the log, writing to it can block; the kernel then ends the process one second later,
// without a log line.
class EndsInTime {
 public:
  explicit EndsInTime(std::chrono::seconds time) {
    os::end_after(time + std::chrono::seconds(1));
    try {
      deadline_.emplace(time, [] {
        http::log::write(
            http::log::Level::error,
            "work in progress did not end in time and is abandoned (limit set by --shutdown-seconds-max)");
        os::exit_now(1);
      });
    } catch (const std::system_error&) {
      // No thread is available, but end_after() alone also ends the process.
    }
  }

 private:
  std::optional<Deadline> deadline_;
};

schemas::Reports to_log() {
  return {[](const std::string& sentence) { http::log::write(http::log::Level::info, sentence); },
          [](const std::string& sentence) { http::log::write(http::log::Level::warning, sentence); }};
}

// Reads the files of --schema.
Expected<schemas::SchemaFiles, std::string> read_schemas(const ServeOptions& options,
                                                         const schemas::SchemaContext& context,
                                                         const schemas::Reports& reports) {
  schemas::SchemaFiles all;
  if (options.schema_functions && options.schemas.empty())
    return Unexpected{
        std::string("--functions creates the functions of --schema files: give a file with --schema")};
  for (const std::string& path : options.schemas) {
    TRY(auto read, schemas::read_schema_files(path, context));
    for (const std::string& warning : read.warnings) reports.warning(warning);
    all.append(std::move(read));
  }
  return all;
}

// The programs of functions, and the code that they run. The programs end first.
struct Programs {
  deployment::CodeDirectories directories;
  http::ProgramFunctions functions;
};

// Opens the emulator, and creates what the files of --schema define, in the default account.
Expected<std::unique_ptr<compat::Emulator>, std::string> open_emulator(const ServeOptions& options,
                                                                       Programs& programs) {
  const schemas::Reports reports = to_log();
  schemas::SchemaContext context{
      .region = options.region, .strict = options.schema_strict, .functions = options.schema_functions};
  TRY(context.parameters, schemas::schema_parameters(options.schema_parameters));
  TRY(const schemas::SchemaFiles defined, read_schemas(options, context, reports));
  compat::EmulatorOptions emulator_options;
  emulator_options.database.directory = options.data_directory;
  emulator_options.database.fsync = options.fsync;
  emulator_options.database.memory_bytes_max = options.memory_bytes_max;
// Sanitizers need several times as much memory.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  emulator_options.database.is_process = true;
#endif
  emulator_options.database.report = [](std::string_view sentence) {
    http::log::write(http::log::Level::error, sentence);
  };
  if (http::log::enabled(http::log::Level::info)) {
    emulator_options.database.notice = [notices = std::make_shared<Notices>()](std::string_view sentence) {
      notices->take(sentence);
    };
  }
  if (http::log::enabled(http::log::Level::warning)) {
    emulator_options.warn = [notices = std::make_shared<Notices>(http::log::Level::warning)](
                                std::string_view sentence) { notices->take(sentence); };
  }
  emulator_options.database.account_clocks = options.clocks;
  emulator_options.database.expiry = options.expiry;
  emulator_options.database.expiry_window_ms = options.ttl_window_seconds * 1000;
  emulator_options.ttl_cooldown = std::chrono::seconds(options.ttl_cooldown_seconds);
  emulator_options.database.stream_shards = options.stream_shards;
  emulator_options.region = options.region;
  emulator_options.shared_regions = options.shared_regions;
  emulator_options.table_delay = std::chrono::milliseconds(options.table_delay_ms);
  emulator_options.collection_bytes_max = options.collection_bytes_max;
  emulator_options.limits = options.limits;
  emulator_options.exact_recovery = options.exact_recovery;
  emulator_options.database.history_bytes_max = options.history_bytes_max;
  emulator_options.triggers.functions_max = options.functions_max;
  emulator_options.triggers.mappings_max = options.mappings_max;
  emulator_options.triggers.filters_max = options.mapping_filters_max;
  const auto invoker = std::make_shared<http::HttpInvoker>(http::key_of_environment());
  emulator_options.triggers.invoker = emulator_options.kinesis.invoker = invoker;
  emulator_options.triggers.destination_directory = options.destination_directory;
  if (!options.kinesis_endpoint.empty()) {
    auto url = compat::outbound::Url::parse(options.kinesis_endpoint);
    if (!url) return Unexpected{url.error()};
    emulator_options.kinesis.endpoint = *std::move(url);
  }
  if (!options.s3_endpoint.empty()) {
    auto url = compat::outbound::Url::parse(options.s3_endpoint);
    if (!url) return Unexpected{url.error()};
    emulator_options.buckets.endpoint = {*std::move(url), options.region, invoker};
  }
  for (const std::string& text : options.buckets) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      return Unexpected{"--bucket must be NAME=DIR, got '" + text + "'"};
    emulator_options.buckets.directories[text.substr(0, equals)] = text.substr(equals + 1);
  }
  TRY(emulator_options.triggers.functions,
      deployment::start_functions(options.functions, defined.functions, programs.directories,
                                  programs.functions, reports));
  TRY(auto emulator, compat::Emulator::open(std::move(emulator_options)));
  CHECK_OK(schemas::create_tables(*emulator, defined.tables, context, reports));
  CHECK_OK(schemas::create_mappings(*emulator, defined.mappings, context, reports));
  return emulator;
}

Expected<std::unique_ptr<http::Server>, std::string> start_server(compat::Emulator& emulator,
                                                                  const ServeOptions& options) {
  http::ServerSettings settings = options.server;
  TRY(settings.access.keys, http::Keys::required(options.require_signature, options.keys_file));
  return http::Server::start(emulator, std::move(settings));
}

struct FollowsClock {
  explicit FollowsClock(http::ProgramFunctions& functions) : functions(functions) {}
  ~FollowsClock() { functions.unfollow_clock(); }
  FollowsClock(const FollowsClock&) = delete;
  FollowsClock& operator=(const FollowsClock&) = delete;
  http::ProgramFunctions& functions;
};

Expected<void, std::string> follow_clock(http::ProgramFunctions& functions, engine::Database& database) {
  return functions.follow_clock([&database](const std::string& id) {
    // Does not create the account: any program on the machine can call a function in the name of an account.
    for (const engine::Account* account : database.accounts().all())
      if (account->id() == id)
        return std::chrono::milliseconds(account->now() - database.accounts().host().now());
    return std::chrono::milliseconds(0);
  });
}

// Tells functions that are programs where the server is.
void serve_functions(http::ProgramFunctions& functions, const http::Server& server,
                     const ServeOptions& options) {
  std::error_code ignored;
  std::string certificates;
  if (!options.server.tls_cert_file.empty())
    certificates = os::text_of(std::filesystem::absolute(os::path_of(options.server.tls_cert_file), ignored));
  functions.serve_from(http::local_url(server.url()), certificates);
}

// While `applies` is true, a signal ends the process within a second, because the process may be blocked: a
// file that an option names may be a pipe without a writer. Once `applies` is false, the process may take
// longer to end (EndsInTime).
EndSignals signals_while(const std::atomic<bool>& applies) {
  return EndSignals(EndSignals::Another::is_ignored, [&applies]() -> std::optional<int> {
    if (!applies) return std::nullopt;
    http::log::write(http::log::Level::error,
                     "interrupted; work in progress did not end within a second of the signal");
    return 1;
  });
}

int serve(const ServeOptions& options) {
  std::optional<os::Parent> parent;
  if (options.exit_with_parent) parent.emplace();  // first, because the parent may exit soon
  std::atomic<bool> starts = true;
  const EndSignals end_signals = signals_while(starts);
  os::raise_open_files_max();  // for connections and RocksDB's files
  os::return_freed_memory();
  http::log::set_level(options.log_level);

  Programs programs;
  auto emulator = open_emulator(options, programs);
  if (!emulator) return fail(emulator.error());
  const FollowsClock follows_clock(programs.functions);  // ends before the emulator
  if (options.functions.follow_clock) {
    if (options.require_signature)
      return fail(
          "--function-clock follow cannot be combined with --require-signature, because functions would sign "
          "their requests at the account's time");
    const auto follows = follow_clock(programs.functions, (*emulator)->database());
    if (!follows) return fail(follows.error());
  }
  auto server = start_server(**emulator, options);
  if (!server) return fail(server.error());
  serve_functions(programs.functions, **server, options);

  if (!options.port_file.empty()) {
    if (const std::string problem = write_port_file(options.port_file, (*server)->port()); !problem.empty()) {
      return fail(problem);
    }
  }
  // Logged before the announcement, so that these lines are in the log when a client reads the announcement.
  http::log::write(http::log::Level::info,
                   "mayfly " MAYFLY_VERSION " keeps everything in " +
                       (options.data_directory.empty() ? "memory" : options.data_directory));
  if (options.server.access.control)
    http::log::write(http::log::Level::info,
                     "the console is at " + (*server)->url() + std::string(http::console_path));
  for (const std::string& note : options.notes) http::log::write(http::log::Level::info, note);

  std::printf("%smayfly listening on %s\n", options.banner.c_str(), (*server)->url().c_str());
  // If the parent exited before `parent` was made, nothing reads standard output.
  if (std::fflush(stdout) != 0 && options.exit_with_parent)
    return fail("exiting, because the parent process does not read standard output");

  starts = false;
  const std::string why = wait_for_the_end(end_signals, parent);
  const EndsInTime ends_in_time(std::chrono::seconds(options.shutdown_seconds_max));
  http::log::write(http::log::Level::info, why + ": exiting");
  server->reset();
  programs.functions.unfollow_clock();
  emulator->reset();
  return 0;
}

// Serves the Model Context Protocol for an emulator in this process. With --port, also serves the emulator
// over HTTP.
int serve_mcp(const ServeOptions& options, const McpCommand& command) {
  std::atomic<bool> speaks = true;
  const EndSignals end_signals = signals_while(speaks);
  os::raise_open_files_max();  // for connections and RocksDB's files
  os::return_freed_memory();
  http::log::set_level(options.log_level);
  const os::File out = os::take_standard_output();
  if (!out.is_open()) return fail("standard output is closed");
  Programs programs;  // stays empty, because mcp has neither --function nor --functions
  auto emulator = open_emulator(options, programs);
  if (!emulator) return fail(emulator.error());
  std::unique_ptr<http::Server> server;
  if (command.listens) {
    auto started = start_server(**emulator, options);
    if (!started) return fail(started.error());
    server = *std::move(started);
    http::log::write(http::log::Level::info, "listening on " + server->url());
  }
  compat::mcp::EmulatorWorld world(**emulator);
  speak_mcp(world, {.scope = {account_of(command), options.region}, .read_only = command.read_only}, out,
            end_signals);
  speaks = false;
  const EndsInTime ends_in_time(std::chrono::seconds(options.shutdown_seconds_max));
  server.reset();
  emulator->reset();
  return 0;
}

}  // namespace
}  // namespace mayfly::cli

int main(int argc, char** argv) try {
  // A command keeps running when a reader closes its pipe or a client closes its connection
  // (cli/base/output.h).
  mayfly::os::let_writes_fail();
  mayfly::os::use_plain_line_ends();
  std::vector<std::string> arguments = mayfly::os::arguments(argc, argv);
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  const auto command_line = mayfly::cli::parse_command_line(static_cast<int>(words.size()), words.data());
  if (command_line.mcp)
    return command_line.serve ? mayfly::cli::serve_mcp(*command_line.serve, *command_line.mcp)
                              : mayfly::cli::run_mcp(*command_line.mcp);
  if (command_line.serve) return mayfly::cli::serve(*command_line.serve);
  if (command_line.sweep) return mayfly::sweep::run_sweep(*command_line.sweep);
  if (command_line.directory) return mayfly::cli::run_directory_command(*command_line.directory);
  if (command_line.transfer) return mayfly::transfer::run_transfer(*command_line.transfer);
  if (command_line.item) return mayfly::cli::run_item_command(*command_line.item);
  if (command_line.invoke) return mayfly::cli::run_invoke_command(*command_line.invoke);
  if (command_line.event) return mayfly::cli::run_event_command(*command_line.event);
  if (command_line.run) return mayfly::cli::run_function(*command_line.run);
  return command_line.control ? mayfly::cli::run_command(*command_line.control) : command_line.exit_code;
} catch (const std::system_error& failure) {
  // Threads or file descriptors have run out, and every command needs both.
  return mayfly::cli::fail(failure.what());
}
