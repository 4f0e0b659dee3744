// Metrics in Prometheus' text format as one JSON object:
//
//   mayfly_table_items{TableName="carts"} 3
//   {"mayfly_table_items":[{"labels":{"TableName":"carts"},"value":3}]}
#pragma once

#include <string>
#include <string_view>

#include "compat/wire/json_tree.h"
#include "engine/expected.h"

namespace mayfly::http {

// One member for each name, in the order of the text, with all its samples. A value that JSON has no number
// for, such as +Inf, is a string. Comments (HELP, TYPE) are left out. The error is a sentence that quotes a
// malformed line.
Expected<json::Tree, std::string> metrics_tree(std::string_view text);

}  // namespace mayfly::http
