// The table of the tools that an agent can call, and the function that calls a tool.
//
//   const Tool* tool = find_tool("advance_clock");
//   auto outcome = call_tool(*tool, world, scope, R"({"seconds":60})" as a tree, stop);
//   outcome.failed == false, outcome.text == R"({"now":"2031-01-01T00:01:00Z","expired":1,…})"
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stop_token>
#include <string_view>

#include "compat/json/json_tree.h"
#include "compat/mcp/tool.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat::mcp {

class World;

// Everything that an agent reads takes up space in the agent's context. Results therefore have a limit: long
// text is cut, long pages of items are shortened, and the result says so.
inline constexpr std::size_t result_bytes_max = 256 * 1024;
inline constexpr std::int64_t page_items_default = 50;  // for query and scan without a Limit

std::span<const Tool> all_tools();
const Tool* find_tool(std::string_view name);  // nullptr if there is no such tool

// Whether the tool is available. In read-only mode, the available tools are those that read, plus `operation`
// and execute_statement, which then reject writes.
bool is_offered(const Tool& tool, bool read_only);

// Returns the tool's description for tools/list.
json::Tree describe(const Tool& tool, bool read_only);

// Calls a tool. Requires: the tool is offered; `arguments` is an object, parsed as_written. The arguments
// `account` and `region` override `scope`.
Outcome call_tool(const Tool& tool, World& world, const engine::Scope& scope, json::Tree arguments,
                  bool read_only, const std::stop_token& stop);

}  // namespace mayfly::compat::mcp
