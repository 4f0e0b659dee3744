// Describes each setting that CreateTable and UpdateTable accept and DescribeTable shows.
//
// The descriptions provide members of both requests' shapes, UpdateTable's rule about the changes that one
// request can combine, and members of a table's description. To add a setting, describe it here, and add its
// stored form to settings.h. A setting that depends on others, such as the billing mode, stays with the
// operations.
//
// The descriptions are in a header because shapes are constants.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compat/context.h"
#include "compat/json/json.h"
#include "compat/json/json_members.h"
#include "compat/settings/encryption.h"
#include "compat/settings/policy.h"
#include "compat/settings/settings.h"
#include "compat/settings/table_class.h"
#include "compat/settings/tags.h"
#include "compat/settings/throughput.h"
#include "compat/wire/error.h"
#include "compat/wire/shape.h"
#include "compat/wire/shapes_table.h"

namespace mayfly::compat {

// What UpdateTable changes in a table that is being edited.
using TableEdit = std::function<void(engine::Table&, TableSettings&)>;
struct SettingChange {
  TableEdit everywhere{};  // in all regions of a global table
  TableEdit here{};        // in this region only, after `everywhere`
  bool announced = false;  // DescribeTable shows that the setting is changing
};

struct SettingUpdate {
  const Context& context;
  const engine::Table& table;
  const TableSettings& settings;  // before the request
  engine::Instant done;           // when the change takes effect
};

struct DescribedSettings {
  const TableSettings& settings;
  bool changing;    // a change of this setting was announced
  bool creating;    // the table is CREATING
  bool deleting;    // the table is DELETING
  bool replicated;  // the table has replicas
};

struct TableSetting {
  enum class In { create, update, both };
  Member member;
  In in = In::both;
  bool empty_is_absent = false;  // UpdateTable does not count an empty object as a change
  // UpdateTable: "X must be the only operation in the request". Empty: other changes are allowed.
  std::string_view alone{};
  // Checks the value before the table is looked up. nullptr: every value is valid.
  Result<void> (*check)(const json::Value& given, bool creating) = nullptr;
  // CreateTable: changes `settings`, in which billing and throughput are already set. nullptr: the operation
  // reads the member itself.
  Result<void> (*create)(const Context&, const json::Value& given, TableSettings& settings) = nullptr;
  Result<SettingChange> (*update)(const SettingUpdate&, const json::Value& given) = nullptr;
  void (*describe)(json::Writer& out, const DescribedSettings&) = nullptr;
};

// The settings are in the order in which AWS checks them, in both operations.
inline constexpr TableSetting table_settings[] = {
    {
        // CreateTable reads this member together with the billing mode. UpdateTable accepts it only alone or
        // together with the billing mode.
        .member = {"OnDemandThroughput", &shapes::on_demand_throughput},
        .empty_is_absent = true,
        .update = [](const SettingUpdate& update, const json::Value& given) -> Result<SettingChange> {
          TRY(const auto limits, read_on_demand_limits(&given, update.settings.on_demand_limits, false));
          return SettingChange{.everywhere = [limits = limits](engine::Table&, TableSettings& edited) {
            edited.on_demand_limits = limits;
          }};
        },
        .describe =
            [](json::Writer& out, const DescribedSettings& table) {
              write_on_demand_limits(out, table.settings.on_demand_limits);
            },
    },
    {
        .member = {"SSESpecification", &shapes::encryption},
        .alone = "Server-Side Encryption modification",
        .create = [](const Context& context, const json::Value& given,
                     TableSettings& settings) -> Result<void> {
          TRY(settings.kms_key_arn, read_kms_key_arn(context, given));
          return {};
        },
        .update = [](const SettingUpdate& update, const json::Value& given) -> Result<SettingChange> {
          TRY(const auto wanted, read_kms_key_arn(update.context, given));
          CHECK_OK(check_encryption_change(update.settings.kms_key_arn, wanted, given));
          SettingChange change;
          change.announced = wanted != update.settings.kms_key_arn;
          change.here = [wanted = wanted](engine::Table&, TableSettings& edited) {
            edited.kms_key_arn = wanted;
          };
          // All regions of a global table use the same kind of encryption, and each region has its own key.
          // Only DynamoDB's managed key exists in every region.
          if (wanted && *wanted != kms_key_arn(update.context.scope)) return change;
          change.everywhere = [is_on = wanted.has_value()](engine::Table& table, TableSettings& edited) {
            edited.kms_key_arn =
                is_on ? std::optional(kms_key_arn({table.account, table.region})) : std::nullopt;
          };
          return change;
        },
        .describe =
            [](json::Writer& out, const DescribedSettings& table) {
              write_encryption(out, table.settings.kms_key_arn, table.changing);
            },
    },
    {
        .member = {"Tags", &shapes::tags},
        .in = TableSetting::In::create,
        .create = [](const Context&, const json::Value& given, TableSettings& settings) -> Result<void> {
          TRY(settings.tags, read_tags(given));
          return {};
        },
    },
    {
        .member = {"ResourcePolicy", &shapes::any_string},
        .in = TableSetting::In::create,
        .create = [](const Context& context, const json::Value& given,
                     TableSettings& settings) -> Result<void> {
          TRY(auto document, read_policy(given.string()));
          settings.policy = ResourcePolicy{std::move(document), std::to_string(context.now())};
          return {};
        },
    },
    {
        .member = {"TableClass", &shapes::any_string},
        .alone = "TableClass modification",
        .check = [](const json::Value& given, bool) -> Result<void> {
          return check_table_class(given.string());
        },
        .create = [](const Context&, const json::Value& given, TableSettings& settings) -> Result<void> {
          settings.table_class = given.string();
          return {};
        },
        .update = [](const SettingUpdate& update, const json::Value& given) -> Result<SettingChange> {
          return SettingChange{.everywhere = [done = update.done, name = std::string(given.string())](
                                                 engine::Table&, TableSettings& edited) {
            edited.table_class = name;
            edited.table_class_changed = done;
          }};
        },
        .describe =
            [](json::Writer& out, const DescribedSettings& table) {
              write_table_class(out, "TableClassSummary", table.settings);
            },
    },
    {
        .member = {"GlobalTableSettingsReplicationMode", &shapes::settings_replication},
        .check = [](const json::Value& given, bool creating) -> Result<void> {
          if (creating || given.string() != "ENABLED_WITH_OVERRIDES") return {};
          return error::validation(
              "Value 'ENABLED_WITH_OVERRIDES' at 'GlobalTableSettingsReplicationMode' failed to satisfy "
              "constraint: Only ENABLED and DISABLED settings replication are supported for a Regional "
              "Table.");
        },
        .update = [](const SettingUpdate&, const json::Value& given) -> Result<SettingChange> {
          return SettingChange{
              .everywhere = [mode = std::string(given.string())](engine::Table&, TableSettings& edited) {
                edited.settings_replication = mode;
              }};
        },
        .describe =
            [](json::Writer& out, const DescribedSettings& table) {
              std::string_view mode = table.settings.settings_replication;
              if (table.replicated) mode = "ENABLED_WITH_OVERRIDES";
              if (!mode.empty()) json::member(out, "GlobalTableSettingsReplicationMode", mode);
            },
    },
    {
        .member = {"DeletionProtectionEnabled", &shapes::boolean},
        .alone = "DeletionProtection modification",
        .create = [](const Context&, const json::Value& given, TableSettings& settings) -> Result<void> {
          settings.deletion_protection = boolean_of(given);
          return {};
        },
        .update = [](const SettingUpdate&, const json::Value& given) -> Result<SettingChange> {
          return SettingChange{.here = [protect = boolean_of(given)](engine::Table&, TableSettings& edited) {
            edited.deletion_protection = protect;
          }};
        },
        .describe =
            [](json::Writer& out, const DescribedSettings& table) {
              out.key("DeletionProtectionEnabled");
              out.boolean(table.settings.deletion_protection);
            },
    },
    {
        // The description of the global table shows this setting.
        .member = {"DisassociationProtectionEnabled", &shapes::boolean},
        .in = TableSetting::In::update,
        .alone = "DisassociationProtection modification",
        .update = [](const SettingUpdate& update, const json::Value& given) -> Result<SettingChange> {
          if (update.table.replicas.empty() || update.table.strong) {
            return error::validation(
                "DisassociationProtectionEnabled can only be modified for a replica of a global table with "
                "multi-Region eventual consistency.");
          }
          return SettingChange{.here = [protect = boolean_of(given)](engine::Table&, TableSettings& edited) {
            edited.disassociation_allowed = !protect;
          }};
        },
    },
    {
        .member = {"WarmThroughput", &shapes::warm_throughput},
        .empty_is_absent = true,
        .alone = "WarmThroughput",
        .create = [](const Context&, const json::Value& given, TableSettings& settings) -> Result<void> {
          TRY(settings.warm, read_new_warm_throughput(&given, settings.on_demand, settings.throughput));
          return {};
        },
        .update = [](const SettingUpdate& update, const json::Value& given) -> Result<SettingChange> {
          const TableSettings& before = update.settings;
          const auto current =
              before.warm.value_or(default_warm_throughput(before.on_demand, before.throughput));
          TRY(const auto wanted, read_warm_throughput(given, current));
          return SettingChange{
              .everywhere = [wanted = wanted](engine::Table&,
                                              TableSettings& edited) { edited.warm = wanted; },
              .announced = true};
        },
        .describe =
            [](json::Writer& out, const DescribedSettings& table) {
              if (table.deleting) return;
              write_warm_throughput(out, table.settings.warm, table.settings.on_demand,
                                    table.settings.throughput, !table.creating, table.changing);
            },
    },
};

// With -fsanitize=undefined, GCC does not compare the addresses of functions at compile time:
// https://gcc.gnu.org/bugzilla/show_bug.cgi?id=71962
#if !defined(__SANITIZE_ADDRESS__)
static_assert(std::all_of(std::begin(table_settings), std::end(table_settings),
                          [](const TableSetting& setting) {
                            return (setting.in == TableSetting::In::create) == (setting.update == nullptr);
                          }),
              "UpdateTable must apply each setting that it takes");
#endif

// Checks the settings of a CreateTable or UpdateTable request that can be checked without the table.
inline Result<void> check_settings(const json::Value& request, bool creating) {
  for (const TableSetting& setting : table_settings) {
    const json::Value* given = request.member(setting.member.name);
    if (given != nullptr && setting.check != nullptr) CHECK_OK(setting.check(*given, creating));
  }
  return {};
}

// Returns the members of a request: the members of its operation, with the settings in between.
template <TableSetting::In operation, std::size_t before, std::size_t after>
constexpr auto with_settings(const Member (&first)[before], const Member (&last)[after]) {
  constexpr auto has = [](const TableSetting& setting) {
    return setting.in == operation || setting.in == TableSetting::In::both;
  };
  constexpr std::size_t count = std::count_if(std::begin(table_settings), std::end(table_settings), has);
  std::array<Member, before + count + after> members{};
  auto next = std::copy(std::begin(first), std::end(first), members.begin());
  for (const TableSetting& setting : table_settings)
    if (has(setting)) *next++ = setting.member;
  std::copy(std::begin(last), std::end(last), next);
  return members;
}

}  // namespace mayfly::compat
