#include "compat/items/read_target.h"

#include <algorithm>
#include <vector>

#include "compat/items/keys.h"
#include "compat/settings/settings.h"
#include "compat/tables/lookup.h"
#include "compat/tables/vector_indexes.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shape.h"
#include "engine/schema/index_entries.h"
#include "engine/values/key_codec.h"

namespace mayfly::compat {

namespace {

using engine::AttributeValue;
using engine::Index;
using engine::Item;
using expression::KeyCondition;
using expression::KeyPredicate;

Unexpected<Error> not_consistent() {
  return error::validation("Consistent reads are not supported on global secondary indexes");
}

Result<void> check_start_attributes(std::span<const engine::KeyAttribute> attributes, const Item& start_key,
                                    bool partition) {
  for (const auto& attribute : attributes) {
    if (start_key.find(attribute.name) == nullptr)
      return error::validation("The provided starting key is invalid");
    CHECK_OK(check_request_key_attribute(start_key, attribute, partition));
  }
  return {};
}

// Returns the error for a name that no readable index has. Measured on AWS: unlike a Scan, a Query first
// reports that the read cannot be consistent, and only the Query's message ends with a period.
Unexpected<Error> unreadable_index(const engine::Table& table, std::string_view name, bool consistent,
                                   ReadBy by) {
  if (find_vector_index(vector_indexes_of(table), name) == nullptr) return no_such_index(name);
  if (by == ReadBy::scan) return error::validation("Scan operation not supported on this index type");
  if (consistent) return not_consistent();
  return error::validation("Query operation not supported on this index type.");
}

std::string with_scalar(std::string prefix, const AttributeValue& scalar) {
  engine::append_scalar(prefix, scalar);
  return prefix;
}

}  // namespace

Result<std::optional<Item>> read_start_key(const json::Value& request, Frame frame) {
  const json::Value* member = request.member("ExclusiveStartKey");
  if (member == nullptr) return std::optional<Item>();
  auto key = read_item(*member, inside(frame));
  if (!key) {
    // As measured on AWS, errors about numbers and about duplicates in sets have no prefix.
    const Error& why = key.error();
    const bool is_bare = why.about == Error::About::number || why.about == Error::About::duplicates;
    return in_frame(frame, Result<std::optional<Item>>(error::validation(
                               (is_bare ? "" : "The provided starting key is invalid: ") + why.message)));
  }
  return std::optional<Item>(*std::move(key));
}

Unexpected<Error> no_such_index(std::string_view name) {
  return error::validation("The table does not have the specified index: " + std::string(name));
}

Result<ReadTarget> find_read_target(const Context& context, const json::Value& request, ReadBy by) {
  return find_read_target(context, request.member("TableName")->string(), string_member(request, "IndexName"),
                          boolean_member(request, "ConsistentRead").value_or(false), by);
}

Result<ReadTarget> find_read_target(const Context& context, std::string_view table_name,
                                    std::optional<std::string_view> index_name, bool consistent, ReadBy by) {
  ReadTarget target;
  TRY(target.live, find_table(context, table_name));
  target.table = target.live->description();
  if (!index_name) return target;
  target.index = target.table->find_index(*index_name);
  if (target.index == nullptr) return unreadable_index(*target.table, *index_name, consistent, by);
  if (target.index->kind == Index::Kind::global) {
    if (consistent) return not_consistent();
    if (target.index->state == Index::State::creating) {
      return error::validation("Cannot read from backfilling global secondary index: " + target.index->name);
    }
  }
  return target;
}

Result<void> check_still_there(const ReadTarget& target) {
  if (target.live->still_has(target.index == nullptr ? engine::IndexId{0} : target.index->id)) return {};
  if (target.live->dropped()) return table_not_found();
  return no_such_index(target.index->name);
}

std::size_t start_key_size(const ReadTarget& target) {
  const auto& table_keys = target.table->keys;
  const std::size_t size = table_keys.all().size();
  if (target.index == nullptr) return size;
  const auto index_keys = target.index->keys.all();
  return size + static_cast<std::size_t>(std::count_if(
                    index_keys.begin(), index_keys.end(),
                    [&](const engine::KeyAttribute& each) { return !table_keys.names(each.name); }));
}

Result<void> check_start_partition(const ReadTarget& target, const Item& start_key) {
  return check_start_attributes(target.keys().partition(), start_key, true);
}

Result<void> check_start_sort(const ReadTarget& target, const Item& start_key) {
  return check_start_attributes(target.keys().sort(), start_key, false);
}

Result<void> check_start_table_key(const ReadTarget& target, const Item& start_key) {
  const Item table_key = engine::key_attributes(target.table->keys, start_key);
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
      range.lower = with_scalar(std::move(prefix), *predicate.low);
      range.upper = engine::prefix_end(range.lower);
      break;
    case KeyPredicate::Kind::less:
      range.upper = with_scalar(prefix, *predicate.low);
      range.lower = std::move(prefix);
      break;
    case KeyPredicate::Kind::less_equal:
      range.upper = engine::prefix_end(with_scalar(prefix, *predicate.low));
      range.lower = std::move(prefix);
      break;
    case KeyPredicate::Kind::greater:
      range.lower = engine::prefix_end(with_scalar(std::move(prefix), *predicate.low));
      break;
    case KeyPredicate::Kind::greater_equal:
      range.lower = with_scalar(std::move(prefix), *predicate.low);
      break;
    case KeyPredicate::Kind::between:
      range.upper = engine::prefix_end(with_scalar(prefix, *predicate.high));
      range.lower = with_scalar(std::move(prefix), *predicate.low);
      break;
    case KeyPredicate::Kind::begins_with:
      engine::append_scalar_prefix(prefix, *predicate.low);
      range.upper = engine::prefix_end(prefix);
      range.lower = std::move(prefix);
      break;
    case KeyPredicate::Kind::not_indexable: break;  // rejected by match_key_schema
  }
  return range;
}

unsigned scanned_partitions(const engine::Table& table) {
  // A scan of an almost empty on-demand table costs 2 units, or 4 if consistent, because it reads each of the
  // partitions that such a table starts with.
  return is_on_demand(table) ? 4 : 1;
}

std::string encode_position(const ReadTarget& target, const Item& item) {
  return target.index ? engine::index_entry_key(*target.table, *target.index, item)
                      : encode_key(*target.table, item);
}

void start_after(engine::KeyRange& range, std::string position) {
  if (range.forward) {
    position += '\0';  // the smallest key after `position`
    range.lower = std::max(range.lower, std::move(position));
  } else if (range.upper.empty() || position < range.upper) {
    range.upper = std::move(position);
  }
}

}  // namespace mayfly::compat
