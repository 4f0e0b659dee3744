// Converts metrics from Prometheus text format to one JSON object:
//
//   mayfly_table_items{TableName="carts"} 3
//   {"mayfly_table_items":[{"labels":{"TableName":"carts"},"value":3}]}
#pragma once

#include <string>
#include <string_view>

#include "compat/json/json_tree.h"
#include "engine/base/expected.h"

namespace mayfly::cli {

// The object has one member for each name, in the order of the text, with all samples of that name. A value
// that is not a JSON number, such as +Inf, becomes a string. Comments (HELP, TYPE) are left out. The error is
// a sentence that quotes a malformed line.
Expected<json::Tree, std::string> metrics_tree(std::string_view text);

}  // namespace mayfly::cli
