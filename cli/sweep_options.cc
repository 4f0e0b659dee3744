#include "cli/sweep_options.h"

#include <CLI/CLI.hpp>
#include <map>

#include "cli/aws_options.h"

namespace mayfly::http {
namespace {

using sweep::SweepCommand;

void add_table_options(CLI::App& app, SweepCommand& command) {
  sweep::Layout& layout = command.layout;
  add_aws_options(app, command.given);
  app.add_option("--table", layout.table, "The table");
  app.add_option("--ttl-attribute", layout.ttl_attribute, "What says when an item expires: epoch seconds");
  app.add_option("--tables", command.tables_file,
                 R"(Several tables instead, as JSON: [{"table":"carts","ttl_attribute":"ttl"}])")
      ->type_name("FILE");
  app.add_option("--index", layout.index, "The global index that items are found by")->capture_default_str();
  app.add_option("--window-attribute", layout.window_attribute, "Its partition key: window and shard")
      ->capture_default_str();
  app.add_option("--at-attribute", layout.at_attribute,
                 "Its sort key: when to look at an item; may be the TTL attribute")
      ->capture_default_str();
  app.add_option("--window-seconds", layout.window_seconds, "How long a window is")
      ->check(CLI::Range(std::int64_t{1}, sweep::window_seconds_max))
      ->capture_default_str();
  app.add_option("--shards", layout.shards, "Over how many partitions of the index a window is spread")
      ->check(CLI::Range(1, sweep::shards_max))
      ->capture_default_str();
  app.add_option("--mark-attribute", command.mark_attribute,
                 "Is written before each deletion, so that a stream's filter knows it; without it, none");
  app.add_option("--state-table", command.state_table, "Where leases and watermarks are kept")
      ->capture_default_str();
  app.add_option("--write-units-max", command.write_units_max, "Write units a second at most, of each table")
      ->check(CLI::PositiveNumber)
      ->type_name("UNITS");
  app.add_option("--lease-seconds", command.lease_seconds,
                 "After how long the shards of a sweeper that says nothing are another's")
      ->check(CLI::Range(0.3, 3600.0))
      ->capture_default_str();
  app.add_option("--look-back-seconds", command.look_back_seconds,
                 "How far back a shard begins that nobody ever swept")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{400} * 24 * 3600))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--clock", [&command](const std::string& clock) { command.mayfly_clock = clock == "mayfly"; },
         "Whose time counts: the host's, or that of the account of a Mayfly")
      ->check(CLI::IsMember({"host", "mayfly"}))
      ->default_str("host");
  app.add_option("--clock-skew-max", command.clock_skew_max_seconds,
                 "By how much the host's clock and the endpoint's may differ until nothing is deleted")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{300}))
      ->type_name("SECONDS")
      ->capture_default_str();
}

void add_running_options(CLI::App& app, SweepCommand& command) {
  app.add_option("--workers", command.workers, "Requests under way at once")
      ->check(CLI::Range(std::size_t{1}, std::size_t{256}))
      ->capture_default_str();
  app.add_option("--settle-seconds", command.settle_seconds,
                 "How long after its end a window is looked at each second")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{3600}))
      ->capture_default_str();
  app.add_option("--grace-seconds", command.grace_seconds,
                 "How long after its end a window is looked at for the last time")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{7} * 24 * 3600))
      ->capture_default_str();
  app.add_flag("--once", command.once, "End when nothing is due: for cron, and functions");
  app.add_flag("--dry-run", command.dry_run, "Write nothing, and say what would be done");
  app.add_option("--metrics", command.metrics_address,
                 "Answer GET /metrics there, for Prometheus: 127.0.0.1:9464")
      ->type_name("ADDRESS:PORT");
  using Level = sweep::Journal::Level;
  const std::map<std::string, Level> levels = {{"debug", Level::debug},
                                               {"info", Level::info},
                                               {"warning", Level::warning},
                                               {"error", Level::error},
                                               {"off", Level::off}};
  app.add_option("--log-level", command.log_level, "Least level to log on stderr; debug names each item")
      ->transform(CLI::Transformer(levels, CLI::ignore_case).description("debug|info|warning|error|off"))
      ->default_str("info");
}

void add_segments(CLI::App& app, SweepCommand& command) {
  app.add_option("--segments", command.segments, "Parts of the table that are scanned at once")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

}  // namespace

void add_sweep_commands(CLI::App& app, SweepCommand& command) {
  CLI::App& sweep =
      *app.add_subcommand("sweep", "Delete what has expired in tables of any endpoint, to the second");
  sweep.require_subcommand(0, 1);
  add_table_options(sweep, command);
  add_running_options(sweep, command);
  CLI::App& plan = *sweep.add_subcommand(
      "plan", "Say what a table lacks to be swept, how its items stand, and what it costs");
  add_table_options(plan, command);
  add_segments(plan, command);
  plan.add_flag("--apply", command.apply, "Create the index and the state table where they are missing");
  plan.add_flag("!--no-scan", command.scans, "Do not read the table's items");
  plan.callback([&command] { command.what = SweepCommand::What::plan; });
  CLI::App& backfill =
      *sweep.add_subcommand("backfill", "Put what is there into the index, as writers will from now on");
  add_table_options(backfill, command);
  add_segments(backfill, command);
  backfill.add_flag("--dry-run", command.dry_run, "Write nothing, and say how much would be");
  backfill.callback([&command] { command.what = SweepCommand::What::backfill; });
}

}  // namespace mayfly::http
