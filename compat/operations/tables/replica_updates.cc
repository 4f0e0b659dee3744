#include "compat/operations/tables/replica_updates.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "compat/backups/backups.h"
#include "compat/jobs/jobs.h"
#include "compat/kinesis/destinations.h"
#include "compat/memory_room.h"
#include "compat/settings/encryption.h"
#include "compat/settings/settings.h"
#include "compat/settings/table_class.h"
#include "compat/settings/throughput.h"
#include "compat/tables/lookup.h"
#include "compat/tables/replicas.h"
#include "compat/tables/schema.h"
#include "compat/wire/shape.h"
#include "engine/background/replication.h"

namespace mayfly::compat {
namespace {

using engine::Index;
using engine::Table;
using json::Value;
using Refusal = engine::Catalog::Refusal;

Unexpected<Error> existed(const std::string& name) {
  return error::validation("Failed to create a the new replica of table with name: ‘" + name +
                           "’ because one or more replicas already existed as tables.");
}

Unexpected<Error> keys_differ() {
  return error::validation(
      "One or more parameter values were invalid: KMSMasterKeyId must be specified for each replica.");
}

// ---------------------------------------------------------------- overrides

std::optional<std::int64_t> read_units(const Value& action) {
  const Value* own = action.member("ProvisionedThroughputOverride");
  return own != nullptr ? integer_member(*own, "ReadCapacityUnits") : std::nullopt;
}

std::optional<std::int64_t> read_limit(const Value& action) {
  const Value* own = action.member("OnDemandThroughputOverride");
  return own != nullptr ? integer_member(*own, "MaxReadRequestUnits") : std::nullopt;
}

bool has_overrides(const Value& action) {
  if (read_units(action) || read_limit(action) || action.member("TableClassOverride") != nullptr) return true;
  const Value* list = action.member("GlobalSecondaryIndexes");
  if (list == nullptr) return false;
  const auto indexes = list->items();
  return std::any_of(indexes.begin(), indexes.end(),
                     [](const Value& index) { return read_units(index) || read_limit(index); });
}

template <class Settings>
void override_reads(Settings& settings, const Value& action, bool has_units) {
  if (const auto units = read_units(action); units && has_units) settings.throughput.read_units = *units;
  if (const auto limit = read_limit(action))
    settings.on_demand_limits.read_units_max = *limit < 0 ? std::nullopt : std::optional(*limit);
}

// An override that equals the other regions' value no longer counts as an override. Missing indexes are
// skipped, as on AWS.
void override_settings(Table& table, const Value& action, engine::Instant now) {
  change_settings(table, [&](TableSettings& settings) {
    override_reads(settings, action, !settings.on_demand);
    if (const auto table_class = string_member(action, "TableClassOverride")) {
      settings.table_class = *table_class;
      settings.table_class_changed = now;
    }
  });
  const Value* list = action.member("GlobalSecondaryIndexes");
  if (list == nullptr) return;
  for (const Value& each : list->items()) {
    for (Index& index : table.indexes) {
      if (index.kind != Index::Kind::global || index.name != *string_member(each, "IndexName")) continue;
      change_settings(index,
                      [&](IndexSettings& settings) { override_reads(settings, each, /*has_units=*/true); });
    }
  }
}

// ---------------------------------------------------------------- creation

// The key that encrypts a replica's items. Each region has its own key, and all keys are of one kind.
Result<std::optional<std::string>> replica_key(const Table& table, const Value& create) {
  const auto own = settings_of(table).kms_key_arn;
  const auto given = string_member(create, "KMSMasterKeyId");
  const engine::Scope scope{table.account, replica_region(create)};
  if (!own) {
    if (given) return keys_differ();
    return std::optional<std::string>();
  }
  const bool managed = *own == kms_key_arn({table.account, table.region});
  if (!given) {
    if (!managed) return keys_differ();
    return std::optional(kms_key_arn(scope));
  }
  std::string key = kms_key_arn(scope, *given);
  if (managed != (key == kms_key_arn(scope))) {
    return error::validation(
        "One or more parameter values were invalid: All replica keys must either be Customer Managed CMK or "
        "AWS Managed CMK.");
  }
  if (!key.starts_with("arn:aws:kms:" + scope.region + ":")) {
    const std::string elsewhere = key.substr(0, key.find(':', 12)).substr(12);
    return error::validation("KMS validation error for region " + scope.region +
                             ": com.amazonaws.services.kms.model.NotFoundException: Invalid arn " +
                             elsewhere);
  }
  return std::optional(std::move(key));
}

Result<void> check_strong_creation(const std::shared_ptr<engine::LiveTable>& live, const Table& table) {
  if (live->counter(0).items.load() > 0) {
    return error::validation(
        "Table must be empty to be converted to a global table with MultiRegionConsistency set to STRONG.");
  }
  if (table.ttl) {
    return error::validation(
        "Time to Live is not supported on global tables with MultiRegionConsistency set to STRONG.");
  }
  for (const Index& index : table.indexes) {
    if (index.kind == Index::Kind::local) {
      return error::validation(
          "Local Secondary Indexes are not supported on global tables with MultiRegionConsistency set to "
          "STRONG.");
    }
  }
  return {};
}

// From AWS's guide, "Bulk put items": "You cannot add a replica to a table that has a bulk put items
// operation in progress." AWS's error message is not known.
bool is_put_into(const Context& context, const Table& table) {
  const auto jobs = context.jobs.list(context.scope, jobs::Kind::bulk_put);
  return std::any_of(jobs.begin(), jobs.end(),
                     [&](const auto& job) { return !job->over() && job->table_uuid == table.uuid; });
}

Result<void> check_creation(const Context& context, const ReplicaRequest& request,
                            const std::shared_ptr<engine::LiveTable>& live) {
  const auto table = live->description();
  if (!table->replicas.empty() && request.says_consistency) {
    return error::validation("MultiRegionConsistency parameter is unsupported on existing global table");
  }
  if (table->strong) {
    return error::validation("Cannot add replicas to a global table with strong MultiRegionConsistency");
  }
  if (!table->copies_from.empty()) {
    return error::validation(
        "Create/Update/Delete of replica is not allowed while the replica is being added to table with "
        "name: " +
        table->name + " in region " + table->region);
  }
  if (is_being_copied(context, *table) || is_put_into(context, *table)) return being_changed();
  for (const Value* create : request.creates) {
    const engine::Scope scope{table->account, replica_region(*create)};
    const bool deleting = context.table_changes.status(scope, table->name) == TableStatus::deleting;
    if (deleting || context.database.catalog().find(scope, table->name)) return existed(table->name);
  }
  if (!settings_of(*table).on_demand)
    return error::validation("Table write capacity should either be Pay-Per-Request or AutoScaled.");
  for (const Value* create : request.creates) {
    if (const auto key = replica_key(*table, *create); !key) return Unexpected{key.error()};
  }
  if (request.strong) CHECK_OK(check_strong_creation(live, *table));
  return check_room(context.database);
}

// Clears what is left of an earlier membership in a global table.
void begin_anew(TableSettings& settings) {
  settings.replica_source.clear();
  settings.replica_since.reset();
  settings.disassociation_allowed = false;
  settings.witness.clear();
}

// Settings that belong to a region (tags, recovery, policy, insights, protection) start with their defaults.
Table new_replica(const Table& source, const Value& create, engine::Instant now) {
  Table replica = source;
  replica.id = 0;
  replica.region = replica_region(create);
  replica.latest_stream_label.reset();
  replica.next_index_id = 1;
  replica.next_ttl_number = 1;
  replica.recovery.reset();
  if (replica.ttl)
    replica.ttl =
        engine::TimeToLive{source.ttl->attribute, false, replica.next_ttl_number++, source.ttl->since};
  for (Index& index : replica.indexes) {
    index.id = 0;
    index.state = Index::State::active;
    change_settings(index, [](IndexSettings& settings) { settings.insights.reset(); });
  }
  // The replica has no stream until all items are copied, because copied items are not changes.
  if (!source.strong) replica.stream.reset();
  if (source.strong) replica.stream = engine::Stream{.view = source.stream->view};
  change_settings(replica, [&](TableSettings& settings) {
    const TableSettings defaults;
    settings.tags.clear();
    settings.recovery_since.reset();
    settings.recovery_days = defaults.recovery_days;
    settings.restored_from.reset();
    settings.policy.reset();
    settings.insights.reset();
    settings.deletion_protection = false;
    settings.kms_key_arn = *replica_key(source, create);
    settings.replica_source = source.region;
    settings.replica_since = now;
    settings.disassociation_allowed = false;
  });
  override_settings(replica, create, now);
  return replica;
}

Table* find_own(std::vector<Table>& tables, engine::TableId id) {
  const auto own =
      std::find_if(tables.begin(), tables.end(), [&](const Table& each) { return each.id == id; });
  return own == tables.end() ? nullptr : &*own;
}

Result<TableChange> create_replicas(Context& context, const ReplicaRequest& request,
                                    const std::shared_ptr<engine::LiveTable>& live) {
  CHECK_OK(check_creation(context, request, live));
  TableChange announced{TableStatus::updating, nullptr};
  announced.global = global_table_of(context, *live->description()).value_or(GlobalTable{});
  announced.global->strong = request.strong;
  // Check the request again while the table cannot change: if two requests are concurrent, one of them must
  // fail.
  Result<void> checked;
  const auto after = context.database.tables().update_together(
      live,
      [&](std::vector<Table>& tables) {
        if (request.strong && tables.size() > 1)
          checked =
              error::validation("MultiRegionConsistency parameter is unsupported on existing global table");
        if (request.strong && checked) checked = check_strong_creation(live, tables.front());
        if (checked && is_put_into(context, *live->description())) checked = being_changed();
        if (!checked) return false;
        Table* own = find_own(tables, live->id());
        if (!own->stream) own->stream = engine::Stream{.view = engine::StreamView::new_and_old_images};
        own->strong = request.strong;
        if (tables.size() == 1) change_settings(*own, begin_anew);
        if (request.witness_created) {
          change_settings(*own,
                          [&](TableSettings& settings) { settings.witness = *request.witness_created; });
        }
        const Table source = *own;
        for (const Value* create : request.creates)
          tables.push_back(new_replica(source, *create, context.now()));
        return true;
      },
      context.tables_max);
  CHECK_OK(std::move(checked));
  const std::string name = live->description()->name;
  if (!after && after.error() == Refusal::name_taken) return existed(name);
  if (!after && after.error() == Refusal::too_many) {
    return error::limit_exceeded("Subscriber limit exceeded: There is a limit of " +
                                 std::to_string(context.tables_max) + " tables per subscriber");
  }
  if (!after) return named_table_not_found(name);
  announced.shown = live->description();
  for (const Value* create : request.creates) {
    const engine::Scope scope{announced.shown->account, replica_region(*create)};
    const auto made = context.database.catalog().find(scope, name);
    if (!made) continue;
    TableChange change{TableStatus::creating, made->description()};
    change.global = global_table_of(context, *change.shown);
    context.table_changes.begin(scope, std::move(change));
  }
  return announced;
}

// ---------------------------------------------------------------- removal

constexpr int tries_max = 100;  // each try first waits until earlier writes have arrived

// Whether a table that is to be dropped has writes in flight to a table that stays, and no pause or lag holds
// these writes. The caller only has to wait for such writes to arrive.
bool any_arrives(const Context& context, const std::vector<Table>& tables,
                 const std::function<bool(const Table&)>& goes) {
  const engine::Replication& replication = context.database.replication();
  for (const Table& from : tables) {
    if (!goes(from)) continue;
    for (const Table& to : tables) {
      const bool is_open =
          replication.route(from.account, {from.region, to.region}) == engine::RouteSetting{};
      if (is_open && !goes(to) && replication.is_in_flight(from.id, to.id)) return true;
    }
  }
  return false;
}

bool is_replica(const Table& table, const std::string& region) {
  return std::any_of(table.replicas.begin(), table.replicas.end(),
                     [&](const engine::Replica& replica) { return replica.region == region; });
}

Result<void> check_members(const Table& table, const std::vector<const Value*>& actions) {
  std::vector<std::string> strangers;
  for (const Value* action : actions)
    if (!is_replica(table, replica_region(*action))) strangers.push_back(replica_region(*action));
  if (!strangers.empty()) return not_replicas(strangers);
  return {};
}

Result<void> check_strong_removal(const ReplicaRequest& request, const Table& table) {
  const std::string witness = settings_of(table).witness;
  if (request.witness_deleted && *request.witness_deleted != witness) {
    return error::validation(
        "Update global table operation failed because one or more witnesses were not part of the global "
        "table. "
        "Please retry the request without these witnesses: [" +
        *request.witness_deleted + "].");
  }
  if (!witness.empty() && !request.witness_deleted)
    return error::validation("Update table delete operation does not include all witnesses.");
  if (request.deletes.size() < table.replicas.size()) return strong_stays_whole();
  return {};
}

Result<void> check_removal(const Context& context, const ReplicaRequest& request, const Table& table) {
  CHECK_OK(check_members(table, request.deletes));
  if (table.strong) {
    CHECK_OK(check_strong_removal(request, table));
  } else if (request.deletes.size() > 1) {
    return error::validation(
        "Update table operation with more than one create or delete replica actions not allowed");
  }
  for (const Value* remove : request.deletes) {
    const std::string region = replica_region(*remove);
    const auto replica = context.database.catalog().find({table.account, region}, table.name);
    if (!replica) continue;
    const auto description = replica->description();
    if (!table.strong) CHECK_OK(check_no_source(context, *description));
    if (settings_of(*description).deletion_protection) return protected_replica(*description);
  }
  if (is_being_copied(context, table)) return being_changed();
  return {};
}

Result<TableChange> remove_replicas(Context& context, const ReplicaRequest& request,
                                    const std::shared_ptr<engine::LiveTable>& live) {
  const auto before = live->description();
  CHECK_OK(check_removal(context, request, *before));
  TableChange announced{TableStatus::updating, nullptr};
  announced.global = global_table_of(context, *before);
  std::vector<std::pair<engine::Scope, TableChange>> deletions;
  for (const GlobalTable::Replica& replica : announced.global->replicas) {
    const bool goes = std::any_of(request.deletes.begin(), request.deletes.end(), [&](const Value* remove) {
      return replica_region(*remove) == replica.region;
    });
    if (goes)
      deletions.emplace_back(engine::Scope{before->account, replica.region},
                             TableChange{TableStatus::deleting, replica.shown});
  }
  const auto goes = [&](const Table& each) {
    return std::any_of(request.deletes.begin(), request.deletes.end(),
                       [&](const Value* remove) { return replica_region(*remove) == each.region; });
  };
  CHECK_OK(drop_replicas(context, live, goes,
                         [&] { return check_members(*live->description(), request.deletes); }));
  for (const auto& [scope, deletion] : deletions) {
    context.table_changes.begin(scope, deletion);
    context.kinesis.forget(*deletion.shown);
  }
  announced.shown = live->description();
  return announced;
}

// ---------------------------------------------------------------- disassociation

Result<void> check_disassociation(const Context& context, const Table& table) {
  if (table.replicas.empty()) return not_replicas({table.region});
  if (table.strong) {
    return error::validation(
        "Disassociation of a replica is not supported for global tables with MultiRegionConsistency set to "
        "STRONG.");
  }
  if (!settings_of(table).disassociation_allowed) {
    return error::validation(
        "Cannot disassociate table " + table.name + " in region " + table.region +
        " because it has disassociation protection enabled. Disable disassociation protection first.");
  }
  if (is_being_copied(context, table)) return being_changed();
  return {};
}

// The writes in flight from the table to its replicas and back.
struct Pending {
  bool any = false;
  bool is_held = false;  // by a pause or a lag
};
Pending pending_of(const Context& context, const Table& table) {
  Pending pending;
  const engine::Replication& replication = context.database.replication();
  const auto look = [&](engine::TableId from, engine::TableId to, const engine::Route& route) {
    if (!replication.is_in_flight(from, to)) return;
    pending.any = true;
    if (replication.route(table.account, route) != engine::RouteSetting{}) pending.is_held = true;
  };
  for (const engine::Replica& replica : table.replicas) {
    look(table.id, replica.table, {table.region, replica.region});
    look(replica.table, table.id, {replica.region, table.region});
  }
  return pending;
}

// The table is not disassociated while writes are in flight. If a pause or a lag holds them, the response is
// still a success; clients can tell from the remaining replicas that the table is still associated.
Result<TableChange> disassociate(Context& context, const std::shared_ptr<engine::LiveTable>& live) {
  const auto before = live->description();
  CHECK_OK(check_disassociation(context, *before));
  TableChange announced{TableStatus::updating, nullptr};
  announced.global = global_table_of(context, *before);
  for (int tries = 0; tries < tries_max; ++tries) {
    context.database.replication().settle(context.database.accounts().of(context.scope.account));
    if (pending_of(context, *before).is_held) break;
    Result<void> checked;
    bool is_pending = false;
    const auto after = context.database.tables().update_together(live, [&](std::vector<Table>& tables) {
      const auto now = live->description();
      checked = check_disassociation(context, *now);
      is_pending = checked && pending_of(context, *now).any;
      if (!checked || is_pending) return false;
      find_own(tables, live->id())->replicas.clear();
      return true;
    });
    CHECK_OK(std::move(checked));
    if (after) break;
    if (!is_pending) return named_table_not_found(before->name);
  }
  announced.shown = live->description();
  return announced;
}

// ---------------------------------------------------------------- changes

Result<void> check_override(const Table& table, const Value& action) {
  const bool on_demand = settings_of(table).on_demand;
  if (action.member("KMSMasterKeyId") != nullptr) return keys_differ();
  if (!has_overrides(action)) return no_replica_actions();
  if (on_demand && read_units(action)) {
    return error::validation(
        "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
        "PAY_PER_REQUEST");
  }
  if (!on_demand && read_limit(action)) {
    return error::validation(
        "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is "
        "PROVISIONED");
  }
  if (const auto name = string_member(action, "TableClassOverride")) {
    CHECK_OK(check_table_class(*name));
  }
  return {};
}

Result<TableChange> change_replicas(Context& context, const ReplicaRequest& request,
                                    const std::shared_ptr<engine::LiveTable>& live) {
  const auto before = live->description();
  CHECK_OK(check_members(*before, request.updates));
  for (const Value* update : request.updates) CHECK_OK(check_override(*before, *update));
  if (is_being_copied(context, *before)) return being_changed();
  TableChange announced{TableStatus::updating, nullptr};
  announced.global = global_table_of(context, *before);
  const auto after = context.database.tables().update_together(live, [&](std::vector<Table>& tables) {
    for (const Value* update : request.updates)
      for (Table& each : tables)
        if (each.region == replica_region(*update)) override_settings(each, *update, context.now());
    return true;
  });
  if (!after) return named_table_not_found(before->name);
  announced.shown = live->description();
  return announced;
}

}  // namespace

Result<void> drop_replicas(Context& context, const std::shared_ptr<engine::LiveTable>& live,
                           const std::function<bool(const Table&)>& goes,
                           const std::function<Result<void>()>& check) {
  for (int tries = 0; tries < tries_max; ++tries) {
    // Delivers writes that the tables to be dropped have not sent yet.
    context.database.replication().settle(context.database.accounts().of(context.scope.account));
    Result<void> checked;
    bool arrives = false;
    const auto after = context.backups.update_together(live, [&](std::vector<Table>& tables) {
      checked = check();
      arrives = checked && any_arrives(context, tables, goes);
      return checked && !arrives && std::erase_if(tables, goes) > 0;
    });
    CHECK_OK(std::move(checked));
    if (after) return {};
    if (!arrives) return named_table_not_found(live->description()->name);
  }
  return being_changed();
}

Result<TableChange> update_replicas(Context& context, const ReplicaRequest& request,
                                    const std::shared_ptr<engine::LiveTable>& table) {
  if (!request.creates.empty()) return create_replicas(context, request, table);
  if (!request.deletes.empty()) return remove_replicas(context, request, table);
  if (request.disassociates) return disassociate(context, table);
  return change_replicas(context, request, table);
}

}  // namespace mayfly::compat
