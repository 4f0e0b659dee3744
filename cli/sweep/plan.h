// The output of `mayfly sweep plan` for a table: the changes that the table needs before a sweep, the state
// of its items, and the costs of sweeping the table.
#pragma once

#include <chrono>
#include <string>

#include "cli/sweep/layout.h"
#include "cli/sweep/scan.h"
#include "cli/sweep/table_facts.h"
#include "compat/json/json_tree.h"

namespace mayfly::sweep {

// Units are DynamoDB's: a write unit covers up to 1 KB; half a read unit covers an eventually consistent read
// of up to 4 KB.
struct Costs {
  std::int64_t item_kb = 1;           // average size of an item, rounded up
  std::int64_t by_deletions = 0;      // write units in a month, for items whose TTL is in the next 30 days
  std::int64_t by_marks = 0;          // for the marks of these deletions
  std::int64_t by_writers = 0;        // for writing these items' index entries
  std::int64_t by_sweeper = 0;        // for the leases and watermarks of one sweeper
  std::int64_t reads_by_sweeper = 0;  // read units in a month
  std::int64_t backfill_once = 0;     // write units, once
};
Costs costs_of(const TableFacts& facts, const ScanCounts& counts, const Layout& layout,
               std::chrono::milliseconds lease, bool marks);

struct PlanView {
  const Layout& layout;
  const TableFacts& facts;
  bool state_table_exists = false;
  std::string state_table;
  const ScanCounts* counts = nullptr;  // nullptr: the table was not scanned
  Costs costs{};
  bool marks = false;
};
std::string plan_text(const PlanView& view);
// Returns the plan as a JSON object. `items` and the costs are null if the table was not scanned.
json::Tree plan_tree(const PlanView& view);

// Returns a line such as "[##########----------]  50 %  1200 scanned, 30 armed".
std::string progress_text(const ScanCounts& counts, std::int64_t items);

}  // namespace mayfly::sweep
