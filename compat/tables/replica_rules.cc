#include "compat/tables/replica_rules.h"

#include <algorithm>
#include <iterator>

#include "compat/wire/shape.h"
#include "engine/base/text.h"

namespace mayfly::compat {
namespace {

using json::Value;

// AWS's message lists the first five regions in this order. The order of the other regions is not known.
constexpr std::string_view regions[] = {
    "ap-south-2",     "ap-south-1",     "eu-south-1",     "eu-south-2",     "me-central-1",
    "il-central-1",   "ca-central-1",   "mx-central-1",   "eu-central-1",   "eu-central-2",
    "us-west-1",      "us-west-2",      "af-south-1",     "eu-north-1",     "eu-west-3",
    "eu-west-2",      "eu-west-1",      "ap-northeast-3", "ap-northeast-2", "me-south-1",
    "ap-northeast-1", "sa-east-1",      "ap-east-1",      "ap-east-2",      "ca-west-1",
    "ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "us-east-1",
    "ap-southeast-5", "us-east-2",      "ap-southeast-7", "ap-southeast-6",
};

// From AWS's guide, "Multi-Region strong consistency". The guide groups these regions into sets by part of
// the world, but tables with replicas in two sets have been observed, so Mayfly accepts regions from
// different sets.
constexpr std::string_view strong_regions[] = {
    "us-east-1", "us-east-2",    "us-west-2",      "eu-west-1",      "eu-west-2",
    "eu-west-3", "eu-central-1", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3",
};
constexpr std::size_t strong_regions_wanted = 3;

bool has(const auto& list, std::string_view region) {
  return std::find(std::begin(list), std::end(list), region) != std::end(list);
}

Unexpected<Error> several_types() {
  return error::validation("Update table operation with more than one type of replica actions not allowed.");
}

Result<void> read_actions(const Value& request, std::string_view region, ReplicaRequest& read) {
  const Value* list = request.member("ReplicaUpdates");
  if (list == nullptr) return {};
  for (const Value& element : list->items()) {
    const Value* create = element.member("Create");
    const Value* update = element.member("Update");
    const Value* remove = element.member("Delete");
    const Value* leave = element.member("Disassociate");
    const int count = (create != nullptr) + (update != nullptr) + (remove != nullptr) + (leave != nullptr);
    if (count == 0) return no_replica_actions();
    if (count > 1) return several_types();
    if (leave != nullptr) {
      if (list->items().size() > 1) return several_types();
      if (replica_region(*leave) != region)
        return error::validation("Disassociate must name the Region that the request is sent to: " +
                                 std::string(region));
      read.disassociates = true;
      continue;
    }
    const Value* action = create != nullptr ? create : update != nullptr ? update : remove;
    auto& actions = create != nullptr ? read.creates : update != nullptr ? read.updates : read.deletes;
    const bool again = std::any_of(actions.begin(), actions.end(), [&](const Value* other) {
      return replica_region(*other) == replica_region(*action);
    });
    if (!again) actions.push_back(action);
  }
  const int types = !read.creates.empty() + !read.updates.empty() + !read.deletes.empty();
  if (types > 1) return several_types();
  return {};
}

Result<void> read_witness(const Value& request, ReplicaRequest& read) {
  const Value* list = request.member("GlobalTableWitnessUpdates");
  if (list == nullptr || list->items().empty()) return {};
  const Value& element = list->items().front();
  if (const Value* create = element.member("Create")) read.witness_created = replica_region(*create);
  if (const Value* remove = element.member("Delete")) read.witness_deleted = replica_region(*remove);
  if (read.witness_created && !read.strong) {
    return error::validation(
        "MultiRegionConsistency must be set as STRONG when GlobalTableWitnessUpdates parameter is present.");
  }
  return {};
}

// A table with strong consistency is set up in one step, with three regions, one of which may be a witness.
Result<void> check_strong(const ReplicaRequest& read, std::string_view region) {
  if (!read.strong) return {};
  if (read.creates.empty()) {
    return error::validation(
        "Only Replica Create actions are supported when MultiRegionConsistency parameter is provided.");
  }
  std::vector<std::string> named, unsupported;
  for (const Value* create : read.creates) named.push_back(replica_region(*create));
  if (read.witness_created) named.push_back(*read.witness_created);
  if (named.size() + 1 != strong_regions_wanted) {
    return error::validation(
        "Unsupported replica count for global tables with MultiRegionConsistency set to STRONG.");
  }
  for (const std::string& each : named)
    if (!has(strong_regions, each) && !has(unsupported, each)) unsupported.push_back(each);
  if (!has(strong_regions, region)) unsupported.emplace_back(region);
  if (!unsupported.empty()) {
    return error::validation(
        "Unsupported Region(s) specified for global tables with MultiRegionConsistency set to STRONG: [" +
        engine::joined(unsupported, ", ") + "].");
  }
  if (read.witness_created == region) {
    return error::validation(
        "Cannot add a witness in the same region as an existing replica when creating a global table with "
        "MultiRegionConsistency set to STRONG.");
  }
  if (named[0] == named[1]) return error::validation("Cannot target multiple regions with the same action");
  return {};
}

Result<void> check_regions(const ReplicaRequest& read, std::string_view region) {
  for (const auto* actions : {&read.creates, &read.deletes}) {
    for (const Value* action : *actions) {
      if (replica_region(*action) != region) continue;
      return error::validation(
          "Cannot add or delete the local region through ReplicaUpdates. Use CreateTable, DeleteTable, or "
          "UpdateTable as required.");
    }
  }
  for (const Value* create : read.creates) {
    const std::string name = replica_region(*create);
    if (has(regions, name)) continue;
    return error::validation("Region " + name +
                             " is not supported. The latest version of global tables are only supported in "
                             "the following regions: [" +
                             engine::joined(regions, ", ") + "]");
  }
  return {};
}

}  // namespace

Unexpected<Error> no_replica_actions() {
  return error::validation("There are no actions specified in the Replica Update Action of the request.");
}

bool asks_for_replicas(const Value& request) { return request.member("ReplicaUpdates") != nullptr; }

std::string replica_region(const Value& action) { return std::string(*string_member(action, "RegionName")); }

Result<ReplicaRequest> read_replica_request(const Value& request, std::string_view region) {
  ReplicaRequest read;
  const auto consistency = string_member(request, "MultiRegionConsistency");
  read.says_consistency = consistency.has_value();
  read.strong = consistency == "STRONG";
  CHECK_OK(read_actions(request, region, read));
  CHECK_OK(read_witness(request, read));
  CHECK_OK(check_strong(read, region));
  if (read.creates.size() > 1 && !read.strong) {
    return error::validation(
        "Update table operation with more than one create or delete replica actions not allowed");
  }
  CHECK_OK(check_regions(read, region));
  return read;
}

Unexpected<Error> not_replicas(const std::vector<std::string>& names) {
  return error::validation(
      "Update global table operation failed because one or more replicas were not part of the global table. "
      "Please retry the request without these replicas: [" +
      engine::joined(names, ", ") + "].");
}

}  // namespace mayfly::compat
