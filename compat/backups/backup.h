// The record of a backup, without the table's data.
//
// A backup consists of this record and of a point (engine/tables/points.h), which holds the table's items and
// its description at the time of the backup. The record is a document in the account's state
// (engine/storage/documents.h): snapshots of the account include it, restoring such a snapshot brings it
// back, and a reset drops it.
//
//   "@backup" / "REGION/01791504762511-2779fadd/carts"
//   {"name":"nightly","system":false,"created":1791504762511,"bytes":12,"table_id":"3b24…","point":7}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "engine/base/clock.h"
#include "engine/storage/documents.h"
#include "engine/tables/catalog.h"
#include "engine/tables/points.h"

namespace mayfly::compat::backups {

inline constexpr engine::Instant system_lifetime_ms = std::int64_t{35} * 24 * 60 * 60 * 1000;

struct Backup {
  engine::Scope scope;
  std::string table_name;
  std::string id;    // arn.h
  std::string name;  // BackupName
  // True for a backup that remains because its table was deleted while recovery was on. Clients cannot delete
  // a SYSTEM backup; it expires after 35 days.
  bool system = false;
  engine::Instant created = 0;
  std::int64_t bytes = 0;
  std::string table_uuid;
  engine::PointId point = 0;

  [[nodiscard]] std::optional<engine::Instant> expires() const {
    return system ? std::optional(created + system_lifetime_ms) : std::nullopt;
  }
  // ListBackups sorts backups by this value.
  [[nodiscard]] auto place() const { return std::tie(id, table_name); }
};

std::string arn_of(const Backup& backup);

inline constexpr std::string_view document_kind = "@backup";
// Returns the prefix of the names of the region's documents. The documents, sorted by name, are in the order
// of ListBackups.
std::string document_prefix(std::string_view region);
engine::DocumentName document_name(const engine::Scope& scope, std::string_view id,
                                   std::string_view table_name);
engine::Document to_document(const Backup& backup);
// Returns nullopt if the document is not a backup.
std::optional<Backup> from_document(const engine::Document& document);

}  // namespace mayfly::compat::backups
