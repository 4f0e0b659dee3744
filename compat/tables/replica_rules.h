// Parses what UpdateTable requests for a global table: replicas to create, change and delete, a witness, and
// strong consistency. Also checks the rules that do not depend on the table.
//
// Rules and messages were recorded on AWS: aws-controllers-k8s/dynamodb-controller, docs/api-quirks,
// table-replicas.md and table-global-tables.md, October 2026.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/json/json.h"
#include "compat/wire/error.h"

namespace mayfly::compat {

struct ReplicaRequest {
  // The contents of "Create", "Update" and "Delete". Each region occurs once.
  std::vector<const json::Value*> creates, updates, deletes;
  bool disassociates = false;                                   // disassociates the region of the request
  std::optional<std::string> witness_created, witness_deleted;  // names of regions
  bool strong = false;
  bool says_consistency = false;
};

bool asks_for_replicas(const json::Value& request);
std::string replica_region(const json::Value& action);

// `region` is the region of the request. Requires: asks_for_replicas(request). Errors: "Update table
// operation with more than one type of replica actions not allowed.", "Cannot add or delete the local region
// through ReplicaUpdates. …", "Unsupported replica count for global tables with MultiRegionConsistency set to
// STRONG.", …
Result<ReplicaRequest> read_replica_request(const json::Value& request, std::string_view region);

// "There are no actions specified in the Replica Update Action of the request."
Unexpected<Error> no_replica_actions();
// "Update global table operation failed because one or more replicas were not part of the global table. …"
Unexpected<Error> not_replicas(const std::vector<std::string>& regions);

}  // namespace mayfly::compat
