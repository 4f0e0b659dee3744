// All operations. A comment names the file that defines an operation if several operations share that file.
#pragma once

#include "compat/operation.h"

namespace mayfly::compat::operations {

extern const Operation batch_execute_statement;
extern const Operation batch_get_item;
extern const Operation batch_write_item;
extern const Operation create_backup;                  // backups.cc
extern const Operation describe_backup;                // backups.cc
extern const Operation delete_backup;                  // backups.cc
extern const Operation list_backups;                   // backups.cc
extern const Operation update_continuous_backups;      // continuous_backups.cc
extern const Operation describe_continuous_backups;    // continuous_backups.cc
extern const Operation update_contributor_insights;    // contributor_insights.cc
extern const Operation describe_contributor_insights;  // contributor_insights.cc
extern const Operation list_contributor_insights;      // contributor_insights.cc
extern const Operation create_table;
extern const Operation delete_item;
extern const Operation delete_table;
extern const Operation describe_endpoints;
extern const Operation describe_limits;
extern const Operation describe_stream;
extern const Operation describe_table;
extern const Operation execute_statement;
extern const Operation execute_transaction;
extern const Operation export_table_to_point_in_time;  // exports.cc
extern const Operation describe_export;                // exports.cc
extern const Operation list_exports;                   // exports.cc
extern const Operation get_item;
extern const Operation get_records;
extern const Operation get_shard_iterator;
extern const Operation create_global_table;                     // global_tables.cc
extern const Operation describe_global_table;                   // global_tables.cc
extern const Operation describe_global_table_settings;          // global_tables.cc
extern const Operation describe_table_replica_auto_scaling;     // replica_auto_scaling.cc
extern const Operation list_global_tables;                      // global_tables.cc
extern const Operation update_global_table;                     // global_tables.cc
extern const Operation update_global_table_settings;            // global_tables.cc
extern const Operation update_table_replica_auto_scaling;       // replica_auto_scaling.cc
extern const Operation cancel_bulk_operation;                   // bulk_operations.cc
extern const Operation describe_bulk_operation;                 // bulk_operations.cc
extern const Operation list_bulk_operations;                    // bulk_operations.cc
extern const Operation start_bulk_put_items;                    // bulk_operations.cc
extern const Operation describe_import;                         // imports.cc
extern const Operation import_table;                            // imports.cc
extern const Operation list_imports;                            // imports.cc
extern const Operation describe_kinesis_streaming_destination;  // kinesis_streaming_destination.cc
extern const Operation disable_kinesis_streaming_destination;   // kinesis_streaming_destination.cc
extern const Operation enable_kinesis_streaming_destination;    // kinesis_streaming_destination.cc
extern const Operation update_kinesis_streaming_destination;    // kinesis_streaming_destination.cc
extern const Operation list_streams;
extern const Operation list_tables;
extern const Operation put_item;
extern const Operation query;
extern const Operation put_resource_policy;             // resource_policy.cc
extern const Operation get_resource_policy;             // resource_policy.cc
extern const Operation delete_resource_policy;          // resource_policy.cc
extern const Operation restore_table_from_backup;       // restore_table.cc
extern const Operation restore_table_to_point_in_time;  // restore_table.cc
extern const Operation scan;
extern const Operation search_vectors;
extern const Operation tag_resource;           // tags.cc
extern const Operation untag_resource;         // tags.cc
extern const Operation list_tags_of_resource;  // tags.cc
extern const Operation update_time_to_live;    // time_to_live.cc
extern const Operation describe_time_to_live;  // time_to_live.cc
extern const Operation transact_get_items;
extern const Operation transact_write_items;
extern const Operation update_item;
extern const Operation update_table;

}  // namespace mayfly::compat::operations
