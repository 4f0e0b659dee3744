#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compat/expression/path_visitor.h"
#include "compat/expression/projection.h"
#include "compat/items/capacity.h"
#include "compat/items/keys.h"
#include "compat/items/read_target.h"
#include "compat/items/request_expressions.h"
#include "compat/items/sight.h"
#include "compat/items/vector_search.h"
#include "compat/operations/operations.h"
#include "compat/tables/changes.h"
#include "compat/tables/lookup.h"
#include "compat/tables/projection.h"
#include "compat/tables/schema.h"
#include "compat/tables/vector_indexes.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shapes_common.h"
#include "engine/values/item_codec.h"
#include "engine/values/item_size.h"

namespace mayfly::compat {
namespace {

using engine::AttributeValue;
using engine::Item;
using Equality = std::pair<std::string, AttributeValue>;

constexpr std::int64_t matches_max = 100;

constexpr Shape search_vector = list_of(shapes::attribute_value, 1, dimensions_max);
constexpr Member members[] = {
    {"TableName", &shapes::table_name, required},
    {"IndexName", &shapes::index_name, required},
    {"ReturnConsumedCapacity", &shapes::return_consumed_capacity},
    {"ExpressionAttributeNames", &shapes::expression_names},
    {"ExpressionAttributeValues", &shapes::expression_values},
    {"ProjectionExpression", &shapes::any_string},
    {"SearchVector", &search_vector, required},
    {"SearchConditionExpression", &shapes::any_string},
    {"TopK", &shapes::positive_integer, required},
};
constexpr Shape shape = structure("SearchVectorsInput", members);

Result<Vector> read_vector(const json::Value& list, Frame frame) {
  Vector vector;
  for (const json::Value& each : list.items()) {
    TRY(const auto value, read_attribute_value(each, frame));
    const auto* number = value.get_if<engine::Number>();
    const auto element = number != nullptr ? to_float(*number) : std::nullopt;
    if (!element) {
      return error::validation(
          "Search vector contains invalid values. All values in the search vector must be a 32-bit "
          "floating-point number attribute");
    }
    vector.push_back(*element);
  }
  return vector;
}

Unexpected<Error> invalid_condition(const char* what) {
  return error::validation("Invalid SearchConditionExpression: " + std::string(what));
}

// A comparison of an attribute with a value, in either order.
struct PathEquality {
  const expression::Path* path;
  const AttributeValue* value;
};

std::optional<PathEquality> path_equality(const expression::Comparison& comparison) {
  const auto of = [](const expression::Operand& a, const expression::Operand& b) {
    const expression::SharedValue* value = constant(b);
    return PathEquality{std::get_if<expression::Path>(&a.value), value == nullptr ? nullptr : &**value};
  };
  for (const PathEquality& each :
       {of(comparison.left, comparison.right), of(comparison.right, comparison.left)}) {
    if (each.path != nullptr && each.value != nullptr) return each;
  }
  return std::nullopt;
}

// Collects the equalities of a condition. The condition must consist of comparisons "attribute = value" that
// are joined by AND. As measured on AWS, there is one message for other comparators, and another message for
// everything else.
Result<void> read_equalities(const expression::Condition& condition, std::vector<PathEquality>& equalities) {
  if (const auto* both = std::get_if<expression::And>(&condition.node)) {
    CHECK_OK(read_equalities(*both->left, equalities));
    return read_equalities(*both->right, equalities);
  }
  const auto* comparison = std::get_if<expression::Comparison>(&condition.node);
  if (comparison == nullptr) return invalid_condition("Invalid operator used in SearchConditionExpression");
  const auto equality = path_equality(*comparison);
  if (comparison->comparator != expression::Comparator::equal || !equality)
    return invalid_condition("Invalid comparator used in SearchConditionExpression");
  equalities.push_back(*equality);
  return {};
}

// Checks the rules that depend on the index.
Result<std::vector<Equality>> match_search_schema(const std::vector<PathEquality>& equalities,
                                                  const VectorIndex& index, const engine::Table& table) {
  std::vector<Equality> matched;
  for (const auto& [path, value] : equalities) {
    const std::string& name = expression::top_level_name(*path);
    if (!searches(index, name)) {
      return error::validation(
          "SearchConditionExpression must not contain any attributes that is not in SearchSchema. Invalid "
          "attribute: " +
          name);
    }
    if (expression::is_nested(*path))
      return invalid_condition("SearchConditionExpression cannot have conditions on nested attributes");
    if (std::any_of(matched.begin(), matched.end(), [&](const Equality& each) { return each.first == name; }))
      return invalid_condition("SearchConditionExpression must only contain one condition per attribute");
    matched.emplace_back(name, *value);
  }
  const SearchElement* hash = index.hash();
  if (hash != nullptr && std::none_of(matched.begin(), matched.end(),
                                      [&](const Equality& each) { return each.first == hash->name; })) {
    return error::validation(
        matched.empty()
            ? "SearchConditionExpression must be provided when SearchSchema has a HASH key"
            : "SearchConditionExpression must have all HASH attributes in configured SearchSchema");
  }
  for (const auto& [name, value] : matched) {
    const auto* definition = find_definition(table.attribute_definitions, name);
    if (!engine::has_type(value, definition->type)) {
      return error::validation("Type of '" + name + "' attribute in SearchConditionExpression (" +
                               std::string(engine::type_name(value.type())) +
                               ") does not match type in search schema (" +
                               std::string(engine::type_name(definition->type)) + ")");
    }
    if (hash != nullptr && name == hash->name && engine::value_size(value) == 0)
      return empty_item_key(*definition);
  }
  return matched;
}

// Returns the index if it can be searched.
Result<VectorIndex> find_index(const Context& context, const engine::Table& table, std::string_view name) {
  const auto indexes = vector_indexes_of(table);
  const VectorIndex* index = find_vector_index(indexes, name);
  if (index == nullptr) return no_such_index(name);
  if (const auto change = context.table_changes.find(context.scope, table.name)) {
    const auto status = change->index_statuses.find(index->name);
    if (status != change->index_statuses.end() && status->second == index_is_creating) {
      if (!change->backfilling.contains(index->name)) return no_such_index(name);
      return error::validation("Cannot search backfilling vector index: " + index->name);
    }
  }
  return *index;
}

// The part of a match that the response shows. The vector is included only if the projection names it.
Item shown_item(const VectorEntries& entries, const VectorMatch& match,
                const std::optional<expression::Projection>& projection) {
  Item item = entries.projected(engine::decode_item(match.stored));
  if (!projection) return item;
  item.set(entries.index().attribute, to_value(match.vector));
  return expression::project(*projection, item);
}

// The cost is the sum of a constant per dimension of the index, a constant per match, the projected
// attributes of each match, and the vectors that are returned. These figures were measured for searches
// without a HASH attribute. AWS's own figures for repeated identical searches differ by a few percent.
double consumed_bytes(const VectorEntries& entries, const std::vector<VectorMatch>& matches,
                      std::size_t vectors_returned) {
  constexpr double of_dimension = 30.6875;
  constexpr double of_match = 65;
  const auto dimensions = static_cast<double>(entries.index().dimensions);
  double bytes = of_dimension * dimensions + of_match * static_cast<double>(matches.size()) +
                 sizeof(float) * dimensions * static_cast<double>(vectors_returned);
  for (const VectorMatch& match : matches)
    bytes += static_cast<double>(engine::item_size(entries.projected(engine::decode_item(match.stored))));
  return vector_request_bytes(bytes);
}

void write_answer(json::Writer& out, const VectorEntries& entries, const std::vector<VectorMatch>& matches,
                  const std::optional<expression::Projection>& projection, ReturnCapacity capacity) {
  std::size_t vectors_returned = 0;
  out.begin_object();
  out.key("SearchResults");
  out.begin_array();
  for (const VectorMatch& match : matches) {
    const Item item = shown_item(entries, match, projection);
    vectors_returned += item.find(entries.index().attribute) != nullptr ? 1 : 0;
    out.begin_object();
    out.key("Item");
    write_item_object(out, item);
    out.key("Score");
    out.decimal(match.score);
    out.end_object();
  }
  out.end_array();
  if (capacity != ReturnCapacity::none) {
    out.key("ConsumedCapacity");
    out.begin_object();
    out.key("VectorSearchRequestBytes");
    out.decimal(consumed_bytes(entries, matches, vectors_returned));
    out.end_object();
  }
  out.end_object();
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  CHECK_OK(check_expression_parameters(request, {"ProjectionExpression", "SearchConditionExpression"}, {},
                                       context.frame));
  VectorSearch search;
  const std::int64_t matches = *integer_member(request, "TopK");
  if (matches > matches_max) {
    return error::validation("Provided TopK value '" + std::to_string(matches) +
                             "' is out of valid range. The value must be between 1 and " +
                             std::to_string(matches_max) + " inclusive");
  }
  search.matches_max = static_cast<std::size_t>(matches);
  TRY(search.vector, read_vector(*request.member("SearchVector"), context.frame));
  TRY(auto substitutions,
      read_substitutions(request, {"ProjectionExpression", "SearchConditionExpression"}, context.frame));
  TRY(const auto condition, read_condition(request, "SearchConditionExpression", substitutions));
  TRY(const auto projection, read_projection(request, substitutions));
  CHECK_OK(substitutions.check_all_used());
  std::vector<PathEquality> equalities;
  if (condition) CHECK_OK(read_equalities(*condition, equalities));

  TRY(const auto live, find_table(context, request.member("TableName")->string()));
  const auto table = live->description();
  TRY(auto index, find_index(context, *table, *string_member(request, "IndexName")));
  if (search.vector.size() != static_cast<std::size_t>(index.dimensions)) {
    return error::validation("Input search vector dimension " + std::to_string(search.vector.size()) +
                             " does not match vector index dimension " + std::to_string(index.dimensions));
  }
  TRY(search.equal, match_search_schema(equalities, index, *table));

  VectorEntries entries(*table, std::move(index));
  search.sight = sight_of(context, *table, entries.index().name, false);
  const auto found = search_vectors(context.database, *live, entries, search);
  if (!live->still_has(0)) return table_not_found();
  write_answer(out, entries, found, projection, return_capacity(request));
  return {};
}

}  // namespace

constinit const Operation operations::search_vectors{
    dynamodb,    "SearchVectors",      Access::reads, TablesIn::table_name, &shape, &run,
    Frame::bare, Extent::whole_tables, true};

}  // namespace mayfly::compat
