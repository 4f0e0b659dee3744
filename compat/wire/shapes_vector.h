// Shapes of vector indexes in CreateTable and UpdateTable.
#pragma once

#include "compat/wire/shapes_table.h"

namespace mayfly::compat::shapes {

inline constexpr Member vector_attribute_members[] = {{"AttributeName", &key_name, required}};
inline constexpr Shape vector_attribute = structure("VectorAttributeDefinition", vector_attribute_members);
inline constexpr std::string_view search_element_values[] = {"HASH", "INLINE_FILTER"};
inline constexpr Shape search_element_type = enum_shape(search_element_values);
inline constexpr Member search_element_members[] = {
    {"AttributeName", &attribute_name, required},
    {"SearchSchemaElementType", &search_element_type, required},
};
inline constexpr Shape search_element = structure("SearchSchemaElement", search_element_members);
inline constexpr Shape search_schema = list_of(search_element, 1);
inline constexpr std::string_view distance_values[] = {"COSINE", "DOT_PRODUCT", "EUCLIDEAN"};
inline constexpr Shape distance = enum_shape(distance_values);
inline constexpr Member vector_index_members[] = {
    {"IndexName", &index_name, required},     {"VectorAttribute", &vector_attribute, required},
    {"SearchSchema", &search_schema},         {"Projection", &projection, required},
    {"Dimensions", &positive_long, required}, {"DistanceFunction", &distance, required},
};
inline constexpr Shape vector_index = structure("VectorIndex", vector_index_members);
inline constexpr Shape vector_indexes = list_of(vector_index);
inline constexpr Shape vector_index_creation = structure("CreateVectorIndexAction", vector_index_members);
inline constexpr Shape vector_index_deletion = structure("DeleteVectorIndexAction", index_deletion_members);
inline constexpr Member vector_index_update_members[] = {
    {"Create", &vector_index_creation},
    {"Delete", &vector_index_deletion},
};
inline constexpr Shape vector_index_update = structure("VectorIndexUpdate", vector_index_update_members);
inline constexpr Shape vector_index_updates = list_of(vector_index_update);

}  // namespace mayfly::compat::shapes
