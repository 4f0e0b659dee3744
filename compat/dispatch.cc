#include "compat/dispatch.h"

#include "compat/operations/operations.h"
#include "engine/attempt.h"

namespace mayfly::compat {
namespace {

constexpr const Operation* operations_table[] = {
    &operations::batch_execute_statement,
    &operations::batch_get_item,
    &operations::batch_write_item,
    &operations::cancel_bulk_operation,
    &operations::create_backup,
    &operations::create_global_table,
    &operations::create_table,
    &operations::delete_backup,
    &operations::delete_item,
    &operations::delete_resource_policy,
    &operations::delete_table,
    &operations::describe_backup,
    &operations::describe_bulk_operation,
    &operations::describe_continuous_backups,
    &operations::describe_contributor_insights,
    &operations::describe_endpoints,
    &operations::describe_export,
    &operations::describe_global_table,
    &operations::describe_global_table_settings,
    &operations::describe_import,
    &operations::describe_kinesis_streaming_destination,
    &operations::describe_limits,
    &operations::describe_stream,
    &operations::describe_table,
    &operations::describe_table_replica_auto_scaling,
    &operations::describe_time_to_live,
    &operations::disable_kinesis_streaming_destination,
    &operations::enable_kinesis_streaming_destination,
    &operations::execute_statement,
    &operations::execute_transaction,
    &operations::export_table_to_point_in_time,
    &operations::get_item,
    &operations::get_records,
    &operations::get_resource_policy,
    &operations::get_shard_iterator,
    &operations::import_table,
    &operations::list_backups,
    &operations::list_bulk_operations,
    &operations::list_contributor_insights,
    &operations::list_exports,
    &operations::list_global_tables,
    &operations::list_imports,
    &operations::list_streams,
    &operations::list_tables,
    &operations::list_tags_of_resource,
    &operations::put_item,
    &operations::put_resource_policy,
    &operations::query,
    &operations::restore_table_from_backup,
    &operations::restore_table_to_point_in_time,
    &operations::scan,
    &operations::search_vectors,
    &operations::start_bulk_put_items,
    &operations::tag_resource,
    &operations::transact_get_items,
    &operations::transact_write_items,
    &operations::untag_resource,
    &operations::update_continuous_backups,
    &operations::update_contributor_insights,
    &operations::update_global_table,
    &operations::update_global_table_settings,
    &operations::update_item,
    &operations::update_kinesis_streaming_destination,
    &operations::update_table,
    &operations::update_table_replica_auto_scaling,
    &operations::update_time_to_live,
};

Result<std::string> answer_body(Context& context, const Operation& operation, std::string_view body) {
  const auto document = json::parse(body);
  if (document == nullptr) return error::serialization("");
  const json::Value& request = document->root();
  CHECK_OK(check_types(*operation.shape, request));
  CHECK_OK(check_constraints(*operation.shape, request, operation.frame));
  context.frame = operation.frame;
  std::string answer;
  json::Writer out(answer);
  CHECK_OK(operation.run(context, request, out));
  return answer;
}

}  // namespace

const Operation* find_operation(std::string_view target) {
  const auto dot = target.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const auto service = target.substr(0, dot);
  const auto name = target.substr(dot + 1);
  for (const Operation* operation : operations_table) {
    if (operation->name == name && operation->service == service) return operation;
  }
  return nullptr;
}

Answer error_answer(const Error& error) { return {error_status(error.kind), error_body(error)}; }

std::span<const Operation* const> all_operations() { return operations_table; }

Answer dispatch(Context& context, const Operation& operation, std::string_view body) {
  const auto run = [&]() -> Answer {
    auto answer = answer_body(context, operation, body);
    if (!answer) return error_answer(answer.error());
    return {200, *std::move(answer)};
  };
  // A request may be as large as memory is; what stands is untouched, and the client may try again.
  return engine::attempt(run,
                         [](std::string_view) { return error_answer(error::internal_server_error().error); });
}

}  // namespace mayfly::compat
