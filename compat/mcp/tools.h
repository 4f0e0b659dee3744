// The tools that an agent can call: a table of them, and the function that calls one.
//
//   const Tool* tool = find_tool("advance_clock");
//   auto outcome = call_tool(*tool, world, scope, R"({"seconds":60})" as a tree, stop);
//   outcome.failed == false, outcome.text == R"({"now":"2031-01-01T00:01:00Z","expired":1,…})"
//
// Most tools make one call:
// - an operation, whose request members are the tool's arguments,
// - a call of the control API, whose description (calls/description.h) is also the tool's, or
// - a call of Lambda's API, whose body, query and path members are the arguments.
//
// A few tools combine several calls. A failure is reported in the words of the component that raised it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "compat/calls/description.h"
#include "compat/json/json_tree.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat::mcp {

class World;
struct ToolCall;

// Everything that an agent reads takes up its context. A longer result is therefore cut, and a page of items
// is shortened; the result says so.
inline constexpr std::size_t result_bytes_max = 256 * 1024;
inline constexpr std::int64_t page_items_default = 50;  // for query and scan without a Limit

struct Argument {
  std::string_view name;
  std::string_view schema;  // members of its JSON schema, as text: "\"type\":\"string\""
  std::string_view about{};
  bool needed = false;
};

using control::Effect;

struct Outcome {
  bool failed = false;
  std::string text;        // JSON, unless the tool documents another format
  bool is_object = false;  // `text` is a JSON object
  // For the reader: what was left out, or the whole of an error that has more than a message.
  std::string more = {};
};

struct Tool {
  std::string_view name, title, about;
  Effect effect;
  // A tool has either an operation or `run`, with `arguments`, or `call`, which describes its own arguments.
  std::string_view operation;  // "PutItem"
  std::span<const Argument> arguments;
  bool has_items = false;  // and accepts `plain`
  Outcome (*run)(ToolCall& call) = nullptr;
  const control::ControlCall* call = nullptr;
  bool has_answer_schema = false;  // the description of `call` has its answer
};

std::span<const Tool> all_tools();
const Tool* find_tool(std::string_view name);  // nullptr if there is no such tool

// Whether the tool is available. In read-only mode, only tools that read are, and `operation`, which rejects
// writes.
bool is_offered(const Tool& tool, bool read_only);

// Returns the tool's description for tools/list.
json::Tree describe(const Tool& tool, bool read_only);

// Calls a tool. Requires: the tool is offered; `arguments` is an object, parsed as_written. The arguments
// `account` and `region` override `scope`.
Outcome call_tool(const Tool& tool, World& world, const engine::Scope& scope, json::Tree arguments,
                  bool read_only, const std::stop_token& stop);

}  // namespace mayfly::compat::mcp
