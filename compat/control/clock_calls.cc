// GET and PUT /_mayfly/clock, POST /_mayfly/clock/advance: show, set and advance an account's clock
// (engine/background/time_travel.h).
//
//   {"mode":"frozen","now":"2031-01-01T00:00:00Z"}
//     -> {"mode":"frozen","now":"2031-01-01T00:00:00Z","expired":0,…}
//   {"days":2}
//     -> {"now":"2031-01-03T00:00:00Z","expired":2,"tables":{"carts":2},"next_expiry":null}
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compat/backups/restores.h"
#include "compat/control/handlers.h"
#include "compat/control/trigger_views.h"
#include "compat/control/ttl_views.h"
#include "compat/jobs/jobs.h"
#include "compat/kinesis/destinations.h"
#include "compat/triggers/triggers.h"
#include "engine/background/replication.h"
#include "engine/items/expiry_view.h"
#include "engine/items/recent_writes.h"

namespace mayfly::compat::control {
namespace {

using Mode = engine::ClockSetting::Mode;

constexpr std::pair<std::string_view, Mode> modes[] = {
    {"real", Mode::real}, {"frozen", Mode::frozen}, {"offset", Mode::offset}, {"rate", Mode::rate}};
constexpr double rate_max = 1'000'000;
constexpr double settle_seconds_default = 30, settle_seconds_max = 600;

std::string_view mode_name(Mode mode) {
  for (const auto& [name, each] : modes)
    if (each == mode) return name;
  return {};
}

json::Tree show_setting(const engine::ClockSetting& setting) {
  json::Tree shown{{"mode", mode_name(setting.mode)}};
  if (setting.mode == Mode::rate) shown["rate"] = setting.rate;
  return shown;
}

void add_advanced(json::Tree& shown, const engine::Advanced& advanced) {
  shown["now"] = print_time(advanced.now);
  shown["expired"] = advanced.expired;
  json::Tree& tables = shown["tables"] = json::Tree::object();
  for (const auto& [name, count] : advanced.tables) json::add_member(tables, name, count);
  shown["next_expiry"] = time_or_null(advanced.next_expiry);
}

// Adds items whose TTL looks like a mistake: {"never":{"carts":{"string":1}},"born_expired":{"carts":2}}.
void add_mistakes(json::Tree& shown, Call& call) {
  const engine::TtlMistakes mistakes =
      engine::take_ttl_mistakes(call.database().catalog(), call.scope.account);
  if (!mistakes.never.empty()) {
    json::Tree& never = shown["never"] = json::Tree::object();
    for (const auto& [table, counts] : mistakes.never) json::add_member(never, table, show_never(counts));
  }
  if (!mistakes.born_due.empty()) {
    json::Tree& born_expired = shown["born_expired"] = json::Tree::object();
    for (const auto& [table, count] : mistakes.born_due) json::add_member(born_expired, table, count);
  }
}

Result<engine::ClockSetting> read_setting(Fields& body, engine::ClockSetting before, bool has_now) {
  TRY(const auto mode, body.choice("mode", modes));
  TRY(const auto rate, body.number("rate", 0.001, rate_max));
  engine::ClockSetting setting = before;
  if (mode) {
    setting.mode = *mode;
  } else if (rate) {
    setting.mode = Mode::rate;
  } else if (setting.mode == Mode::real && has_now) {
    setting.mode = Mode::offset;
  }
  if (setting.mode == Mode::rate) {
    if (!rate && before.mode != Mode::rate)
      return error::validation("'rate' is required when mode is \"rate\".");
    setting.rate = rate.value_or(before.rate);
  } else {
    if (rate) return error::validation("'rate' is allowed only when mode is \"rate\".");
    setting.rate = 1;
  }
  if (setting.mode == Mode::real && has_now) {
    return error::validation("'now' is not allowed when mode is \"real\", which follows the host's time.");
  }
  return setting;
}

Unexpected<Error> would_go_back(engine::Instant to, engine::Instant now) {
  return conflict("The clock cannot go back while the account has tables: " + print_time(to) + " is before " +
                  print_time(now) + ". To go back, reset the account or restore a snapshot.");
}

// Waits until earlier writes have reached replicas, functions, Kinesis and readers, and until jobs are over.
// Shows which mappings are unfinished and which batches were given up. Functions and jobs may write again.
void add_settled(json::Tree& shown, Call& call, double seconds_max) {
  const auto time_max = std::chrono::milliseconds(std::llround(seconds_max * 1000));
  const auto deadline = engine::host_time() + time_max;
  call.database().replication().settle_in_slices(call.scope.account, call.stop);
  const auto settled = call.emulator.triggers().settle(call.scope.account, time_max, call.stop);
  const bool kinesis = call.emulator.kinesis().settle(deadline, call.stop);
  const bool jobs = call.emulator.jobs().settle(call.scope.account, deadline, call.stop) &&
                    call.emulator.restores().settle(call.scope.account, deadline, call.stop);
  call.database().replication().settle_in_slices(call.scope.account, call.stop);
  call.database().recent_writes().forget(call.scope.account);  // reads no longer lag behind earlier writes
  shown["settled"] = settled.unfinished.empty() && settled.given_up.empty() && kinesis && jobs;
  json::Tree& unfinished = shown["unfinished"] = json::Tree::array();
  for (const auto& one : settled.unfinished) unfinished.push_back(show_unfinished(one));
  json::Tree& given_up = shown["given_up"] = json::Tree::array();
  for (const auto& one : settled.given_up) given_up.push_back(show_given_up(one));
  if (settled.given_up_left_out > 0) shown["given_up_left_out"] = settled.given_up_left_out;
}

// Returns the sum of seconds, minutes, hours and days; nullopt if the body has none of them.
Result<std::optional<std::chrono::milliseconds>> read_span(Fields& body) {
  constexpr std::pair<std::string_view, double> units[] = {
      {"seconds", 1000}, {"minutes", 60'000}, {"hours", 3'600'000}, {"days", 86'400'000}};
  std::optional<double> sum;
  for (const auto& [name, milliseconds] : units) {
    TRY(const auto count, body.number(name, 0, std::floor(engine::last_instant / milliseconds)));
    if (count) sum = sum.value_or(0) + *count * milliseconds;
  }
  if (!sum) return std::optional<std::chrono::milliseconds>();
  return std::optional(std::chrono::milliseconds(std::llround(*sum)));
}

Unexpected<Error> past_the_end() { return error::validation("The clock cannot go beyond the year 9999."); }

}  // namespace

Result<json::Tree> show_clock(Call& call) {
  json::Tree shown = show_setting(call.database().accounts().of(call.scope.account).clock().setting());
  shown["now"] = print_time(call.database().accounts().of(call.scope.account).now());
  return shown;
}

Result<json::Tree> set_clock(Call& call) {
  const std::string& account = call.scope.account;
  TRY(const auto now, call.body.time("now"));
  TRY(const auto setting,
      read_setting(call.body, call.database().accounts().of(account).clock().setting(), now.has_value()));
  TRY(const auto age_streams, call.body.boolean("age_streams"));
  CHECK_OK(call.body.nothing_else());
  const auto advanced =
      call.database().time_travel().set(account, setting, now, age_streams.value_or(false), call.stop);
  if (!advanced) {
    if (now) return would_go_back(*now, call.database().accounts().of(account).now());
    return conflict("The clock cannot go back while the account has tables, and the host's time is before " +
                    print_time(call.database().accounts().of(account).now()) +
                    ". To return to it, reset the account.");
  }
  json::Tree shown = show_setting(setting);
  add_advanced(shown, *advanced);
  add_mistakes(shown, call);
  return shown;
}

Result<json::Tree> advance_clock(Call& call) {
  engine::Database& database = call.database();
  const std::string& account = call.scope.account;
  TRY(const auto by, read_span(call.body));
  TRY(const auto to, call.body.string("to"));
  TRY(const auto age_streams, call.body.boolean("age_streams"));
  TRY(const auto settle, call.body.string("settle"));
  TRY(const auto settle_seconds, call.body.number("settle_seconds", 0, settle_seconds_max));
  CHECK_OK(call.body.nothing_else());
  if (settle && settle != "triggers") return must_be("settle", "\"triggers\"", *settle);
  if (settle_seconds && !settle) return error::validation("'settle_seconds' is allowed only with 'settle'.");
  if (by.has_value() == to.has_value()) {
    return error::validation(
        "Give either 'to' (a time, for example \"2026-11-20T00:00:00Z\", or \"next-expiry\") or a span in "
        "'seconds', 'minutes', 'hours' or 'days'.");
  }
  const bool ages = age_streams.value_or(false);
  engine::Advanced advanced;
  bool stayed = false;
  if (to == "next-expiry") {
    const engine::Instant before = database.accounts().of(account).now();
    advanced = database.time_travel().advance_to_next_expiry(account, ages, call.stop);
    stayed = advanced.expired == 0 && !advanced.next_expiry && advanced.now <= before;
  } else if (to) {
    const auto time = parse_time(*to);
    if (!time) return must_be("to", "a time, for example \"2026-11-20T00:00:00Z\", or \"next-expiry\"", *to);
    if (const engine::Instant now = database.accounts().of(account).now(); *time < now)
      return would_go_back(*time, now);
    advanced = database.time_travel().advance(account, *time, ages, call.stop);
  } else {
    const auto arrived = database.time_travel().advance_by(account, *by, ages, call.stop);
    if (!arrived) return past_the_end();
    advanced = *arrived;
  }
  json::Tree shown;
  add_advanced(shown, advanced);
  if (stayed) shown["message"] = "No item is going to expire, so the clock did not move.";
  if (settle) add_settled(shown, call, settle_seconds.value_or(settle_seconds_default));
  add_mistakes(shown, call);  // functions may have written more of them
  return shown;
}

}  // namespace mayfly::compat::control
