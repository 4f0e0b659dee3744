#include "cli/options/sweep_options.h"

#include <CLI/CLI.hpp>

#include "cli/options/aws_options.h"
#include "cli/options/option_text.h"

namespace mayfly::cli {
namespace {

using sweep::SweepCommand;

void add_sweep_table_options(CLI::App& app, SweepCommand& command) {
  sweep::Layout& layout = command.layout;
  app.option_defaults()->group("Endpoint");
  add_aws_options(app, command.given);
  app.option_defaults()->group("Table and index");
  app.add_option("--table", layout.table, "Table")->type_name("NAME");
  app.add_option("--ttl-attribute", layout.ttl_attribute,
                 "Attribute that holds the expiry time, in epoch seconds")
      ->type_name("NAME");
  app.add_option("--tables", command.tables_file,
                 R"(Sweep the tables in FILE: [{"table":"carts","ttl_attribute":"ttl"}])")
      ->type_name("FILE");
  app.add_option("--index", layout.index, "Global index that finds expired items")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--window-attribute", layout.window_attribute, "Index partition key: window and shard")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--at-attribute", layout.at_attribute,
                 "Index sort key: when to check an item; can be the TTL attribute")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--window-seconds", layout.window_seconds, "Length of a window")
      ->check(between(1, sweep::window_seconds_max))
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--shards", layout.shards, "Number of index partitions that share a window")
      ->check(between(1, sweep::shards_max))
      ->capture_default_str();
  app.add_option("--mark-attribute", command.mark_attribute,
                 "Set this attribute on each item before deleting it, for stream filters (default: none)")
      ->type_name("NAME");
  app.add_option("--state-table", command.state_table, "Table that holds leases and watermarks")
      ->type_name("NAME")
      ->capture_default_str();
  app.option_defaults()->group("Sweeping");
  app.add_option("--write-units-max", command.write_units_max,
                 "Maximum write units per second for each table (default: no limit)")
      ->check(positive())
      ->type_name("UNITS");
  app.add_option("--lease-seconds", command.lease_seconds,
                 "How long an unresponsive sweeper keeps its shards")
      ->check(between_decimals(0.3, 3600.0))
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--look-back-seconds", command.look_back_seconds,
                 "How far back the first sweep of a shard starts")
      ->check(between(0, std::int64_t{400} * 24 * 3600))
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--clock", [&command](const std::string& clock) { command.mayfly_clock = clock == "mayfly"; },
         "Clock: host, or mayfly for the account's clock on a Mayfly server")
      ->check(one_of({"host", "mayfly"}))
      ->type_name("CLOCK")
      ->default_str("host");
  app.add_option("--clock-skew-max", command.clock_skew_max_seconds,
                 "Delete nothing while host and endpoint clocks differ by more than this")
      ->check(between(1, 300))
      ->type_name("SECONDS")
      ->capture_default_str();
  app.option_defaults()->group("Options");
  app.add_flag("--json", command.json, "Print the result as one JSON object");
}

void add_running_options(CLI::App& app, SweepCommand& command) {
  app.option_defaults()->group("Sweeping");
  app.add_option("--workers", command.workers, "Maximum concurrent requests")
      ->check(between(1, 256))
      ->capture_default_str();
  app.add_option("--settle-seconds", command.settle_seconds,
                 "How long to keep checking a window every second after its end")
      ->check(between(0, 3600))
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--grace-seconds", command.grace_seconds,
                 "Time between a window's end and the window's last check")
      ->check(between(0, std::int64_t{7} * 24 * 3600))
      ->type_name("SECONDS")
      ->capture_default_str();
  app.option_defaults()->group("Options");
  app.add_flag("--once", command.once, "Exit when no expired item is left, for cron jobs and functions");
  app.add_flag("--dry-run", command.dry_run, "Print what would be deleted, without deleting it");
  app.add_option("--metrics", command.metrics_address,
                 "Serve Prometheus metrics at /metrics on this address, such as 127.0.0.1:9464")
      ->type_name("ADDRESS:PORT");
  using Level = sweep::Journal::Level;
  app.add_option("--log-level", command.log_level,
                 "Minimum log level: debug (each item), info, warning, error or off")
      ->transform(choice<Level>({{"debug", Level::debug},
                                 {"info", Level::info},
                                 {"warning", Level::warning},
                                 {"error", Level::error},
                                 {"off", Level::off}}))
      ->type_name("LEVEL")
      ->default_str("info");
}

void add_segments(CLI::App& app, SweepCommand& command) {
  app.add_option("--segments", command.segments, "Number of table segments to scan in parallel")
      ->check(between(1, 256))
      ->capture_default_str();
}

}  // namespace

void add_sweep_commands(CLI::App& app, SweepCommand& command) {
  CLI::App& sweep =
      *app.add_subcommand("sweep", "Delete expired items on any DynamoDB endpoint within a second");
  sweep.require_subcommand(0, 1);
  add_sweep_table_options(sweep, command);
  add_running_options(sweep, command);
  CLI::App& plan = *sweep.add_subcommand(
      "plan", "Print the changes that a table needs before a sweep, the state of its items, and the cost");
  add_sweep_table_options(plan, command);
  add_segments(plan, command);
  plan.add_flag("--apply", command.apply, "Create the index and the state table if they are missing");
  plan.add_flag("!--no-scan", command.scans, "Do not scan the table's items");
  plan.callback([&command] { command.what = SweepCommand::What::plan; });
  CLI::App& backfill = *sweep.add_subcommand("backfill", "Add existing items to the index");
  add_sweep_table_options(backfill, command);
  add_segments(backfill, command);
  backfill.add_flag("--dry-run", command.dry_run,
                    "Print how many items would be written, without writing them");
  backfill.callback([&command] { command.what = SweepCommand::What::backfill; });
}

}  // namespace mayfly::cli
