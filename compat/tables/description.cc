#include "compat/tables/description.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compat/json/json_members.h"
#include "compat/settings/settings.h"
#include "compat/settings/table_class.h"
#include "compat/settings/table_settings.h"
#include "compat/settings/throughput.h"
#include "compat/tables/arn.h"
#include "compat/tables/vector_indexes.h"
#include "engine/background/history.h"
#include "engine/background/history_size.h"

namespace mayfly::compat {
namespace {

using engine::Index;
using engine::Table;
using json::member;
using json::seconds;
using json::Writer;

std::string_view status_name(TableStatus status) {
  switch (status) {
    case TableStatus::creating: return "CREATING";
    case TableStatus::updating: return "UPDATING";
    case TableStatus::deleting: return "DELETING";
    case TableStatus::active: break;
  }
  return "ACTIVE";
}

// Writes the definitions sorted by name, regardless of the order in the request.
void write_attribute_definitions(Writer& out, const Table& table) {
  auto definitions = table.attribute_definitions;
  std::sort(definitions.begin(), definitions.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  out.key("AttributeDefinitions");
  out.begin_array();
  for (const auto& attribute : definitions) {
    out.begin_object();
    member(out, "AttributeName", attribute.name);
    member(out, "AttributeType", engine::type_name(attribute.type));
    out.end_object();
  }
  out.end_array();
}

void write_throughput(Writer& out, const Throughput& throughput, engine::Instant now) {
  out.key("ProvisionedThroughput");
  out.begin_object();
  if (throughput.last_increase != 0) seconds(out, "LastIncreaseDateTime", throughput.last_increase);
  if (throughput.last_decrease != 0) seconds(out, "LastDecreaseDateTime", throughput.last_decrease);
  const bool today = throughput.last_decrease / engine::day_ms == now / engine::day_ms;  // same UTC day
  member(out, "NumberOfDecreasesToday", today ? throughput.decreases_today : 0);
  member(out, "ReadCapacityUnits", throughput.read_units);
  member(out, "WriteCapacityUnits", throughput.write_units);
  out.end_object();
}

std::string_view index_status(const Index& index, const TableChange& change) {
  const auto found = change.index_statuses.find(index.name);
  if (found != change.index_statuses.end()) return found->second;
  if (change.status == TableStatus::creating || index.state == Index::State::creating) return "CREATING";
  return "ACTIVE";
}

void write_index(Writer& out, const Index& index, const TableChange& change, bool on_demand,
                 const engine::LiveTable* counters, engine::Instant now) {
  out.begin_object();
  member(out, "IndexName", index.name);
  write_key_schema(out, index.keys);
  write_projection(out, index.projection);
  if (index.kind == Index::Kind::global) {
    const std::string_view status = index_status(index, change);
    // Recorded on AWS: an index that a restore creates has no status while its table is CREATING.
    if (!change.restore) member(out, "IndexStatus", status);
    const bool announced = change.index_statuses.contains(index.name) && status == index_is_creating;
    if (announced || index.state == Index::State::creating) {
      out.key("Backfilling");
      out.boolean(change.backfilling.contains(index.name) || !announced);
    }
    const IndexSettings settings = settings_of(index);
    write_throughput(out, settings.throughput, now);
    write_on_demand_limits(out, settings.on_demand_limits);
    write_warm_throughput(out, settings.warm, on_demand, settings.throughput,
                          status == "ACTIVE" || status == "UPDATING", change.warming.contains(index.name));
  }
  member(out, "IndexSizeBytes", counters != nullptr ? counters->counter(index.id).bytes.load() : 0);
  member(out, "ItemCount", counters != nullptr ? counters->counter(index.id).items.load() : 0);
  member(out, "IndexArn", index_arn(*change.shown, index.name));
  out.end_object();
}

void write_indexes(Writer& out, Index::Kind kind, const TableChange& change, bool on_demand,
                   const engine::LiveTable* counters, engine::Instant now) {
  bool any = false;
  for (const auto& index : change.shown->indexes) {
    if (index.kind != kind) continue;
    if (!any) {
      out.key(kind == Index::Kind::local ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes");
      out.begin_array();
      any = true;
    }
    write_index(out, index, change, on_demand, counters, now);
  }
  if (any) out.end_array();
}

void write_search_schema(Writer& out, const std::vector<SearchElement>& elements) {
  if (elements.empty()) return;
  out.key("SearchSchema");
  out.begin_array();
  for (const SearchElement& element : elements) {
    out.begin_object();
    member(out, "AttributeName", element.name);
    member(out, "SearchSchemaElementType", element.hash ? "HASH" : "INLINE_FILTER");
    out.end_object();
  }
  out.end_array();
}

void write_vector_index(Writer& out, const VectorIndex& index, const TableChange& change,
                        const VectorIndexSize& size) {
  const auto announced = change.index_statuses.find(index.name);
  const bool creating = announced != change.index_statuses.end() && announced->second == index_is_creating;
  out.begin_object();
  write_vector_index_info(out, index);
  member(out, "IndexStatus",
         announced != change.index_statuses.end() ? announced->second
         : change.status == TableStatus::creating ? "CREATING"
                                                  : "ACTIVE");
  if (creating) {  // an index created together with its table never has this member
    out.key("Backfilling");
    out.boolean(change.backfilling.contains(index.name));
  }
  member(out, "IndexSizeBytes", size.bytes);
  member(out, "ItemCount", size.items);
  member(out, "IndexArn", index_arn(*change.shown, index.name));
  out.end_object();
}

void write_vector_indexes(Writer& out, const TableChange& change, const std::vector<VectorIndex>& indexes,
                          const VectorSizes& sizes) {
  if (indexes.empty()) return;
  out.key("VectorIndexes");
  out.begin_array();
  for (const VectorIndex& index : indexes) {
    const auto size = sizes.indexes.find(index.name);
    write_vector_index(out, index, change, size == sizes.indexes.end() ? VectorIndexSize{} : size->second);
  }
  out.end_array();
}

void write_billing(Writer& out, const Table& table, const TableSettings& settings, TableStatus status) {
  if (!settings.on_demand && !settings.on_demand_since) return;  // the table has always been provisioned
  const std::string_view mode = settings.on_demand ? "PAY_PER_REQUEST" : "PROVISIONED";
  for (const bool summary : {true, false}) {
    out.key(summary ? "BillingModeSummary" : "TableThroughputModeSummary");
    out.begin_object();
    member(out, summary ? "BillingMode" : "TableThroughputMode", mode);
    if (settings.on_demand_since && status != TableStatus::creating) {
      const bool ever_since = *settings.on_demand_since == TableSettings::since_creation;
      seconds(out, "LastUpdateToPayPerRequestDateTime",
              ever_since ? table.created : *settings.on_demand_since);
    }
    out.end_object();
  }
}

void write_stream(Writer& out, const Table& table) {
  if (table.stream) {
    out.key("StreamSpecification");
    out.begin_object();
    out.key("StreamEnabled");
    out.boolean(true);
    member(out, "StreamViewType", stream_view_name(table.stream->view));
    out.end_object();
  }
  if (table.latest_stream_label) {
    member(out, "LatestStreamLabel", *table.latest_stream_label);
    member(out, "LatestStreamArn", table_arn(table) + "/stream/" + *table.latest_stream_label);
  }
}

void write_restore(Writer& out, const RestoreSummary& restore) {
  out.key("RestoreSummary");
  out.begin_object();
  if (!restore.backup_arn.empty()) member(out, "SourceBackupArn", restore.backup_arn);
  member(out, "SourceTableArn", restore.table_arn);
  seconds(out, "RestoreDateTime", restore.at);
  out.key("RestoreInProgress");
  out.boolean(true);
  out.end_object();
}

// --- global tables

// Writes the read capacity of a replica's table or index, if it differs from that of `here`.
template <class Settings>
void write_read_overrides(Writer& out, const Settings& settings, const Settings& here, bool on_demand) {
  if (!on_demand && settings.throughput.read_units != here.throughput.read_units) {
    out.key("ProvisionedThroughputOverride");
    out.begin_object();
    member(out, "ReadCapacityUnits", settings.throughput.read_units);
    out.end_object();
  }
  const auto& limit = settings.on_demand_limits.read_units_max;
  if (limit && limit != here.on_demand_limits.read_units_max) {
    out.key("OnDemandThroughputOverride");
    out.begin_object();
    member(out, "MaxReadRequestUnits", *limit);
    out.end_object();
  }
}

void write_replica_index(Writer& out, const Index& index, const Index* own) {
  const IndexSettings settings = settings_of(index);
  out.begin_object();
  member(out, "IndexName", index.name);
  write_read_overrides(out, settings, own != nullptr ? settings_of(*own) : settings, /*on_demand=*/false);
}

void write_replica(Writer& out, const GlobalTable::Replica& replica, const Table& own) {
  const Table& table = *replica.shown;
  const TableSettings settings = settings_of(table), own_settings = settings_of(own);
  out.begin_object();
  member(out, "RegionName", replica.region);
  member(out, "ReplicaStatus", status_name(replica.status));
  if (settings.kms_key_arn) member(out, "KMSMasterKeyId", *settings.kms_key_arn);
  write_read_overrides(out, settings, own_settings, settings.on_demand);
  const bool settled = replica.status != TableStatus::creating;
  write_warm_throughput(out, settings.warm, settings.on_demand, settings.throughput, settled, false);
  bool any = false;
  for (const Index& index : table.indexes) {
    if (index.kind != Index::Kind::global) continue;
    if (!std::exchange(any, true)) {
      out.key("GlobalSecondaryIndexes");
      out.begin_array();
    }
    write_replica_index(out, index, own.find_index(index.name));
    const IndexSettings of_index = settings_of(index);
    write_warm_throughput(out, of_index.warm, settings.on_demand, of_index.throughput, settled, false);
    out.end_object();
  }
  if (any) out.end_array();
  write_table_class(out, "ReplicaTableClassSummary", settings);
  member(out, "GlobalTableSettingsReplicationMode", "ENABLED_WITH_OVERRIDES");
  out.end_object();
}

void write_global_table(Writer& out, const GlobalTable& global, const Table& own) {
  member(out, "GlobalTableVersion", "2019.11.21");
  out.key("Replicas");
  out.begin_array();
  for (const GlobalTable::Replica& replica : global.replicas) write_replica(out, replica, own);
  out.end_array();
  if (!global.witness.empty()) {
    out.key("GlobalTableWitnesses");
    out.begin_array();
    out.begin_object();
    member(out, "RegionName", global.witness);
    member(out, "WitnessStatus", "ACTIVE");
    out.end_object();
    out.end_array();
  }
  if (global.strong) {
    member(out, "MultiRegionConsistency", "STRONG");
  } else if (!global.replicas.empty()) {
    out.key("DisassociationProtectionEnabled");
    out.boolean(!settings_of(own).disassociation_allowed);
  }
}

}  // namespace

void write_table_description(Writer& out, const TableChange& change, const engine::LiveTable* counters,
                             engine::Instant now, const VectorSizes& vectors) {
  const Table& table = *change.shown;
  const TableStatus status = change.status;
  const TableSettings settings = settings_of(table);
  out.begin_object();
  // A table that is being deleted no longer shows its schema.
  if (status != TableStatus::deleting) {
    write_attribute_definitions(out, table);
    write_key_schema(out, table.keys);
    write_indexes(out, Index::Kind::local, change, settings.on_demand, counters, now);
    write_indexes(out, Index::Kind::global, change, settings.on_demand, counters, now);
    write_vector_indexes(out, change, settings.vector_indexes, vectors);
  }
  member(out, "TableName", table.name);
  member(out, "TableStatus", status_name(status));
  if (status != TableStatus::deleting) seconds(out, "CreationDateTime", table.created);
  write_throughput(out, settings.throughput, now);
  const std::int64_t counted = counters != nullptr ? counters->counter(0).bytes.load() : 0;
  member(out, "TableSizeBytes", vectors.table_bytes.value_or(counted));
  member(out, "ItemCount", counters != nullptr ? counters->counter(0).items.load() : 0);
  member(out, "TableArn", table_arn(table));
  member(out, "TableId", table.uuid);
  write_billing(out, table, settings, status);
  write_stream(out, table);
  if (change.restore) write_restore(out, *change.restore);
  if (change.global) write_global_table(out, *change.global, table);
  for (const TableSetting& setting : table_settings) {
    if (setting.describe == nullptr) continue;
    setting.describe(out, {.settings = settings,
                           .changing = change.changing.contains(setting.member.name),
                           .creating = status == TableStatus::creating,
                           .deleting = status == TableStatus::deleting,
                           .replicated = change.global && !change.global->replicas.empty()});
  }
  out.end_object();
}

void write_key_schema(Writer& out, const engine::KeySchema& keys) {
  out.key("KeySchema");
  out.begin_array();
  const auto write = [&](std::span<const engine::KeyAttribute> attributes, std::string_view type) {
    for (const auto& attribute : attributes) {
      out.begin_object();
      member(out, "AttributeName", attribute.name);
      member(out, "KeyType", type);
      out.end_object();
    }
  };
  write(keys.partition(), "HASH");
  write(keys.sort(), "RANGE");
  out.end_array();
}

void write_projection(Writer& out, const engine::Projection& projection) {
  out.key("Projection");
  out.begin_object();
  switch (projection.kind) {
    case engine::Projection::Kind::all: member(out, "ProjectionType", "ALL"); break;
    case engine::Projection::Kind::keys_only: member(out, "ProjectionType", "KEYS_ONLY"); break;
    case engine::Projection::Kind::include: {
      auto names = projection.attributes;
      std::sort(names.begin(), names.end());
      member(out, "ProjectionType", "INCLUDE");
      out.key("NonKeyAttributes");
      out.begin_array();
      for (const auto& name : names) out.string(name);
      out.end_array();
      break;
    }
  }
  out.end_object();
}

void write_vector_index_info(Writer& out, const VectorIndex& index) {
  member(out, "IndexName", index.name);
  write_search_schema(out, index.search_schema);
  write_projection(out, projection_of(index));
  out.key("VectorAttribute");
  out.begin_object();
  member(out, "AttributeName", index.attribute);
  out.end_object();
  member(out, "Dimensions", index.dimensions);
  member(out, "DistanceFunction", index.distance);
}

std::string_view stream_view_name(engine::StreamView view) {
  switch (view) {
    case engine::StreamView::keys_only: return "KEYS_ONLY";
    case engine::StreamView::new_image: return "NEW_IMAGE";
    case engine::StreamView::old_image: return "OLD_IMAGE";
    case engine::StreamView::new_and_old_images: break;
  }
  return "NEW_AND_OLD_IMAGES";
}

}  // namespace mayfly::compat
