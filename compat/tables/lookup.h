// Finds the table that a request identifies by name or ARN, or returns DynamoDB's error if it does not exist.
//
//   TRY(auto table, find_table(context, request.member("TableName")->string()));
//
// The messages of each operation come from AWS, as the tests of dynalite and Alternator recorded them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compat/context.h"
#include "compat/wire/error.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat {

enum class TableStatus;  // changes.h

// Returns the table's name for a name or a table ARN. An ARN that is malformed, of another kind of resource
// or of another region causes a ValidationException. An ARN of another account's table causes a
// ResourceNotFoundException "Requested resource not found".
Result<std::string> resolve_table_name(const Context& context, std::string_view name_or_arn);

// Finds a table for an operation on items. Error: ResourceNotFoundException "Requested resource not found",
// also for a table that is still being created.
Result<std::shared_ptr<engine::LiveTable>> find_table(const Context& context, std::string_view name_or_arn);

// Finds a table for an operation on tables. Error: "Requested resource not found: Table: X not found". All
// operations except DescribeTable and DeleteTable also return this error for a table that is being restored.
Result<std::shared_ptr<engine::LiveTable>> find_named_table(const Context& context,
                                                            std::string_view name_or_arn);

bool is_being_restored(const Context& context, std::string_view table_name);
// Like find_named_table, but also finds a replica to which items are still being copied. DeleteTable uses
// this function, and so does UpdateTable when it changes replicas.
Result<std::shared_ptr<engine::LiveTable>> find_described_table(const Context& context,
                                                                std::string_view name_or_arn);

// Checks that an operation can change the table. Error: ResourceInUseException "Attempt to change a resource
// which is still in use: Table is being created: X", or "updated" or "deleted" instead of "created".
Result<void> check_settled(const Context& context, std::string_view table_name);
// Returns the error of check_settled for callers that have already read the status. A second lookup could
// find the table settled.
Unexpected<Error> still_changing(TableStatus status, std::string_view table_name);

// The errors of find_table and find_named_table. Callers need them if a table was dropped between its lookup
// and Transaction::lock().
Unexpected<Error> table_not_found();
Unexpected<Error> named_table_not_found(std::string_view table_name);

}  // namespace mayfly::compat
