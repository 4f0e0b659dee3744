#include "compat/settings/throughput.h"

#include <array>
#include <chrono>
#include <cstdio>

#include "compat/json/json_members.h"
#include "compat/wire/shape.h"
#include "engine/background/history.h"
#include "engine/background/history_size.h"

namespace mayfly::compat {
namespace {

using json::member;
using json::Value;
using json::Writer;

constexpr engine::Instant hour_ms = 60 * 60 * 1000;
constexpr std::int64_t free_decreases_a_day = 4;

std::string for_target(std::string_view index) {
  return index.empty() ? "table" : "index " + std::string(index);
}

// Formats a time as in AWS's messages: "Wednesday, July 25, 2018 at 3:48:14 PM Coordinated Universal Time".
std::string spoken_time(engine::Instant instant) {
  constexpr std::array days = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
  constexpr std::array months = {"January", "February", "March",     "April",   "May",      "June",
                                 "July",    "August",   "September", "October", "November", "December"};
  using namespace std::chrono;
  const sys_time<milliseconds> time{milliseconds(instant)};
  const auto day = floor<std::chrono::days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<seconds>(time - day));
  std::array<char, 64> minutes{};
  std::snprintf(minutes.data(), minutes.size(), ":%02d:%02d %s Coordinated Universal Time",
                static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                is_am(clock.hours()) ? "AM" : "PM");
  return std::string(days[weekday(day).c_encoding()]) + ", " + months[unsigned{date.month()} - 1] + " " +
         std::to_string(unsigned{date.day()}) + ", " + std::to_string(int{date.year()}) + " at " +
         std::to_string(make12(clock.hours()).count()) + minutes.data();
}

std::int64_t decreases_today(const Throughput& throughput, engine::Instant now) {
  return throughput.last_decrease / engine::day_ms == now / engine::day_ms ? throughput.decreases_today : 0;
}

bool decreases(const Throughput& current, const Throughput& requested) {
  return requested.read_units < current.read_units || requested.write_units < current.write_units;
}

Result<std::optional<std::int64_t>> read_limit(const Value& limits, const char* name,
                                               const std::optional<std::int64_t>& current, bool creating,
                                               std::string_view index) {
  const auto units = integer_member(limits, name);
  if (!units) return current;
  if (*units == -1 && !creating) return std::optional<std::int64_t>();
  if (*units < 1) {
    return error::invalid_parameters("Requested " + std::string(name) + " for OnDemandThroughput for " +
                                     (index.empty() ? "table" : "index : " + std::string(index)) +
                                     " is outside of valid range");
  }
  return units;
}

}  // namespace

Result<void> check_throughput_bounds(const Value& throughput) {
  for (const char* name : {"ReadCapacityUnits", "WriteCapacityUnits"}) {
    const auto units = *integer_member(throughput, name);
    if (units > capacity_units_max) {
      return error::validation("Given value " + std::to_string(units) + " for " + name + " is out of bounds");
    }
  }
  return {};
}

Throughput read_throughput(const Value& throughput) {
  return {.read_units = *integer_member(throughput, "ReadCapacityUnits"),
          .write_units = *integer_member(throughput, "WriteCapacityUnits")};
}

Throughput changed_throughput(Throughput current, const Throughput& requested, engine::Instant at) {
  if (requested.read_units > current.read_units || requested.write_units > current.write_units) {
    current.last_increase = at;
  }
  if (decreases(current, requested)) {
    current.decreases_today = decreases_today(current, at) + 1;
    current.last_decrease = at;
  }
  current.read_units = requested.read_units;
  current.write_units = requested.write_units;
  return current;
}

Result<void> check_throughput_change(const Throughput& current, const Throughput& requested,
                                     std::string_view index, engine::Instant now) {
  if (current.read_units == requested.read_units && current.write_units == requested.write_units) {
    const auto target = for_target(index);
    const auto units = [](std::int64_t count) { return std::to_string(count); };
    return error::validation("The provisioned throughput for the " + target +
                             " will not change. The requested value equals the current value. Current "
                             "ReadCapacityUnits provisioned for "
                             "the " +
                             target + ": " + units(current.read_units) +
                             ". Requested ReadCapacityUnits: " + units(requested.read_units) +
                             ". Current WriteCapacityUnits provisioned for the " + target + ": " +
                             units(current.write_units) +
                             ". Requested WriteCapacityUnits: " + units(requested.write_units) +
                             ". Refer to the Amazon DynamoDB Developer Guide for current limits and how to "
                             "request higher limits.");
  }
  const auto today = decreases_today(current, now);
  if (!decreases(current, requested) || today < free_decreases_a_day ||
      now >= current.last_decrease + hour_ms)
    return {};
  return error::limit_exceeded(
      "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day. After "
      "the first "
      "4 decreases, each subsequent decrease in the same UTC day can be performed at most once every 3600 "
      "seconds. "
      "Number of decreases today: " +
      std::to_string(today) + ". Last decrease at " + spoken_time(current.last_decrease) +
      ". Next decrease can be made at " + spoken_time(current.last_decrease + hour_ms));
}

Result<OnDemandLimits> read_on_demand_limits(const Value* limits, const OnDemandLimits& current,
                                             bool creating, std::string_view index) {
  if (limits == nullptr) return current;
  OnDemandLimits result;
  TRY(result.read_units_max,
      read_limit(*limits, "MaxReadRequestUnits", current.read_units_max, creating, index));
  TRY(result.write_units_max,
      read_limit(*limits, "MaxWriteRequestUnits", current.write_units_max, creating, index));
  return result;
}

std::optional<std::string_view> on_demand_limit_given(const Value* limits) {
  if (limits == nullptr) return std::nullopt;
  for (const std::string_view name : {"MaxReadRequestUnits", "MaxWriteRequestUnits"}) {
    if (limits->member(name) != nullptr) return name;
  }
  return std::nullopt;
}

WarmThroughput default_warm_throughput(bool on_demand, const Throughput& throughput) {
  if (on_demand) return {12000, 4000};
  return {throughput.read_units, throughput.write_units};
}

Result<std::optional<WarmThroughput>> read_new_warm_throughput(const Value* warm, bool on_demand,
                                                               const Throughput& throughput,
                                                               std::string_view index) {
  if (warm == nullptr) return std::optional<WarmThroughput>();
  const auto least = default_warm_throughput(on_demand, throughput);
  const WarmThroughput wanted{integer_member(*warm, "ReadUnitsPerSecond").value_or(least.read_units),
                              integer_member(*warm, "WriteUnitsPerSecond").value_or(least.write_units)};
  for (const bool read : {true, false}) {
    if (read ? wanted.read_units >= least.read_units : wanted.write_units >= least.write_units) continue;
    const std::string what = read ? "Read" : "Write";
    return error::invalid_parameters(
        "Requested " + what + "UnitsPerSecond for WarmThroughput for " + for_target(index) +
        " is lower than " +
        (on_demand
             ? "initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/"
               "developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
             : what + "CapacityUnits of ProvisionedThroughput"));
  }
  return std::optional(wanted);
}

Result<WarmThroughput> read_warm_throughput(const Value& warm, const WarmThroughput& current,
                                            std::string_view index) {
  const WarmThroughput wanted{integer_member(warm, "ReadUnitsPerSecond").value_or(current.read_units),
                              integer_member(warm, "WriteUnitsPerSecond").value_or(current.write_units)};
  for (const bool read : {true, false}) {
    if (read ? wanted.read_units >= current.read_units : wanted.write_units >= current.write_units) continue;
    return error::invalid_parameters(
        "Requested " + std::string(read ? "Read" : "Write") + "UnitsPerSecond for WarmThroughput for " +
        for_target(index) +
        " is lower than current WarmThroughput, decreasing WarmThroughput is not supported");
  }
  return wanted;
}

void write_on_demand_limits(Writer& out, const OnDemandLimits& limits) {
  if (!limits.read_units_max && !limits.write_units_max) return;
  out.key("OnDemandThroughput");
  out.begin_object();
  if (limits.read_units_max) member(out, "MaxReadRequestUnits", *limits.read_units_max);
  if (limits.write_units_max) member(out, "MaxWriteRequestUnits", *limits.write_units_max);
  out.end_object();
}

void write_warm_throughput(Writer& out, const std::optional<WarmThroughput>& given, bool on_demand,
                           const Throughput& throughput, bool settled, bool changes) {
  if (!given && !settled) return;
  const WarmThroughput warm = given.value_or(default_warm_throughput(on_demand, throughput));
  out.key("WarmThroughput");
  out.begin_object();
  member(out, "ReadUnitsPerSecond", warm.read_units);
  member(out, "WriteUnitsPerSecond", warm.write_units);
  member(out, "Status", settled && !changes ? "ACTIVE" : "UPDATING");
  out.end_object();
}

}  // namespace mayfly::compat
