// Backups' ARNs: "arn:aws:dynamodb:us-east-1:000000000000:table/carts/backup/01791504762511-2779fadd".
//
//   const auto parsed = parse_backup_arn(context, arn);
//   parsed->id                                              // "01791504762511-2779fadd"
//
// The first fourteen digits of an id are the backup's creation in milliseconds, so ids sort as backups came.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compat/context.h"
#include "compat/wire/error.h"
#include "engine/catalog.h"
#include "engine/clock.h"

namespace mayfly::compat::backups {

struct BackupArn {
  std::string region, account, table_name, id;
};

std::string backup_id(engine::Instant created, std::uint32_t number);
std::string backup_arn(const engine::Scope& scope, std::string_view table_name, std::string_view id);
// Nothing: it is no backup's, of whichever partition, service, region and account.
std::optional<BackupArn> parse_backup_arn(std::string_view arn);

// The ARN that a request names a backup by. What was measured on AWS: what is no backup's ARN, "Invalid
// Backup ARN"; a region, a partition or a service that there is not, "Invalid Request: BackupArn is not
// valid"; no region, or another account's, AccessDeniedException "Access is denied". Any region that there is
// passes.
Result<BackupArn> read_backup_arn(const Context& context, std::string_view arn);

}  // namespace mayfly::compat::backups
