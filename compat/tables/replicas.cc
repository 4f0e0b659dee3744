#include "compat/tables/replicas.h"

#include "compat/settings/settings.h"
#include "compat/settings/throughput.h"

namespace mayfly::compat {
namespace {

constexpr engine::Instant source_ms = 24 * 60 * 60 * 1000;

// Keeps the overrides of a table or a global index.
template <class Settings>
void keep_override(const Settings& own, const Settings& was, engine::Instant at, Settings& edited) {
  const bool is_provisioned = was.throughput.read_units > 0 && edited.throughput.read_units > 0;
  if (is_provisioned && was.throughput.read_units != own.throughput.read_units)
    edited.throughput = changed_throughput(
        was.throughput,
        {.read_units = was.throughput.read_units, .write_units = edited.throughput.write_units}, at);
  if (was.on_demand_limits.read_units_max != own.on_demand_limits.read_units_max)
    edited.on_demand_limits.read_units_max = was.on_demand_limits.read_units_max;
}

std::shared_ptr<const engine::Table> table_in(const Context& context, const engine::Table& table,
                                              const std::string& region) {
  const auto live = context.database.catalog().find({table.account, region}, table.name);
  return live ? live->description() : nullptr;
}

}  // namespace

std::optional<GlobalTable> global_table_of(const Context& context, const engine::Table& table) {
  if (table.replicas.empty()) return std::nullopt;
  GlobalTable global;
  global.strong = table.strong;
  if (table.strong) global.witness = settings_of(table).witness;
  for (const engine::Replica& replica : table.replicas) {
    auto shown = table_in(context, table, replica.region);
    if (!shown) continue;
    TableStatus status = shown->copies_from.empty() ? TableStatus::active : TableStatus::creating;
    if (context.table_changes.status({table.account, replica.region}, table.name) == TableStatus::creating)
      status = TableStatus::creating;
    global.replicas.push_back({replica.region, status, std::move(shown)});
  }
  return global;
}

TableChange settled_table(const Context& context, std::shared_ptr<const engine::Table> table) {
  TableChange change{table->copies_from.empty() ? TableStatus::active : TableStatus::creating, table};
  change.global = global_table_of(context, *table);
  return change;
}

bool is_being_copied(const Context& context, const engine::Table& table) {
  if (!table.copies_from.empty()) return true;
  for (const engine::Replica& replica : table.replicas) {
    const auto other = table_in(context, table, replica.region);
    if (other && !other->copies_from.empty()) return true;
  }
  return false;
}

Result<void> check_no_source(const Context& context, const engine::Table& table) {
  for (const engine::Replica& replica : table.replicas) {
    const auto other = table_in(context, table, replica.region);
    if (!other) continue;
    const TableSettings settings = settings_of(*other);
    if (settings.replica_source != table.region || !settings.replica_since ||
        context.now() - *settings.replica_since >= source_ms)
      continue;
    return error::validation(
        "Replica cannot be deleted because it has acted as a source region for new replica(s) being added to "
        "the table in the last 24 hours.");
  }
  return {};
}

Unexpected<Error> protected_replica(const engine::Table& table) {
  return error::validation("Cannot delete table " + table.name + " in region " + table.region +
                           " because it has deletion protection enabled. Disable deletion protection first.");
}

Unexpected<Error> strong_stays_whole() {
  return error::validation(
      "Deletion of only one table replica is not supported for global tables with MultiRegionConsistency set "
      "to STRONG.");
}

Unexpected<Error> being_changed() {
  return error::resource_in_use("The resource which you are attempting to change is in use.");
}

void keep_overrides(const engine::Table& own, const engine::Table& was, engine::Instant at,
                    engine::Table& edited) {
  change_settings(edited, [&](TableSettings& settings) {
    keep_override(settings_of(own), settings_of(was), at, settings);
  });
  for (engine::Index& index : edited.indexes) {
    const engine::Index* of_own = own.find_index(index.name);
    const engine::Index* before = was.find_index(index.name);
    if (index.kind != engine::Index::Kind::global || of_own == nullptr || before == nullptr) continue;
    change_settings(index, [&](IndexSettings& settings) {
      keep_override(settings_of(*of_own), settings_of(*before), at, settings);
    });
  }
}

}  // namespace mayfly::compat
