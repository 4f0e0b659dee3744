// CreateTable's and UpdateTable's rules <-> engine::Table.
//
// Requests have passed their shapes. Messages and their order were measured by dynalite for what existed in
// 2018; later members follow AWS's documentation and Alternator's tests.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compat/dispatch.h"
#include "compat/error.h"
#include "compat/json.h"
#include "engine/table.h"

namespace mayfly::compat {

inline constexpr std::int64_t capacity_units_max = 1'000'000'000'000;
inline constexpr std::size_t local_indexes_max = 5;
inline constexpr std::size_t global_indexes_max = 20;
inline constexpr std::size_t projected_attributes_max = 100;  // of all indexes of a table together
inline constexpr std::size_t index_key_attributes_max = 4;    // partition and sort, each
inline constexpr std::size_t tags_max = 50;

// A CreateTable request as a table that lacks only ids, and times other than its own creation.
Result<engine::Table> read_new_table(const Context& context, const json::Value& request);

// What a definition list says, in its order; a name given twice is an error.
Result<std::vector<engine::KeyAttribute>> read_attribute_definitions(const json::Value& list);

// One element of GlobalSecondaryIndexes, or GlobalSecondaryIndexUpdate's Create.
Result<engine::Index> read_global_index(const json::Value& index,
                                        const std::vector<engine::KeyAttribute>& definitions, bool on_demand);

// "One or more parameter values were invalid: Some AttributeDefinitions are not used. …"
Result<void> check_definitions_used(const engine::Table& table);
// Of all indexes of a table together.
Result<void> check_projected_attributes(const engine::Table& table);

// "Given value N for ReadCapacityUnits is out of bounds"
Result<void> check_throughput_bounds(const json::Value& provisioned_throughput);
engine::Throughput read_throughput(const json::Value& provisioned_throughput);
engine::OnDemandLimits read_on_demand_limits(const json::Value* on_demand_throughput);
std::optional<engine::WarmThroughput> read_warm_throughput(const json::Value* warm, const engine::WarmThroughput& floor);
engine::WarmThroughput default_warm_throughput(bool on_demand, const engine::Throughput& throughput);

// StreamSpecification: nothing if it says that there is to be none.
Result<std::optional<engine::StreamView>> read_stream_view(const json::Value& specification);
std::optional<engine::ServerSideEncryption> read_encryption(const Context& context, const json::Value& specification);

// Tags as CreateTable and TagResource take them.
Result<std::map<std::string, std::string>> read_tags(const json::Value& list);

}  // namespace mayfly::compat
