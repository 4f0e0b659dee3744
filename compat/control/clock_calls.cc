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
#include "compat/calls/clock_setting.h"
#include "compat/control/families.h"
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
constexpr auto mode_names = names_of(modes);
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

// Adds the items whose TTL looks like a mistake:
// {"never":{"carts":{"string":1}},"born_expired":{"carts":1},
// "born_expired_items":{"carts":[{"key":{"id":{"S":"1"}}}]}}.
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
    json::Tree& items = shown["born_expired_items"] = json::Tree::object();
    for (const auto& [table, keys] : mistakes.born_due_keys) {
      json::Tree shown_keys = json::Tree::array();
      for (const engine::Item& key : keys) shown_keys.push_back({{"key", item_tree(key)}});
      json::add_member(items, table, std::move(shown_keys));
    }
  }
}

Result<engine::ClockSetting> read_setting(const Body& body, engine::ClockSetting before) {
  const auto mode = body.choice("mode", modes);
  const auto rate = body.number("rate");
  const bool has_now = body.time("now").has_value();
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
// Shows which mappings are unfinished and which batches were given up. Functions and jobs may write more
// items meanwhile.
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

constexpr std::pair<std::string_view, double> units[] = {
    {"seconds", 1000}, {"minutes", 60'000}, {"hours", 3'600'000}, {"days", 86'400'000}};

// Returns the sum of seconds, minutes, hours and days; nullopt if the body has none of them.
std::optional<std::chrono::milliseconds> read_span(const Body& body) {
  std::optional<double> sum;
  for (const auto& [name, milliseconds] : units)
    if (const auto count = body.number(name)) sum = sum.value_or(0) + *count * milliseconds;
  if (!sum) return std::nullopt;
  return std::chrono::milliseconds(std::llround(*sum));
}

Unexpected<Error> past_the_end() { return error::validation("The clock cannot go beyond the year 9999."); }

Result<json::Tree> show_clock(Call& call) {
  json::Tree shown = show_setting(call.database().accounts().of(call.scope.account).clock().setting());
  shown["now"] = print_time(call.database().accounts().of(call.scope.account).now());
  return shown;
}

Result<json::Tree> set_clock(Call& call) {
  const std::string& account = call.scope.account;
  TRY(const auto setting, read_setting(call.body, call.database().accounts().of(account).clock().setting()));
  const auto now = call.body.time("now");
  const auto advanced = call.database().time_travel().set(
      account, setting, now, call.body.flag("age_streams").value_or(false), call.stop);
  if (!advanced) {
    if (now) return would_go_back(*now, call.database().accounts().of(account).now());
    return conflict("The clock cannot go back while the account has tables, and the host's time is before " +
                    print_time(call.database().accounts().of(account).now()) +
                    ". To return to the host's time, reset the account.");
  }
  json::Tree shown = show_setting(setting);
  add_advanced(shown, *advanced);
  add_mistakes(shown, call);
  return shown;
}

Result<json::Tree> advance_clock(Call& call) {
  engine::Database& database = call.database();
  const std::string& account = call.scope.account;
  const auto by = read_span(call.body);
  const auto to = call.body.text("to");
  const auto settle = call.body.text("settle");
  const auto settle_seconds = call.body.number("settle_seconds");
  if (settle_seconds && !settle) return error::validation("'settle_seconds' is allowed only with 'settle'.");
  if (by.has_value() == to.has_value()) {
    return error::validation(
        "Give either 'to' (a time, for example \"2026-11-20T00:00:00Z\", or \"next-expiry\") or a span in "
        "'seconds', 'minutes', 'hours' or 'days'.");
  }
  const bool ages = call.body.flag("age_streams").value_or(false);
  engine::Advanced advanced;
  bool stayed = false;
  if (to == "next-expiry") {
    const engine::Instant before = database.accounts().of(account).now();
    advanced = database.time_travel().advance_to_next_expiry(account, ages, call.stop);
    stayed = advanced.expired == 0 && !advanced.next_expiry && advanced.now <= before;
  } else if (to) {
    const auto time = parse_time(*to);
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
  add_mistakes(shown, call);  // after add_settled: functions may have written items meanwhile
  return shown;
}

}  // namespace

std::span<const ControlCall> clock_calls() {
  static constexpr std::string_view settle_names[] = {"triggers"};
  static constexpr auto unit_max = [](double milliseconds) {
    return static_cast<double>(static_cast<std::int64_t>(engine::last_instant / milliseconds));
  };

  static constexpr Member age_streams =
      Member{"age_streams", Kind::flag,
             "Also age stream records and iterators; records over 24 hours old are trimmed"}
          .by_default("false")
          .as("--age-streams");
  static constexpr Member set_body[] = {
      Member{"mode", Kind::text,
             "frozen: the clock stops until it is moved; offset: it runs like the host's; rate: it runs "
             "faster or slower; "
             "real: it follows the host's clock"}
          .of(mode_names),
      {"now", Kind::time,
       "Time to set; a later time advances the clock, and an earlier one requires an account without tables"},
      Member{"rate", Kind::number, "Speed relative to the host's clock, if mode is rate"}.within(
          clock_rate_min, clock_rate_max),
      age_streams};
  static constexpr Member advance_body[] = {
      Member{"seconds", Kind::number, "Seconds to advance"}.within(0, unit_max(1000)),
      Member{"minutes", Kind::number, "Minutes to add"}.within(0, unit_max(60'000)),
      Member{"hours", Kind::number, "Hours to add"}.within(0, unit_max(3'600'000)),
      Member{"days", Kind::number, "Days to add"}.within(0, unit_max(86'400'000)),
      {"to", Kind::moment,
       "Time to advance to, or \"next-expiry\" for the next time at which an item expires"},
      Member{"settle", Kind::text,
             "Wait until replicas, functions, Kinesis and jobs have processed all changes"}
          .of(settle_names),
      Member{"settle_seconds", Kind::number, "Maximum time that settle waits, in real time"}
          .within(0, settle_seconds_max)
          .by_default("30"),
      age_streams};

  static constexpr Member count_of_table[] = {{"", Kind::whole, "Items of the table"}};
  static constexpr Member never_of_table[] = {
      Member{"", Kind::map, "Items of the table by reason"}.with(count_of_table)};
  static constexpr Member mode_answer =
      Member{"mode", Kind::text, "The clock's mode", Given::always}.of(mode_names);
  static constexpr Member rate_answer{"rate", Kind::number,
                                      "Speed relative to the host's clock, if mode is rate"};
  static constexpr Member now_member = now_answer[0];
  static constexpr Member expired_answer{"expired", Kind::whole, "Items that expired", Given::always};
  static constexpr Member tables_answer =
      Member{"tables", Kind::map, "Items that expired, by table", Given::always}.with(count_of_table);
  static constexpr Member next_answer{"next_expiry", Kind::time, "The next time at which an item expires",
                                      Given::or_null};
  static constexpr Member never_answer =
      Member{"never", Kind::map,
             "Items that can never expire because their TTL is invalid, by table and reason"}
          .with(never_of_table);
  static constexpr Member born_answer =
      Member{"born_expired", Kind::map, "Items that had expired when they were written, by table"}.with(
          count_of_table);
  static constexpr Member born_item[] = {{"key", Kind::image, "Primary key of the item", Given::always}};
  static constexpr Member born_items_of_table[] = {
      Member{"", Kind::list, "The latest ten such items of the table"}.with(born_item)};
  static constexpr Member born_items_answer =
      Member{"born_expired_items", Kind::map, "These items, by table"}.with(born_items_of_table);
  static constexpr Member clock_answer[] = {mode_answer, rate_answer, now_member};
  static constexpr Member set_answer[] = {mode_answer,    rate_answer,   now_member,
                                          expired_answer, tables_answer, next_answer,
                                          never_answer,   born_answer,   born_items_answer};
  static constexpr Member advance_answer[] = {
      now_member,
      expired_answer,
      tables_answer,
      next_answer,
      {"message", Kind::text, "Why the clock did not move"},
      {"settled", Kind::flag, "With settle: whether all changes were processed"},
      Member{"unfinished", Kind::list, "Event source mappings that still have records"}.with(
          unfinished_members),
      Member{"given_up", Kind::list, "Batches that functions failed to process"}.with(given_up_members),
      {"given_up_left_out", Kind::whole, "Number of further batches that given_up omits"},
      never_answer,
      born_answer,
      born_items_answer};

  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/clock",
       .name = "show_clock",
       .about = "Get the mode and time of the account's clock",
       .answer = clock_answer,
       .handle = &show_clock,
       .command = "clock show"},
      {.method = "PUT",
       .path = "/_mayfly/clock",
       .name = "set_clock",
       .about = "Set the mode, time or rate of the account's clock",
       .effect = Effect::destroys,
       .waits = Waits::for_changes,
       .body = set_body,
       .answer = set_answer,
       .handle = &set_clock},
      {.method = "POST",
       .path = "/_mayfly/clock/advance",
       .name = "advance_clock",
       .about = "Move the clock forward and delete every item that expires on the way",
       .effect = Effect::destroys,
       .waits = Waits::for_changes,
       .body = advance_body,
       .answer = advance_answer,
       .handle = &advance_clock},
  };
  return calls;
}

}  // namespace mayfly::compat::control
