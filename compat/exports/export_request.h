// The request of ExportTableToPointInTime, as the export's job stores the request (jobs/job.h) and as
// descriptions return it.
//
//   TRY(ExportRequest asked, ExportRequest::read(request));      // the checks that do not need the table
//   job.request = asked.stored();
//   ExportRequest::parse(job.request) == asked
//
// export_window.h makes the checks that depend on the table, mainly on its history.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compat/data_files/manifest.h"
#include "compat/data_files/record.h"
#include "compat/json/json.h"
#include "compat/wire/error.h"
#include "compat/wire/shape.h"
#include "engine/base/clock.h"

namespace mayfly::compat::exports {

extern const Shape export_request_shape;

struct ExportRequest {
  std::string table_arn;
  std::optional<engine::Instant> time;  // for a full export
  std::string client_token;  // this and the following strings are empty if the request does not have them
  std::string bucket, bucket_owner, prefix;
  std::string sse_algorithm, sse_key_id;
  std::optional<data_files::Format> format;
  std::optional<data_files::ExportType> type;
  std::optional<engine::Instant> from, to;  // for an incremental export
  std::optional<bool> old_images;
  std::string filter;  // FilterSpecification, as JSON
  // Resolved from the times: a full export's instant, or an incremental export's end. The end is exclusive:
  // no change made at that instant is exported.
  engine::Instant until = 0;

  [[nodiscard]] bool incremental() const { return type == data_files::ExportType::incremental; }
  // The values with defaults applied.
  [[nodiscard]] data_files::Format format_or_default() const;
  [[nodiscard]] bool old_images_or_default() const { return old_images.value_or(true); }

  // Errors include "Invalid Request: Export Type expected to be Incremental Export when incremental export
  // specification is provided". Requires: the request has been checked against the shape.
  static Result<ExportRequest> read(const json::Value& request);

  // Whether the other request is the same except for its token.
  [[nodiscard]] bool same_as(const ExportRequest& other) const;
  // Returns everything except the token, as JSON. Times are in ms.
  [[nodiscard]] std::string stored() const;
  // Requires: `stored` was made by stored().
  static ExportRequest parse(std::string_view stored);
};

// Reads seconds since 1970, with a fraction of any length, as AWS's SDKs send a time. Returns nullopt if the
// value does not fit an Instant.
std::optional<engine::Instant> instant_member(const json::Value& object, std::string_view name);

}  // namespace mayfly::compat::exports
