// What ExportTableToPointInTime was asked for, as its job keeps it (jobs/job.h) and descriptions answer it.
//
//   TRY(ExportRequest asked, ExportRequest::read(request));      // what is wrong in itself is refused
//   job.request = asked.stored();
//   ExportRequest::parse(job.request) == asked
//
// What has to do with the table, its past above all, is export_window.h's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compat/data_files/manifest.h"
#include "compat/data_files/record.h"
#include "compat/wire/error.h"
#include "compat/wire/json.h"
#include "compat/wire/shape.h"
#include "engine/clock.h"

namespace mayfly::compat::exports {

extern const Shape export_request_shape;

struct ExportRequest {
  std::string table_arn;
  std::optional<engine::Instant> time;  // of a full export
  std::string client_token;             // empty, as what follows: the request has none
  std::string bucket, bucket_owner, prefix;
  std::string sse_algorithm, sse_key_id;
  std::optional<data_files::Format> format;
  std::optional<data_files::ExportType> type;
  std::optional<engine::Instant> from, to;  // of an incremental one
  std::optional<bool> old_images;
  std::string filter;  // FilterSpecification, as JSON
  // What came of the times: the instant of a full export, the end of an incremental one, which has nothing of
  // that instant any more.
  engine::Instant until = 0;

  [[nodiscard]] bool incremental() const { return type == data_files::ExportType::incremental; }
  // What there is where nothing was asked for.
  [[nodiscard]] data_files::Format format_or_default() const;
  [[nodiscard]] bool old_images_or_default() const { return old_images.value_or(true); }

  // "Invalid Request: Export Type expected to be Incremental Export when incremental export specification is
  // provided" and the like. Requires: the request is of the shape.
  static Result<ExportRequest> read(const json::Value& request);

  // Whether another request asks for the same, whatever its token.
  [[nodiscard]] bool same_as(const ExportRequest& other) const;
  // All but the token, as JSON. Times are in ms.
  [[nodiscard]] std::string stored() const;
  // Requires: stored() made it.
  static ExportRequest parse(std::string_view stored);
};

// Seconds since 1970, with a fraction of any length, as AWS's SDKs send a time. Nothing: it fits no Instant.
std::optional<engine::Instant> instant_member(const json::Value& object, std::string_view name);

}  // namespace mayfly::compat::exports
