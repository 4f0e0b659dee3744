#include "cli/sweep/tally.h"

#include <algorithm>
#include <cstdio>

namespace mayfly::sweep {

namespace {

constexpr std::array<std::string_view, 5> outcome_names = {"deleted", "rearmed", "lost", "released",
                                                           "failed"};

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

void add_line(std::string& text, std::string_view name, const std::string& table, const std::string& more,
              const std::string& value) {
  text += "mayfly_sweep_";
  text += name;
  text += "{table=\"" + table + "\"" + more + "} " + value + "\n";
}

void add_head(std::string& text, std::string_view name, std::string_view kind, std::string_view help) {
  for (const auto& [word, rest] : {std::pair{"HELP", help}, std::pair{"TYPE", kind}}) {
    text += std::string("# ") + word + " mayfly_sweep_";
    text += name;
    text += ' ';
    text += rest;
    text += '\n';
  }
}

}  // namespace

std::string_view outcome_name(Outcome outcome) { return outcome_names[static_cast<std::size_t>(outcome)]; }

void Tally::add(const Settled& settled, engine::Instant now) {
  const engine::Lock lock(mutex_);
  ++counts_.outcomes[static_cast<std::size_t>(settled.outcome)];
  counts_.throttles += settled.throttles;
  if (settled.outcome != Outcome::deleted) return;
  const double lag = static_cast<double>(std::max<engine::Instant>(now - settled.due, 0)) / 1000;
  ++counts_.lag_count;
  counts_.lag_seconds += lag;
  const auto* const bound = std::lower_bound(lag_seconds_bounds.begin(), lag_seconds_bounds.end(), lag);
  if (bound != lag_seconds_bounds.end())
    ++counts_.lags[static_cast<std::size_t>(bound - lag_seconds_bounds.begin())];
}

void Tally::add_round(std::int64_t watermark, std::size_t shards_held) {
  const engine::Lock lock(mutex_);
  ++counts_.rounds;
  counts_.watermark = watermark;
  counts_.shards_held = shards_held;
}

void Tally::set_sweepers(std::size_t count) {
  const engine::Lock lock(mutex_);
  counts_.sweepers = count;
}

Tally::Counts Tally::counts() const {
  const engine::Lock lock(mutex_);
  return counts_;
}

std::string metrics_text(const std::vector<NamedCounts>& tables) {
  std::string text;
  add_head(text, "items_total", "counter", "Expired items that were processed, by outcome.");
  for (const auto& [table, counts] : tables)
    for (std::size_t n = 0; n < outcome_names.size(); ++n)
      add_line(text, "items_total", table, ",outcome=\"" + std::string(outcome_names[n]) + "\"",
               std::to_string(counts.outcomes[n]));
  add_head(text, "lag_seconds", "histogram", "Time from an item's TTL to its deletion.");
  for (const auto& [table, counts] : tables) {
    std::uint64_t sum = 0;
    for (std::size_t n = 0; n < lag_seconds_bounds.size(); ++n)
      add_line(text, "lag_seconds_bucket", table, ",le=\"" + decimal(lag_seconds_bounds[n]) + "\"",
               std::to_string(sum += counts.lags[n]));
    add_line(text, "lag_seconds_bucket", table, ",le=\"+Inf\"", std::to_string(counts.lag_count));
    add_line(text, "lag_seconds_sum", table, "", decimal(counts.lag_seconds));
    add_line(text, "lag_seconds_count", table, "", std::to_string(counts.lag_count));
  }
  struct Plain {
    const char *name, *kind, *help;
    std::string (*value)(const Tally::Counts&);
  };
  static constexpr Plain plains[] = {
      {"throttles_total", "counter", "Writes that the endpoint throttled.",
       [](const Tally::Counts& counts) { return std::to_string(counts.throttles); }},
      {"rounds_total", "counter", "Passes over all shards.",
       [](const Tally::Counts& counts) { return std::to_string(counts.rounds); }},
      {"shards_held", "gauge", "Shards that this sweeper holds a lease on.",
       [](const Tally::Counts& counts) { return std::to_string(counts.shards_held); }},
      {"sweepers", "gauge", "Active sweepers of the table.",
       [](const Tally::Counts& counts) { return std::to_string(counts.sweepers); }},
      {"watermark_timestamp_seconds", "gauge", "Start of the oldest window that is not finished.",
       [](const Tally::Counts& counts) { return std::to_string(counts.watermark); }}};
  for (const Plain& plain : plains) {
    add_head(text, plain.name, plain.kind, plain.help);
    for (const auto& [table, counts] : tables) add_line(text, plain.name, table, "", plain.value(counts));
  }
  return text;
}

}  // namespace mayfly::sweep
