#include <vector>

#include "compat/expression/key_condition.h"
#include "compat/expression/legacy.h"
#include "compat/expression/path_visitor.h"
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

using engine::AttributeValue;
using engine::Item;
using expression::KeyCondition;
using expression::KeyPredicate;

constexpr Member members[] = {
    {"Select", &shapes::select},
    {"IndexName", &shapes::index_name},
    {"ReturnConsumedCapacity", &shapes::return_consumed_capacity},
    {"QueryFilter", &shapes::conditions},
    stopping({"TableName", &shapes::table_name, required}),
    stopping({"ConditionalOperator", &shapes::conditional_operator}),
    {"AttributesToGet", &shapes::attribute_names},
    {"Limit", &shapes::positive_integer},
    {"KeyConditions", &shapes::conditions},
    {"ExclusiveStartKey", &shapes::attribute_map},
    {"ConsistentRead", &shapes::boolean},
    {"ScanIndexForward", &shapes::boolean},
    {"KeyConditionExpression", &shapes::any_string},
    {"FilterExpression", &shapes::any_string},
    {"ProjectionExpression", &shapes::any_string},
    {"ExpressionAttributeValues", &shapes::expression_values},
    {"ExpressionAttributeNames", &shapes::expression_names},
};
constexpr Shape shape = structure("QueryInput", members);

bool satisfies(const AttributeValue& value, const KeyPredicate& predicate) {
  const auto order = engine::compare_scalars(value, *predicate.low);
  switch (predicate.kind) {
    case KeyPredicate::Kind::equal: return order == 0;
    case KeyPredicate::Kind::less: return order < 0;
    case KeyPredicate::Kind::less_equal: return order <= 0;
    case KeyPredicate::Kind::greater: return order > 0;
    case KeyPredicate::Kind::greater_equal: return order >= 0;
    case KeyPredicate::Kind::between:
      return order >= 0 && engine::compare_scalars(value, *predicate.high) <= 0;
    case KeyPredicate::Kind::not_indexable:  // rejected by match_key_schema
    case KeyPredicate::Kind::begins_with: break;
  }
  std::string text, prefix;
  engine::append_scalar_prefix(text, value);
  engine::append_scalar_prefix(prefix, *predicate.low);
  return text.starts_with(prefix);
}

// Prints a key as AWS prints its own objects: "{p=AttributeValue: {S:x}}".
std::string printed(const Item& key) {
  std::string text;
  for (const auto& [name, value] : key) {
    text += (text.empty() ? "" : ", ") + name + "=AttributeValue: {" +
            std::string(engine::type_name(value.type())) + ":";
    if (const auto* string = value.get_if<std::string>()) text += *string;
    if (const auto* number = value.get_if<engine::Number>()) number->append_to(text);
    text += "}";
  }
  return "{" + text + "}";
}

// Whether the condition specifies a whole key of the table. AWS does not accept a start key for a query with
// such a condition.
bool reads_one_row(const ReadTarget& target, const KeyCondition& condition) {
  return target.index == nullptr && condition.sort_equal.size() == target.keys().sort().size();
}

// Checks that the start key lies within the query's range.
Result<void> check_start_position(const ReadTarget& target, const KeyCondition& condition,
                                  const Item& start_key) {
  const engine::KeySchema& keys = target.keys();
  bool same_partition = true;
  for (std::size_t i = 0; i < keys.partition().size(); ++i) {
    same_partition &= *start_key.find(keys.partition()[i].name) == condition.partition[i];
  }
  if (condition.sort_equal.empty() && !condition.sort_range) {
    if (!same_partition) {
      return error::validation(
          "The provided starting key is outside query boundaries based on provided conditions");
    }
    if (reads_one_row(target, condition)) {
      return error::validation("The provided exclusive start key is invalid: ExclusiveStartKey: " +
                               printed(start_key));
    }
    return {};
  }
  bool matches = true;
  for (std::size_t i = 0; i < condition.sort_equal.size(); ++i) {
    matches &= *start_key.find(keys.sort()[i].name) == condition.sort_equal[i];
  }
  if (condition.sort_range)
    matches &= satisfies(*start_key.find(condition.sort_range->attribute), *condition.sort_range);
  if (!matches) return error::validation("The provided starting key does not match the range key predicate");
  if (!same_partition || reads_one_row(target, condition)) {
    return error::validation("The query can return at most one row and cannot be restarted");
  }
  return {};
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  CHECK_OK(check_expression_parameters(
      request, {"ProjectionExpression", "FilterExpression", "KeyConditionExpression"},
      {"AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions"}, context.frame));
  TRY(auto legacy_filter, expression::read_filter(request, "QueryFilter", context.frame));
  CHECK_OK(check_attributes_to_get(request, context.frame));
  TRY(const auto start_key, read_start_key(request, context.frame));
  if (request.member("KeyConditionExpression") == nullptr && request.member("KeyConditions") == nullptr) {
    return error::validation(
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.");
  }
  CHECK_OK(check_select(request, "1 validation error detected: "));

  PageRequest page;
  TRY(auto substitutions,
      read_substitutions(request, {"ProjectionExpression", "FilterExpression", "KeyConditionExpression"},
                         context.frame));
  TRY(auto key_condition, read_condition(request, "KeyConditionExpression", substitutions));
  TRY(page.filter, read_condition(request, "FilterExpression", substitutions));
  TRY(page.projection, read_projection(request, substitutions));
  CHECK_OK(substitutions.check_all_used());
  if (legacy_filter) page.filter = std::move(legacy_filter);
  // The key condition is checked after the other expressions have been parsed.
  std::vector<KeyPredicate> predicates;
  if (key_condition) {
    TRY(predicates, in_frame(context.frame, expression::key_predicates(*std::move(key_condition))));
  } else {
    TRY(predicates, expression::read_key_conditions(*request.member("KeyConditions"), context.frame));
  }
  if (predicates.empty()) return error::validation("Conditions can be of length 1 or 2 only");

  TRY(page.target, find_read_target(context, request, ReadBy::query));
  const ReadTarget& target = page.target;
  if (start_key && start_key->size() != start_key_size(target)) {
    return error::validation("The provided starting key is invalid");
  }
  if (start_key) CHECK_OK(check_start_partition(target, *start_key));
  TRY(const KeyCondition condition, expression::match_key_schema(std::move(predicates), target.keys()));
  if (start_key) {
    CHECK_OK(check_start_sort(target, *start_key));
    CHECK_OK(check_start_table_key(target, *start_key));
    CHECK_OK(check_start_position(target, condition, *start_key));
  }
  if (page.projection) CHECK_OK(check_keys_are_scalars(*target.table, nested_names(*page.projection)));
  if (page.filter) {
    CHECK_OK(check_filter_has_no_keys(target.keys(), *page.filter,
                                      request.member("QueryFilter") ? "QueryFilter" : "Filter Expression"));
  }
  CHECK_OK(check_all_attributes(target, request));
  if (page.filter) CHECK_OK(check_keys_are_scalars(*target.table, nested_names(*page.filter)));
  CHECK_OK(apply_index_projection(request, page));
  CHECK_OK(check_filter_is_projected(page, expression::for_each_path));

  page.range = key_range(target, condition);
  page.one_row = reads_one_row(target, condition);
  page.range.forward = boolean_member(request, "ScanIndexForward").value_or(true);
  if (start_key) start_after(page.range, encode_position(target, *start_key));
  if (const auto limit = integer_member(request, "Limit")) page.limit = static_cast<std::size_t>(*limit);
  page.consistent = boolean_member(request, "ConsistentRead").value_or(false);
  page.sight = sight_of(context, *target.table, target.index, page.consistent);
  return answer_page(context, request, page, out);
}

}  // namespace

constinit const Operation operations::query{dynamodb, "Query", Access::reads, TablesIn::table_name,
                                            &shape,   &run,    Frame::bare};

}  // namespace mayfly::compat
