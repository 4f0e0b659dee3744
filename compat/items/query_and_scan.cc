#include "compat/items/query_and_scan.h"

#include <string>
#include <unordered_set>
#include <vector>

#include "compat/items/capacity.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shape.h"
#include "engine/base/text.h"
#include "engine/schema/index_entries.h"

namespace mayfly::compat {
namespace {

using engine::Index;

// Attributes that the index does not project, in order of appearance.
class Unprojected {
 public:
  explicit Unprojected(const ReadTarget& target) : target_(target) {}
  void look_at(const expression::Path& path) {
    const std::string& name = expression::top_level_name(path);
    if (engine::projects(*target_.table, *target_.index, name)) return;
    if (seen_.insert(name).second) names_.push_back(name);
  }
  [[nodiscard]] bool empty() const { return names_.empty(); }
  [[nodiscard]] std::string list() const { return "[" + engine::joined(names_, ", ") + "]"; }

 private:
  const ReadTarget& target_;
  std::vector<std::string> names_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

Result<void> check_select(const json::Value& request, std::string_view message_prefix) {
  const auto select = string_member(request, "Select");
  if (!select) return {};
  const bool attributes_to_get = request.member("AttributesToGet") != nullptr;
  const bool projection = request.member("ProjectionExpression") != nullptr;
  const auto refuse = [&](const std::string& message) {
    return error::validation(std::string(message_prefix) + message);
  };
  if (*select == "SPECIFIC_ATTRIBUTES") {
    if (attributes_to_get || projection) return {};
    return refuse(
        "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES");
  }
  if (attributes_to_get || projection) {
    return refuse("Cannot specify the " +
                  std::string(projection ? "ProjectionExpression" : "AttributesToGet") +
                  " when choosing to get " + (*select == "COUNT" ? "only the Count" : std::string(*select)));
  }
  if (*select == "ALL_PROJECTED_ATTRIBUTES" && request.member("IndexName") == nullptr) {
    return refuse("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
  }
  return {};
}

Result<void> check_filter_has_no_keys(const engine::KeySchema& keys, const expression::Condition& filter,
                                      std::string_view kind) {
  for (const auto& attribute : keys.all()) {
    bool named = false;
    expression::for_each_path(filter, [&](const expression::Path& path) {
      named |= expression::top_level_name(path) == attribute.name;
    });
    if (named) {
      return error::validation(
          std::string(kind) +
          " can only contain non-primary key attributes: Primary key attribute: " + attribute.name);
    }
  }
  return {};
}

Result<void> check_all_attributes(const ReadTarget& target, const json::Value& request) {
  if (target.index == nullptr || target.index->kind != Index::Kind::global ||
      target.index->projection.kind == engine::Projection::Kind::all ||
      string_member(request, "Select") != "ALL_ATTRIBUTES") {
    return {};
  }
  return error::validation(
      "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global "
      "secondary "
      "index " +
      target.index->name + " because its projection type is not ALL");
}

Result<void> apply_index_projection(const json::Value& request, PageRequest& page) {
  return apply_index_projection(string_member(request, "Select") == "ALL_ATTRIBUTES", page);
}

Result<void> apply_index_projection(bool all_attributes, PageRequest& page) {
  const ReadTarget& target = page.target;
  if (target.index == nullptr || target.index->projection.kind == engine::Projection::Kind::all) return {};
  page.whole_items = all_attributes;
  if (page.projection) {
    Unprojected unprojected(target);
    for (const auto& path : *page.projection) unprojected.look_at(path);
    if (!unprojected.empty() && target.index->kind == Index::Kind::global) {
      return error::validation("One or more parameter values were invalid: Global secondary index " +
                               target.index->name + " does not project " + unprojected.list());
    }
    // A read of a local index fetches the missing attributes from the table.
    page.whole_items = !unprojected.empty();
  }
  return {};
}

Result<void> check_filter_is_projected(const PageRequest& page, PathsOf& for_each_path) {
  const ReadTarget& target = page.target;
  if (target.index == nullptr || !page.filter || page.whole_items) return {};
  Unprojected unprojected(target);
  for_each_path(*page.filter, [&](const expression::Path& path) { unprojected.look_at(path); });
  if (unprojected.empty()) return {};
  return error::validation("One or more parameter values were invalid: Secondary index " +
                           target.index->name +
                           " does not project one or more filter attributes: " + unprojected.list());
}

Result<void> answer_page(const Context& context, const json::Value& request, const PageRequest& page_request,
                         json::Writer& out) {
  const bool count_only = string_member(request, "Select") == "COUNT";
  out.begin_object();
  if (!count_only) out.key("Items");
  TRY(const Page page, read_page(context.database, page_request, count_only ? nullptr : &out));
  out.key("Count");
  out.integer(static_cast<std::int64_t>(page.count));
  out.key("ScannedCount");
  out.integer(static_cast<std::int64_t>(page.scanned));
  if (page.last_evaluated_key) {
    out.key("LastEvaluatedKey");
    write_item_object(out, *page.last_evaluated_key);
  }
  if (const auto mode = return_capacity(request); mode != ReturnCapacity::none) {
    ConsumedCapacity consumed(page_request.target.table->name);
    consumed.add_table(page.table_units);
    if (page_request.target.index != nullptr)
      consumed.add_index(*page_request.target.index, page.index_units);
    out.key("ConsumedCapacity");
    consumed.write(out, mode);
  }
  out.end_object();
  return {};
}

}  // namespace mayfly::compat
