// A request with an invalid statement is rejected ("Validation failed in TransactStatements[2]: …"). If there
// is an error about a statement's table or item, the transaction is canceled, with one reason per statement.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compat/items/capacity.h"
#include "compat/items/keys.h"
#include "compat/items/transact_items.h"
#include "compat/items/write_item.h"
#include "compat/operations/operations.h"
#include "compat/partiql/lower_read.h"
#include "compat/partiql/lower_write.h"
#include "compat/partiql/parser.h"
#include "compat/partiql/request.h"
#include "compat/tables/lookup.h"
#include "engine/values/item_size.h"

namespace mayfly::compat {
namespace {

using Tables = std::vector<std::shared_ptr<engine::LiveTable>>;

constexpr Member statement_members[] = {
    {"Parameters", &partiql::parameters_shape},
    {"Statement", &partiql::statement_shape, required},
    {"ReturnValuesOnConditionCheckFailure", &shapes::return_values_on_condition_check_failure},
};
constexpr Shape statement = structure("ParameterizedStatement", statement_members);
constexpr Shape statements = list_of(statement, 1, transaction_items_max);
constexpr Shape client_request_token = string_shape(1, 36);
constexpr Member members[] = {
    {"ReturnConsumedCapacity", &shapes::return_consumed_capacity},
    {"ClientRequestToken", &client_request_token},
    {"TransactStatements", &statements, required},
};
constexpr Shape shape = structure("ExecuteTransactionInput", members);

Unexpected<Error> failed_in(std::size_t statement, Error error) {
  error.message =
      "Validation failed in TransactStatements[" + std::to_string(statement) + "]: " + error.message;
  return Unexpected{std::move(error)};
}

// Returns the result. If the result is an error, adds the statement's position to the message; the whole
// request is then rejected.
template <class T>
Result<T> checked(std::size_t statement, Result<T> result) {
  if (!result) return failed_in(statement, std::move(result).error());
  return result;
}

Result<std::vector<partiql::Statement>> parse(std::span<const json::Value> requests, std::size_t& bytes) {
  std::vector<std::vector<engine::AttributeValue>> parameters;
  for (const json::Value& request : requests) {
    TRY(parameters.emplace_back(), partiql::read_parameters(request));
    for (const auto& value : parameters.back()) bytes += engine::item_size({{"", value}});
  }
  std::vector<partiql::Statement> parsed;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto text = requests[i].member("Statement")->string();
    bytes += text.size();
    TRY(parsed.emplace_back(), checked(i, partiql::parse(text, std::move(parameters[i]))));
  }
  return parsed;
}

// For a missing table, the result has a nullptr and `reasons` gets a cancellation reason. The reason has no
// effect if the request is rejected because of an invalid statement.
Tables find_tables(const Context& context, const std::vector<partiql::Statement>& parsed,
                   CancellationReasons& reasons) {
  Tables tables;
  for (const partiql::Statement& each : parsed) {
    auto table = find_table(context, partiql::table_name(each));
    if (table) {
      tables.push_back(*std::move(table));
    } else {
      reasons.set(tables.size(), std::move(table).error());
      tables.push_back(nullptr);
    }
  }
  return tables;
}

Result<std::optional<ItemRead>> lower_read(std::shared_ptr<engine::LiveTable> table,
                                           partiql::Statement& parsed) {
  auto& select = std::get<partiql::Select>(parsed);
  if (table == nullptr) return std::optional<ItemRead>();
  CHECK_OK(partiql::check_readable(*table->description(), select));
  if (select.index) return error::validation("Reads on indices are not supported within transactions.");
  constexpr std::string_view refusal =
      "Select statements within ExecuteTransaction must specify the primary key in the where clause.";
  TRY(ItemRead read, partiql::lower_item_read(std::move(table), std::move(select), refusal));
  return std::optional<ItemRead>(std::move(read));
}

Result<std::optional<ItemWrite>> lower_write(std::shared_ptr<engine::LiveTable> table,
                                             partiql::Statement& parsed, const json::Value& request) {
  if (table == nullptr) return std::optional<ItemWrite>();
  if (partiql::return_values(parsed) != ReturnValues::none) {
    return error::validation("RETURNING clause is not supported in ExecuteTransaction.");
  }
  TRY(ItemWrite write, partiql::lower_write(std::move(table), std::move(parsed), true));
  write.item_on_failed_condition = string_member(request, "ReturnValuesOnConditionCheckFailure") == "ALL_OLD";
  return std::optional<ItemWrite>(std::move(write));
}

Result<void> read_all(const Context& context, std::vector<partiql::Statement> parsed,
                      const json::Value& request, json::Writer& out) {
  CancellationReasons reasons(parsed.size());
  Tables tables = find_tables(context, parsed, reasons);
  std::vector<ItemRead> reads(parsed.size());
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    TRY(auto lowered, checked(i, lower_read(std::move(tables[i]), parsed[i])));
    if (lowered) reads[i] = *std::move(lowered);
  }
  for (std::size_t i = 0; i < reads.size(); ++i) {
    if (reads[i].table == nullptr) continue;
    auto key = request_key(*reads[i].table->description(), reads[i].key_item);
    if (!key) {
      reasons.set(i, std::move(key).error());
    } else {
      reads[i].key = *std::move(key);
    }
  }
  if (reasons.any()) return reasons.canceled();
  return read_transaction(reads, return_capacity(request), context, out);
}

Result<void> write_all(Context& context, std::vector<partiql::Statement> parsed, const json::Value& request,
                       json::Writer& out) {
  const json::Value& requests = *request.member("TransactStatements");
  CancellationReasons reasons(parsed.size());
  Tables tables = find_tables(context, parsed, reasons);
  std::vector<ItemWrite> writes(parsed.size());
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    auto lowered = lower_write(std::move(tables[i]), parsed[i], requests.items()[i]);
    TRY(auto write, checked(i, std::move(lowered)));
    if (write) writes[i] = *std::move(write);
  }
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (writes[i].table == nullptr) continue;
    auto valid = check_write(*writes[i].table->description(), writes[i]);
    if (!valid) reasons.set(i, std::move(valid).error());
  }
  if (reasons.any()) return reasons.canceled();

  std::optional<RequestToken> token;
  if (const auto text = string_member(request, "ClientRequestToken"))
    token = {*text, request_digest(requests)};
  out.key("Responses");
  out.begin_array();
  out.end_array();
  return write_transaction(std::move(writes), std::move(token), {.capacity = return_capacity(request)},
                           context, out);
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  std::size_t bytes = 0;
  TRY(auto parsed, parse(request.member("TransactStatements")->items(), bytes));
  if (bytes > transaction_bytes_max) return transaction_too_large();
  std::size_t reads = 0;
  for (const partiql::Statement& each : parsed) reads += partiql::is_read(each) ? 1 : 0;
  if (reads > 0 && reads < parsed.size()) {
    return error::validation(
        "ExecuteTransaction API does not support both read and write operations in the same request.");
  }
  out.begin_object();
  CHECK_OK(reads > 0 ? read_all(context, std::move(parsed), request, out)
                     : write_all(context, std::move(parsed), request, out));
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::execute_transaction{
    dynamodb, "ExecuteTransaction", Access::writes, TablesIn::nothing, &shape, &run};

}  // namespace mayfly::compat
