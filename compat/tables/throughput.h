// Throughput in its three kinds: provisioned, on-demand limits and warm. Tables have them, and global
// indexes.
//
// Where a message differs between the two, `index` is the index's name, or empty for the table.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compat/tables/settings.h"
#include "compat/wire/error.h"
#include "compat/wire/json.h"

namespace mayfly::compat {

inline constexpr std::int64_t capacity_units_max = 1'000'000'000'000;

// --- provisioned
// "Given value N for ReadCapacityUnits is out of bounds"
Result<void> check_throughput_bounds(const json::Value& provisioned_throughput);
Throughput read_throughput(const json::Value& provisioned_throughput);
// What a change makes of it, with its times and its count of decreases.
Throughput changed_throughput(Throughput current, const Throughput& requested, engine::Instant at);
// A change that changes nothing: "The provisioned throughput for the table will not change. …"; and, after
// four decreases in one UTC day, one that comes within an hour of the last: LimitExceededException.
Result<void> check_throughput_change(const Throughput& current, const Throughput& requested,
                                     std::string_view index, engine::Instant now);

// --- on demand: an absent member stays what it was, -1 takes it away (where there is something to take away)
Result<OnDemandLimits> read_on_demand_limits(const json::Value* limits, const OnDemandLimits& current,
                                             bool creating, std::string_view index = {});
// "MaxReadRequestUnits": the first of the members that is given; nothing: {} is as good as no member.
std::optional<std::string_view> on_demand_limit_given(const json::Value* limits);

// --- warm: what a table takes without growing first
WarmThroughput default_warm_throughput(bool on_demand, const Throughput& throughput);
// No less than what it begins with ("lower than initial throughput for OnDemand", "lower than
// ReadCapacityUnits").
Result<std::optional<WarmThroughput>> read_new_warm_throughput(const json::Value* warm, bool on_demand,
                                                               const Throughput& throughput,
                                                               std::string_view index = {});
// No less than it is ("decreasing WarmThroughput is not supported").
Result<WarmThroughput> read_warm_throughput(const json::Value& warm, const WarmThroughput& current,
                                            std::string_view index = {});

}  // namespace mayfly::compat
