// What an agent may read without a tool: the tables' schemas, and pages of the documentation.
//
//   mayfly://000000000000/us-east-1/tables/carts     DescribeTable's and DescribeTimeToLive's answers, JSON
//   mayfly://docs/control                            docs/control.md
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "compat/wire/json_tree.h"
#include "engine/catalog.h"
#include "engine/expected.h"

namespace mayfly::compat::mcp {

class World;

// A page as CMake packs it: gzip. `title` is its first line.
struct DocumentPage {
  std::string_view name, title;
  std::span<const unsigned char> packed;
};
std::span<const DocumentPage> document_pages();  // made by cmake/document_pages.cmake
std::string unpacked(const DocumentPage& page);

inline constexpr int resources_of_page = 100;

// {"resources":[…],"nextCursor":"…"}: the pages of the documentation, then the tables of `scope`. The error
// is a sentence: the cursor is none of ours. Where the tables cannot be asked for, there are none.
Expected<json::Tree, std::string> list_resources(World& world, const engine::Scope& scope,
                                                 std::optional<std::string_view> cursor,
                                                 const std::stop_token& stop);
json::Tree resource_templates();

struct Resource {
  std::string mime_type, text;
  bool changes = false;  // what it says may be another thing in a moment
};
// Nothing: there is none of that URI.
std::optional<Resource> read_resource(World& world, std::string_view uri, const std::stop_token& stop);

}  // namespace mayfly::compat::mcp
