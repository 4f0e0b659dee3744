// Descriptions of backups for CreateBackup, DescribeBackup, DeleteBackup and ListBackups.
#pragma once

#include <string_view>

#include "compat/backups/backup.h"
#include "compat/json/json.h"
#include "engine/tables/points.h"

namespace mayfly::compat::backups {

// Writes the member "BackupDetails". `arn`: as given in the request; `status`: "CREATING", "AVAILABLE",
// "DELETED".
void write_details(json::Writer& out, const Backup& backup, std::string_view arn, std::string_view status);
// Writes the member "BackupDescription": the details, the table at the time of the backup, and the table's
// features, including those that a restore does not bring back. As on AWS, tags, recovery, table class,
// protection and policy are not included.
void write_description(json::Writer& out, const Backup& backup, const engine::Point& point,
                       std::string_view arn, std::string_view status);
// Writes an element of "BackupSummaries".
void write_summary(json::Writer& out, const Backup& backup);

}  // namespace mayfly::compat::backups
