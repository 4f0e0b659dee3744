// NextToken:
//
//   token   := base64(payload)
//   payload := check:u64 request:u64 item      little-endian; item: where the page ended, as item_codec has it
//   request := a hash of the statement's text and its parameters; check := one of all that follows
#include "compat/operations/execute_statement.h"

#include <optional>
#include <string>

#include "compat/attribute_value_json.h"
#include "compat/base64.h"
#include "compat/capacity.h"
#include "compat/hash.h"
#include "compat/partiql/lower.h"
#include "compat/partiql/request.h"
#include "compat/write_item.h"
#include "engine/item_codec.h"

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

constexpr std::size_t word_bytes = 8;

void append_word(std::string& out, std::uint64_t word) {
  for (std::size_t i = 0; i < word_bytes; ++i, word >>= 8) out += static_cast<char>(word & 0xff);
}

std::uint64_t read_word(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = word_bytes; i-- > 0;) word = word << 8 | static_cast<unsigned char>(bytes[i]);
  return word;
}

std::uint64_t request_hash(const json::Value& request) {
  std::uint64_t sum = hash(request.member("Statement")->string(), 0);
  const json::Value* parameters = request.member("Parameters");
  if (parameters == nullptr) return sum;
  for (const json::Value& parameter : parameters->items()) {
    // Parsing has read them before.
    const auto value = read_attribute_value(parameter);
    std::string bytes;
    engine::encode_item({{"", *value}}, bytes);
    sum = hash(bytes, sum);
  }
  return sum;
}

std::string print_token(std::uint64_t request, const engine::Item& last) {
  std::string checked;
  append_word(checked, request);
  engine::encode_item(last, checked);
  std::string payload, token;
  append_word(payload, hash(checked, 0));
  append_base64(token, payload + checked);
  return token;
}

Result<engine::Item> parse_token(std::string_view token, std::uint64_t request) {
  const auto payload = decode_base64(token);
  if (!payload || payload->size() <= 2 * word_bytes) return error::validation("Invalid NextToken");
  const std::string_view checked = std::string_view(*payload).substr(word_bytes);
  if (hash(checked, 0) != read_word(*payload)) return error::validation("Invalid NextToken");
  if (read_word(checked) != request) return error::validation("NextToken does not match request");
  return engine::decode_item(checked.substr(word_bytes));
}

void write_capacity(json::Writer& out, const Page& page, const ReadTarget& target, ReturnCapacity mode) {
  if (mode == ReturnCapacity::none) return;
  ConsumedCapacity consumed(target.table->name);
  consumed.add_table(page.table_units);
  if (target.index != nullptr) consumed.add_index(*target.index, page.index_units);
  out.key("ConsumedCapacity");
  consumed.write(out, mode);
}

Result<void> run_select(const Context& context, partiql::Select select, const json::Value& request,
                        json::Writer& out) {
  TRY(partiql::Read read,
      partiql::lower_read(context, std::move(select), boolean_member(request, "ConsistentRead").value_or(false)));
  PageRequest& page_request = read.page;
  if (const auto limit = integer_member(request, "Limit")) page_request.limit = static_cast<std::size_t>(*limit);
  const std::uint64_t asked = request_hash(request);
  if (const auto token = string_member(request, "NextToken")) {
    TRY(const engine::Item last, parse_token(*token, asked));
    start_after(page_request.range, encode_position(page_request.target, last));
  }
  out.begin_object();
  out.key("Items");
  const Page page = read_page(context.database, page_request, &out);
  if (page.last_evaluated_key && !read.one_item) {
    out.key("NextToken");
    out.string(print_token(asked, *page.last_evaluated_key));
    out.key("LastEvaluatedKey");
    write_item_object(out, *page.last_evaluated_key);
  }
  write_capacity(out, page, page_request.target, return_capacity(request));
  out.end_object();
  return {};
}

Result<void> run_write(Context& context, partiql::Statement statement, const json::Value& request,
                       json::Writer& out) {
  const WantedAnswer wanted{.values = partiql::return_values(statement), .capacity = return_capacity(request)};
  TRY(ItemWrite write, partiql::lower_write(context, std::move(statement)));
  write.item_on_failed_condition = string_member(request, "ReturnValuesOnConditionCheckFailure") == "ALL_OLD";
  TRY(const WriteOutcome outcome, partiql::perform_statement(std::move(write), wanted, context));
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
  return run_write(context, std::move(statement), request, out);
}

}  // namespace

constinit const Operation operations::execute_statement{dynamodb, "ExecuteStatement", &shape, &run};

}  // namespace mayfly::compat
