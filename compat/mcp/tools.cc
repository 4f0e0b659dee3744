#include "compat/mcp/tools.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "compat/calls/call_path.h"
#include "compat/calls/openapi.h"
#include "compat/json/utf8.h"
#include "compat/mcp/own_tools.h"
#include "compat/mcp/plain_items.h"
#include "compat/mcp/tool_call.h"
#include "engine/values/account_id.h"
#include "engine/values/region.h"

namespace mayfly::compat::mcp {
namespace {

using json::Tree;

// Every tool has the arguments `account` and `region`; tools with items also have `plain`.
constexpr Argument account{"account", R"("type":"string","pattern":"^[0-9]{12}$")",
                           "Account to use; each account has its own tables, streams and clock"};
constexpr Argument region{"region", R"("type":"string")"};
constexpr Argument plain{
    "plain", R"("type":"boolean")",
    R"(Use plain JSON for items, keys and values, {"id":"7","ttl":1924992000}, instead of DynamoDB JSON)"};

// --- operations

// Repeats the operation with half the Limit until the page fits. Items that do not fit remain for the next
// page.
void shorten_page(ToolCall& call, const Operation& operation, Outcome& outcome) {
  bool shortened = false;
  while (!outcome.failed && outcome.text.size() > result_bytes_max && !call.stop.stop_requested()) {
    const auto limit = json::integer_member(call.arguments, "Limit").value_or(page_items_default);
    if (limit <= 1) break;
    call.arguments["Limit"] = limit / 2;
    shortened = true;
    outcome = outcome_of(operate(call, operation, call.arguments));
  }
  if (shortened && !outcome.failed) {
    outcome.more = "The page was shortened to fit: Limit " + json::print(call.arguments["Limit"]) +
                   ". Pass LastEvaluatedKey as ExclusiveStartKey to continue. A ProjectionExpression makes "
                   "items smaller.";
  }
}

Outcome run_operation(ToolCall& call, const Operation& operation, bool pages) {
  if (pages && !call.arguments.contains("Limit")) call.arguments["Limit"] = page_items_default;
  Outcome outcome = outcome_of(operate(call, operation, call.arguments));
  if (pages) shorten_page(call, operation, outcome);
  return outcome;
}

// Whether the PartiQL statement is a SELECT, judging by its first word.
bool selects(const Tree& arguments) {
  std::string_view statement = json::string_member(arguments, "Statement").value_or("");
  statement.remove_prefix(std::min(statement.find_first_not_of(" \t\r\n"), statement.size()));
  constexpr std::string_view word = "select";
  return statement.size() > word.size() &&
         std::equal(word.begin(), word.end(), statement.begin(),
                    [](char a, char b) { return a == (b | 0x20); }) &&
         std::string_view(" \t\r\n*").find(statement[word.size()]) != std::string_view::npos;
}

// --- calls of the control API and of Lambda's API

// Removes the argument for `member`, which is part of the path or the query, and returns the argument's text.
control::MemberText take_member(Tree& arguments, const control::Member& member) {
  if (member.given == control::Given::always) {
    TRY(auto part, take_text(arguments, member.name));
    if (part && part->empty()) part.reset();
    return part;
  }
  // The server checks the types of query parameters, so this function accepts an argument of any type.
  const auto found = arguments.find(std::string(member.name));
  if (found == arguments.end()) return std::nullopt;
  std::string value = found->is_string() ? found->get<std::string>() : json::print(*found);
  arguments.erase(found);
  return value;
}

Outcome make_call(ToolCall& call, const control::ControlCall& described) {
  const auto path = control::call_path(
      described, [&](const control::Member& member) { return take_member(call.arguments, member); });
  if (!path) return failure(path.error());
  const std::string body = call.arguments.empty() ? "" : json::print(call.arguments);
  return outcome_of(call.world.call(call.scope, described.method, *path, body, call.stop));
}

// --- describing tools and checking arguments

void each_argument(const Tool& tool, const auto& visit) {
  for (const Argument& argument : tool.arguments) visit(argument);
  if (tool.call != nullptr) {
    for (const auto members : {tool.call->place, tool.call->query, tool.call->body})
      for (const control::Member& member : members) {
        Tree schema = control::json_schema(member);
        schema.erase("description");
        const std::string text = json::print(schema);  // {…}
        visit(Argument{member.name, std::string_view(text).substr(1, text.size() - 2), member.about,
                       member.given == control::Given::always});
      }
  }
  if (tool.has_items) visit(plain);
  visit(account);
  visit(region);
}

// Returns the schema of a control call's answer, without the details, because they would take up an agent's
// context.
Tree output_schema(const control::ControlCall& call) {
  Tree properties = Tree::object(), needed = Tree::array();
  for (const control::Member& member : call.answer) {
    properties[std::string(member.name)] = control::json_type(member);
    if (member.given != control::Given::sometimes) needed.push_back(member.name);
  }
  Tree schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!needed.empty()) schema["required"] = std::move(needed);
  return schema;
}

// Returns the tool's title, such as "Advance clock".
std::string title_of(const Tool& tool) {
  if (!tool.title.empty()) return std::string(tool.title);
  std::string title(tool.name);
  std::replace(title.begin(), title.end(), '_', ' ');
  title[0] = static_cast<char>(title[0] & ~0x20);
  return title;
}

// Detects misspelled arguments. An operation accepts every member that its API has, whether or not the tool
// lists it.
std::optional<std::string> unknown_argument(const Tool& tool, const Operation* operation,
                                            const Tree& arguments) {
  for (auto member = arguments.begin(); member != arguments.end(); ++member) {
    const std::string& name = member.key();
    bool known = false;
    std::string listed;
    each_argument(tool, [&](const Argument& argument) {
      known = known || argument.name == name;
      listed += (listed.empty() ? "" : ", ") + std::string(argument.name);
    });
    if (!known && operation != nullptr)
      for (const Member& one : operation->shape->members) known = known || one.name == name;
    if (!known)
      return "Unknown argument '" + name + "'; " + std::string(tool.name) + " accepts " + listed + ".";
  }
  return std::nullopt;
}

std::optional<std::string> take_scope(Tree& arguments, engine::Scope& scope) {
  const auto own_account = take_text(arguments, "account");
  if (!own_account) return own_account.error();
  if (*own_account) scope.account = **own_account;
  if (!engine::is_account_id(scope.account)) return "'account' must be twelve digits.";
  const auto own_region = take_text(arguments, "region");
  if (!own_region) return own_region.error();
  if (*own_region && !(*own_region)->empty()) scope.region = **own_region;
  if (!engine::is_region(scope.region))
    return "'region' must be " + std::string(engine::region_letters) + ".";
  return std::nullopt;
}

// Shortens the text to result_bytes_max bytes and returns the number of bytes removed.
std::size_t cut(std::string& text) {
  const std::size_t kept = whole_characters(text, result_bytes_max).size();
  const std::size_t left = text.size() - kept;
  text.resize(kept);
  return left;
}

void cut(Outcome& outcome) {
  if (const std::size_t left = cut(outcome.more); left > 0)
    outcome.more += " ... and " + std::to_string(left) + " more bytes.";
  const std::size_t left = cut(outcome.text);
  if (left == 0) return;
  outcome.is_object = false;
  outcome.more = "The result was truncated; " + std::to_string(left) +
                 " bytes are missing. Request less: use Limit, a ProjectionExpression or fewer keys.";
}

}  // namespace

bool is_offered(const Tool& tool, bool read_only) {
  return !read_only || tool.effect == Effect::reads || tool.run == &any_operation ||
         tool.operation == "ExecuteStatement";
}

json::Tree describe(const Tool& tool, bool read_only) {
  std::string properties = "{";
  Tree needed = Tree::array();
  each_argument(tool, [&](const Argument& argument) {
    Tree about = std::string(argument.about);
    properties += (properties.size() > 1 ? ",\"" : "\"") + std::string(argument.name) + "\":{" +
                  std::string(argument.schema) +
                  (argument.about.empty() ? "" : ",\"description\":" + json::print(about)) + "}";
    if (argument.needed) needed.push_back(argument.name);
  });
  Tree input{{"type", "object"}, {"properties", json::raw(properties + "}")}};
  if (!needed.empty()) input["required"] = std::move(needed);
  if (tool.operation.empty()) input["additionalProperties"] = false;
  const bool reads = read_only || tool.effect == Effect::reads;
  Tree annotations{{"readOnlyHint", reads}};
  if (!reads) {
    annotations["destructiveHint"] = tool.effect == Effect::destroys;
    annotations["idempotentHint"] = tool.effect == Effect::sets;
  }
  annotations["openWorldHint"] = false;
  Tree shown{{"name", tool.name},
             {"title", title_of(tool)},
             {"description", std::string(tool.about) + (tool.about.ends_with('.') ? "" : ".")},
             {"inputSchema", std::move(input)}};
  if (tool.has_answer_schema) shown["outputSchema"] = output_schema(*tool.call);
  shown["annotations"] = std::move(annotations);
  return shown;
}

Outcome call_tool(const Tool& tool, World& world, const engine::Scope& scope, json::Tree arguments,
                  bool read_only, const std::stop_token& stop) {
  ToolCall call{.tool = tool,
                .world = world,
                .scope = scope,
                .arguments = std::move(arguments),
                .read_only = read_only,
                .stop = stop};
  const Operation* operation = find_operation(tool.operation);
  if (const auto wrong = unknown_argument(tool, operation, call.arguments)) return failure(*wrong);
  if (const auto wrong = take_scope(call.arguments, call.scope)) return failure(*wrong);
  const bool pages = tool.name == "query" || tool.name == "scan";
  const bool is_plain = tool.has_items && json::boolean_member(call.arguments, "plain").value_or(false);
  if (tool.has_items) call.arguments.erase("plain");
  if (is_plain) write_types(call.arguments);
  if (read_only && tool.name == "execute_statement" && !selects(call.arguments))
    return failure("Only SELECT is available in read-only mode.");
  Outcome outcome = tool.run != nullptr    ? tool.run(call)
                    : operation != nullptr ? run_operation(call, *operation, pages)
                                           : make_call(call, *tool.call);
  if (is_plain && outcome.is_object) {
    if (auto tree = json::parse_tree(outcome.text, json::Decimals::as_written)) {
      drop_types(*tree);
      outcome.text = json::print(*tree);
    }
  }
  if (!is_utf8(outcome.text)) outcome = failure("The server's response is not UTF-8 text.");
  cut(outcome);
  if (tool.has_answer_schema && !outcome.is_object) outcome.failed = true;  // the text violates the schema
  return outcome;
}

}  // namespace mayfly::compat::mcp
