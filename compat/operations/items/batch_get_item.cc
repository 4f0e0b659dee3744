#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "compat/expression/projection.h"
#include "compat/items/capacity.h"
#include "compat/items/keys.h"
#include "compat/items/request_expressions.h"
#include "compat/items/sight.h"
#include "compat/operations/operations.h"
#include "compat/tables/lookup.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shapes_common.h"
#include "engine/items/item_reader.h"
#include "engine/values/item_codec.h"

namespace mayfly::compat {
namespace {

constexpr std::size_t batch_get_keys_max = 100;
// The limit on the total size of the items in stored form, as on AWS.
constexpr std::size_t batch_get_bytes_max = 16 * 1024 * 1024;
// The limit on the response text, which is up to seven times the size of the items if they have many small
// values.
constexpr std::size_t answer_bytes_max = 32 * 1024 * 1024;

constexpr Shape keys = list_of(shapes::attribute_map, 1, batch_get_keys_max);
constexpr Member keys_and_attributes_members[] = {
    {"Keys", &keys, required},
    {"AttributesToGet", &shapes::attribute_names},
    {"ConsistentRead", &shapes::boolean},
    {"ProjectionExpression", &shapes::any_string},
    {"ExpressionAttributeNames", &shapes::expression_names},
};
constexpr Shape keys_and_attributes = structure("KeysAndAttributes", keys_and_attributes_members);
constexpr Shape request_items = map_of(keys_and_attributes, &shapes::table_name, 1, 100);
constexpr Member members[] = {
    {"RequestItems", &request_items, required},
    {"ReturnConsumedCapacity", &shapes::return_consumed_capacity},
};
constexpr Shape shape = structure("BatchGetItemInput", members);

// The reads of one table.
struct TableReads {
  std::string_view name;  // a name or an ARN, as in the request
  const json::Value* request;
  std::vector<engine::Item> keys;
  std::optional<expression::Projection> projection;
  bool consistent = false;

  std::shared_ptr<engine::LiveTable> table;
  std::vector<std::string> encoded_keys;
  std::vector<std::size_t> unprocessed;  // positions in `keys`
};

Result<TableReads> read_request(const json::Member& member, std::size_t& keys_seen, Frame frame) {
  const json::Value& request = member.value;
  TableReads reads{.name = member.name, .request = &request};
  CHECK_OK(check_expression_parameters(request, {"ProjectionExpression"}, {"AttributesToGet"}, frame));
  CHECK_OK(check_attributes_to_get(request, frame));
  TRY(auto substitutions, read_substitutions(request, {"ProjectionExpression"}, frame));
  TRY(reads.projection, read_projection(request, substitutions));
  CHECK_OK(substitutions.check_all_used());
  reads.consistent = boolean_member(request, "ConsistentRead").value_or(false);

  std::unordered_set<std::string> seen;
  for (const json::Value& key : request.member("Keys")->items()) {
    TRY(auto item, read_item(key, frame));
    std::string bytes;
    engine::encode_item(item, bytes);
    if (!seen.insert(std::move(bytes)).second) {
      return error::validation("Provided list of item keys contains duplicates");
    }
    if (++keys_seen > batch_get_keys_max) {
      return error::validation("Too many items requested for the BatchGetItem call");
    }
    reads.keys.push_back(std::move(item));
  }
  return reads;
}

Result<void> find_and_check(const Context& context, TableReads& reads) {
  TRY(reads.table, find_table(context, reads.name));
  const auto table = reads.table->description();
  for (const engine::Item& key : reads.keys) {
    TRY(reads.encoded_keys.emplace_back(), request_key(*table, key));
  }
  if (reads.projection) CHECK_OK(check_keys_are_scalars(*table, nested_names(*reads.projection)));
  return {};
}

void write_unprocessed(json::Writer& out, const TableReads& reads) {
  out.begin_object();
  out.key("Keys");
  out.begin_array();
  for (const std::size_t position : reads.unprocessed) write_item_object(out, reads.keys[position]);
  out.end_array();
  if (const json::Value* names = reads.request->member("AttributesToGet")) {
    out.key("AttributesToGet");
    out.begin_array();
    for (const json::Value& name : names->items()) out.string(name.string());
    out.end_array();
  }
  if (reads.request->member("ConsistentRead") != nullptr) {
    out.key("ConsistentRead");
    out.boolean(reads.consistent);
  }
  if (const auto text = string_member(*reads.request, "ProjectionExpression")) {
    out.key("ProjectionExpression");
    out.string(*text);
  }
  if (const json::Value* names = reads.request->member("ExpressionAttributeNames")) {
    out.key("ExpressionAttributeNames");
    out.begin_object();
    for (const json::Member& name : names->members()) {
      out.key(name.name);
      out.string(name.value.string());
    }
    out.end_object();
  }
  out.end_object();
}

// Writes the items that exist and returns the read units that the lookups cost, including lookups of missing
// items. Keys that exceed a limit are left unprocessed.
Result<double> read_table(const Context& context, TableReads& reads, std::size_t& keys_left,
                          std::size_t& bytes_left, json::Writer& out) {
  double units = 0;
  const auto table = reads.table->description();
  const engine::Sight sight = sight_of(context, *table, nullptr, reads.consistent);
  out.begin_array();
  for (std::size_t i = 0; i < reads.keys.size(); ++i) {
    if (keys_left == 0) bytes_left = 0;
    if (keys_left > 0) --keys_left;
    const auto item = bytes_left > 0
                          ? context.database.reader().get(*reads.table, reads.encoded_keys[i], sight)
                          : std::nullopt;
    const std::size_t bytes = item ? item->size() : 0;
    if (bytes_left == 0 || bytes > bytes_left) {
      bytes_left = 0;  // no later key is read, as the order of AWS's responses suggests
      reads.unprocessed.push_back(i);
      continue;
    }
    bytes_left -= bytes;
    units += read_units(bytes, reads.consistent);
    if (!item) {
      if (!reads.table->still_has(0)) return table_not_found();
      continue;
    }
    if (reads.projection) {
      write_item_object(out, expression::project(*reads.projection, item->item()));
    } else {
      write_stored_item(out, item->bytes());
    }
    if (out.out().size() >= answer_bytes_max) bytes_left = 0;
  }
  out.end_array();
  return units;
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  std::vector<TableReads> tables;
  std::size_t keys_seen = 0;
  const auto asked = request.member("RequestItems")->members();
  CHECK_OK(check_one_projection(asked, context.frame));
  for (const json::Member& member : asked) {
    TRY(tables.emplace_back(), read_request(member, keys_seen, context.frame));
  }
  for (TableReads& reads : tables) CHECK_OK(find_and_check(context, reads));

  std::vector<ConsumedCapacity> consumed;
  std::size_t bytes_left = batch_get_bytes_max;
  std::size_t keys_left = keys_seen - std::min(keys_seen, context.unprocessed);
  out.begin_object();
  out.key("Responses");
  out.begin_object();
  for (TableReads& reads : tables) {
    out.key(reads.name);
    consumed.emplace_back(reads.table->description()->name);
    TRY(const double units, read_table(context, reads, keys_left, bytes_left, out));
    consumed.back().add_table(units);
  }
  out.end_object();
  out.key("UnprocessedKeys");
  out.begin_object();
  for (const TableReads& reads : tables) {
    if (reads.unprocessed.empty()) continue;
    out.key(reads.name);
    write_unprocessed(out, reads);
  }
  out.end_object();
  if (const auto mode = return_capacity(request); mode != ReturnCapacity::none) {
    out.key("ConsumedCapacity");
    out.begin_array();
    for (const ConsumedCapacity& of_table : consumed) of_table.write(out, mode);
    out.end_array();
  }
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::batch_get_item{
    dynamodb, "BatchGetItem", Access::reads, TablesIn::request_items, &shape, &run, Frame::bare};

}  // namespace mayfly::compat
