#include "compat/backups/restore_rules.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compat/settings/encryption.h"
#include "compat/settings/settings.h"
#include "compat/settings/throughput.h"
#include "compat/tables/projection.h"
#include "compat/tables/schema.h"
#include "compat/tables/vector_indexes.h"
#include "compat/wire/shape.h"

namespace mayfly::compat::backups {
namespace {

using engine::Index;
using json::Value;

Unexpected<Error> invalid(const std::string& what) { return error::validation("Invalid Request: " + what); }

std::string name_of(const Value& index) { return std::string(*string_member(index, "IndexName")); }

Unexpected<Error> no_such_index(const std::string& name) {
  return invalid("Index " + name +
                 " does not match a secondary index that existed in the source table and cannot be created "
                 "during the restore operation");
}

// ---------------------------------------------------------------- billing

struct Billing {
  std::optional<bool> overridden;  // to on-demand (true) or provisioned (false)
  bool on_demand;                  // whether the restored table is on-demand
};

Billing billing_of(const Value& request, const TableSettings& source) {
  const auto mode = string_member(request, "BillingModeOverride");
  if (!mode) return {std::nullopt, source.on_demand};
  const bool on_demand = *mode == "PAY_PER_REQUEST";
  return {on_demand, on_demand};
}

// Rejects throughput for an on-demand table. `index`: the part of the message that names the index, or empty.
Result<void> check_provisioned(const Billing& billing, const std::string& index) {
  if (!billing.on_demand) return {};
  return invalid("Cannot override ProvisionedThroughput " +
                 std::string(billing.overridden ? "if BillingMode is overridden to PAY_PER_REQUEST"
                                                : "unless BillingMode is PROVISIONED") +
                 index);
}

Result<OnDemandLimits> read_limits(const Value* limits, const OnDemandLimits& source,
                                   const Billing& billing) {
  const auto given = on_demand_limit_given(limits);
  if (!given) return billing.on_demand ? source : OnDemandLimits();
  if (!billing.on_demand) {
    return invalid("Cannot override " + std::string(*given) +
                   " for OnDemandThroughput unless BillingModeOverride is PAY_PER_REQUEST");
  }
  OnDemandLimits read;
  const auto read_one = [&](const char* name, std::optional<std::int64_t>& limit) -> Result<void> {
    const auto units = integer_member(*limits, name);
    if (units && *units < 1 && *units != -1)
      return invalid("Requested " + std::string(name) + " for OnDemandThroughput is outside of valid range");
    if (units && *units != -1) limit = units;
    return {};
  };
  CHECK_OK(read_one("MaxReadRequestUnits", read.read_units_max));
  CHECK_OK(read_one("MaxWriteRequestUnits", read.write_units_max));
  return read;
}

Result<void> read_billing(const Value& request, const TableSettings& source, const Billing& billing,
                          TableSettings& restored) {
  const Value* throughput = request.member("ProvisionedThroughputOverride");
  if (throughput != nullptr) CHECK_OK(check_provisioned(billing, ""));
  if (billing.overridden == false && throughput == nullptr)
    return invalid("Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED");
  TRY(restored.on_demand_limits,
      read_limits(request.member("OnDemandThroughputOverride"), source.on_demand_limits, billing));
  restored.on_demand = billing.on_demand;
  if (billing.on_demand) {
    restored.on_demand_since = TableSettings::since_creation;
  } else if (throughput != nullptr) {
    restored.throughput = read_throughput(*throughput);
  } else {
    restored.throughput = {.read_units = source.throughput.read_units,
                           .write_units = source.throughput.write_units};
  }
  return {};
}

// ---------------------------------------------------------------- indexes

bool same_names(const Value& key_schema, std::string_view type,
                std::span<const engine::KeyAttribute> attributes) {
  auto next = attributes.begin();
  for (const Value& element : key_schema.items()) {
    if (string_member(element, "KeyType") != type) continue;
    if (next == attributes.end() || string_member(element, "AttributeName") != next->name) return false;
    ++next;
  }
  return next == attributes.end();
}

bool same_projection(engine::Projection a, engine::Projection b) {
  std::sort(a.attributes.begin(), a.attributes.end());
  std::sort(b.attributes.begin(), b.attributes.end());
  return a.kind == b.kind && a.attributes == b.attributes;
}

// Finds the source's index that matches this index of the request.
Result<Index> match_index(const Value& wanted, Index::Kind kind, const engine::Table& source) {
  TRY(const auto projection, read_projection(*wanted.member("Projection")));
  const Value& keys = *wanted.member("KeySchema");
  for (const Index& index : source.indexes) {
    if (index.kind == kind && same_names(keys, "HASH", index.keys.partition()) &&
        same_names(keys, "RANGE", index.keys.sort()) && same_projection(projection, index.projection)) {
      Index found = index;
      found.name = name_of(wanted);
      return found;
    }
  }
  return no_such_index(name_of(wanted));
}

Result<void> read_index_settings(const Value& wanted, const Billing& billing, Index& index) {
  IndexSettings settings = settings_of(index);
  const Value* throughput = wanted.member("ProvisionedThroughput");
  if (throughput != nullptr) {
    CHECK_OK(check_provisioned(billing, " for index " + index.name));
    settings.throughput = read_throughput(*throughput);
  } else if (!billing.on_demand) {
    return invalid("Must specify provisioned throughput for index " + index.name);
  }
  TRY(settings.on_demand_limits,
      read_limits(wanted.member("OnDemandThroughput"), settings.on_demand_limits, billing));
  TRY(settings.warm, read_new_warm_throughput(wanted.member("WarmThroughput"), billing.on_demand,
                                              settings.throughput, index.name));
  keep_settings(index, settings);
  return {};
}

// Reduces an index of the source to the settings that the restored table copies: its throughput or its
// on-demand limits.
void strip(Index& index, const Billing& billing) {
  const IndexSettings source = settings_of(index);
  IndexSettings settings;
  if (!billing.on_demand) {
    settings.throughput = {.read_units = source.throughput.read_units,
                           .write_units = source.throughput.write_units};
  } else {
    settings.on_demand_limits = source.on_demand_limits;
  }
  index.id = 0;
  index.state = Index::State::active;
  keep_settings(index, settings);
}

Result<void> add_index(Index index, engine::Table& table) {
  if (table.find_index(index.name) != nullptr) {
    return error::validation("One or more parameter values were invalid: Duplicate index name: " +
                             index.name);
  }
  table.indexes.push_back(std::move(index));
  return {};
}

Result<void> read_indexes(const Value& request, Index::Kind kind, const engine::Table& source,
                          const Billing& billing, engine::Table& restored) {
  const bool global = kind == Index::Kind::global;
  const Value* list = request.member(global ? "GlobalSecondaryIndexOverride" : "LocalSecondaryIndexOverride");
  if (list == nullptr) {
    for (Index index : source.indexes) {
      if (index.kind != kind) continue;
      strip(index, billing);
      if (global && !billing.on_demand && settings_of(index).throughput == Throughput())
        return invalid("Must specify provisioned throughput for index " + index.name);
      CHECK_OK(add_index(std::move(index), restored));
    }
    return {};
  }
  if (list->items().size() > (global ? global_indexes_max : local_indexes_max)) {
    return error::validation(
        global ? "One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the "
                 "per-table limit of 20"
               : "One or more parameter values were invalid: Number of LocalSecondaryIndexes exceeds "
                 "per-table limit of 5");
  }
  for (const Value& wanted : list->items()) {
    TRY(Index index, match_index(wanted, kind, source));
    strip(index, billing);
    if (global) CHECK_OK(read_index_settings(wanted, billing, index));
    CHECK_OK(add_index(std::move(index), restored));
  }
  return {};
}

// ---------------------------------------------------------------- vector indexes

bool same_vectors(const VectorIndex& a, VectorIndex b) {
  b.name = a.name;
  std::sort(b.included.begin(), b.included.end());
  VectorIndex sorted = a;
  std::sort(sorted.included.begin(), sorted.included.end());
  return sorted == b;
}

Result<void> read_vectors(const Value& request, const engine::Table& source, const TableSettings& before,
                          const Billing& billing, engine::Table& restored, TableSettings& settings) {
  const Value* list = request.member("VectorIndexOverride");
  if (list == nullptr) {
    settings.vector_indexes = before.vector_indexes;
  } else if (!list->items().empty()) {
    // Add the source's attribute definitions, so that the indexes in the request can be read. An index that
    // the source does not have is rejected below.
    engine::Table with_definitions = restored;
    with_definitions.attribute_definitions = source.attribute_definitions;
    TRY(settings.vector_indexes, read_vector_indexes(*list, with_definitions, true));
    for (const VectorIndex& wanted : settings.vector_indexes) {
      const bool known = std::any_of(before.vector_indexes.begin(), before.vector_indexes.end(),
                                     [&](const VectorIndex& index) { return same_vectors(index, wanted); });
      if (!known) return no_such_index(wanted.name);
    }
  }
  if (!settings.vector_indexes.empty() && !billing.on_demand) return vectors_need_on_demand();
  return {};
}

// Copies those attribute definitions of the source that a key or a search schema of the restored table uses.
void keep_used_definitions(const engine::Table& source, const TableSettings& settings,
                           engine::Table& restored) {
  for (const engine::KeyAttribute& attribute : source.attribute_definitions) {
    const bool used = source.keys.names(attribute.name) ||
                      std::any_of(restored.indexes.begin(), restored.indexes.end(),
                                  [&](const Index& index) { return index.keys.names(attribute.name); }) ||
                      std::any_of(settings.vector_indexes.begin(), settings.vector_indexes.end(),
                                  [&](const VectorIndex& index) { return searches(index, attribute.name); });
    if (used) restored.attribute_definitions.push_back(attribute);
  }
}

}  // namespace

Result<void> check_overrides(const Value& request) {
  for (const auto kind : {Index::Kind::global, Index::Kind::local}) {
    const Value* list = request.member(kind == Index::Kind::global ? "GlobalSecondaryIndexOverride"
                                                                   : "LocalSecondaryIndexOverride");
    if (list == nullptr) continue;
    for (const Value& index : list->items()) {
      CHECK_OK(check_index_keys(index, kind));
      if (const Value* throughput = index.member("ProvisionedThroughput"))
        CHECK_OK(check_throughput_bounds(*throughput));
    }
  }
  if (const Value* throughput = request.member("ProvisionedThroughputOverride"))
    CHECK_OK(check_throughput_bounds(*throughput));
  return {};
}

Result<void> check_region(const Context& context, const Value& request, std::string_view source_region) {
  if (source_region == context.scope.region || request.member("SSESpecificationOverride") != nullptr)
    return {};
  return invalid("sseSpecificationOverride must be provided for cross-region restores");
}

Result<engine::Table> restored_table(const Context& context, const Value& request,
                                     const engine::Table& source) {
  engine::Table restored;
  restored.account = context.scope.account;
  restored.region = context.scope.region;
  restored.name = *string_member(request, "TargetTableName");
  restored.keys = source.keys;
  const TableSettings before = settings_of(source);
  TableSettings settings;
  const Billing billing = billing_of(request, before);
  CHECK_OK(read_billing(request, before, billing, settings));
  CHECK_OK(read_indexes(request, Index::Kind::local, source, billing, restored));
  CHECK_OK(read_indexes(request, Index::Kind::global, source, billing, restored));
  CHECK_OK(read_vectors(request, source, before, billing, restored, settings));
  keep_used_definitions(source, settings, restored);
  if (const Value* encryption = request.member("SSESpecificationOverride")) {
    TRY(settings.kms_key_arn, read_kms_key_arn(context, *encryption));
  } else {
    settings.kms_key_arn = before.kms_key_arn;
  }
  keep_settings(restored, settings);
  return restored;
}

}  // namespace mayfly::compat::backups
