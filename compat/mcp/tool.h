// A tool that an agent can call.
//
// Most tools make one call:
// - an operation, whose request members are the tool's arguments,
// - a call to the control API, whose description (calls/description.h) also describes the tool, or
// - a call to Lambda's API, whose body, query and path members are the arguments.
//
// A few tools combine several calls. A failure is reported with its original message.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compat/calls/description.h"

namespace mayfly::compat::mcp {

struct ToolCall;

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
  // For the reader: what was left out, or the complete error response if it has more members than a message.
  std::string more = {};
};

struct Tool {
  std::string_view name, title, about;
  Effect effect;
  // A tool has exactly one of `operation`, `run` and `call`. `arguments` belongs to `operation` or `run`; a
  // control call describes its own arguments.
  std::string_view operation;  // "PutItem"
  std::span<const Argument> arguments;
  bool has_items = false;  // the tool handles items and accepts `plain`
  Outcome (*run)(ToolCall& call) = nullptr;
  const control::ControlCall* call = nullptr;
  bool has_answer_schema = false;  // the description of `call` lists the answer's members
};

}  // namespace mayfly::compat::mcp
