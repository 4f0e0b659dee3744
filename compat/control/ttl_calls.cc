// /_mayfly/ttl/…: the items that will expire, when they will, and the items that never will.
//
//   GET  /_mayfly/ttl                     {"tables":{"carts":{"status":"ENABLED","mode":"exact",…,
//                                           "never":{"string":1},"suspects":[{"key":{"id":{"S":"1"}},
//                                           "reason":"string","message":"ttl is …","at":"…Z"}]}}}
//   GET  /_mayfly/ttl/{table}             the same for one table; ?window_seconds=3600: windows of an hour
//   PUT  /_mayfly/ttl/{table}             takes {"mode":"aws","delay_seconds":[600,1680],"seed":1}
//   POST /_mayfly/ttl/{table}/sweep       {"expired":2}
//   GET  /_mayfly/ttl/{table}/upcoming    {"items":[{"key":{…},"due":"…Z","expires_at":"…Z"}]}
#include <algorithm>
#include <nlohmann/json.hpp>

#include "compat/control/explanation.h"
#include "compat/control/handlers.h"
#include "compat/control/ttl_views.h"
#include "compat/tables/ttl_mistakes.h"
#include "engine/background/reaper.h"
#include "engine/items/expiry_view.h"
#include "engine/items/item_reader.h"
#include "engine/schema/expiry_mode.h"

namespace mayfly::compat::control {
namespace {

using Kind = engine::ExpiryMode::Kind;

constexpr std::pair<std::string_view, Kind> modes[] = {
    {"exact", Kind::exact}, {"aws", Kind::aws}, {"manual", Kind::manual}};
constexpr std::int64_t delay_seconds_max = 30 * 24 * 3600;
constexpr std::int64_t window_seconds_max = 366 * 24 * 3600;
constexpr std::int64_t windows_max = 100, upcoming_default = 100, upcoming_max = 10'000;

std::string_view mode_name(Kind kind) {
  for (const auto& [name, each] : modes)
    if (each == kind) return name;
  return {};
}

// Items that expire only on request have no expiry time.
std::optional<engine::Instant> time_of(engine::Instant fires) {
  return fires == engine::never ? std::nullopt : std::optional(fires);
}

void add_mode(json::Tree& shown, const engine::ExpiryMode& mode) {
  shown["mode"] = mode_name(mode.kind);
  if (mode.kind != Kind::aws) return;
  json::Tree& delay = shown["delay_seconds"] = json::Tree::array();
  delay.push_back(json::seconds(mode.delay_ms_min));
  delay.push_back(json::seconds(mode.delay_ms_max));
  shown["seed"] = mode.seed;
}

json::Tree show_lag(const engine::ExpiryStats& stats) {
  return {{"p50", stats.lag_ms_at(0.5)}, {"p99", stats.lag_ms_at(0.99)}, {"max", stats.lag_ms_max()}};
}

// Returns the requested window length; nullopt: the index's default.
Result<std::optional<engine::Instant>> window_ms(const Call& call) {
  TRY(const auto seconds, call.query_integer("window_seconds", 1, window_seconds_max));
  return seconds ? std::optional<engine::Instant>(*seconds * 1000) : std::nullopt;
}

// Returns the latest items whose TTL never expires them, or had passed when they were written.
json::Tree show_suspects(engine::Database& database, const engine::LiveTable& live,
                         const engine::Table& table) {
  json::Tree shown = json::Tree::array();
  if (!table.ttl) return shown;
  const engine::Instant now = database.accounts().of(table.account).now();
  for (const engine::TtlSuspect& suspect : database.expiries().suspects(live)) {
    const auto explanation = explain(table, database.reader().get(live, suspect.key),
                                     live.expiry_stats().last_of(suspect.key), now, table.ttl->attribute);
    json::Tree one{{"key", item_tree(suspect.key_attributes)},
                   {"reason", suspect.never ? never_name(*suspect.never) : "born_expired"},
                   {"message", explanation.message}};
    if (suspect.at) one["at"] = print_time(*suspect.at);
    shown.push_back(std::move(one));
  }
  return shown;
}

json::Tree show_table(engine::Database& database, const engine::LiveTable& live,
                      std::optional<engine::Instant> window_ms = {}) {
  const auto table = live.description();
  const engine::ExpiryTotals totals = database.expiries().totals(live);
  json::Tree shown{{"status", table->ttl ? "ENABLED" : "DISABLED"}};
  if (table->ttl) shown["attribute"] = table->ttl->attribute;
  add_mode(shown, table->expiry);
  shown["pending"] = totals.pending;
  shown["due"] = totals.due;
  shown["next_due"] = time_or_null(totals.next_due);
  shown["expired"] = live.expiry_stats().deleted();
  shown["born_expired"] = live.expiry_stats().born_due();
  shown["lag_ms"] = show_lag(live.expiry_stats());
  if (json::Tree never = show_never(live.never_expiring_items()); !never.empty())
    shown["never"] = std::move(never);
  if (json::Tree suspects = show_suspects(database, live, *table); !suspects.empty())
    shown["suspects"] = std::move(suspects);
  json::Tree& windows = shown["windows"] = json::Tree::array();
  for (const engine::ExpiryWindow& window : database.expiries().windows(live, windows_max, window_ms))
    windows.push_back({{"window", window.name}, {"count", window.items}});
  return shown;
}

Result<engine::ExpiryMode> read_mode(Fields& body) {
  TRY(const std::optional<std::string> name, body.required_string("mode"));
  const json::Tree* delay = body.any("delay_seconds");
  TRY(const auto seed, body.integer("seed", 0, std::int64_t{1} << 53));
  CHECK_OK(body.nothing_else());
  engine::ExpiryMode mode;
  TRY(const auto kind, choose("mode", name, modes));
  mode.kind = *kind;
  if (mode.kind != Kind::aws && (delay != nullptr || seed)) {
    return error::validation("'delay_seconds' and 'seed' are allowed only when mode is \"aws\".");
  }
  if (delay != nullptr) {
    std::array<std::int64_t, 2> seconds{};
    bool good = delay->is_array() && delay->size() == 2;
    for (std::size_t i = 0; good && i < 2; ++i) {
      seconds[i] = json::integer((*delay)[i]).value_or(-1);
      good = seconds[i] >= 0 && seconds[i] <= delay_seconds_max;
    }
    if (!good || seconds[0] > seconds[1]) {
      return must_be("delay_seconds",
                     "a minimum and a maximum in seconds, for example [600,1680], up to 30 days", *delay);
    }
    mode.delay_ms_min = seconds[0] * 1000;
    mode.delay_ms_max = seconds[1] * 1000;
  }
  if (seed) mode.seed = static_cast<std::uint64_t>(*seed);
  return mode;
}

}  // namespace

json::Tree show_never(const engine::NeverCounts& counts) {
  json::Tree shown = json::Tree::object();
  for (const engine::NeverReason reason : engine::never_reasons) {
    const std::int64_t count = counts[engine::never_place(reason)];
    if (count > 0) shown[std::string(never_name(reason))] = count;
  }
  return shown;
}

Result<json::Tree> show_all_ttl(Call& call) {
  TRY(const auto window, window_ms(call));
  json::Tree tables = json::Tree::object();
  for (std::string after;;) {
    const auto names = call.database().catalog().names(call.scope, after, 100);
    for (const std::string& name : names) {
      const auto table = call.database().catalog().find(call.scope, name);
      if (table == nullptr) continue;  // deleted meanwhile
      json::add_member(tables, name, show_table(call.database(), *table, window));
    }
    if (names.size() < 100) break;
    after = names.back();
  }
  return json::Tree{{"tables", std::move(tables)}};
}

Result<json::Tree> show_ttl(Call& call) {
  TRY(const auto table, call.table(call.parameters[0]));
  TRY(const auto window, window_ms(call));
  return show_table(call.database(), *table, window);
}

Result<json::Tree> set_ttl_mode(Call& call) {
  TRY(const auto table, call.table(call.parameters[0]));
  TRY(const engine::ExpiryMode mode, read_mode(call.body));
  if (!call.database().tables().update(table, [&](engine::Table& edited) { edited.expiry = mode; })) {
    return call.no_such_table(call.parameters[0]);
  }
  return show_table(call.database(), *table);
}

Result<json::Tree> sweep_table(Call& call) {
  CHECK_OK(call.body.nothing_else());
  TRY(const auto table, call.table(call.parameters[0]));
  return json::Tree{{"expired", call.database().reaper().sweep(table, call.stop)}};
}

Result<json::Tree> show_upcoming(Call& call) {
  TRY(const auto live, call.table(call.parameters[0]));
  TRY(const auto limit, call.query_integer("limit", 1, upcoming_max));
  json::Tree items = json::Tree::array();
  for (const engine::UpcomingExpiry& entry : call.database().expiries().upcoming(
           *live, static_cast<std::size_t>(limit.value_or(upcoming_default)))) {
    items.push_back({{"key", item_tree(entry.key)},
                     {"due", print_time(entry.due)},
                     {"expires_at", time_or_null(time_of(entry.fires))}});
  }
  return json::Tree{{"items", std::move(items)}};
}

}  // namespace mayfly::compat::control
