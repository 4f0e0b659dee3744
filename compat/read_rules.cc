#include "compat/read_rules.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "compat/attribute_value_json.h"
#include "compat/expression/paths.h"
#include "compat/rules.h"
#include "compat/shape.h"
#include "engine/index_entries.h"
#include "engine/key_codec.h"

namespace mayfly::compat {

namespace {

using engine::AttributeValue;
using engine::Index;
using engine::Item;
using expression::KeyCondition;
using expression::KeyPredicate;

// Names that the index does not project, in order of appearance.
class Unprojected {
 public:
  explicit Unprojected(const ReadTarget& target) : target_(target) {}
  void look_at(const expression::Path& path) {
    const std::string& name = expression::top_level_name(path);
    if (engine::projects(*target_.table, *target_.index, name)) return;
    if (seen_.insert(name).second) names_.push_back(name);
  }
  [[nodiscard]] bool empty() const { return names_.empty(); }
  [[nodiscard]] std::string list() const {
    std::string text;
    for (const std::string& name : names_) text += (text.empty() ? "" : ", ") + name;
    return "[" + text + "]";
  }

 private:
  const ReadTarget& target_;
  std::vector<std::string> names_;
  std::unordered_set<std::string> seen_;
};

Result<void> check_start_attributes(const std::vector<engine::KeyAttribute>& attributes, const Item& start_key,
                                    bool partition) {
  for (const auto& attribute : attributes) {
    if (start_key.find(attribute.name) == nullptr) return error::validation("The provided starting key is invalid");
    CHECK_OK(check_request_key_attribute(start_key, attribute, partition));
  }
  return {};
}

std::string with_scalar(std::string prefix, const AttributeValue& scalar) {
  engine::append_scalar(prefix, scalar);
  return prefix;
}

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
    return refuse("Cannot specify the " + std::string(projection ? "ProjectionExpression" : "AttributesToGet") +
                  " when choosing to get " + (*select == "COUNT" ? "only the Count" : std::string(*select)));
  }
  if (*select == "ALL_PROJECTED_ATTRIBUTES" && request.member("IndexName") == nullptr) {
    return refuse("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
  }
  return {};
}

Result<std::optional<Item>> read_start_key(const json::Value& request) {
  const json::Value* member = request.member("ExclusiveStartKey");
  if (member == nullptr) return std::optional<Item>();
  auto key = read_item(*member);
  if (!key) {
    // Measured: complaints about numbers come bare, and so does that about a number set's duplicates.
    const std::string& message = key.error().message;
    constexpr std::string_view bare[] = {"contains duplicates", "number set", "numeric value", "significant digits",
                                         "number with magnitude"};
    const bool is_bare = std::any_of(std::begin(bare), std::end(bare), [&](std::string_view part) {
      return message.find(part) != std::string::npos;
    });
    return error::validation((is_bare ? "" : "The provided starting key is invalid: ") + message);
  }
  return std::optional<Item>(*std::move(key));
}

Result<ReadTarget> find_read_target(const Context& context, const json::Value& request) {
  return find_read_target(context, request.member("TableName")->string(), string_member(request, "IndexName"),
                          boolean_member(request, "ConsistentRead").value_or(false));
}

Result<ReadTarget> find_read_target(const Context& context, std::string_view table_name,
                                    std::optional<std::string_view> index_name, bool consistent) {
  ReadTarget target;
  TRY(target.live, find_table(context, table_name));
  target.table = target.live->description();
  if (!index_name) return target;
  target.index = target.table->find_index(*index_name);
  if (target.index == nullptr) {
    return error::validation("The table does not have the specified index: " + std::string(*index_name));
  }
  if (target.index->kind == Index::Kind::global) {
    if (consistent) {
      return error::validation("Consistent reads are not supported on global secondary indexes");
    }
    if (target.index->state == Index::State::creating) {
      return error::validation("Cannot read from backfilling global secondary index: " + target.index->name);
    }
  }
  return target;
}

std::size_t start_key_size(const ReadTarget& target) {
  const auto& table_keys = target.table->keys;
  std::size_t size = table_keys.partition.size() + table_keys.sort.size();
  if (target.index == nullptr) return size;
  const auto is_new = [&](const engine::KeyAttribute& attribute) {
    const auto named = [&](const engine::KeyAttribute& other) { return other.name == attribute.name; };
    return std::none_of(table_keys.partition.begin(), table_keys.partition.end(), named) &&
           std::none_of(table_keys.sort.begin(), table_keys.sort.end(), named);
  };
  const auto& index_keys = target.index->keys;
  size += static_cast<std::size_t>(std::count_if(index_keys.partition.begin(), index_keys.partition.end(), is_new));
  size += static_cast<std::size_t>(std::count_if(index_keys.sort.begin(), index_keys.sort.end(), is_new));
  return size;
}

Result<void> check_start_partition(const ReadTarget& target, const Item& start_key) {
  return check_start_attributes(target.keys().partition, start_key, true);
}

Result<void> check_start_sort(const ReadTarget& target, const Item& start_key) {
  return check_start_attributes(target.keys().sort, start_key, false);
}

Result<void> check_start_table_key(const ReadTarget& target, const Item& start_key) {
  Item table_key;
  for (const auto* part : {&target.table->keys.partition, &target.table->keys.sort}) {
    for (const auto& attribute : *part) {
      if (const auto* value = start_key.find(attribute.name)) table_key.set(attribute.name, *value);
    }
  }
  if (auto key = request_key(*target.table, table_key); !key) {
    return error::validation("The provided starting key is invalid: " + key.error().message);
  }
  return {};
}

engine::KeyRange key_range(const ReadTarget& target, const KeyCondition& condition) {
  std::vector<const AttributeValue*> partition;
  for (const AttributeValue& value : condition.partition) partition.push_back(&value);
  std::string prefix;
  engine::append_partition(prefix, partition);
  for (const AttributeValue& value : condition.sort_equal) engine::append_scalar(prefix, value);

  engine::KeyRange range;
  range.index = target.index ? target.index->id : engine::IndexId{0};
  range.upper = engine::prefix_end(prefix);
  if (!condition.sort_range) {
    range.lower = std::move(prefix);
    return range;
  }
  const KeyPredicate& predicate = *condition.sort_range;
  switch (predicate.kind) {
    case KeyPredicate::Kind::equal:
      range.lower = with_scalar(std::move(prefix), predicate.low);
      range.upper = engine::prefix_end(range.lower);
      break;
    case KeyPredicate::Kind::less:
      range.upper = with_scalar(prefix, predicate.low);
      range.lower = std::move(prefix);
      break;
    case KeyPredicate::Kind::less_equal:
      range.upper = engine::prefix_end(with_scalar(prefix, predicate.low));
      range.lower = std::move(prefix);
      break;
    case KeyPredicate::Kind::greater:
      range.lower = engine::prefix_end(with_scalar(std::move(prefix), predicate.low));
      break;
    case KeyPredicate::Kind::greater_equal:
      range.lower = with_scalar(std::move(prefix), predicate.low);
      break;
    case KeyPredicate::Kind::between:
      range.upper = engine::prefix_end(with_scalar(prefix, predicate.high));
      range.lower = with_scalar(std::move(prefix), predicate.low);
      break;
    case KeyPredicate::Kind::begins_with:
      engine::append_scalar_prefix(prefix, predicate.low);
      range.upper = engine::prefix_end(prefix);
      range.lower = std::move(prefix);
      break;
    case KeyPredicate::Kind::not_indexable: break;  // match_key_schema refuses it
  }
  return range;
}

Result<void> check_all_attributes(const ReadTarget& target, const json::Value& request) {
  if (target.index == nullptr || target.index->kind != Index::Kind::global ||
      target.index->projection.kind == engine::Projection::Kind::all ||
      string_member(request, "Select") != "ALL_ATTRIBUTES") {
    return {};
  }
  return error::validation(
      "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary "
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
    page.whole_items = !unprojected.empty();  // a local index fetches them from the table
  }
  if (page.filter && !page.whole_items) {
    Unprojected unprojected(target);
    expression::for_each_path(*page.filter, [&](const expression::Path& path) { unprojected.look_at(path); });
    if (!unprojected.empty()) {
      return error::validation("One or more parameter values were invalid: Secondary index " + target.index->name +
                               " does not project one or more filter attributes: " + unprojected.list());
    }
  }
  return {};
}

unsigned scanned_partitions(const engine::Table& table) {
  // A scan of an almost empty on-demand table costs 2 units, 4 if consistent: each of the partitions that such a
  // table begins with is looked at.
  return table.on_demand ? 4 : 1;
}

void answer_page(const Context& context, const json::Value& request, const PageRequest& page_request,
                 json::Writer& out) {
  const bool count_only = string_member(request, "Select") == "COUNT";
  out.begin_object();
  if (!count_only) out.key("Items");
  const Page page = read_page(context.database, page_request, count_only ? nullptr : &out);
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
    if (page_request.target.index != nullptr) consumed.add_index(*page_request.target.index, page.index_units);
    out.key("ConsumedCapacity");
    consumed.write(out, mode);
  }
  out.end_object();
}

}  // namespace mayfly::compat
