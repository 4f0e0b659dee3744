// Tools that do not simply make one call. They choose the operation, combine several calls, or make no call.
#pragma once

#include "compat/mcp/tool.h"

namespace mayfly::compat::mcp {

// Calls the operation that the arguments name; in read-only mode, only if the operation reads.
Outcome any_operation(ToolCall& call);
// Returns those lines of the metrics page that contain a given string.
Outcome show_metrics(ToolCall& call);
// Returns records from all shards of a table's stream: {"records":[…],"next":{"shard":"iterator"}}.
Outcome read_stream(ToolCall& call);
// Explains when an error is raised and what to do about it.
Outcome explain(ToolCall& call);

}  // namespace mayfly::compat::mcp
