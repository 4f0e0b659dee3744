#include "compat/exports/filter.h"

#include <utility>

#include "compat/expression/evaluate.h"
#include "compat/expression/key_condition.h"
#include "compat/expression/projection.h"
#include "compat/items/query_and_scan.h"
#include "compat/items/read_target.h"
#include "compat/items/request_expressions.h"

namespace mayfly::compat::exports {
namespace {

// AWS's export service passes on errors from other components in this form.
Unexpected<Error> passed_on(Error error) {
  if (error.kind == Error::Kind::validation) error.message = error::cut("Invalid Request: " + error.message);
  return Unexpected{std::move(error)};
}

struct Expressions {
  std::optional<engine::KeyRange> keys;
  std::optional<expression::Condition> condition;
  std::optional<expression::Projection> projection;
};

Result<Expressions> read_expressions(const json::Value& specification,
                                     std::shared_ptr<const engine::Table> table, Frame frame) {
  const ParameterNames names = {"ProjectionExpression", "FilterExpression", "KeyConditionExpression"};
  CHECK_OK(check_expression_parameters(specification, names, {}, frame));
  Expressions read;
  TRY(auto substitutions, read_substitutions(specification, names, frame));
  TRY(auto key_condition, read_condition(specification, "KeyConditionExpression", substitutions));
  TRY(read.condition, read_condition(specification, "FilterExpression", substitutions));
  TRY(read.projection, read_projection(specification, substitutions));
  CHECK_OK(substitutions.check_all_used());
  if (key_condition) {
    TRY(auto predicates, expression::key_predicates(*std::move(key_condition)));
    TRY(const auto matched, expression::match_key_schema(std::move(predicates), table->keys));
    if (read.condition) CHECK_OK(check_filter_has_no_keys(table->keys, *read.condition, "Filter Expression"));
    read.keys = key_range(ReadTarget{.live = nullptr, .table = table}, matched);
  }
  if (read.projection) CHECK_OK(check_keys_are_scalars(*table, nested_names(*read.projection)));
  if (read.condition) CHECK_OK(check_keys_are_scalars(*table, nested_names(*read.condition)));
  return read;
}

}  // namespace

Result<Filter> Filter::read(const json::Value& specification, std::shared_ptr<const engine::Table> table,
                            Frame frame) {
  bool empty = true;
  for (const json::Member& member : specification.members())
    empty &= member.value.is(json::Value::Kind::null);
  if (empty) {
    return error::validation(
        "Invalid Request: Invalid FilterSpecification: The specification can not be empty");
  }
  auto read = read_expressions(specification, std::move(table), frame);
  if (!read) return passed_on(std::move(read).error());
  Filter filter;
  filter.keys_ = std::move(read->keys);
  filter.condition_ = std::move(read->condition);
  if (filter.condition_) filter.work_ = expression::work_of(*filter.condition_);
  filter.projection_ = std::move(read->projection);
  return filter;
}

bool Filter::reads(std::string_view key) const {
  return !keys_ || (key >= keys_->lower && (keys_->upper.empty() || key < keys_->upper));
}

bool Filter::takes(const engine::Item& item) const {
  return !condition_ || expression::evaluate(*condition_, item);
}

std::uint64_t Filter::steps(const engine::Item& item) const { return condition_ ? work_.steps_on(item) : 0; }

engine::Item Filter::shown(const engine::Item& item) const {
  return projection_ ? expression::project(*projection_, item) : item;
}

}  // namespace mayfly::compat::exports
