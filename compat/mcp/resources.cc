#include "compat/mcp/resources.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "compat/data_files/compression.h"
#include "compat/mcp/world.h"
#include "compat/wire/percent_encoding.h"
#include "engine/values/account_id.h"
#include "engine/values/region.h"

namespace mayfly::compat::mcp {
namespace {

using json::Tree;

constexpr std::string_view scheme = "mayfly://", docs = "mayfly://docs/", tables = "tables";
constexpr std::string_view operations_prefix = "DynamoDB_20120810.";

std::string table_uri(const engine::Scope& scope, std::string_view table) {
  std::string uri = std::string(scheme) + scope.account + "/";
  append_encoded(uri, scope.region, "");
  uri += "/tables/";
  append_encoded(uri, table, "");
  return uri;
}

std::optional<Tree> ask(World& world, const engine::Scope& scope, std::string_view operation,
                        const Tree& request, const std::stop_token& stop) {
  const Asked answer = world.operate(scope, std::string(operations_prefix) + std::string(operation),
                                     json::print(request), stop);
  if (!answer || answer->status != 200) return std::nullopt;
  return json::parse_tree(answer->body, json::Decimals::as_written);
}

// Removes the first segment and the slash after it from `path`. Returns the decoded segment.
std::string take_segment(std::string_view& path) {
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(std::min(path.size(), segment.size() + 1));
  return decode_path(segment);
}

}  // namespace

std::string unpacked(const DocumentPage& page) {
  const auto unpacker = data_files::Unpacker::of(data_files::Compression::gzip);
  std::string_view input(reinterpret_cast<const char*>(page.packed.data()), page.packed.size());
  std::string text;
  while (!input.empty() || unpacker->holds_more())
    if (const auto step = unpacker->step(input, text); !step) return {};
  return text;
}

// Lists the documentation first and then the tables. The cursor contains the name of the last table in the
// previous response.
Expected<json::Tree, std::string> list_resources(World& world, const engine::Scope& scope,
                                                 std::optional<std::string_view> cursor,
                                                 const std::stop_token& stop) {
  constexpr std::string_view mark = "after:";
  if (cursor && !cursor->starts_with(mark))
    return Unexpected{"Invalid cursor '" + std::string(*cursor) + "'."};
  Tree shown = Tree::array();
  if (!cursor) {
    for (const DocumentPage& page : document_pages())
      shown.push_back({{"uri", std::string(docs) + std::string(page.name)},
                       {"name", "docs/" + std::string(page.name)},
                       {"title", page.title},
                       {"mimeType", "text/markdown"}});
  }
  Tree request{{"Limit", resources_of_page}};
  if (cursor) request["ExclusiveStartTableName"] = std::string(cursor->substr(mark.size()));
  Tree result = Tree::object();
  if (const auto answer = ask(world, scope, "ListTables", request, stop)) {
    if (const Tree* names = json::member(*answer, "TableNames"); names != nullptr && names->is_array())
      for (const Tree& name : *names)
        if (name.is_string())
          shown.push_back({{"uri", table_uri(scope, name.get_ref<const std::string&>())},
                           {"name", name},
                           {"title", "Table " + name.get<std::string>()},
                           {"mimeType", "application/json"}});
    if (const auto last = json::string_member(*answer, "LastEvaluatedTableName"))
      result["nextCursor"] = std::string(mark) + std::string(*last);
  }
  result["resources"] = std::move(shown);
  return result;
}

json::Tree resource_templates() {
  return Tree::array({Tree{{"uriTemplate", "mayfly://{account}/{region}/tables/{table}"},
                           {"name", "table"},
                           {"title", "A table of an account in a region"},
                           {"description", "Its keys, indexes, stream, counts and TTL."},
                           {"mimeType", "application/json"}},
                      Tree{{"uriTemplate", "mayfly://docs/{page}"},
                           {"name", "docs"},
                           {"title", "A page of Mayfly's documentation"},
                           {"mimeType", "text/markdown"}}});
}

std::optional<Resource> read_resource(World& world, std::string_view uri, const std::stop_token& stop) {
  if (uri.starts_with(docs)) {
    const std::string_view name = uri.substr(docs.size());
    for (const DocumentPage& page : document_pages())
      if (page.name == name) return Resource{"text/markdown", unpacked(page)};
    return std::nullopt;
  }
  if (!uri.starts_with(scheme)) return std::nullopt;
  std::string_view path = uri.substr(scheme.size());
  engine::Scope scope;
  scope.account = take_segment(path);
  scope.region = take_segment(path);
  if (take_segment(path) != tables || !engine::is_account_id(scope.account) ||
      !engine::is_region(scope.region) || path.empty())
    return std::nullopt;
  const std::string table = take_segment(path);
  const Tree request{{"TableName", table}};
  const auto description = ask(world, scope, "DescribeTable", request, stop);
  if (!description || !path.empty()) return std::nullopt;
  Tree shown = *description;
  if (const auto ttl = ask(world, scope, "DescribeTimeToLive", request, stop))
    if (const Tree* told = json::member(*ttl, "TimeToLiveDescription"))
      shown["TimeToLiveDescription"] = *told;
  return Resource{"application/json", json::print_indented(shown), true};
}

}  // namespace mayfly::compat::mcp
