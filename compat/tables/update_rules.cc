#include "compat/tables/update_rules.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "compat/settings/table_settings.h"
#include "compat/settings/throughput.h"
#include "compat/tables/schema.h"
#include "compat/wire/shape.h"

namespace mayfly::compat {
namespace {

using json::Value;

bool is_empty_object(const Value& value) { return value.is(Value::Kind::object) && value.members().empty(); }

// The members of a request that change something other than a setting.
constexpr std::string_view parts[] = {
    "ProvisionedThroughput",       "BillingMode",        "StreamSpecification",
    "GlobalSecondaryIndexUpdates", "VectorIndexUpdates", "ReplicaUpdates",
};

// Whether the request has the member, and the member is neither an empty list of indexes nor a setting
// without a value.
bool asks(const Value& request, std::string_view name) {
  const Value* value = request.member(name);
  if (value == nullptr) return false;
  if (name == "GlobalSecondaryIndexUpdates" || name == "VectorIndexUpdates") return !value->items().empty();
  return !is_empty_object(*value) ||
         std::none_of(std::begin(table_settings), std::end(table_settings), [&](const TableSetting& setting) {
           return setting.member.name == name && setting.empty_is_absent;
         });
}

std::ptrdiff_t count_of_changes(const Value& request) {
  const auto count = std::count_if(std::begin(parts), std::end(parts),
                                   [&](std::string_view name) { return asks(request, name); });
  return count + std::count_if(std::begin(table_settings), std::end(table_settings),
                               [&](const TableSetting& setting) {
                                 return setting.update != nullptr && asks(request, setting.member.name);
                               });
}

Result<void> check_alone(const Value& request) {
  if (count_of_changes(request) == 1) return {};
  if (asks(request, "ReplicaUpdates") &&
      (asks(request, "MultiRegionConsistency") || asks(request, "GlobalTableWitnessUpdates")))
    return error::validation("Requests that modify replicas or witnesses must not also modify other fields");
  const auto actions = index_updates(request);
  if (asks(request, "WarmThroughput") &&
      std::any_of(actions.begin(), actions.end(),
                  [](const IndexAction& action) { return action.create != nullptr; })) {
    return error::invalid_parameters(
        "Create global secondary index cannot be specified when updating WarmThroughput");
  }
  const auto must_be_alone = [](std::string_view change) {
    return error::invalid_parameters(std::string(change) + " must be the only operation in the request");
  };
  if (asks(request, "ReplicaUpdates")) return must_be_alone("Replica modification");
  for (const TableSetting& setting : table_settings)
    if (!setting.alone.empty() && asks(request, setting.member.name)) return must_be_alone(setting.alone);
  const std::ptrdiff_t with_billing = asks(request, "BillingMode") ? 2 : 1;
  if (asks(request, "OnDemandThroughput") && count_of_changes(request) != with_billing) {
    return error::invalid_parameters(
        "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request");
  }
  return {};
}

Result<void> check_combination(const Value& request) {
  const bool throughput = asks(request, "ProvisionedThroughput");
  const bool stream = asks(request, "StreamSpecification");
  const auto actions = index_updates(request);
  const bool online = asks(request, "VectorIndexUpdates") ||
                      std::any_of(actions.begin(), actions.end(), [](const IndexAction& action) {
                        return action.create != nullptr || action.remove != nullptr;
                      });
  if (throughput && stream)
    return error::invalid_parameters("You cannot modify stream status while updating table IOPS");
  if (throughput && online)
    return error::invalid_parameters("You cannot create or delete index while updating table IOPS");
  if (stream && online)
    return error::invalid_parameters("You cannot create or delete index while changing stream status");
  return {};
}

Result<void> check_index_actions(const Value& request) {
  std::set<std::string> names;
  for (const auto& action : index_updates(request)) {
    const int count = (action.update != nullptr) + (action.create != nullptr) + (action.remove != nullptr);
    if (count == 0) {
      return error::invalid_parameters(
          "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
          "GlobalSecondaryIndexUpdate.Delete must not be null");
    }
    if (count > 1) {
      return error::invalid_parameters(
          "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object");
    }
    if (!names.insert(action.name()).second) {
      return error::invalid_parameters(
          "Only one global secondary index update per index is allowed simultaneously. Index: " +
          action.name());
    }
    const Value* warm = action.update != nullptr ? action.update->member("WarmThroughput") : nullptr;
    if (warm != nullptr && is_empty_object(*warm)) {
      return error::invalid_parameters(
          "WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified for "
          "index: " +
          action.name());
    }
  }
  return {};
}

Result<void> check_vector_actions(const Value& request) {
  for (const auto& action : vector_updates(request)) {
    if (action.create == nullptr && action.remove == nullptr)
      return error::invalid_parameters(
          "One of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null");
    if (action.create != nullptr && action.remove != nullptr)
      return error::invalid_parameters(
          "Only one vector index action is allowed per VectorIndexUpdate object");
  }
  return {};
}

}  // namespace

std::string IndexAction::name() const {
  const Value* action = update != nullptr ? update : create != nullptr ? create : remove;
  return std::string(*string_member(*action, "IndexName"));
}

std::vector<IndexAction> index_updates(const Value& request) {
  std::vector<IndexAction> actions;
  if (const Value* list = request.member("GlobalSecondaryIndexUpdates")) {
    for (const Value& each : list->items()) {
      actions.push_back({each.member("Update"), each.member("Create"), each.member("Delete")});
    }
  }
  return actions;
}

std::string VectorAction::name() const {
  return std::string(*string_member(create != nullptr ? *create : *remove, "IndexName"));
}

std::vector<VectorAction> vector_updates(const Value& request) {
  std::vector<VectorAction> actions;
  if (const Value* list = request.member("VectorIndexUpdates")) {
    for (const Value& each : list->items()) actions.push_back({each.member("Create"), each.member("Delete")});
  }
  return actions;
}

Result<void> check_table_update(const Value& request) {
  if (count_of_changes(request) == 0) {
    return error::validation(
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
        "GlobalSecondaryIndexUpdates or "
        "SSESpecification or ReplicaUpdates is required");
  }
  for (const char* name : {"GlobalSecondaryIndexUpdates", "VectorIndexUpdates"}) {
    const Value* list = request.member(name);
    if (list != nullptr && list->items().empty())
      return error::invalid_parameters("List of " + std::string(name) + " is empty");
  }
  CHECK_OK(check_settings(request, /*creating=*/false));
  const Value* throughput = request.member("ProvisionedThroughput");
  if (string_member(request, "BillingMode") == "PROVISIONED" && throughput == nullptr) {
    return error::invalid_parameters(
        "ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
  }
  if (throughput != nullptr) CHECK_OK(check_throughput_bounds(*throughput));
  CHECK_OK(check_alone(request));
  CHECK_OK(check_index_actions(request));
  CHECK_OK(check_vector_actions(request));
  return check_combination(request);
}

}  // namespace mayfly::compat
