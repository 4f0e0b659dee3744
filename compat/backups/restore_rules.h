// What a restore makes of the table that it brings back, and what its request may override.
//
//   CHECK_OK(check_overrides(request));                         // what needs no source
//   TRY(engine::Table table, restored_table(context, request, point.table));
//
// A restored table has its source's keys, indexes, billing mode and throughput, on-demand maxima and
// encryption, and nothing else of it: no TTL, stream, recovery, tags, policy, protection or table class.
// Indexes that are given must be some of the source's, by their keys and their projection; they may be
// called otherwise. An empty list drops them all, none keeps them.
//
// Requests have passed their shapes. Rules: answers recorded on AWS in October 2026.
#pragma once

#include "compat/context.h"
#include "compat/wire/error.h"
#include "compat/wire/json.h"
#include "engine/table.h"

namespace mayfly::compat::backups {

// Keys of indexes that no table could have; bounds of throughput.
Result<void> check_overrides(const json::Value& request);

// "Invalid Request: sseSpecificationOverride must be provided for cross-region restores"
Result<void> check_region(const Context& context, const json::Value& request, std::string_view source_region);

// The description of the table that TargetTableName names, in the request's account and region: without ids
// and times.
Result<engine::Table> restored_table(const Context& context, const json::Value& request,
                                     const engine::Table& source);

}  // namespace mayfly::compat::backups
