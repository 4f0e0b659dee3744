// An export as DescribeExport and ExportTableToPointInTime describe it, and its ARN.
//
//   arn:aws:dynamodb:us-east-1:000000000000:table/carts/export/01695097218000-d6299cbd
//
// Members are those that AWS was seen to answer (DDB-EXPORT-008, 016, 017): ExportType is not told of full
// exports, whatever the request said. Unlike AWS's, counts are there as soon as there is something to count.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compat/jobs/job.h"
#include "compat/wire/json.h"
#include "engine/catalog.h"

namespace mayfly::compat::exports {

void write_description(json::Writer& out, const jobs::Job& job);

std::string export_arn(std::string_view table_arn, std::string_view id);
struct ExportArn {
  std::string_view region, account, table, id;
};
// Nothing: it is no export's.
std::optional<ExportArn> parse_export_arn(std::string_view arn);

}  // namespace mayfly::compat::exports
