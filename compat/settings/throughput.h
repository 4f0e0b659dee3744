// The three kinds of throughput of tables and global indexes: provisioned throughput, on-demand limits and
// warm throughput.
//
// `index` is the name of the index, or empty for the table. Some messages depend on it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compat/json/json.h"
#include "compat/settings/settings.h"
#include "compat/wire/error.h"

namespace mayfly::compat {

inline constexpr std::int64_t capacity_units_max = 1'000'000'000'000;

// --- provisioned
// Error: "Given value N for ReadCapacityUnits is out of bounds"
Result<void> check_throughput_bounds(const json::Value& provisioned_throughput);
Throughput read_throughput(const json::Value& provisioned_throughput);
// Returns the throughput after a change, with the new units, the times of the last increase and decrease, and
// the number of decreases.
Throughput changed_throughput(Throughput current, const Throughput& requested, engine::Instant at);
// Rejects a change that would have no effect: "The provisioned throughput for the table will not change. …".
// After four decreases in one UTC day, rejects another decrease within an hour of the last one:
// LimitExceededException.
Result<void> check_throughput_change(const Throughput& current, const Throughput& requested,
                                     std::string_view index, engine::Instant now);

// --- on demand: a missing member keeps its value; -1 removes the limit, except on creation
Result<OnDemandLimits> read_on_demand_limits(const json::Value* limits, const OnDemandLimits& current,
                                             bool creating, std::string_view index = {});
// Returns the name of the first member that is given, such as "MaxReadRequestUnits". Returns nullopt for {},
// which counts as absent.
std::optional<std::string_view> on_demand_limit_given(const json::Value* limits);

void write_on_demand_limits(json::Writer& out, const OnDemandLimits& limits);

// --- warm: the throughput that a table supports without scaling up first
WarmThroughput default_warm_throughput(bool on_demand, const Throughput& throughput);
// Rejects a throughput below the initial one ("lower than initial throughput for OnDemand", "lower than
// ReadCapacityUnits").
Result<std::optional<WarmThroughput>> read_new_warm_throughput(const json::Value* warm, bool on_demand,
                                                               const Throughput& throughput,
                                                               std::string_view index = {});
// Rejects a throughput below the current one ("decreasing WarmThroughput is not supported").
Result<WarmThroughput> read_warm_throughput(const json::Value& warm, const WarmThroughput& current,
                                            std::string_view index = {});
// `settled` means that the throughput is in effect. Until then, only a requested throughput is shown.
void write_warm_throughput(json::Writer& out, const std::optional<WarmThroughput>& given, bool on_demand,
                           const Throughput& throughput, bool settled, bool changes);

}  // namespace mayfly::compat
