#include <algorithm>

#include "compat/json/json_members.h"
#include "compat/operations/operations.h"
#include "compat/settings/settings.h"
#include "compat/tables/changes.h"
#include "compat/tables/lookup.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat {
namespace {

using engine::Index;

constexpr Shape index_name = {.min = 3, .max = 255, .pattern = name_pattern, .length_first = true};
constexpr std::string_view action_values[] = {"ENABLE", "DISABLE"};
constexpr Shape action = enum_shape(action_values);
constexpr std::string_view mode_values[] = {"THROTTLED_KEYS", "ACCESSED_AND_THROTTLED_KEYS"};
constexpr Shape mode = enum_shape(mode_values);
constexpr Member update_members[] = {
    {"TableName", &shapes::table_name, required},
    {"IndexName", &index_name},
    {"ContributorInsightsAction", &action, required},
    {"ContributorInsightsMode", &mode},
};
constexpr Shape update_shape = structure("UpdateContributorInsightsInput", update_members);
constexpr Member describe_members[] = {
    {"TableName", &shapes::table_name, required},
    {"IndexName", &index_name},
};
constexpr Shape describe_shape = structure("DescribeContributorInsightsInput", describe_members);
constexpr std::int64_t results_max = 100;
constexpr Shape max_results = integer_shape({}, results_max);
constexpr Member list_members[] = {
    {"TableName", &shapes::table_name},
    {"NextToken", &shapes::any_string},
    {"MaxResults", &max_results},
};
constexpr Shape list_shape = structure("ListContributorInsightsInput", list_members);

// The table or index of a request.
struct Target {
  std::string table;
  std::string index;  // empty: the table itself
};

Result<Target> read_target(const Context& context, const json::Value& request) {
  TRY(auto table, resolve_table_name(context, *string_member(request, "TableName")));
  return Target{std::move(table), std::string(string_member(request, "IndexName").value_or(""))};
}

Unexpected<Error> index_not_found(const Target& target) {
  return error::resource_not_found("Requested resource not found: Index: " + target.index +
                                   " not found for table: " + target.table);
}

// Returns nullptr if there is no such global index.
template <class Table>
auto* find_index(Table& table, std::string_view name) {
  const auto found = std::find_if(table.indexes.begin(), table.indexes.end(), [&](const Index& index) {
    return index.kind == Index::Kind::global && index.name == name;
  });
  return found == table.indexes.end() ? nullptr : &*found;
}

void write_target(json::Writer& out, const Target& target) {
  member(out, "TableName", target.table);
  if (!target.index.empty()) member(out, "IndexName", target.index);
}

void write_rules(json::Writer& out, const Target& target, const ContributorInsights& insights,
                 const engine::KeySchema& keys) {
  const auto rule = [&](const std::string& kind) {
    out.string("DynamoDBContributorInsights-" + kind + "-" + target.table +
               (target.index.empty() ? "" : "-" + target.index) + "-" + std::to_string(insights.changed));
  };
  out.key("ContributorInsightsRuleList");
  out.begin_array();
  // There are rules for the most accessed keys (C) and for the most throttled keys (T), each for partition
  // keys (PK) and for sort keys (SK).
  for (const char measured : {'C', 'T'}) {
    if (measured == 'C' && insights.mode == "THROTTLED_KEYS") continue;
    rule(std::string("PK") + measured);
    if (!keys.sort().empty()) rule(std::string("SK") + measured);
  }
  out.end_array();
}

Result<void> update(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto target, read_target(context, request));
  TRY(const auto table, find_named_table(context, target.table));
  if (context.table_changes.status(context.scope, target.table) == TableStatus::creating) {
    return error::validation(
        "Table or Index is not in a valid state to update Key Access Insights: TableStatus must be ACTIVE to "
        "enable "
        "ContributorInsights.");
  }
  const bool enable = string_member(request, "ContributorInsightsAction") == "ENABLE";
  const std::string wanted(
      string_member(request, "ContributorInsightsMode").value_or("ACCESSED_AND_THROTTLED_KEYS"));
  const auto now = context.now();
  Result<void> changed;
  bool settled = true;  // no change was necessary
  std::optional<ContributorInsights> result;
  const auto change = [&](auto& settings) {
    std::optional<ContributorInsights>& insights = settings.insights;
    const bool was_enabled = insights && insights->enabled;
    settled = enable ? was_enabled && insights->mode == wanted : !was_enabled;
    if (!settled) insights = ContributorInsights{enable, enable ? wanted : insights->mode, now};
    result = insights;
  };
  const auto after = context.database.tables().update(table, [&](engine::Table& edited) {
    if (target.index.empty()) return change_settings(edited, change);
    Index* const index = find_index(edited, target.index);
    if (index == nullptr) {
      changed = index_not_found(target);
      return;
    }
    if (index->state == Index::State::creating) {
      changed = error::validation(
          "Table or Index is not in a valid state to update Key Access Insights: IndexStatus must be "
          "ACTIVE to "
          "enable ContributorInsights.");
      return;
    }
    change_settings(*index, change);
  });
  if (after == nullptr) return named_table_not_found(target.table);
  CHECK_OK(std::move(changed));
  out.begin_object();
  write_target(out, target);
  member(out, "ContributorInsightsStatus",
         settled ? (enable ? "ENABLED" : "DISABLED") : (enable ? "ENABLING" : "DISABLING"));
  if (result) member(out, "ContributorInsightsMode", result->mode);
  out.end_object();
  return {};
}

Result<void> describe(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto target, read_target(context, request));
  TRY(const auto table, find_named_table(context, target.table));
  const auto description = table->description();
  std::optional<ContributorInsights> insights;
  const engine::KeySchema* keys = &description->keys;
  if (target.index.empty()) {
    insights = settings_of(*description).insights;
  } else {
    const Index* const index = find_index(*description, target.index);
    if (index == nullptr) return index_not_found(target);
    insights = settings_of(*index).insights;
    keys = &index->keys;
  }
  const bool enabled = insights && insights->enabled;
  out.begin_object();
  write_target(out, target);
  if (enabled) write_rules(out, target, *insights, *keys);
  member(out, "ContributorInsightsStatus", enabled ? "ENABLED" : "DISABLED");
  if (insights) {
    out.key("LastUpdateDateTime");
    out.seconds(insights->changed);
    member(out, "ContributorInsightsMode", insights->mode);
  }
  out.end_object();
  return {};
}

struct Summary {
  Target target;
  std::string mode;
  [[nodiscard]] std::string token() const { return target.table + "/" + target.index; }
};

// A table precedes its indexes; disabled entries are not listed.
void append_summaries(const engine::Table& table, std::vector<Summary>& summaries) {
  const auto own = settings_of(table).insights;
  if (own && own->enabled) summaries.push_back({{table.name, ""}, own->mode});
  std::vector<Summary> indexes;
  for (const auto& index : table.indexes) {
    const auto insights = settings_of(index).insights;
    if (insights && insights->enabled) indexes.push_back({{table.name, index.name}, insights->mode});
  }
  std::sort(indexes.begin(), indexes.end(),
            [](const auto& a, const auto& b) { return a.token() < b.token(); });
  summaries.insert(summaries.end(), indexes.begin(), indexes.end());
}

Result<void> list(Context& context, const json::Value& request, json::Writer& out) {
  std::vector<Summary> summaries;
  if (const auto name = string_member(request, "TableName")) {
    TRY(const auto own_name, resolve_table_name(context, *name));
    TRY(const auto table, find_named_table(context, own_name));
    append_summaries(*table->description(), summaries);
  } else {
    for (const auto& each :
         context.database.catalog().names(context.scope, "", static_cast<std::size_t>(-1))) {
      if (const auto table = context.database.catalog().find(context.scope, each)) {
        append_summaries(*table->description(), summaries);
      }
    }
  }
  // The token is the position where the last page ended: "table/" for a table or "table/index" for an index.
  auto from = summaries.begin();
  if (const auto token = string_member(request, "NextToken")) {
    from = std::find_if(summaries.begin(), summaries.end(),
                        [&](const Summary& each) { return each.token() > *token; });
  }
  const auto limit =
      std::clamp(integer_member(request, "MaxResults").value_or(results_max), std::int64_t{1}, results_max);
  const auto end = summaries.end() - from > limit ? from + limit : summaries.end();
  out.begin_object();
  out.key("ContributorInsightsSummaries");
  out.begin_array();
  for (auto each = from; each != end; ++each) {
    out.begin_object();
    write_target(out, each->target);
    member(out, "ContributorInsightsStatus", "ENABLED");
    member(out, "ContributorInsightsMode", each->mode);
    out.end_object();
  }
  out.end_array();
  if (end != summaries.end()) member(out, "NextToken", std::prev(end)->token());
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::update_contributor_insights{
    dynamodb, "UpdateContributorInsights", Access::control, TablesIn::table_name, &update_shape, &update};
constinit const Operation operations::describe_contributor_insights{
    dynamodb, "DescribeContributorInsights", Access::control, TablesIn::table_name, &describe_shape,
    &describe};
constinit const Operation operations::list_contributor_insights{
    dynamodb, "ListContributorInsights", Access::control, TablesIn::table_name, &list_shape, &list};

}  // namespace mayfly::compat
