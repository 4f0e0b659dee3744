#include "cli/sweep/plan.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "http/base/log.h"

namespace mayfly::sweep {

namespace {

constexpr std::int64_t month_seconds = 30LL * 24 * 3600;

// Returns the number with commas: "1,234,567".
std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

std::string index_text(const PlanView& view) {
  using Index = TableFacts::Index;
  const std::string key = view.layout.window_attribute + ", " + view.layout.at_attribute;
  switch (view.facts.index) {
    case Index::absent: return "missing: --apply creates it, by " + key + ", with keys only";
    case Index::building: return "being created";
    case Index::other_key: return "has a different key than " + key;
    case Index::ready: break;
  }
  if (!view.facts.index_has_ttl || view.layout.looks_by_ttl()) return "exists";
  return "exists; it includes " + view.layout.ttl_attribute + ", so each renewal of an item writes to it";
}

}  // namespace

Costs costs_of(const TableFacts& facts, const ScanCounts& counts, const Layout& layout,
               std::chrono::milliseconds lease, bool marks) {
  Costs costs;
  // If the endpoint has not counted the table's items yet, estimates the table's size from the read units
  // that the scan consumed: half a unit covers up to 4 KB.
  const bool is_counted = facts.items > 0 && facts.bytes > 0;
  const std::int64_t bytes = is_counted ? facts.bytes : counts.half_read_units * 4096;
  const std::int64_t items = is_counted ? facts.items : counts.scanned.load();
  if (items > 0) costs.item_kb = std::max<std::int64_t>(1, (bytes / items + 1023) / 1024);
  const std::int64_t deletions = counts.within_a_month;
  costs.by_deletions = deletions * (costs.item_kb + 1);
  costs.by_marks = marks ? deletions * costs.item_kb : 0;
  costs.by_writers = deletions;
  const auto beats = month_seconds * 1000 * 3 / std::max<std::int64_t>(lease.count(), 1);
  costs.by_sweeper = beats + layout.shards * month_seconds / layout.window_seconds;
  costs.reads_by_sweeper = layout.shards * month_seconds / 2 + beats;
  const std::int64_t unplaced =
      counts.of(Standing::missing) + counts.of(Standing::late) + counts.of(Standing::passed);
  costs.backfill_once = unplaced * (costs.item_kb + 1) + counts.of(Standing::late) +
                        counts.of(Standing::passed);  // for removing the old entries
  return costs;
}

std::string plan_text(const PlanView& view) {
  const TableFacts& facts = view.facts;
  std::string text = "table " + view.layout.table + "\n";
  const auto line = [&](const std::string& name, const std::string& value) {
    std::string padded = name;
    padded.resize(std::max<std::size_t>(padded.size(), 26), ' ');
    text += "  " + padded + " " + http::log::printable(value) + "\n";
  };
  line("index " + view.layout.index, index_text(view));
  line("state " + view.state_table, view.state_table_exists ? "exists" : "missing: --apply creates it");
  line("the endpoint's own TTL", facts.ttl_attribute.empty() ? "off"
                                                             : "on, by " + facts.ttl_attribute +
                                                                   ": it deletes items that a sweep misses");
  if (!facts.isolation.empty()) line("write isolation", facts.isolation);
  if (!facts.problem.empty()) line("cannot be swept", facts.problem);
  if (view.counts == nullptr) return text;
  const ScanCounts& counts = *view.counts;
  const auto number = [&](const std::string& name, std::int64_t count, const std::string& more) {
    line(name, grouped(count) + (more.empty() ? "" : "  " + more));
  };
  text += "items\n";
  number("scanned", counts.scanned, "");
  number("placed", counts.of(Standing::placed), "checked no later than their TTL");
  number("missing", counts.of(Standing::missing), "not in the index; run mayfly sweep backfill");
  number("strays, late", counts.of(Standing::late),
         "their TTL was shortened without moving them in the index; run mayfly sweep backfill");
  number("strays, passed", counts.of(Standing::passed), "in a finished window; run mayfly sweep backfill");
  number("never", counts.of(Standing::never),
         "TTL is not a number, is too far ahead, or is over five years past");
  number("expired by now", counts.expired, "");
  text += "write units per month, from the TTLs of the next 30 days (" + grouped(counts.within_a_month) +
          " items of " + grouped(view.costs.item_kb) + " KB)\n";
  number("deletions", view.costs.by_deletions, "");
  if (view.marks) number("marks", view.costs.by_marks, "");
  number("writers", view.costs.by_writers, "an index entry for each item");
  number("one sweeper", view.costs.by_sweeper,
         "leases and watermarks, plus " + grouped(view.costs.reads_by_sweeper) + " read units");
  number("backfill, once", view.costs.backfill_once, "");
  return text;
}

json::Tree plan_tree(const PlanView& view) {
  using json::Tree;
  // The array is indexed by TableFacts::Index.
  constexpr const char* statuses[] = {"missing", "building", "ready", "other_key"};
  const TableFacts& facts = view.facts;
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Tree() : Tree(text); };
  Tree tree = {{"table", view.layout.table},
               {"index",
                {{"name", view.layout.index},
                 {"status", statuses[static_cast<std::size_t>(facts.index)]},
                 {"has_ttl", facts.index_has_ttl}}},
               {"state_table", {{"name", view.state_table}, {"exists", view.state_table_exists}}},
               {"endpoint_ttl_attribute", text_or_null(facts.ttl_attribute)},
               {"write_isolation", text_or_null(facts.isolation)},
               {"problem", text_or_null(facts.problem)},
               {"items", nullptr},
               {"write_units_per_month", nullptr},
               {"read_units_per_month", nullptr},
               {"backfill_write_units", nullptr}};
  if (view.counts == nullptr) return tree;
  const ScanCounts& counts = *view.counts;
  const Costs& costs = view.costs;
  tree["items"] = {
      {"scanned", counts.scanned.load()},        {"placed", counts.of(Standing::placed)},
      {"missing", counts.of(Standing::missing)}, {"late", counts.of(Standing::late)},
      {"passed", counts.of(Standing::passed)},   {"never", counts.of(Standing::never)},
      {"expired", counts.expired.load()},        {"expiring_within_30_days", counts.within_a_month.load()}};
  tree["write_units_per_month"] = {{"deletions", costs.by_deletions},
                                   {"marks", costs.by_marks},
                                   {"writers", costs.by_writers},
                                   {"sweeper", costs.by_sweeper}};
  tree["read_units_per_month"] = costs.reads_by_sweeper;
  tree["backfill_write_units"] = costs.backfill_once;
  return tree;
}

std::string progress_text(const ScanCounts& counts, std::int64_t items) {
  const std::int64_t scanned = counts.scanned;
  const std::int64_t percent = items <= 0 ? 0 : std::min<std::int64_t>(100, scanned * 100 / items);
  const auto filled = static_cast<std::size_t>(percent / 5);
  char head[64];
  std::snprintf(head, sizeof head, "] %3d %%  ", static_cast<int>(percent));
  return "[" + std::string(filled, '#') + std::string(20 - filled, '-') + head + std::to_string(scanned) +
         " scanned, " + std::to_string(counts.armed) + " armed";
}

}  // namespace mayfly::sweep
