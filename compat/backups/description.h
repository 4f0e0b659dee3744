// Backups as CreateBackup, DescribeBackup, DeleteBackup and ListBackups answer them.
#pragma once

#include <string_view>

#include "compat/backups/backup.h"
#include "compat/wire/json.h"
#include "engine/points.h"

namespace mayfly::compat::backups {

// The member "BackupDetails". `arn` as the request named the backup; `status`: "CREATING", "AVAILABLE",
// "DELETED".
void write_details(json::Writer& out, const Backup& backup, std::string_view arn, std::string_view status);
// The member "BackupDescription": details, the table as it was, and what of it a restore brings back, or
// has to be told again. Tags, recovery, table class, protection and policy are in neither, as on AWS.
void write_description(json::Writer& out, const Backup& backup, const engine::Point& point,
                       std::string_view arn, std::string_view status);
// An element of "BackupSummaries".
void write_summary(json::Writer& out, const Backup& backup);

}  // namespace mayfly::compat::backups
