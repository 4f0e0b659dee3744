// The table that a request names, by its name or its ARN; or the error that DynamoDB answers if there is
// none.
//
//   TRY(auto table, find_table(context, request.member("TableName")->string()));
//
// Which messages an operation uses was measured on AWS; dynalite's and Alternator's tests say where.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compat/context.h"
#include "compat/wire/error.h"
#include "engine/catalog.h"

namespace mayfly::compat {

enum class TableStatus;  // changes.h

// The table's own name, where a request may give a name or a table's ARN. An ARN that is malformed, of
// something else or of another region is a ValidationException; one of another account's table is a
// ResourceNotFoundException "Requested resource not found".
Result<std::string> resolve_table_name(const Context& context, std::string_view name_or_arn);

// For operations on items: ResourceNotFoundException "Requested resource not found". A table that is still
// being created has none.
Result<std::shared_ptr<engine::LiveTable>> find_table(const Context& context, std::string_view name_or_arn);

// For operations on tables: "Requested resource not found: Table: X not found". So it is said of one that is
// being restored, too, by all operations but DescribeTable and DeleteTable.
Result<std::shared_ptr<engine::LiveTable>> find_named_table(const Context& context,
                                                            std::string_view name_or_arn);

bool is_being_restored(const Context& context, std::string_view table_name);
// The same for DescribeTable, DeleteTable and UpdateTable: a replica that items are still being copied to is
// there for these alone.
Result<std::shared_ptr<engine::LiveTable>> find_described_table(const Context& context,
                                                                std::string_view name_or_arn);

// For changes of tables: ResourceInUseException "Attempt to change a resource which is still in use: Table is
// being created: X", or updated, or deleted.
Result<void> check_settled(const Context& context, std::string_view table_name);
// That error, where it is known already what is announced: a table may settle from one look to the next.
Unexpected<Error> still_changing(TableStatus status, std::string_view table_name);

// The errors themselves: a table may also be dropped between its lookup and Transaction::lock().
Unexpected<Error> table_not_found();
Unexpected<Error> named_table_not_found(std::string_view table_name);

}  // namespace mayfly::compat
