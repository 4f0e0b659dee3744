// Format of NextToken:
//
//   token   := base64(payload)
//   payload := check:u64 request:u64 range:u64 item      little-endian
//   request := a hash of the statement's text and its parameters
//   check   := a hash of everything after it
//   range   := the index of the lookup that continues
//   item    := the key after which that lookup continues, encoded by item_codec; empty: from the beginning
#include <algorithm>
#include <optional>
#include <string>

#include "compat/items/capacity.h"
#include "compat/items/page.h"
#include "compat/items/read_target.h"
#include "compat/items/write_item.h"
#include "compat/operations/operations.h"
#include "compat/partiql/lower_read.h"
#include "compat/partiql/lower_write.h"
#include "compat/partiql/request.h"
#include "compat/tables/lookup.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/base64.h"
#include "compat/wire/hash.h"
#include "engine/base/byte_order.h"
#include "engine/values/item_codec.h"

namespace mayfly::compat {
namespace {

constexpr Shape next_token = string_shape(1, 32768);
constexpr Member members[] = {
    {"ReturnConsumedCapacity", &shapes::return_consumed_capacity},
    {"Parameters", &partiql::parameters_shape},
    {"Limit", &shapes::positive_integer},
    {"NextToken", &next_token},
    {"Statement", &partiql::statement_shape, required},
    {"ConsistentRead", &shapes::boolean},
    {"ReturnValuesOnConditionCheckFailure", &shapes::return_values_on_condition_check_failure},
};
constexpr Shape shape = structure("ExecuteStatementInput", members);

// From the documentation, for IN with keys: "Results are returned in pages of up to 10 items".
constexpr std::size_t ranges_per_page_max = 10;

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

std::uint64_t request_hash(const json::Value& request) {
  std::uint64_t sum = hash(request.member("Statement")->string(), 0);
  const json::Value* parameters = request.member("Parameters");
  if (parameters == nullptr) return sum;
  for (const json::Value& parameter : parameters->items()) {
    // The parameter is valid, because the parser has read it before.
    const auto value = read_attribute_value(parameter);
    std::string bytes;
    engine::encode_item({{"", *value}}, bytes);
    sum = hash(bytes, sum);
  }
  return sum;
}

// The position at which the next page starts.
struct Position {
  std::uint64_t range = 0;
  engine::Item after;
};

std::string print_token(std::uint64_t request, const Position& next) {
  std::string checked;
  engine::append_little_endian(checked, request);
  engine::append_little_endian(checked, next.range);
  engine::encode_item(next.after, checked);
  std::string payload, token;
  engine::append_little_endian(payload, hash(checked, 0));
  append_base64(token, payload + checked);
  return token;
}

Result<Position> parse_token(std::string_view token, std::uint64_t request) {
  const auto payload = decode_base64(token);
  if (!payload || payload->size() <= 3 * word_bytes) return error::validation("Invalid NextToken");
  const std::string_view checked = std::string_view(*payload).substr(word_bytes);
  if (hash(checked, 0) != engine::read_little_endian<std::uint64_t>(*payload))
    return error::validation("Invalid NextToken");
  if (engine::read_little_endian<std::uint64_t>(checked) != request)
    return error::validation("NextToken does not match request");
  return Position{engine::read_little_endian<std::uint64_t>(checked.substr(word_bytes)),
                  engine::decode_item(checked.substr(2 * word_bytes))};
}

struct Pages {
  double table_units = 0, index_units = 0;
  std::optional<Position> next;
};

// Continues reading at `from` and writes the items into an open array. The limits on count and size apply to
// all ranges together.
Result<Pages> read_pages(const Context& context, partiql::Read& read, const Position& from,
                         json::Writer& out) {
  Pages pages;
  PageRequest& request = read.page;
  for (std::uint64_t at = from.range; at < read.ranges.size(); ++at) {
    if (at - from.range == ranges_per_page_max || request.limit == 0 || request.bytes_max == 0 ||
        request.steps_max == 0) {
      pages.next = Position{at, {}};
      break;
    }
    request.range = read.ranges[at];
    if (at == from.range && !from.after.empty()) {
      start_after(request.range, encode_position(request.target, from.after));
    }
    TRY(Page page, read_items(context.database, request, &out));
    pages.table_units += page.table_units;
    pages.index_units += page.index_units;
    if (page.last_evaluated_key && !read.whole_keys) {
      pages.next = Position{at, *std::move(page.last_evaluated_key)};
      break;
    }
    if (request.limit) *request.limit -= page.scanned;
    request.bytes_max -= std::min(request.bytes_max, page.bytes);
    request.steps_max -= std::min(request.steps_max, page.steps);
  }
  return pages;
}

Result<void> run_select(const Context& context, partiql::Select select, const json::Value& request,
                        json::Writer& out) {
  TRY(partiql::Read read, partiql::lower_read(context, std::move(select),
                                              boolean_member(request, "ConsistentRead").value_or(false)));
  if (const auto limit = integer_member(request, "Limit")) read.page.limit = static_cast<std::size_t>(*limit);
  const std::uint64_t asked = request_hash(request);
  Position from;
  if (const auto token = string_member(request, "NextToken")) {
    TRY(from, parse_token(*token, asked));
  }
  out.begin_object();
  out.key("Items");
  out.begin_array();
  TRY(const Pages pages, read_pages(context, read, from, out));
  out.end_array();
  if (pages.next) {
    out.key("NextToken");
    out.string(print_token(asked, *pages.next));
  }
  if (pages.next && read.ranges.size() == 1) {
    out.key("LastEvaluatedKey");
    write_item_object(out, pages.next->after);
  }
  if (const auto mode = return_capacity(request); mode != ReturnCapacity::none) {
    const ReadTarget& target = read.page.target;
    ConsumedCapacity consumed(target.table->name);
    consumed.add_table(pages.table_units);
    if (target.index != nullptr) consumed.add_index(*target.index, pages.index_units);
    out.key("ConsumedCapacity");
    consumed.write(out, mode);
  }
  out.end_object();
  return {};
}

Result<void> run_write(const Context& context, partiql::Statement statement, const json::Value& request,
                       json::Writer& out) {
  const WantedAnswer wanted{.values = partiql::return_values(statement),
                            .capacity = return_capacity(request)};
  TRY(const auto table, find_table(context, partiql::table_name(statement)));
  TRY(ItemWrite write, partiql::lower_write(table, std::move(statement), false));
  CHECK_OK(check_write(*table->description(), write));
  write.item_on_failed_condition = string_member(request, "ReturnValuesOnConditionCheckFailure") == "ALL_OLD";
  std::uint64_t steps = 0;
  TRY(const WriteOutcome outcome, perform(std::move(write), wanted, context, steps));
  out.begin_object();
  out.key("Items");
  out.begin_array();
  if (!outcome.item.empty()) out.raw(outcome.item);
  out.end_array();
  if (outcome.consumed) {
    out.key("ConsumedCapacity");
    outcome.consumed->write(out, wanted.capacity);
  }
  out.end_object();
  return {};
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  TRY(partiql::Statement statement, partiql::read_statement(request));
  if (auto* select = std::get_if<partiql::Select>(&statement)) {
    return run_select(context, std::move(*select), request, out);
  }
  if (std::holds_alternative<partiql::Exists>(statement)) return partiql::exists_outside_transaction();
  return run_write(context, std::move(statement), request, out);
}

}  // namespace

constinit const Operation operations::execute_statement{
    dynamodb, "ExecuteStatement", Access::writes, TablesIn::nothing, &shape, &run};

}  // namespace mayfly::compat
