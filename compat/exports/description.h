// Describes an export for DescribeExport and ExportTableToPointInTime, and builds and parses its ARN.
//
//   arn:aws:dynamodb:us-east-1:000000000000:table/carts/export/01695097218000-d6299cbd
//
// The members are those that AWS was observed to return (DDB-EXPORT-008, 016, 017). A full export has no
// ExportType, even if the request had one. Unlike on AWS, counts appear as soon as there is something to
// count.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compat/jobs/job.h"
#include "compat/json/json.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat::exports {

void write_description(json::Writer& out, const jobs::Job& job);

std::string export_arn(std::string_view table_arn, std::string_view id);
struct ExportArn {
  std::string_view region, id;
};
// Returns nullopt if the ARN is not an export's.
std::optional<ExportArn> parse_export_arn(std::string_view arn);

}  // namespace mayfly::compat::exports
