// Parses the command line:
//
//   mayfly serve --port 8000                  each option is also a variable, MAYFLY_PORT
//   mayfly clock advance 48h                  a call to a running server's control API
//   mayfly item get carts 1                   tables and items of a running server
//   mayfly invoke reminder event.json         functions of a running server
//   mayfly verify --data DIR                  a data directory
//   mayfly export --all --to DIR              copying tables between servers, directories and files
//   mayfly -jar DynamoDBLocal.jar -inMemory   DynamoDB Local's arguments (dynamodb_local.h)
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/calls/commands.h"
#include "cli/calls/directory_commands.h"
#include "cli/calls/item_command.h"
#include "cli/calls/mcp.h"
#include "cli/deployment/functions.h"
#include "cli/functions/event_command.h"
#include "cli/functions/function_run.h"
#include "cli/functions/invoke_command.h"
#include "cli/sweep/sweep_command.h"
#include "cli/transfer/transfer.h"
#include "compat/lambda/trigger_options.h"
#include "compat/limits.h"
#include "engine/database.h"
#include "engine/schema/table.h"
#include "engine/time/account.h"
#include "http/base/log.h"
#include "http/connections/server.h"

namespace mayfly::cli {

struct ServeOptions {
  http::ServerSettings server;
  compat::Limits limits;
  std::size_t functions_max = compat::triggers::TriggerOptions().functions_max;
  std::size_t mapping_filters_max = compat::triggers::TriggerOptions().filters_max;
  std::size_t mappings_max = compat::triggers::TriggerOptions().mappings_max;
  std::uint64_t memory_bytes_max = 0;  // 0: half of the memory that the process may use
  std::uint64_t history_bytes_max = engine::DatabaseOptions().history_bytes_max;
  bool exact_recovery = false;
  std::int64_t shutdown_seconds_max = 10;
  std::string port_file;  // empty: no file is written
  bool exit_with_parent = false;
  std::string data_directory;  // empty: data is kept in memory only
  bool fsync = false;
  std::string region;
  bool shared_regions = false;
  std::int64_t table_delay_ms = 0;
  engine::ClockDefaults clocks;
  engine::ExpiryMode expiry;
  std::int64_t ttl_window_seconds = 60;
  std::int64_t ttl_cooldown_seconds = 0;
  std::optional<std::size_t> collection_bytes_max;
  std::uint32_t stream_shards = 1;
  deployment::FunctionOptions functions;
  std::string kinesis_endpoint;                // empty: none
  std::vector<std::string> buckets;            // NAME=DIR
  std::string s3_endpoint;                     // empty: none
  std::string destination_directory;           // empty: no file destinations
  std::vector<std::string> schemas;            // files and directories
  std::vector<std::string> schema_parameters;  // NAME=VALUE
  bool schema_strict = false;                  // an unreadable file in a directory makes the start fail
  bool schema_functions = false;               // also create functions and event source mappings
  bool require_signature = false;
  std::string keys_file;  // empty: the environment's key
  http::log::Level log_level = http::log::Level::info;
  std::string banner;              // printed before anything else
  std::vector<std::string> notes;  // logged at startup
};

struct CommandLine {
  std::optional<ServeOptions> serve;
  std::optional<ControlCommand> control{};
  std::optional<sweep::SweepCommand> sweep{};
  std::optional<McpCommand> mcp{};  // together with `serve` if it uses an emulator in this process
  std::optional<DirectoryCommand> directory{};
  std::optional<transfer::TransferCommand> transfer{};
  std::optional<ItemCommand> item{};
  std::optional<InvokeCommand> invoke{};
  std::optional<EventCommand> event{};
  std::optional<FunctionRun> run{};
  int exit_code = 0;  // if no command is set: everything has been printed
};

// Prints help, the version, and errors about the command line.
CommandLine parse_command_line(int argc, char** argv);

}  // namespace mayfly::cli
