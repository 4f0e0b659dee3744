// The tools that are not just one call: they choose the operation, combine several calls, or make none.
#pragma once

#include "compat/mcp/tool.h"

namespace mayfly::compat::mcp {

// Calls the operation that the arguments name; in read-only mode, only if it reads.
Outcome any_operation(ToolCall& call);
// The lines of the metrics that contain a text.
Outcome show_metrics(ToolCall& call);
// Records of all shards of a table's stream: {"records":[…],"next":{"shard":"iterator"}}.
Outcome read_stream(ToolCall& call);
// When an error is raised, and what to do.
Outcome explain(ToolCall& call);

}  // namespace mayfly::compat::mcp
