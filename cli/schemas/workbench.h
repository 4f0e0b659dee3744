// Reads the tables of a NoSQL Workbench data model (an exported .json file), with their sample items.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/workbench.Modeler.ImportExisting.html
//
//   {"ModelName":"Desk","DataModel":[{"TableName":"Tickets",
//     "KeyAttributes":{"PartitionKey":{"AttributeName":"id","AttributeType":"S"}},
//     "TableData":[{"id":{"S":"t-1"}}],…}]}
#pragma once

#include <string>
#include <vector>

#include "cli/schemas/schema.h"
#include "engine/base/expected.h"

namespace mayfly::schemas {

bool is_workbench(const json::Tree& tree);

// Appends the tables, each with a PutItem request for every item of its TableData. Tables of a model without
// billing settings are on-demand. `file` is for messages. The error is a sentence with the file's name.
Expected<void, std::string> read_workbench(const json::Tree& tree, const std::string& file,
                                           std::vector<TableSchema>& tables);

}  // namespace mayfly::schemas
