#include "compat/backups/description.h"

#include "compat/json/json_members.h"
#include "compat/settings/encryption.h"
#include "compat/settings/settings.h"
#include "compat/settings/throughput.h"
#include "compat/tables/arn.h"
#include "compat/tables/description.h"

namespace mayfly::compat::backups {
namespace {

using engine::Index;
using json::member;
using json::seconds;
using json::Writer;

void write_own(Writer& out, const Backup& backup, std::string_view arn, std::string_view status) {
  member(out, "BackupArn", arn);
  member(out, "BackupName", backup.name);
  member(out, "BackupSizeBytes", backup.bytes);
  member(out, "BackupStatus", status);
  member(out, "BackupType", backup.system ? "SYSTEM" : "USER");
  seconds(out, "BackupCreationDateTime", backup.created);
  if (const auto expires = backup.expires()) seconds(out, "BackupExpiryDateTime", *expires);
}

void write_units(Writer& out, const Throughput& throughput) {
  out.key("ProvisionedThroughput");
  out.begin_object();
  member(out, "ReadCapacityUnits", throughput.read_units);
  member(out, "WriteCapacityUnits", throughput.write_units);
  out.end_object();
}

void write_source(Writer& out, const engine::Point& point, const TableSettings& settings) {
  const engine::Table& table = point.table;
  out.key("SourceTableDetails");
  out.begin_object();
  member(out, "TableName", table.name);
  member(out, "TableId", table.uuid);
  member(out, "TableArn", table_arn(table));
  member(out, "TableSizeBytes", point.bytes);
  write_key_schema(out, table.keys);
  seconds(out, "TableCreationDateTime", table.created);
  write_units(out, settings.throughput);
  write_on_demand_limits(out, settings.on_demand_limits);
  member(out, "ItemCount", point.items);
  member(out, "BillingMode", settings.on_demand ? "PAY_PER_REQUEST" : "PROVISIONED");
  out.end_object();
}

void write_indexes(Writer& out, const engine::Table& table, Index::Kind kind) {
  bool any = false;
  for (const Index& index : table.indexes) {
    if (index.kind != kind) continue;
    if (!any) {
      out.key(kind == Index::Kind::local ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes");
      out.begin_array();
      any = true;
    }
    out.begin_object();
    member(out, "IndexName", index.name);
    write_key_schema(out, index.keys);
    write_projection(out, index.projection);
    if (kind == Index::Kind::global) {
      const IndexSettings settings = settings_of(index);
      write_units(out, settings.throughput);
      write_on_demand_limits(out, settings.on_demand_limits);
    }
    out.end_object();
  }
  if (any) out.end_array();
}

void write_features(Writer& out, const engine::Table& table, const TableSettings& settings) {
  out.key("SourceTableFeatureDetails");
  out.begin_object();
  write_indexes(out, table, Index::Kind::local);
  write_indexes(out, table, Index::Kind::global);
  if (!settings.vector_indexes.empty()) {
    out.key("VectorIndexes");
    out.begin_array();
    for (const VectorIndex& index : settings.vector_indexes) {
      out.begin_object();
      write_vector_index_info(out, index);
      out.end_object();
    }
    out.end_array();
  }
  if (table.stream) {
    out.key("StreamDescription");
    out.begin_object();
    out.key("StreamEnabled");
    out.boolean(true);
    member(out, "StreamViewType", stream_view_name(table.stream->view));
    out.end_object();
  }
  if (table.ttl) {
    out.key("TimeToLiveDescription");
    out.begin_object();
    member(out, "TimeToLiveStatus", "ENABLED");
    member(out, "AttributeName", table.ttl->attribute);
    out.end_object();
  }
  write_encryption(out, settings.kms_key_arn);
  out.end_object();
}

}  // namespace

void write_details(Writer& out, const Backup& backup, std::string_view arn, std::string_view status) {
  out.key("BackupDetails");
  out.begin_object();
  write_own(out, backup, arn, status);
  out.end_object();
}

void write_description(Writer& out, const Backup& backup, const engine::Point& point, std::string_view arn,
                       std::string_view status) {
  const TableSettings settings = settings_of(point.table);
  out.key("BackupDescription");
  out.begin_object();
  write_details(out, backup, arn, status);
  write_source(out, point, settings);
  write_features(out, point.table, settings);
  out.end_object();
}

void write_summary(Writer& out, const Backup& backup) {
  out.begin_object();
  member(out, "TableName", backup.table_name);
  member(out, "TableId", backup.table_uuid);
  member(out, "TableArn", table_arn(backup.scope, backup.table_name));
  write_own(out, backup, arn_of(backup), "AVAILABLE");
  out.end_object();
}

}  // namespace mayfly::compat::backups
