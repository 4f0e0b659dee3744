#include "compat/dispatch.h"

#include <array>
#include <cstdint>
#include <iterator>
#include <tuple>

#include "compat/operations/operations.h"
#include "compat/wire/strict_reader.h"
#include "engine/base/attempt.h"
#include "engine/base/hurry.h"

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

// A hash table of operation names. A name belongs to exactly one service.
class NumbersByName {
 public:
  NumbersByName() {
    for (std::size_t number = 0; number < std::size(operations_table); ++number) {
      std::size_t slot = slot_of(operations_table[number]->name);
      while (slots_[slot] != 0) slot = (slot + 1) % slots_.size();
      slots_[slot] = static_cast<std::uint8_t>(number + 1);
    }
  }
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const {
    if (name.empty()) return std::nullopt;
    for (std::size_t slot = slot_of(name); slots_[slot] != 0; slot = (slot + 1) % slots_.size())
      if (const std::size_t number = slots_[slot] - 1u; operations_table[number]->name == name) return number;
    return std::nullopt;
  }

 private:
  std::array<std::uint8_t, 256> slots_{};  // 0: empty; otherwise an operation's number plus 1
  static_assert(std::size(operations_table) < 128, "half of the slots stay empty");

  static std::size_t slot_of(std::string_view name) {
    const auto letter = [&](std::size_t at) { return std::size_t{static_cast<unsigned char>(name[at])}; };
    return (name.size() * 29 + letter(0) * 3 + letter(name.size() / 2) * 7 + letter(name.size() - 1) * 13) %
           std::tuple_size_v<decltype(slots_)>;
  }
};

// The worst-case cost of parsing and checking a request and building its values. The worst case is a request
// with many small values.
constexpr std::uint64_t nanoseconds_per_byte = 25;

Result<std::string> answer_body(Context& context, const Operation& operation, std::string_view body) {
  engine::Hurry::spend(nanoseconds_per_byte * body.size());
  const auto document = json::parse(body);
  if (document == nullptr) return error::serialization("");
  const json::Value& request = document->root();
  if (operation.reads_strictly && request.is(json::Value::Kind::object))
    CHECK_OK(read_strictly(*operation.shape, body));
  CHECK_OK(check_types(*operation.shape, request));
  context.frame = frame_at_depth(operation.frame, document->depth());
  CHECK_OK(check_constraints(*operation.shape, request, context.frame));
  std::string answer;
  json::Writer out(answer);
  CHECK_OK(operation.run(context, request, out));
  return answer;
}

}  // namespace

std::optional<OperationNumber> operation_named(std::string_view name) {
  static const NumbersByName numbers;
  return numbers.find(name);
}

std::optional<OperationNumber> operation_number(std::string_view target) {
  const auto dot = target.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto number = operation_named(target.substr(dot + 1));
  if (!number || operations_table[*number]->service != target.substr(0, dot)) return std::nullopt;
  return number;
}

std::span<const Operation* const> all_operations() { return operations_table; }

Answer dispatch(Context& context, const Operation& operation, std::string_view body) {
  const auto run = [&]() -> Answer {
    auto answer = answer_body(context, operation, body);
    if (!answer) return error_answer(answer.error(), context.frame);
    return {200, *std::move(answer)};
  };
  // A request can need more memory than is available. In that case committed data is untouched, and the
  // client can retry.
  return engine::attempt(run,
                         [](std::string_view) { return error_answer(error::internal_server_error().error); });
}

}  // namespace mayfly::compat
