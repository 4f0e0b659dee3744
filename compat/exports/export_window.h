// Determines which past state an export request asks for, and whether that state can still be restored.
//
//   TRY(asked.until, resolve_window(context, *table, asked, job.started));
//   const auto records = records_of(context, *table, asked);
//
// Rules, messages and their order were measured on AWS in October 2026
// (aws-controllers-k8s/dynamodb-controller, DDB-EXPORT-001, 003, 004 and 019), except where
// docs/differences.md says otherwise.
#pragma once

#include <memory>

#include "compat/context.h"
#include "compat/exports/export_request.h"
#include "compat/exports/records.h"
#include "compat/wire/error.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat::exports {

inline constexpr engine::Instant window_ms_min = 15 * 60 * 1000;
inline constexpr engine::Instant window_ms_max = 24 * 60 * 60 * 1000;

// Returns ExportRequest's `until` for an export that begins at `now`. Errors:
// PointInTimeRecoveryUnavailableException "Point in time recovery is not enabled for table 'carts'",
// InvalidExportTimeException "Export Time is invalid" and others.
Result<engine::Instant> resolve_window(const Context& context, const engine::LiveTable& table,
                                       const ExportRequest& asked, engine::Instant now);

// Returns the records that the export reads; nullptr if recovery was disabled meanwhile or no longer covers
// the instant. Requires: `until` is resolved.
std::unique_ptr<Records> records_of(const Context& context, const engine::LiveTable& table,
                                    const ExportRequest& asked);

// Returns the error "Point in Time Recovery is not available for specified export time".
Unexpected<Error> export_time_unavailable();

}  // namespace mayfly::compat::exports
