// Rules for restored tables: which settings they copy from the source, and which ones a request can override.
//
//   CHECK_OK(check_overrides(request));                         // rules that do not depend on the source
//   TRY(engine::Table table, restored_table(context, request, point.table));
//
// A restored table copies the keys, indexes, billing mode, throughput, on-demand maxima and encryption of its
// source. It does not copy TTL, stream, recovery, tags, policy, protection or table class. Indexes in the
// request must match indexes of the source by keys and projection, but can have other names. An empty list
// drops all indexes; without a list, all indexes are kept.
//
// Requires: requests have passed shape validation. The rules come from responses that were recorded on AWS in
// October 2026.
#pragma once

#include "compat/context.h"
#include "compat/json/json.h"
#include "compat/wire/error.h"
#include "engine/schema/table.h"

namespace mayfly::compat::backups {

// Rejects index keys that are invalid for any table, and throughput that is out of bounds.
Result<void> check_overrides(const json::Value& request);

// Rejects a restore from another region if the request does not specify the encryption: "Invalid Request:
// sseSpecificationOverride must be provided for cross-region restores".
Result<void> check_region(const Context& context, const json::Value& request, std::string_view source_region);

// Returns the description of the restored table, without ids and times. The table's name is TargetTableName,
// and its account and region are those of the request.
Result<engine::Table> restored_table(const Context& context, const json::Value& request,
                                     const engine::Table& source);

}  // namespace mayfly::compat::backups
