// /_mayfly/ttl/…: which items will expire and when, and which items will never expire.
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
#include "compat/control/families.h"
#include "compat/control/ttl_views.h"
#include "compat/tables/ttl_mistakes.h"
#include "engine/background/reaper.h"
#include "engine/items/expiry_view.h"
#include "engine/items/item_reader.h"
#include "engine/schema/expiry_mode.h"

namespace mayfly::compat::control {
namespace {

using ModeKind = engine::ExpiryMode::Kind;

constexpr std::pair<std::string_view, ModeKind> ttl_modes[] = {
    {"exact", ModeKind::exact}, {"aws", ModeKind::aws}, {"manual", ModeKind::manual}};
constexpr auto ttl_mode_names = names_of(ttl_modes);
constexpr std::int64_t delay_seconds_max = 30 * 24 * 3600, seed_max = std::int64_t{1} << 53;
constexpr std::int64_t window_seconds_max = 366 * 24 * 3600;
constexpr std::int64_t windows_max = 100, upcoming_default = 100, upcoming_max = 10'000;

std::string_view ttl_mode_name(ModeKind kind) {
  for (const auto& [name, each] : ttl_modes)
    if (each == kind) return name;
  return {};
}

// Items that expire only on request have no expiry time.
std::optional<engine::Instant> time_of(engine::Instant fires) {
  return fires == engine::never ? std::nullopt : std::optional(fires);
}

void add_mode(json::Tree& shown, const engine::ExpiryMode& mode) {
  shown["mode"] = ttl_mode_name(mode.kind);
  if (mode.kind != ModeKind::aws) return;
  json::Tree& delay = shown["delay_seconds"] = json::Tree::array();
  delay.push_back(json::seconds(mode.delay_ms_min));
  delay.push_back(json::seconds(mode.delay_ms_max));
  shown["seed"] = mode.seed;
}

json::Tree show_lag(const engine::ExpiryStats& stats) {
  return {{"p50", stats.lag_ms_at(0.5)}, {"p99", stats.lag_ms_at(0.99)}, {"max", stats.lag_ms_max()}};
}

// Returns the requested window length; nullopt: the index's default.
std::optional<engine::Instant> window_ms(const Call& call) {
  const auto seconds = call.query.whole("window_seconds");
  return seconds ? std::optional<engine::Instant>(*seconds * 1000) : std::nullopt;
}

// Returns the most recently written items whose TTL looks like a mistake: they never expire, or their TTL had
// already passed when they were written.
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

Result<engine::ExpiryMode> read_mode(const Body& body) {
  const json::Tree* delay = body.any("delay_seconds");
  const auto seed = body.whole("seed");
  engine::ExpiryMode mode;
  mode.kind = *body.choice("mode", ttl_modes);
  if (mode.kind != ModeKind::aws && (delay != nullptr || seed)) {
    return error::validation("'delay_seconds' and 'seed' are allowed only when mode is \"aws\".");
  }
  if (delay != nullptr) {
    mode.delay_ms_min = json::integer((*delay)[0]).value_or(0) * 1000;
    mode.delay_ms_max = json::integer((*delay)[1]).value_or(0) * 1000;
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

namespace {

Result<json::Tree> show_all_ttl(Call& call) {
  const auto window = window_ms(call);
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
  return show_table(call.database(), *table, window_ms(call));
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
  TRY(const auto table, call.table(call.parameters[0]));
  return json::Tree{{"expired", call.database().reaper().sweep(table, call.stop)}};
}

Result<json::Tree> show_upcoming(Call& call) {
  TRY(const auto live, call.table(call.parameters[0]));
  const auto limit = call.query.whole("limit");
  json::Tree items = json::Tree::array();
  for (const engine::UpcomingExpiry& entry : call.database().expiries().upcoming(
           *live, static_cast<std::size_t>(limit.value_or(upcoming_default)))) {
    items.push_back({{"key", item_tree(entry.key)},
                     {"due", print_time(entry.due)},
                     {"expires_at", time_or_null(time_of(entry.fires))}});
  }
  return json::Tree{{"items", std::move(items)}};
}

}  // namespace

std::span<const ControlCall> ttl_calls() {
  static constexpr Member window_query[] = {
      Member{"window_seconds", Kind::whole, "Length of the windows in which upcoming expiries are counted"}
          .within(1, window_seconds_max)
          .as("--window-seconds")};
  static constexpr Member mode_body[] = {
      Member{"mode", Kind::text, "exact (immediately), aws (late, as on AWS) or manual (on request)",
             Given::always}
          .of(ttl_mode_names)
          .as("MODE"),
      Member{"delay_seconds", Kind::range, "Minimum and maximum delay of deletions in mode aws, in seconds"}
          .within(0, delay_seconds_max)
          .as("--delay"),
      Member{"seed", Kind::whole, "Random seed for the delays in mode aws"}.within(0, seed_max).as("--seed")};
  static constexpr Member limit_query[] = {Member{"limit", Kind::whole, "Maximum items to list"}
                                               .within(1, upcoming_max)
                                               .by_default("100")
                                               .as("--limit")};

  static constexpr std::string_view statuses[] = {"ENABLED", "DISABLED"};
  static constexpr Member lag_members[] = {{"p50", Kind::number, "Median", Given::or_null},
                                           {"p99", Kind::number, "99th percentile", Given::or_null},
                                           {"max", Kind::number, "Maximum", Given::or_null}};
  static constexpr Member count_members[] = {{"", Kind::whole, "Items"}};
  static constexpr Member suspect_members[] = {
      {"key", Kind::image, "Primary key of the item", Given::always},
      {"reason", Kind::text, "Why its TTL is suspect", Given::always},
      {"message", Kind::text, "The reason, as readable text", Given::always},
      {"at", Kind::time, "When the item was written"}};
  static constexpr Member window_members[] = {
      {"window", Kind::text, "Start and end of the window", Given::always},
      {"count", Kind::whole, "Items that expire in the window", Given::always}};
  static constexpr Member table_answer[] = {
      Member{"status", Kind::text, "Whether TTL is enabled", Given::always}.of(statuses),
      {"attribute", Kind::text, "The TTL attribute"},
      Member{"mode", Kind::text, "When expired items are deleted", Given::always}.of(ttl_mode_names),
      {"delay_seconds", Kind::range, "Minimum and maximum delay in mode aws"},
      {"seed", Kind::whole, "Random seed of the delays in mode aws"},
      {"pending", Kind::whole, "Items that will expire, including those in due", Given::always},
      {"due", Kind::whole, "Items whose TTL has passed and that are not deleted yet", Given::always},
      {"next_due", Kind::time, "The earliest expiry among the pending items", Given::or_null},
      {"expired", Kind::whole, "Items deleted since the server started", Given::always},
      {"born_expired", Kind::whole, "Deleted items that had already expired when they were written",
       Given::always},
      Member{"lag_ms", Kind::object, "How late items were deleted, in milliseconds", Given::always}.with(
          lag_members),
      Member{"never", Kind::map, "Items that can never expire because their TTL is invalid, by reason"}.with(
          count_members),
      Member{"suspects", Kind::list, "The latest items whose TTL is suspect"}.with(suspect_members),
      Member{"windows", Kind::list, "The next windows in which items expire", Given::always}.with(
          window_members)};
  static constexpr Member of_table[] = {Member{"", Kind::object, "TTL of the table"}.with(table_answer)};
  static constexpr Member all_answer[] = {
      Member{"tables", Kind::map, "TTL of each table in the region", Given::always}.with(of_table)};
  static constexpr Member sweep_answer[] = {
      {"expired", Kind::whole, "Items that were deleted", Given::always}};
  static constexpr Member upcoming_members[] = {
      {"key", Kind::image, "Primary key of the item", Given::always},
      {"due", Kind::time, "The first millisecond after its TTL", Given::always},
      {"expires_at", Kind::time, "When the item will be deleted; null in mode manual", Given::or_null}};
  static constexpr Member upcoming_answer[] = {
      Member{"items", Kind::list, "The items, in order of expiry", Given::always}.with(upcoming_members)};

  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/ttl",
       .name = "show_all_ttl",
       .about = "Get TTL settings and counts of pending and expired items, for all tables",
       .query = window_query,
       .answer = all_answer,
       .handle = &show_all_ttl},
      {.method = "GET",
       .path = "/_mayfly/ttl/{table}",
       .name = "show_ttl",
       .about = "Get TTL settings and counts of pending and expired items, for one table",
       .place = table_place,
       .query = window_query,
       .answer = table_answer,
       .handle = &show_ttl},
      {.method = "PUT",
       .path = "/_mayfly/ttl/{table}",
       .name = "set_ttl_mode",
       .about = "Choose when a table deletes expired items",
       .effect = Effect::sets,
       .waits = Waits::for_changes,
       .place = table_place,
       .body = mode_body,
       .answer = table_answer,
       .handle = &set_ttl_mode,
       .command = "ttl set"},
      {.method = "POST",
       .path = "/_mayfly/ttl/{table}/sweep",
       .name = "sweep_expired",
       .about = "Delete a table's expired items now, in any mode",
       .effect = Effect::destroys,
       .waits = Waits::for_changes,
       .place = table_place,
       .answer = sweep_answer,
       .handle = &sweep_table,
       .command = "ttl sweep"},
      {.method = "GET",
       .path = "/_mayfly/ttl/{table}/upcoming",
       .name = "upcoming_expiries",
       .about = "List the items of a table that expire next, and when",
       .place = table_place,
       .query = limit_query,
       .answer = upcoming_answer,
       .handle = &show_upcoming,
       .command = "ttl upcoming",
       .rows = "items",
       .when_empty = "No item of this table will expire."},
  };
  return calls;
}

}  // namespace mayfly::compat::control
