#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compat/items/capacity.h"
#include "compat/items/keys.h"
#include "compat/items/sight.h"
#include "compat/items/transact_items.h"
#include "compat/items/write_item.h"
#include "compat/operations/operations.h"
#include "compat/partiql/lower_read.h"
#include "compat/partiql/lower_write.h"
#include "compat/partiql/request.h"
#include "compat/tables/lookup.h"
#include "engine/items/item_reader.h"

namespace mayfly::compat {
namespace {

constexpr Member statement_members[] = {
    {"Parameters", &partiql::parameters_shape},
    {"Statement", &partiql::statement_shape, required},
    {"ConsistentRead", &shapes::boolean},
    {"ReturnValuesOnConditionCheckFailure", &shapes::return_values_on_condition_check_failure},
};
constexpr Shape statement = structure("BatchStatementRequest", statement_members);
constexpr Shape statements = list_of(statement, 1, 25);
constexpr Member members[] = {
    {"ReturnConsumedCapacity", &shapes::return_consumed_capacity},
    {"Statements", &statements, required},
};
constexpr Shape shape = structure("BatchExecuteStatementInput", members);

struct Response {
  std::string table_name;  // empty: the statement was rejected before it ran
  std::string item;        // JSON; empty: no item
  std::optional<ConsumedCapacity> consumed;
};

Result<void> read(const Context& context, std::shared_ptr<engine::LiveTable> table, partiql::Select select,
                  const json::Value& request, ReturnCapacity mode, Response& response) {
  constexpr std::string_view refusal =
      "Select statements within BatchExecuteStatement must specify the primary key in the where clause.";
  CHECK_OK(partiql::check_readable(*table->description(), select));
  if (select.index) return error::validation(std::string(refusal));
  TRY(ItemRead read, partiql::lower_item_read(std::move(table), std::move(select), refusal));
  const auto description = read.table->description();
  TRY(read.key, request_key(*description, read.key_item));
  response.table_name = description->name;
  const bool consistent = boolean_member(request, "ConsistentRead").value_or(false);
  const auto item = context.database.reader().get(*read.table, read.key,
                                                  sight_of(context, *description, nullptr, consistent));
  if (!item && !read.table->still_has(0)) return table_not_found();
  if (item) {
    json::Writer out(response.item);
    write_item_read(out, read, *item);
  }
  if (mode == ReturnCapacity::none) return {};
  response.consumed.emplace(description->name);
  response.consumed->add_table(read_units(item ? item->size() : 0, consistent));
  return {};
}

Result<void> write(const Context& context, std::shared_ptr<engine::LiveTable> table,
                   partiql::Statement parsed, const json::Value& request, ReturnCapacity mode,
                   std::uint64_t& steps, Response& response) {
  const WantedAnswer wanted{.values = partiql::return_values(parsed), .capacity = mode};
  TRY(ItemWrite write, partiql::lower_write(table, std::move(parsed), false));
  const auto description = table->description();
  CHECK_OK(check_write(*description, write));
  response.table_name = description->name;
  write.item_on_failed_condition = string_member(request, "ReturnValuesOnConditionCheckFailure") == "ALL_OLD";
  TRY(WriteOutcome outcome, perform(std::move(write), wanted, context, steps));
  response.item = std::move(outcome.item);
  response.consumed = std::move(outcome.consumed);
  return {};
}

Result<void> execute(const Context& context, partiql::Statement parsed, const json::Value& request,
                     ReturnCapacity mode, std::uint64_t& steps, Response& response) {
  if (std::holds_alternative<partiql::Exists>(parsed)) return partiql::exists_outside_transaction();
  TRY(auto table, find_table(context, partiql::table_name(parsed)));
  if (auto* select = std::get_if<partiql::Select>(&parsed)) {
    return read(context, std::move(table), std::move(*select), request, mode, response);
  }
  return write(context, std::move(table), std::move(parsed), request, mode, steps, response);
}

void write_error(json::Writer& out, const Error& error) {
  out.key("Error");
  out.begin_object();
  out.key("Code");
  out.string(error_code(error.kind));
  out.key("Message");
  out.string(error.message);
  if (!error.extra.empty()) out.out() += "," + error.extra;
  out.end_object();
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  const auto requests = request.member("Statements")->items();
  std::vector<Result<partiql::Statement>> parsed;
  std::size_t reads = 0, writes = 0;
  for (const json::Value& each : requests) {
    const auto& result = parsed.emplace_back(partiql::read_statement(each));
    if (result) ++(partiql::is_read(*result) ? reads : writes);
  }
  if (reads > 0 && writes > 0) {
    return error::validation("Read and write requests together in the same batch is not supported.");
  }

  const ReturnCapacity mode = return_capacity(request);
  std::uint64_t steps = 0;  // of all statements
  std::vector<ConsumedCapacity> consumed;
  out.begin_object();
  out.key("Responses");
  out.begin_array();
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    Response response;
    Result<void> done;
    if (parsed[i]) {
      done = execute(context, *std::move(parsed[i]), requests[i], mode, steps, response);
    } else {
      done = Unexpected{std::move(parsed[i]).error()};
    }
    out.begin_object();
    if (!done) write_error(out, done.error());
    if (!response.table_name.empty()) {
      out.key("TableName");
      out.string(response.table_name);
    }
    if (done && !response.item.empty()) {
      out.key("Item");
      out.raw(response.item);
    }
    out.end_object();
    if (done && response.consumed) consumed.push_back(*std::move(response.consumed));
  }
  out.end_array();
  if (mode != ReturnCapacity::none) {
    out.key("ConsumedCapacity");
    out.begin_array();
    for (const ConsumedCapacity& each : consumed) each.write(out, mode);
    out.end_array();
  }
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::batch_execute_statement{
    dynamodb,     "BatchExecuteStatement", Access::writes, TablesIn::nothing, &shape, &run,
    Frame::older, Extent::several_commits};

}  // namespace mayfly::compat
