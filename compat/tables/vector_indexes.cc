#include "compat/tables/vector_indexes.h"

#include <algorithm>
#include <unordered_set>

#include "compat/tables/projection.h"
#include "compat/wire/shape.h"

namespace mayfly::compat {
namespace {

using engine::KeyAttribute;
using json::Value;

std::string vector_attribute(const Value& index) {
  return std::string(*string_member(*index.member("VectorAttribute"), "AttributeName"));
}

Result<void> check_vector_undefined(const Value& index, const std::vector<KeyAttribute>& definitions) {
  const std::string name = vector_attribute(index);
  if (find_definition(definitions, name) == nullptr) return {};
  return error::invalid_parameters(
      "Conflicting attribute definition for '" + name +
      "'. An attribute cannot be defined in AttributeDefinitions when used as a VectorAttribute.");
}

Result<void> check_count(std::size_t count, std::size_t max, const char* of) {
  if (count <= max) return {};
  return error::invalid_parameters(
      "Value '" + std::to_string(count) + "' at 'SearchSchema' failed to satisfy constraint: " +
      "Member must have " + of + " count less than or equal to " + std::to_string(max));
}

Result<std::vector<SearchElement>> read_search_schema(const Value* list,
                                                      const std::vector<KeyAttribute>& definitions) {
  std::vector<SearchElement> elements;
  if (list == nullptr) return elements;
  for (const Value& each : list->items()) {
    elements.push_back({.name = std::string(*string_member(each, "AttributeName")),
                        .hash = string_member(each, "SearchSchemaElementType") == "HASH"});
  }
  const auto hashes = static_cast<std::size_t>(
      std::count_if(elements.begin(), elements.end(), [](const SearchElement& each) { return each.hash; }));
  CHECK_OK(check_count(hashes, hash_elements_max, "HASH"));
  CHECK_OK(check_count(elements.size() - hashes, inline_filters_max, "INLINE_FILTER"));
  std::unordered_set<std::string> names;
  for (const SearchElement& each : elements) {
    if (!names.insert(each.name).second)
      return error::invalid_parameters("SearchSchema contains a duplicate AttributeName");
  }
  for (const SearchElement& each : elements) {
    if (find_definition(definitions, each.name) == nullptr)
      return error::invalid_parameters("One element in SearchSchema is not defined in attribute definitions");
  }
  return elements;
}

Result<void> check_same_dimensions(const VectorIndex& index, const std::vector<VectorIndex>& others) {
  for (const VectorIndex& other : others) {
    if (other.attribute != index.attribute || other.dimensions == index.dimensions) continue;
    return error::invalid_parameters(
        "Conflicting attribute definition for '" + index.attribute +
        "'. All VectorIndexes on the same vector attribute must use the same dimensions.");
  }
  return {};
}

}  // namespace

const VectorIndex* find_vector_index(const std::vector<VectorIndex>& indexes, std::string_view name) {
  const auto found = std::find_if(indexes.begin(), indexes.end(),
                                  [&](const VectorIndex& index) { return index.name == name; });
  return found == indexes.end() ? nullptr : &*found;
}

std::vector<std::string> searched_attributes(const Value& list) {
  std::vector<std::string> names;
  for (const Value& index : list.items()) {
    const Value* schema = index.member("SearchSchema");
    if (schema == nullptr) continue;
    for (const Value& element : schema->items()) names.emplace_back(*string_member(element, "AttributeName"));
  }
  return names;
}

bool searches(const VectorIndex& index, std::string_view attribute) {
  return std::any_of(index.search_schema.begin(), index.search_schema.end(),
                     [&](const SearchElement& element) { return element.name == attribute; });
}

engine::Projection projection_of(const VectorIndex& index) {
  using Kind = engine::Projection::Kind;
  return {.kind = index.projection == "ALL"       ? Kind::all
                  : index.projection == "INCLUDE" ? Kind::include
                                                  : Kind::keys_only,
          .attributes = index.included};
}

Result<void> check_vectors_undefined(const Value& list, const std::vector<KeyAttribute>& definitions) {
  for (const Value& index : list.items()) CHECK_OK(check_vector_undefined(index, definitions));
  return {};
}

Result<std::vector<VectorIndex>> read_vector_indexes(const Value& list, const engine::Table& table,
                                                     bool on_demand) {
  if (list.items().empty()) return error::invalid_parameters("List of VectorIndexes is empty");
  if (list.items().size() > vector_indexes_max)
    return error::invalid_parameters("VectorIndex count exceeds the per-table limit of " +
                                     std::to_string(vector_indexes_max));
  if (!on_demand) return vectors_need_on_demand();
  std::vector<VectorIndex> indexes;
  for (const Value& each : list.items()) {
    TRY(auto index, read_vector_index(each, table.attribute_definitions, indexes));
    if (table.find_index(index.name) != nullptr || find_vector_index(indexes, index.name) != nullptr)
      return error::invalid_parameters("Duplicate index name: " + index.name);
    indexes.push_back(std::move(index));
  }
  return indexes;
}

Result<VectorIndex> read_vector_index(const Value& create, const std::vector<KeyAttribute>& definitions,
                                      const std::vector<VectorIndex>& others) {
  VectorIndex index;
  index.name = *string_member(create, "IndexName");
  index.attribute = vector_attribute(create);
  index.dimensions = *integer_member(create, "Dimensions");
  index.distance = *string_member(create, "DistanceFunction");
  if (index.dimensions > dimensions_max) {
    return error::invalid_parameters("Number of dimensions must be between 1 and " +
                                     std::to_string(dimensions_max) + " inclusive.");
  }
  CHECK_OK(check_vector_undefined(create, definitions));
  TRY(index.search_schema, read_search_schema(create.member("SearchSchema"), definitions));
  TRY(auto projection, read_projection(*create.member("Projection")));
  index.projection = *string_member(*create.member("Projection"), "ProjectionType");
  index.included = std::move(projection.attributes);
  CHECK_OK(check_same_dimensions(index, others));
  return index;
}

Unexpected<Error> vectors_need_on_demand() {
  return error::invalid_parameters("Vector indexes are only supported for PAY_PER_REQUEST tables");
}

std::string vector_schema_text(const VectorIndex& index) {
  return "VectorIndexSchema:[VectorAttribute: key{" + index.attribute +
         ":L:" + std::to_string(index.dimensions) + "}]";
}

}  // namespace mayfly::compat
