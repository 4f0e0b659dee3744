// One call of a tool, and the functions with which tools call the server and report the outcome.
//
//   const auto table = take_text(call.arguments, "TableName");
//   if (!table) return failure(table.error());
//   return outcome_of(operate(call, *find_operation("DescribeTable"), {{"TableName", **table}}));
#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <string_view>

#include "compat/calls/call_path.h"
#include "compat/mcp/tool.h"
#include "compat/mcp/world.h"
#include "compat/operation.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat::mcp {

struct ToolCall {
  const Tool& tool;
  World& world;
  engine::Scope scope;
  json::Tree arguments;  // an object
  bool read_only;
  const std::stop_token& stop;
};

Outcome failure(std::string sentence);
// Returns the server's response, or the server's error as a sentence: "ResourceNotFoundException: Requested
// resource not found".
Outcome outcome_of(Asked asked);

Asked operate(ToolCall& call, const Operation& operation, const json::Tree& request);
const Operation* find_operation(std::string_view name);  // nullptr if there is no such operation

// Removes the argument and returns its value as a string.
control::MemberText take_text(json::Tree& arguments, std::string_view name);

}  // namespace mayfly::compat::mcp
