#include "compat/expression/legacy.h"
#include "compat/items/page.h"
#include "compat/items/query_and_scan.h"
#include "compat/items/read_target.h"
#include "compat/items/request_expressions.h"
#include "compat/items/sight.h"
#include "compat/operations/operations.h"
#include "compat/wire/shapes_common.h"
#include "engine/values/key_codec.h"

namespace mayfly::compat {
namespace {

constexpr Shape total_segments = integer_shape(1, 1'000'000);
constexpr Shape segment = integer_shape(0, 999'999);
constexpr Member members[] = {
    {"Select", &shapes::select},
    {"IndexName", &shapes::index_name},
    {"TotalSegments", &total_segments},
    {"ReturnConsumedCapacity", &shapes::return_consumed_capacity},
    {"TableName", &shapes::table_name, required},
    {"ConditionalOperator", &shapes::conditional_operator},
    {"ScanFilter", &shapes::conditions},
    {"Segment", &segment},
    {"Limit", &shapes::positive_integer},
    {"AttributesToGet", &shapes::attribute_names},
    {"ExclusiveStartKey", &shapes::attribute_map},
    {"FilterExpression", &shapes::any_string},
    {"ProjectionExpression", &shapes::any_string},
    {"ExpressionAttributeValues", &shapes::expression_values},
    {"ExpressionAttributeNames", &shapes::expression_names},
    {"ConsistentRead", &shapes::boolean},
};
constexpr Shape shape = structure("ScanInput", members);

__extension__ using Wide = unsigned __int128;

// Share `number` out of `total` equal shares of the partition hash space.
struct Segment {
  std::int64_t number = 0;
  std::int64_t total = 1;

  // Returns the first hash of share `of`, or nullopt if `of` is past the last share.
  [[nodiscard]] std::optional<std::uint64_t> first_hash(std::int64_t of) const {
    if (of >= total) return std::nullopt;
    const auto hashes = static_cast<Wide>(1) << 64;
    const auto shares = static_cast<Wide>(total);
    return static_cast<std::uint64_t>((hashes * static_cast<Wide>(of) + shares - 1) / shares);
  }
  [[nodiscard]] bool contains(std::uint64_t hash) const {
    const auto next = first_hash(number + 1);
    return hash >= *first_hash(number) && (!next || hash < *next);
  }
};

std::string hash_bytes(std::uint64_t hash) {
  std::string bytes(8, '\0');
  for (std::size_t i = 8; i-- > 0; hash >>= 8) bytes[i] = static_cast<char>(hash & 0xff);
  return bytes;
}

Result<Segment> read_segment(const json::Value& request) {
  const auto number = integer_member(request, "Segment");
  const auto total = integer_member(request, "TotalSegments");
  if (number && !total) {
    return error::validation(
        "The TotalSegments parameter is required but was not present in the request when Segment parameter "
        "is "
        "present");
  }
  if (!total) return Segment{};
  if (!number) {
    return error::validation(
        "The Segment parameter is required but was not present in the request when parameter TotalSegments "
        "is "
        "present");
  }
  if (*number >= *total) {
    return error::validation(
        "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: " +
        std::to_string(*number) + " is not less than TotalSegments: " + std::to_string(*total));
  }
  return Segment{*number, *total};
}

Result<void> check_start_key(const ReadTarget& target, const engine::Item& start_key) {
  if (start_key.size() != start_key_size(target)) {
    return error::validation(
        target.index
            ? "The provided starting key is invalid"
            : "The provided starting key is invalid: The provided key element does not match the schema");
  }
  if (target.index == nullptr) return {};
  CHECK_OK(check_start_partition(target, start_key));
  return check_start_sort(target, start_key);
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  CHECK_OK(check_expression_parameters(request, {"ProjectionExpression", "FilterExpression"},
                                       {"AttributesToGet", "ScanFilter", "ConditionalOperator"},
                                       context.frame));
  CHECK_OK(check_attributes_to_get(request, context.frame));
  TRY(auto legacy_filter, expression::read_filter(request, "ScanFilter", context.frame));
  TRY(const auto start_key, read_start_key(request, context.frame));
  TRY(const auto segment, read_segment(request));
  CHECK_OK(check_select(request, ""));

  PageRequest page;
  TRY(auto substitutions,
      read_substitutions(request, {"ProjectionExpression", "FilterExpression"}, context.frame));
  TRY(page.filter, read_condition(request, "FilterExpression", substitutions));
  TRY(page.projection, read_projection(request, substitutions));
  CHECK_OK(substitutions.check_all_used());
  if (legacy_filter) page.filter = std::move(legacy_filter);

  TRY(page.target, find_read_target(context, request, ReadBy::scan));
  const ReadTarget& target = page.target;
  if (start_key) CHECK_OK(check_start_key(target, *start_key));
  CHECK_OK(check_all_attributes(target, request));
  if (start_key) CHECK_OK(check_start_table_key(target, *start_key));

  page.range.index = target.index ? target.index->id : engine::IndexId{0};
  page.range.lower = segment.number == 0 ? std::string() : hash_bytes(*segment.first_hash(segment.number));
  if (const auto end = segment.first_hash(segment.number + 1)) page.range.upper = hash_bytes(*end);
  if (start_key) {
    std::string position = encode_position(target, *start_key);
    if (!segment.contains(engine::partition_hash(position))) {
      return error::validation(
          "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey "
          "with correct "
          "Segment. TotalSegments: " +
          std::to_string(segment.total) + " Segment: " + std::to_string(segment.number));
    }
    start_after(page.range, std::move(position));
  }
  if (page.projection) CHECK_OK(check_keys_are_scalars(*target.table, nested_names(*page.projection)));
  if (page.filter) CHECK_OK(check_keys_are_scalars(*target.table, nested_names(*page.filter)));
  CHECK_OK(apply_index_projection(request, page));

  if (const auto limit = integer_member(request, "Limit")) page.limit = static_cast<std::size_t>(*limit);
  page.partitions = scanned_partitions(*target.table);
  page.consistent = boolean_member(request, "ConsistentRead").value_or(false);
  page.sight = sight_of(context, *target.table, target.index, page.consistent);
  return answer_page(context, request, page, out);
}

}  // namespace

constinit const Operation operations::scan{dynamodb, "Scan", Access::reads, TablesIn::table_name,
                                           &shape,   &run};

}  // namespace mayfly::compat
