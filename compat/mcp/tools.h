// The tools that an agent may call: one table, and what a call of one does.
//
//   const Tool* tool = find_tool("advance_clock");
//   auto outcome = call_tool(*tool, world, scope, R"({"seconds":60})" as a tree, stop);
//   outcome.failed == false, outcome.text == R"({"now":"2031-01-01T00:01:00Z","expired":1,…})"
//
// A tool is an operation, whose arguments are the members of its request; or a call of the control API, or of
// Lambda's, whose arguments are the members of its body, of its query and of its path; or one of a few that
// put several of these together. What fails is told in the words of whoever refused it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "compat/wire/json_tree.h"
#include "engine/catalog.h"

namespace mayfly::compat::mcp {

class World;
struct ToolCall;

// What an agent has read is in its way from then on: an answer longer than this is cut, and a page of items
// made shorter, and both are said.
inline constexpr std::size_t result_bytes_max = 256 * 1024;
inline constexpr std::int64_t page_items_default = 50;  // of query and scan, where no Limit is given

struct Argument {
  std::string_view name;
  std::string_view schema;  // members of its JSON schema, as text: "\"type\":\"string\""
  std::string_view about{};
  bool needed = false;
};

enum class Effect : std::uint8_t {
  reads,     // nothing changes
  adds,      // something joins what there is
  sets,      // what is there is set; once more changes nothing
  destroys,  // something may be gone afterwards
};

struct Outcome {
  bool failed = false;
  std::string text;        // JSON, unless the tool says otherwise
  bool is_object = false;  // `text` is a JSON object
  std::string more =
      {};  // for who reads it: what was left out, or all of an error that has more than a message
};

struct Tool {
  std::string_view name, title, about;
  Effect effect;
  // "PutItem"; or "POST /_mayfly/ttl/{table}/sweep?limit": what stands in braces comes from the argument of
  // that name
  // ({table?}: or the segment is left out), what stands behind the mark becomes the query, all others the
  // body.
  std::string_view call;
  std::span<const Argument> arguments;
  bool has_items = false;                    // and takes `plain`
  Outcome (*run)(ToolCall& call) = nullptr;  // instead of `call`
  std::string_view output = {};              // its answer's JSON schema; empty: not said
};

std::span<const Tool> all_tools();
const Tool* find_tool(std::string_view name);  // nullptr: there is none

// Whether it is there where nothing may change: it reads, or, as `operation`, refuses what does not.
bool is_offered(const Tool& tool, bool read_only);

// As tools/list shows it.
json::Tree describe(const Tool& tool, bool read_only);

// Requires: the tool is offered; `arguments` is an object, parsed as_written. `scope` is who asks, unless
// `account` and `region` say otherwise.
Outcome call_tool(const Tool& tool, World& world, const engine::Scope& scope, json::Tree arguments,
                  bool read_only, const std::stop_token& stop);

}  // namespace mayfly::compat::mcp
