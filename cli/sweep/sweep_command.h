// `mayfly sweep`, `mayfly sweep plan` and `mayfly sweep backfill`, which delete expired items within seconds
// from tables of any DynamoDB endpoint. docs/sweep.md is the manual.
#pragma once

#include <cstdint>
#include <string>

#include "cli/aws/settings.h"
#include "cli/sweep/journal.h"
#include "cli/sweep/layout.h"
#include "cli/sweep/state.h"

namespace mayfly::sweep {

struct SweepCommand {
  enum class What : std::uint8_t { sweep, plan, backfill };
  What what = What::sweep;
  aws::Given given;
  Layout layout;               // the table, or the defaults for the tables of a file
  std::string tables_file;     // JSON: [{"table":"carts","ttl_attribute":"ttl"}, …]; empty: one table
  std::string mark_attribute;  // empty: deletions are not marked
  std::string state_table = std::string(state_table_default);
  double write_units_max = 0;  // per second and table; 0: no limit
  std::size_t workers = 16;
  double lease_seconds = 3;
  std::int64_t settle_seconds = 10, grace_seconds = 300, look_back_seconds = 24 * 3600;
  std::int64_t clock_skew_max_seconds = 10;
  bool mayfly_clock = false;
  bool once = false, dry_run = false;
  bool json = false;            // print the result as one JSON object
  std::string metrics_address;  // empty: no metrics page
  Journal::Level log_level = Journal::Level::info;
  bool apply = false, scans = true;  // for plan
  int segments = 4;                  // for scans
};

// With `json`, prints {"tables":[…]} as docs/sweep.md describes, without the tables that failed. Returns the
// exit code: 0, or 1 with a sentence on stderr. Blocks SIGTERM and SIGINT, which end the command.
int run_sweep(const SweepCommand& command);

// A table that a command works on. The functions below return human-readable sentences as errors.
struct TableCommand {
  Layout layout;
  std::string mark_attribute;
};
Expected<std::vector<TableCommand>, std::string> tables_of(const SweepCommand& command);
Expected<std::vector<TableCommand>, std::string> parse_tables(const std::string& text,
                                                              const TableCommand& defaults);

}  // namespace mayfly::sweep
