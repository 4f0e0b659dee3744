// ARNs of tables and indexes.
//
//   table_arn({"000000000000", "us-east-1"}, "carts")   "arn:aws:dynamodb:us-east-1:000000000000:table/carts"
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/schema/table.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat {

// "arn:aws:dynamodb:us-east-1:000000000000:table/T". The ARN of an index appends "/index/by_x".
std::string table_arn(const engine::Scope& scope, std::string_view table_name);
std::string table_arn(const engine::Table& table);
std::string index_arn(const engine::Table& table, std::string_view index_name);

struct TableArn {
  std::string_view region, account, name;
};
// Parses "arn:aws:dynamodb:REGION:ACCOUNT:table/NAME". Returns nullopt for ARNs of the parts of a table, such
// as its indexes.
std::optional<TableArn> parse_table_arn(std::string_view arn);

// Whether an ARN, even a malformed one, names another account, service or partition. IAM rejects such ARNs
// before the operation looks at them (ScyllaDB's test/alternator/test_export.py, August 2026).
bool is_of_others(std::string_view arn, std::string_view account);

}  // namespace mayfly::compat
