// /_mayfly/ttl/…: what is going to expire, when, and why an item is not.
//
//   GET  /_mayfly/ttl                     {"tables":{"carts":{"status":"ENABLED","mode":"exact",…}}}
//   GET  /_mayfly/ttl/{table}             the same of one table
//   PUT  /_mayfly/ttl/{table}             takes {"mode":"aws","delay_seconds":[600,1680],"seed":1}
//   POST /_mayfly/ttl/{table}/sweep       {"expired":2}
//   GET  /_mayfly/ttl/{table}/upcoming    {"items":[{"key":{…},"due":"…Z","expires_at":"…Z"}]}
#include <algorithm>

#include "compat/control/handlers.h"
#include "compat/wire/attribute_value_json.h"
#include "engine/expiry_mode.h"
#include "engine/expiry_view.h"
#include "engine/whole_number.h"

namespace mayfly::compat::control {
namespace {

using Kind = engine::ExpiryMode::Kind;

constexpr std::pair<std::string_view, Kind> modes[] = {
    {"exact", Kind::exact}, {"aws", Kind::aws}, {"manual", Kind::manual}};
constexpr std::int64_t delay_seconds_max = 30 * 24 * 3600;
constexpr std::int64_t windows_max = 100, upcoming_default = 100, upcoming_max = 10'000;

std::string_view mode_name(Kind kind) {
  for (const auto& [name, each] : modes)
    if (each == kind) return name;
  return {};
}

// What fires only when told has no time.
std::optional<engine::Instant> time_of(engine::Instant fires) {
  return fires == engine::never ? std::nullopt : std::optional(fires);
}

void write_mode(json::Writer& out, const engine::ExpiryMode& mode) {
  out.key("mode");
  out.string(mode_name(mode.kind));
  if (mode.kind != Kind::aws) return;
  out.key("delay_seconds");
  out.begin_array();
  out.seconds(mode.delay_ms_min);
  out.seconds(mode.delay_ms_max);
  out.end_array();
  out.key("seed");
  out.integer(static_cast<std::int64_t>(mode.seed));
}

void write_lag(json::Writer& out, const engine::ExpiryStats& stats) {
  out.key("lag_ms");
  out.begin_object();
  out.key("p50");
  out.integer(stats.lag_ms_at(0.5));
  out.key("p99");
  out.integer(stats.lag_ms_at(0.99));
  out.key("max");
  out.integer(stats.lag_ms_max());
  out.end_object();
}

void write_table(json::Writer& out, engine::Database& database, const engine::LiveTable& live) {
  const auto table = live.description();
  const engine::ExpiryTotals totals = engine::expiry_totals(database, live);
  out.begin_object();
  out.key("status");
  out.string(table->ttl ? "ENABLED" : "DISABLED");
  if (table->ttl) {
    out.key("attribute");
    out.string(table->ttl->attribute);
  }
  write_mode(out, table->expiry);
  out.key("pending");
  out.integer(totals.pending);
  out.key("due");
  out.integer(totals.due);
  out.key("next_due");
  write_time_or_null(out, totals.next_due);
  out.key("expired");
  out.integer(live.expiry_stats().deleted());
  write_lag(out, live.expiry_stats());
  out.key("windows");
  out.begin_array();
  for (const engine::ExpiryWindow& window : engine::expiry_windows(database, live, windows_max)) {
    out.begin_object();
    out.key("window");
    out.string(window.name);
    out.key("count");
    out.integer(window.items);
    out.end_object();
  }
  out.end_array();
  out.end_object();
}

Result<engine::ExpiryMode> read_mode(Fields& body) {
  TRY(const std::string name, body.required_string("mode"));
  const json::Value* delay = body.any("delay_seconds");
  TRY(const auto seed, body.integer("seed", 0, std::int64_t{1} << 53));
  CHECK_OK(body.nothing_else());
  engine::ExpiryMode mode;
  const auto known =
      std::find_if(std::begin(modes), std::end(modes), [&](const auto& each) { return each.first == name; });
  if (known == std::end(modes)) return error::validation("mode must be exact, aws or manual.");
  mode.kind = known->second;
  if (mode.kind != Kind::aws && (delay != nullptr || seed)) {
    return error::validation("delay_seconds and seed are for the mode aws.");
  }
  if (delay != nullptr) {
    std::array<std::int64_t, 2> seconds{};
    const auto items = delay->items();
    bool good = items.size() == 2;
    for (std::size_t i = 0; good && i < 2; ++i) {
      seconds[i] = engine::whole_number<std::int64_t>(items[i].number_text()).value_or(-1);
      good = seconds[i] >= 0 && seconds[i] <= delay_seconds_max;
    }
    if (!good || seconds[0] > seconds[1]) {
      return error::validation("delay_seconds must be the least and the most, [600,1680], at most 30 days.");
    }
    mode.delay_ms_min = seconds[0] * 1000;
    mode.delay_ms_max = seconds[1] * 1000;
  }
  if (seed) mode.seed = static_cast<std::uint64_t>(*seed);
  return mode;
}

}  // namespace

Result<void> show_all_ttl(Call& call, json::Writer& out) {
  out.begin_object();
  out.key("tables");
  out.begin_object();
  for (std::string after;;) {
    const auto names = call.database().list_tables(call.scope, after, 100);
    for (const std::string& name : names) {
      const auto table = call.database().find_table(call.scope, name);
      if (table == nullptr) continue;  // dropped meanwhile
      out.key(name);
      write_table(out, call.database(), *table);
    }
    if (names.size() < 100) break;
    after = names.back();
  }
  out.end_object();
  out.end_object();
  return {};
}

Result<void> show_ttl(Call& call, json::Writer& out) {
  TRY(const auto table, call.table(call.parameters[0]));
  write_table(out, call.database(), *table);
  return {};
}

Result<void> set_ttl_mode(Call& call, json::Writer& out) {
  TRY(const auto table, call.table(call.parameters[0]));
  TRY(const engine::ExpiryMode mode, read_mode(call.body));
  if (!call.database().update_table(table, [&](engine::Table& edited) { edited.expiry = mode; })) {
    return call.no_such_table(call.parameters[0]);
  }
  write_table(out, call.database(), *table);
  return {};
}

Result<void> sweep_table(Call& call, json::Writer& out) {
  CHECK_OK(call.body.nothing_else());
  TRY(const auto table, call.table(call.parameters[0]));
  out.begin_object();
  out.key("expired");
  out.integer(call.database().sweep(table, call.stop));
  out.end_object();
  return {};
}

Result<void> show_upcoming(Call& call, json::Writer& out) {
  TRY(const auto live, call.table(call.parameters[0]));
  TRY(const auto limit, call.query_integer("limit", 1, upcoming_max));
  out.begin_object();
  out.key("items");
  out.begin_array();
  for (const engine::UpcomingExpiry& entry : engine::upcoming_expiries(
           call.database(), *live, static_cast<std::size_t>(limit.value_or(upcoming_default)))) {
    out.begin_object();
    out.key("key");
    write_item_object(out, entry.key);
    out.key("due");
    out.string(print_time(entry.due));
    out.key("expires_at");
    write_time_or_null(out, time_of(entry.fires));
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return {};
}

}  // namespace mayfly::compat::control
