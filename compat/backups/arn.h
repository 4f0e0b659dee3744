// ARNs of backups: "arn:aws:dynamodb:us-east-1:000000000000:table/carts/backup/01791504762511-2779fadd".
//
//   const auto parsed = parse_backup_arn(context, arn);
//   parsed->id                                              // "01791504762511-2779fadd"
//
// The first fourteen digits of an id are the backup's creation time in milliseconds, so ids sort by creation
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compat/context.h"
#include "compat/wire/error.h"
#include "engine/base/clock.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat::backups {

struct BackupArn {
  std::string region, account, table_name, id;
};

std::string backup_id(engine::Instant created, std::uint32_t number);
std::string backup_arn(const engine::Scope& scope, std::string_view table_name, std::string_view id);
// Returns nullopt if the string is not a backup's ARN. Accepts any partition, service, region and account.
std::optional<BackupArn> parse_backup_arn(std::string_view arn);

// Parses the ARN of a backup in a request. Returns the errors that were measured on AWS:
// - "Invalid Backup ARN" if the string is not the ARN of a backup.
// - "Invalid Request: BackupArn is not valid" if the region, partition or service does not exist.
// - AccessDeniedException "Access is denied" if the ARN has no region or names another account.
//
// The backup can be in any existing region.
Result<BackupArn> read_backup_arn(const Context& context, std::string_view arn);

}  // namespace mayfly::compat::backups
