// Shapes of table settings in CreateTable and UpdateTable.
#pragma once

#include "compat/wire/shapes_common.h"

namespace mayfly::compat::shapes {

// --- keys
inline constexpr Shape key_name = string_shape(1, 255);
inline constexpr std::string_view scalar_type_values[] = {"B", "N", "S"};
inline constexpr Shape scalar_type = enum_shape(scalar_type_values);
inline constexpr Member attribute_definition_members[] = {
    {"AttributeName", &key_name, required},
    {"AttributeType", &scalar_type, required},
};
inline constexpr Shape attribute_definition = structure("AttributeDefinition", attribute_definition_members);
inline constexpr Shape attribute_definitions = list_of(attribute_definition);
inline constexpr std::string_view key_type_values[] = {"HASH", "RANGE"};
inline constexpr Shape key_type = enum_shape(key_type_values);
inline constexpr Member key_schema_element_members[] = {
    {"AttributeName", &key_name, required},
    {"KeyType", &key_type, required},
};
inline constexpr Shape key_schema_element = structure("KeySchemaElement", key_schema_element_members);
inline constexpr Shape key_schema = list_of(key_schema_element, 1, 2);         // of tables and local indexes
inline constexpr Shape global_key_schema = list_of(key_schema_element, 1, 8);  // up to 4 + 4 attributes

// --- throughput
inline constexpr Member provisioned_throughput_members[] = {
    {"WriteCapacityUnits", &positive_long, required},
    {"ReadCapacityUnits", &positive_long, required},
};
inline constexpr Shape provisioned_throughput =
    structure("ProvisionedThroughput", provisioned_throughput_members);
inline constexpr Member on_demand_throughput_members[] = {
    {"MaxReadRequestUnits", &any_long},
    {"MaxWriteRequestUnits", &any_long},
};
inline constexpr Shape on_demand_throughput = structure("OnDemandThroughput", on_demand_throughput_members);
inline constexpr Member warm_throughput_members[] = {
    {"ReadUnitsPerSecond", &any_long},
    {"WriteUnitsPerSecond", &any_long},
};
inline constexpr Shape warm_throughput = structure("WarmThroughput", warm_throughput_members);
inline constexpr std::string_view billing_mode_values[] = {"PROVISIONED", "PAY_PER_REQUEST"};
inline constexpr Shape billing_mode = enum_shape(billing_mode_values);

// --- indexes
inline constexpr std::string_view projection_type_values[] = {"ALL", "INCLUDE", "KEYS_ONLY"};
inline constexpr Shape projection_type = enum_shape(projection_type_values);
inline constexpr Shape projected_attribute = string_shape(1, 255);
inline constexpr Shape projected_attributes = list_of(projected_attribute, 1, 20);
inline constexpr Member projection_members[] = {
    {"ProjectionType", &projection_type},
    {"NonKeyAttributes", &projected_attributes},
};
inline constexpr Shape projection = structure("Projection", projection_members);
inline constexpr Member local_index_members[] = {
    {"IndexName", &index_name, required},
    {"KeySchema", &key_schema, required},
    {"Projection", &projection, required},
};
inline constexpr Shape local_index = structure("LocalSecondaryIndex", local_index_members);
inline constexpr Shape local_indexes = list_of(local_index);
inline constexpr Member global_index_members[] = {
    {"IndexName", &index_name, required},          {"KeySchema", &global_key_schema, required},
    {"Projection", &projection, required},         {"ProvisionedThroughput", &provisioned_throughput},
    {"OnDemandThroughput", &on_demand_throughput}, {"WarmThroughput", &warm_throughput},
};
inline constexpr Shape global_index = structure("GlobalSecondaryIndex", global_index_members);
inline constexpr Shape global_indexes = list_of(global_index);

inline constexpr Member index_update_members[] = {
    {"IndexName", &index_name, required},
    {"ProvisionedThroughput", &provisioned_throughput, required_alone},
    {"OnDemandThroughput", &on_demand_throughput},
    {"WarmThroughput", &warm_throughput},
};
inline constexpr Shape index_update = structure("UpdateGlobalSecondaryIndexAction", index_update_members);
inline constexpr Shape index_creation = structure("CreateGlobalSecondaryIndexAction", global_index_members);
inline constexpr Member index_deletion_members[] = {
    {"IndexName", &index_name, required},
};
inline constexpr Shape index_deletion = structure("DeleteGlobalSecondaryIndexAction", index_deletion_members);
inline constexpr Member global_index_update_members[] = {
    {"Update", &index_update},
    {"Create", &index_creation},
    {"Delete", &index_deletion},
};
inline constexpr Shape global_index_update =
    structure("GlobalSecondaryIndexUpdate", global_index_update_members);
inline constexpr Shape global_index_updates = list_of(global_index_update);

// --- other settings
inline constexpr std::string_view stream_view_values[] = {"OLD_IMAGE", "KEYS_ONLY", "NEW_AND_OLD_IMAGES",
                                                          "NEW_IMAGE"};
inline constexpr Shape stream_view = enum_shape(stream_view_values);
inline constexpr Member stream_specification_members[] = {
    {"StreamEnabled", &boolean, required},
    {"StreamViewType", &stream_view},
};
inline constexpr Shape stream_specification = structure("StreamSpecification", stream_specification_members);
inline constexpr std::string_view encryption_type_values[] = {"AES256", "KMS"};
inline constexpr Shape encryption_type = enum_shape(encryption_type_values);
inline constexpr Shape kms_key_id = string_shape(1);
inline constexpr Member encryption_members[] = {
    {"Enabled", &boolean},
    {"SSEType", &encryption_type},
    {"KMSMasterKeyId", &kms_key_id},
};
inline constexpr Shape encryption = structure("SSESpecification", encryption_members);
inline constexpr std::string_view table_class_values[] = {"STANDARD", "STANDARD_INFREQUENT_ACCESS"};
inline constexpr Shape table_class = enum_shape(table_class_values);
inline constexpr std::string_view settings_replication_values[] = {"ENABLED", "DISABLED",
                                                                   "ENABLED_WITH_OVERRIDES"};
inline constexpr Shape settings_replication = enum_shape(settings_replication_values);
inline constexpr Shape table_source_arn = string_shape(1, 1024);

}  // namespace mayfly::compat::shapes
