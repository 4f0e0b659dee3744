#include <algorithm>
#include <functional>
#include <vector>

#include "compat/items/vector_entries.h"
#include "compat/memory_room.h"
#include "compat/operations/operations.h"
#include "compat/operations/tables/replica_updates.h"
#include "compat/settings/settings.h"
#include "compat/settings/table_settings.h"
#include "compat/settings/throughput.h"
#include "compat/tables/description.h"
#include "compat/tables/lookup.h"
#include "compat/tables/projection.h"
#include "compat/tables/replicas.h"
#include "compat/tables/schema.h"
#include "compat/tables/update_rules.h"
#include "compat/tables/vector_indexes.h"
#include "compat/wire/shapes_replica.h"
#include "compat/wire/shapes_vector.h"

namespace mayfly::compat {
namespace {

using engine::Index;
using engine::Table;
using json::Value;

constexpr Member first[] = {
    {"TableName", &shapes::table_name_first, required_first},
    {"ProvisionedThroughput", &shapes::provisioned_throughput},
    {"BillingMode", &shapes::billing_mode},
    {"GlobalSecondaryIndexUpdates", &shapes::global_index_updates},
    {"AttributeDefinitions", &shapes::attribute_definitions},
    {"StreamSpecification", &shapes::stream_specification},
};
constexpr Member last[] = {
    {"ReplicaUpdates", &shapes::replica_updates},
    {"MultiRegionConsistency", &shapes::region_consistency},
    {"GlobalTableWitnessUpdates", &shapes::witness_updates},
    {"VectorIndexUpdates", &shapes::vector_index_updates},
};
constexpr auto members = with_settings<TableSetting::In::update>(first, last);
constexpr Shape shape = structure("UpdateTableInput", members);

// The planned changes to a table: edits that are applied, one after another, to copies of the table's
// description and settings.
struct Plan {
  std::vector<TableEdit> edits;                           // in all regions of a global table
  std::vector<TableEdit> regional;                        // in this region only
  TableChange announced{TableStatus::updating, nullptr};  // `shown` is set at the end
};

Index* find_global(Table& table, std::string_view name) {
  const auto found = std::find_if(table.indexes.begin(), table.indexes.end(), [&](const Index& index) {
    return index.kind == Index::Kind::global && index.name == name;
  });
  return found == table.indexes.end() ? nullptr : &*found;
}

const Index* find_global(const Table& table, std::string_view name) {
  return find_global(const_cast<Table&>(table), name);
}

// ---------------------------------------------------------------- billing and throughput

struct Billing {
  bool was_on_demand;
  bool on_demand;  // after the change
  [[nodiscard]] bool switched() const { return on_demand != was_on_demand; }
};

Result<Billing> read_billing(const Value& request, const TableSettings& settings) {
  const auto mode = string_member(request, "BillingMode");
  const bool on_demand = mode ? *mode == "PAY_PER_REQUEST" : settings.on_demand;
  if (on_demand && request.member("ProvisionedThroughput") != nullptr) {
    return error::validation(
        "One or more parameter values were invalid: Neither ReadCapacityUnits nor WriteCapacityUnits can be "
        "specified when BillingMode is PAY_PER_REQUEST");
  }
  if (const auto given = on_demand_limit_given(request.member("OnDemandThroughput")); given && !on_demand) {
    return error::validation(
        "One or more parameter values were invalid: " + std::string(*given) +
        " for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED");
  }
  return Billing{settings.on_demand, on_demand};
}

// When a table switches from on-demand to provisioned, the request must set the throughput of each global
// index.
Result<void> check_indexes_provisioned(const Value& request, const Table& table) {
  const auto updates = index_updates(request);
  std::string missing;
  for (const auto& index : table.indexes) {
    if (index.kind != Index::Kind::global) continue;
    const bool given = std::any_of(updates.begin(), updates.end(), [&](const IndexAction& action) {
      return action.name() == index.name && action.create == nullptr;
    });
    if (!given) missing += (missing.empty() ? "" : ",") + index.name;
  }
  if (missing.empty()) return {};
  return error::validation(
      "One or more parameter values were invalid: ProvisionedThroughput must be specified for index: " +
      missing);
}

void plan_on_demand(Plan& plan, engine::Instant done) {
  plan.edits.push_back([done](Table& table, TableSettings& settings) {
    settings.on_demand = true;
    settings.on_demand_since = done;
    settings.throughput = changed_throughput(settings.throughput, {}, done);
    for (auto& index : table.indexes) {
      if (index.kind != Index::Kind::global) continue;
      change_settings(index, [&](IndexSettings& each) {
        each.throughput = changed_throughput(each.throughput, {}, done);
      });
    }
  });
}

Result<void> plan_throughput(const Value& request, const Table& table, const TableSettings& settings,
                             const Billing& billing, engine::Instant done, Plan& plan) {
  if (billing.switched() && billing.on_demand) plan_on_demand(plan, done);
  if (billing.switched() && !billing.on_demand) {
    CHECK_OK(check_indexes_provisioned(request, table));
    plan.edits.push_back([](Table&, TableSettings& edited) { edited.on_demand = false; });
  }
  if (const Value* value = request.member("ProvisionedThroughput")) {
    const auto requested = read_throughput(*value);
    CHECK_OK(check_throughput_change(settings.throughput, requested, {}, done));
    plan.edits.push_back([=](Table&, TableSettings& edited) {
      edited.throughput = changed_throughput(edited.throughput, requested, done);
    });
  }
  return {};
}

// ---------------------------------------------------------------- global indexes

Unexpected<Error> one_index_at_a_time() {
  return error::limit_exceeded(
      "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table");
}

Unexpected<Error> no_index(const std::string& name, const Table& table) {
  return error::resource_not_found("Requested resource not found: Index " + name + " for table " +
                                   table.name);
}

// Succeeds if the table has a global index with this name.
Result<void> check_is_global(const Table& table, const std::string& name, const char* verb) {
  if (find_global(table, name) != nullptr) return {};
  if (table.find_index(name) != nullptr) {
    return error::validation("Cannot " + std::string(verb) +
                             " an index that is not a GlobalSecondaryIndex: " + name);
  }
  return no_index(name, table);
}

// The change has no effect if the index has been dropped meanwhile.
template <class Change>
void plan_index_settings(const std::string& name, Change change, Plan& plan) {
  plan.edits.push_back([name, change](Table& edited, TableSettings&) {
    if (Index* index = find_global(edited, name)) change_settings(*index, change);
  });
}

Result<void> plan_index_update(const Value& update, const Table& table, const Billing& billing,
                               engine::Instant done, Plan& plan) {
  const std::string name(*string_member(update, "IndexName"));
  const Value* throughput = update.member("ProvisionedThroughput");
  if (throughput != nullptr) {
    const auto requested = read_throughput(*throughput);
    if (requested.read_units > capacity_units_max || requested.write_units > capacity_units_max) {
      return error::validation(
          "This operation cannot be performed with given input values. Please contact DynamoDB service team "
          "for more "
          "info: Action Blocked: IndexUpdate");
    }
  }
  CHECK_OK(check_is_global(table, name, "update"));
  const IndexSettings settings = settings_of(*find_global(table, name));
  const Value* limits = update.member("OnDemandThroughput");
  const Value* warm = update.member("WarmThroughput");
  const bool nothing = warm == nullptr && !on_demand_limit_given(limits);
  if (billing.on_demand && !billing.switched() && (throughput != nullptr || nothing)) {
    return error::validation(
        "One or more parameter values were invalid: The only Updates for index: " + name +
        " when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput");
  }
  plan.announced.index_statuses[name] = "UPDATING";
  if (throughput != nullptr) {
    const auto requested = read_throughput(*throughput);
    CHECK_OK(check_throughput_change(settings.throughput, requested, name, done));
    plan_index_settings(
        name,
        [=](IndexSettings& edited) {
          edited.throughput = changed_throughput(edited.throughput, requested, done);
        },
        plan);
  }
  if (limits != nullptr) {
    if (const auto given = on_demand_limit_given(limits); given && !billing.on_demand) {
      return error::validation("One or more parameter values were invalid: " + std::string(*given) +
                               " for OnDemandThroughput for index : " + name +
                               " cannot be specified when the table BillingMode is PROVISIONED");
    }
    TRY(const auto read, read_on_demand_limits(limits, settings.on_demand_limits, false, name));
    plan_index_settings(
        name, [read = read](IndexSettings& edited) { edited.on_demand_limits = read; }, plan);
  }
  if (warm != nullptr) {
    const auto current =
        settings.warm.value_or(default_warm_throughput(billing.was_on_demand, settings.throughput));
    TRY(const auto read, read_warm_throughput(*warm, current, name));
    plan_index_settings(
        name, [read = read](IndexSettings& edited) { edited.warm = read; }, plan);
    plan.announced.warming.insert(name);
  }
  return {};
}

std::string schema_text(const engine::KeyAttribute& attribute, std::string_view key_type) {
  return "Schema:[SchemaElement: key{" + attribute.name + ":" + std::string(type_name(attribute.type)) + ":" +
         std::string(key_type) + "}]";
}

Unexpected<Error> redefined(const std::string& existing, const std::string& wanted) {
  return error::validation(
      "One or more parameter values were invalid: Attributes cannot be redefined. Please check that "
      "your attribute has the same type as previously defined. Existing schema: " +
      existing + " New schema: " + wanted);
}

// Key attributes of a new index that are already defined must have the same type.
Result<void> check_not_redefined(const Table& table, const Index& index) {
  const auto vectors = vector_indexes_of(table);
  const auto check = [&](std::span<const engine::KeyAttribute> attributes,
                         std::string_view key_type) -> Result<void> {
    for (const auto& attribute : attributes) {
      for (const VectorIndex& vector : vectors) {
        if (vector.attribute == attribute.name)
          return redefined(vector_schema_text(vector), schema_text(attribute, key_type));
      }
      for (const auto& known : table.attribute_definitions) {
        if (known.name != attribute.name || known.type == attribute.type) continue;
        return redefined(schema_text(known, key_type), schema_text(attribute, key_type));
      }
    }
    return {};
  };
  CHECK_OK(check(index.keys.partition(), "HASH"));
  return check(index.keys.sort(), "RANGE");
}

void add_definitions(Table& table, std::span<const engine::KeyAttribute> attributes) {
  for (const auto& attribute : attributes) {
    const auto& known = table.attribute_definitions;
    if (std::find(known.begin(), known.end(), attribute) == known.end()) {
      table.attribute_definitions.push_back(attribute);
    }
  }
}

void drop_unused_definitions(Table& table, const TableSettings& settings) {
  const auto& vectors = settings.vector_indexes;
  std::erase_if(table.attribute_definitions, [&](const engine::KeyAttribute& attribute) {
    return !table.keys.names(attribute.name) &&
           std::none_of(table.indexes.begin(), table.indexes.end(),
                        [&](const Index& index) { return index.keys.names(attribute.name); }) &&
           std::none_of(vectors.begin(), vectors.end(),
                        [&](const VectorIndex& index) { return searches(index, attribute.name); });
  });
}

Result<void> check_new_name(const Table& table, std::string_view name) {
  if (table.find_index(name) == nullptr && find_vector_index(vector_indexes_of(table), name) == nullptr)
    return {};
  return error::validation("Attempting to create an index which already exists");
}

Result<void> plan_index_creation(const Value& request, const Value& create, const Table& table,
                                 const Billing& billing, Plan& plan) {
  CHECK_OK(check_new_name(table, *string_member(create, "IndexName")));
  const Value* list = request.member("AttributeDefinitions");
  if (list == nullptr) {
    return error::validation(
        "One or more parameter values were invalid: AttributeDefinitions is not specified for index: " +
        std::string(*string_member(create, "IndexName")));
  }
  TRY(const auto definitions, read_attribute_definitions(*list));
  TRY(auto index, read_global_index(create, definitions, {billing.on_demand, false}));
  CHECK_OK(check_not_redefined(table, index));
  if (!billing.on_demand && create.member("ProvisionedThroughput") == nullptr) {
    return error::validation(
        "One or more parameter values were invalid: Both ReadCapacityUnits and WriteCapacityUnits must be "
        "specified for "
        "index: " +
        index.name);
  }
  const auto globals = std::count_if(table.indexes.begin(), table.indexes.end(),
                                     [](const Index& each) { return each.kind == Index::Kind::global; });
  if (static_cast<std::size_t>(globals) >= global_indexes_max) {
    return error::limit_exceeded(
        "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of 20");
  }
  index.state = Index::State::creating;
  plan.announced.index_statuses[index.name] = index_is_creating;
  plan.edits.push_back([index](Table& edited, TableSettings&) {
    if (edited.find_index(index.name) != nullptr) return;  // another request was faster
    add_definitions(edited, index.keys.all());
    edited.indexes.push_back(index);
  });
  return {};
}

Result<void> plan_index_deletion(const Value& remove, const Table& table, Plan& plan) {
  const std::string name(*string_member(remove, "IndexName"));
  CHECK_OK(check_is_global(table, name, "delete"));
  plan.announced.index_statuses[name] = "DELETING";
  plan.edits.push_back([name](Table& edited, TableSettings& settings) {
    std::erase_if(edited.indexes, [&](const Index& index) {
      return index.kind == Index::Kind::global && index.name == name;
    });
    drop_unused_definitions(edited, settings);
  });
  return {};
}

Result<void> plan_indexes(const Context& context, const Value& request, const Table& table,
                          const Billing& billing, engine::Instant done, Plan& plan) {
  const auto actions = index_updates(request);
  const auto online = std::count_if(actions.begin(), actions.end(),
                                    [](const IndexAction& action) { return action.update == nullptr; });
  if (static_cast<std::size_t>(online) + vector_updates(request).size() > 1) return one_index_at_a_time();
  const bool busy = std::any_of(table.indexes.begin(), table.indexes.end(),
                                [](const Index& index) { return index.state == Index::State::creating; });
  for (const auto& action : actions) {
    if (action.create != nullptr && busy) return one_index_at_a_time();
    if (action.update != nullptr) CHECK_OK(plan_index_update(*action.update, table, billing, done, plan));
    if (action.create != nullptr) CHECK_OK(check_room(context.database));
    if (action.create != nullptr)
      CHECK_OK(plan_index_creation(request, *action.create, table, billing, plan));
    if (action.remove != nullptr) CHECK_OK(plan_index_deletion(*action.remove, table, plan));
  }
  return {};
}

// ---------------------------------------------------------------- vector indexes

// The vector attribute must not be a key attribute, because a key attribute has a different type.
Result<void> check_is_no_key(const Table& table, const VectorIndex& index) {
  const auto check = [&](const engine::KeySchema& keys) -> Result<void> {
    const auto named = [&](const engine::KeyAttribute& attribute) {
      return attribute.name == index.attribute;
    };
    const auto find = [&](std::span<const engine::KeyAttribute> attributes, std::string_view key_type) {
      const auto found = std::find_if(attributes.begin(), attributes.end(), named);
      return found == attributes.end() ? std::string() : schema_text(*found, key_type);
    };
    std::string existing = find(keys.partition(), "HASH");
    if (existing.empty()) existing = find(keys.sort(), "RANGE");
    if (existing.empty()) return {};
    return redefined(existing, vector_schema_text(index));
  };
  CHECK_OK(check(table.keys));
  for (const Index& each : table.indexes) CHECK_OK(check(each.keys));
  return {};
}

Result<void> plan_vector_creation(const Value& request, const Value& create, const Table& table,
                                  const TableSettings& settings, Plan& plan) {
  CHECK_OK(check_new_name(table, *string_member(create, "IndexName")));
  std::vector<engine::KeyAttribute> definitions;
  if (const Value* list = request.member("AttributeDefinitions")) {
    TRY(definitions, read_attribute_definitions(*list));
  }
  TRY(const auto index, read_vector_index(create, definitions, settings.vector_indexes));
  CHECK_OK(check_is_no_key(table, index));
  std::vector<engine::KeyAttribute> searched;
  for (const SearchElement& element : index.search_schema)
    searched.push_back(*find_definition(definitions, element.name));
  for (const auto& attribute : searched) {
    const auto* known = find_definition(table.attribute_definitions, attribute.name);
    if (known != nullptr && known->type != attribute.type)
      return redefined(schema_text(*known, "HASH"), schema_text(attribute, "HASH"));
  }
  if (settings.vector_indexes.size() >= vector_indexes_max) {
    return error::limit_exceeded(
        "Subscriber limit exceeded: Number of vector secondary indexes exceeds per-table limit of " +
        std::to_string(vector_indexes_max));
  }
  plan.announced.index_statuses[index.name] = index_is_creating;
  plan.edits.push_back([index, searched](Table& edited, TableSettings& edited_settings) {
    auto& indexes = edited_settings.vector_indexes;
    if (find_vector_index(indexes, index.name) != nullptr) return;  // another request was faster
    add_definitions(edited, searched);
    indexes.push_back(index);
  });
  return {};
}

Result<void> plan_vector_deletion(const Value& remove, const Table& table, const TableSettings& settings,
                                  Plan& plan) {
  const std::string name(*string_member(remove, "IndexName"));
  if (find_vector_index(settings.vector_indexes, name) == nullptr) return no_index(name, table);
  plan.announced.index_statuses[name] = "DELETING";
  plan.edits.push_back([name](Table& edited, TableSettings& edited_settings) {
    std::erase_if(edited_settings.vector_indexes,
                  [&](const VectorIndex& index) { return index.name == name; });
    drop_unused_definitions(edited, edited_settings);
  });
  return {};
}

Result<void> plan_vector_indexes(const Value& request, const Table& table, const TableSettings& settings,
                                 const Billing& billing, Plan& plan) {
  std::size_t after = settings.vector_indexes.size();
  for (const auto& action : vector_updates(request)) {
    if (action.create != nullptr) {
      CHECK_OK(plan_vector_creation(request, *action.create, table, settings, plan));
      ++after;
    } else {
      CHECK_OK(plan_vector_deletion(*action.remove, table, settings, plan));
      --after;
    }
  }
  if (after > 0 && !billing.on_demand) return vectors_need_on_demand();
  return {};
}

// ---------------------------------------------------------------- settings

Result<void> plan_stream(const Value& specification, const Table& table, Plan& plan) {
  TRY(const auto view, read_stream_view(specification, false));
  if (view && table.stream) {
    return error::validation("Table already has an enabled stream: TableName: " + table.name);
  }
  if (!view && !table.replicas.empty()) {
    return error::validation(
        "One or more parameter values were invalid: Disabling Stream is not allowed for a Global Table "
        "replica.");
  }
  if (!view && !table.stream) {
    return error::validation("Table has no stream to disable: TableName: " + table.name);
  }
  plan.edits.push_back([view](Table& edited, TableSettings&) {
    if (!view) {
      if (edited.replicas.empty()) edited.stream.reset();  // the table may be a global table by now
    } else if (!edited.stream) {
      edited.stream = engine::Stream{.view = *view};
    }
  });
  return {};
}

Result<void> plan_settings(const SettingUpdate& update, const Value& request, Plan& plan) {
  for (const TableSetting& setting : table_settings) {
    const Value* given = request.member(setting.member.name);
    if (given == nullptr || setting.update == nullptr) continue;
    TRY(const auto change, setting.update(update, *given));
    if (change.everywhere) plan.edits.push_back(change.everywhere);
    if (change.here) plan.regional.push_back(change.here);
    if (change.announced) plan.announced.changing.insert(setting.member.name);
  }
  return {};
}

// The throughput to report while the change is in progress: the old units, with the time at which the change
// began.
Throughput announced(const Throughput& before, const Throughput& after, engine::Instant begun,
                     engine::Instant done) {
  Throughput shown = before;
  if (after.last_increase == done) shown.last_increase = begun;
  if (after.last_decrease == done) shown.last_decrease = begun;
  return shown;
}

Table announced(const Table& before, Table after, const Billing& billing, engine::Instant begun,
                engine::Instant done) {
  if (billing.switched()) return after;
  // While the table stops using its key, the key is still shown.
  if (const auto key = settings_of(before).kms_key_arn; key && !settings_of(after).kms_key_arn) {
    change_settings(after, [&](TableSettings& settings) { settings.kms_key_arn = key; });
  }
  change_settings(after, [&](TableSettings& settings) {  // dropped indexes are shown as DELETING
    for (const VectorIndex& index : vector_indexes_of(before)) {
      if (find_vector_index(settings.vector_indexes, index.name) == nullptr)
        settings.vector_indexes.push_back(index);
    }
  });
  const auto announce = [&](const auto& description, auto& edited) {
    const auto old = settings_of(description).throughput;
    change_settings(edited, [&](auto& settings) {
      settings.throughput = announced(old, settings.throughput, begun, done);
    });
  };
  announce(before, after);
  for (const auto& index : before.indexes) {
    if (Index* each = find_global(after, index.name)) {
      announce(index, *each);
    } else if (index.kind == Index::Kind::global) {
      after.indexes.push_back(index);  // DELETING
    }
  }
  return after;
}

void write_answer(const Context& context, const TableChange& announced, const engine::LiveTable& table,
                  json::Writer& out) {
  out.begin_object();
  out.key("TableDescription");
  write_table_description(out, announced, &table, context.now(), vector_sizes(context.database, table));
  out.end_object();
}

// As on AWS, errors in the request itself take precedence over the error for a table that is still changing.
Result<void> change_replicas(Context& context, const Value& request, const std::string& name,
                             json::Writer& out) {
  TRY(const auto replicas, read_replica_request(request, context.scope.region));
  TRY(const auto table, find_described_table(context, name));
  if (context.table_changes.status(context.scope, name)) {
    return being_changed();
  }
  TRY(const auto announced, update_replicas(context, replicas, table));
  context.table_changes.begin(context.scope, announced);
  write_answer(context, announced, *table, out);
  return {};
}

// While an index is being backfilled, no other index can be created or deleted.
Result<void> check_backfilling(const Context& context, const Table& table, const Plan& plan) {
  const auto change = context.table_changes.find({table.account, context.scope.region}, table.name);
  if (!change || change->backfilling.empty()) return {};
  for (const auto& [index, status] : plan.announced.index_statuses)
    if (status != "UPDATING" && !change->backfilling.contains(index)) return one_index_at_a_time();
  return {};
}

Result<void> run(Context& context, const Value& request, json::Writer& out) {
  CHECK_OK(check_table_update(request));
  TRY(const auto name, resolve_table_name(context, *string_member(request, "TableName")));
  if (is_being_restored(context, name)) return named_table_not_found(name);
  if (asks_for_replicas(request)) return change_replicas(context, request, name, out);
  CHECK_OK(check_settled(context, name));
  TRY(const auto table, find_named_table(context, name));
  const auto before = table->description();
  const auto begun = context.now();
  const auto done = begun + 1;  // a change ends after it began, and clients compare the two times
  const TableSettings settings = settings_of(*before);
  TRY(const auto billing, read_billing(request, settings));
  Plan plan;
  CHECK_OK(plan_throughput(request, *before, settings, billing, done, plan));
  CHECK_OK(plan_indexes(context, request, *before, billing, done, plan));
  CHECK_OK(plan_vector_indexes(request, *before, settings, billing, plan));
  if (const Value* stream = request.member("StreamSpecification"))
    CHECK_OK(plan_stream(*stream, *before, plan));
  CHECK_OK(plan_settings({context, *before, settings, done}, request, plan));

  CHECK_OK(check_backfilling(context, *before, plan));
  if (is_being_copied(context, *before)) {
    return being_changed();
  }
  const auto changed = context.database.tables().update_together(table, [&](std::vector<Table>& tables) {
    const auto own = table->description();
    for (Table& edited : tables) {
      const Table was = edited;
      change_settings(edited, [&](TableSettings& edited_settings) {
        for (const auto& edit : plan.edits) edit(edited, edited_settings);
        if (edited.id != table->id()) return;
        for (const auto& edit : plan.regional) edit(edited, edited_settings);
      });
      if (edited.id != table->id()) keep_overrides(*own, was, done, edited);
    }
    return true;
  });
  if (!changed) return named_table_not_found(before->name);
  const auto after = table->description();
  plan.announced.shown = std::make_shared<const Table>(announced(*before, *after, billing, begun, done));
  plan.announced.global = global_table_of(context, *after);
  context.table_changes.begin(context.scope, plan.announced);
  write_answer(context, plan.announced, *table, out);
  return {};
}

}  // namespace

constinit const Operation operations::update_table{
    dynamodb, "UpdateTable", Access::control, TablesIn::table_name, &shape, &run};

}  // namespace mayfly::compat
