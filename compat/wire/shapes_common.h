// Shapes that several operations share, from the public API model. Enum values are in AWS's order.
#pragma once

#include <string_view>

#include "compat/wire/shape.h"

namespace mayfly::compat::shapes {

// --- scalars
inline constexpr Shape any_string = string_shape();
inline constexpr Shape any_long = long_shape();
inline constexpr Shape boolean = {.type = Shape::Type::boolean};
inline constexpr Shape timestamp = {.type = Shape::Type::timestamp};
inline constexpr Shape positive_long = long_shape(1);
inline constexpr Shape positive_integer = integer_shape(1);  // Limit

// --- names. The API model allows 1 to 1024 characters for TableName, because it can be an ARN; a table's
// name must have 3 to 255 characters. Operations on items and streams, and CreateTable, report an invalid
// name among the constraint errors; other operations on tables use table_name_first with `required_first`.
inline constexpr Shape table_name = {.min = 3, .max = 255, .pattern = name_pattern, .table_name = true};
inline constexpr Shape table_name_first = {
    .min = 3, .max = 255, .pattern = name_pattern, .table_name = true, .length_first = true};
inline constexpr Shape index_name = string_shape(3, 255, name_pattern);
inline constexpr Shape attribute_name = string_shape({}, 65535);
inline constexpr Shape attribute_names = list_of(attribute_name, 1);  // AttributesToGet
inline constexpr Shape expression_names = map_of(attribute_name);     // ExpressionAttributeNames

// --- attribute values
inline constexpr Shape attribute_value = {.type = Shape::Type::attribute_value,
                                          .java_name = "AttributeValue"};
inline constexpr Shape attribute_values = list_of(attribute_value);               // AttributeValueList
inline constexpr Shape attribute_map = map_of(attribute_value, &attribute_name);  // Item, Key
inline constexpr Shape expression_values = map_of(attribute_value);               // ExpressionAttributeValues

// --- requested return values
inline constexpr std::string_view return_consumed_capacity_values[] = {"INDEXES", "TOTAL", "NONE"};
inline constexpr Shape return_consumed_capacity = enum_shape(return_consumed_capacity_values);
inline constexpr std::string_view return_item_collection_metrics_values[] = {"SIZE", "NONE"};
inline constexpr Shape return_item_collection_metrics = enum_shape(return_item_collection_metrics_values);
inline constexpr std::string_view return_values_values[] = {"ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE",
                                                            "UPDATED_NEW"};
inline constexpr Shape return_values =
    enum_shape(return_values_values, "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]");  // AWS's spelling
inline constexpr std::string_view return_values_on_failure_values[] = {"ALL_OLD", "NONE"};
inline constexpr Shape return_values_on_condition_check_failure = enum_shape(return_values_on_failure_values);
inline constexpr std::string_view select_values[] = {"SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES",
                                                     "ALL_PROJECTED_ATTRIBUTES"};
inline constexpr Shape select = enum_shape(select_values);

// --- legacy conditions
inline constexpr std::string_view conditional_operator_values[] = {"OR", "AND"};
inline constexpr Shape conditional_operator =
    enum_shape(conditional_operator_values, "[ALL, OR]");  // as AWS prints it
inline constexpr std::string_view comparison_operator_values[] = {
    "IN",       "NULL", "BETWEEN", "LT",          "NOT_CONTAINS", "EQ",      "GT",
    "NOT_NULL", "NE",   "LE",      "BEGINS_WITH", "GE",           "CONTAINS"};
inline constexpr Shape comparison_operator = enum_shape(comparison_operator_values);
inline constexpr Member expected_attribute_value_members[] = {
    {"AttributeValueList", &attribute_values},
    {"ComparisonOperator", &comparison_operator},
    {"Exists", &boolean},
    {"Value", &attribute_value},
};
inline constexpr Shape expected_attribute_value =
    structure("ExpectedAttributeValue", expected_attribute_value_members);
inline constexpr Shape expected = map_of(expected_attribute_value, &attribute_name);
inline constexpr Member condition_members[] = {
    {"AttributeValueList", &attribute_values},
    {"ComparisonOperator", &comparison_operator, required},
};
inline constexpr Shape condition = structure("Condition", condition_members);
inline constexpr Shape conditions =
    map_of(condition, &attribute_name);  // KeyConditions, QueryFilter, ScanFilter
inline constexpr std::string_view attribute_action_values[] = {"ADD", "PUT", "DELETE"};
inline constexpr Shape attribute_action = enum_shape(attribute_action_values);
inline constexpr Member attribute_value_update_members[] = {
    {"Value", &attribute_value},
    {"Action", &attribute_action},
};
inline constexpr Shape attribute_value_update =
    structure("AttributeValueUpdate", attribute_value_update_members);
inline constexpr Shape attribute_updates = map_of(attribute_value_update, &attribute_name);

}  // namespace mayfly::compat::shapes
