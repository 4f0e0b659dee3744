#include "http/options.h"

#include <CLI/CLI.hpp>
#include <map>

namespace mayfly::http {

CommandLine parse_command_line(int argc, char** argv) {
  ServeOptions options;
  options.server.port = 8000;

  CLI::App app("Mayfly: DynamoDB for tests, whose items disappear at the instant their TTL passes.", "mayfly");
  app.set_version_flag("--version", "mayfly " MAYFLY_VERSION);
  app.require_subcommand(1);

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
  serve->add_option("--data", options.data_directory, "Directory to keep everything in; without it, memory")
      ->envname("MAYFLY_DATA")
      ->type_name("DIR");
  serve->add_flag("--fsync", options.fsync, "Make an acknowledged write survive a power cut, not only kill -9")
      ->envname("MAYFLY_FSYNC");
  options.region = "us-east-1";
  serve->add_option("--region", options.region, "Region of requests that name none")
      ->envname("MAYFLY_REGION")
      ->capture_default_str();
  serve->add_option("--threads", options.server.threads, "Threads that serve connections")
      ->envname("MAYFLY_THREADS")
      ->check(CLI::Range(1u, 256u))
      ->capture_default_str();
  serve->add_option("--table-delay-ms", options.table_delay_ms,
                    "How long tables stay CREATING, UPDATING and DELETING, in real time")
      ->envname("MAYFLY_TABLE_DELAY_MS")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{3'600'000}))
      ->capture_default_str();
  const std::map<std::string, log::Level> levels = {{"debug", log::Level::debug},
                                                    {"info", log::Level::info},
                                                    {"warning", log::Level::warning},
                                                    {"error", log::Level::error},
                                                    {"off", log::Level::off}};
  serve->add_option("--log-level", options.log_level, "Least level to log on stderr")
      ->envname("MAYFLY_LOG_LEVEL")
      ->transform(CLI::Transformer(levels, CLI::ignore_case).description("debug|info|warning|error|off"))
      ->default_str("info");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& outcome) {
    return {std::nullopt, app.exit(outcome)};
  }
  return {std::move(options), 0};
}

}  // namespace mayfly::http
