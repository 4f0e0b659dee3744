#include "compat/calls/openapi.h"

#include <nlohmann/json.hpp>

namespace mayfly::compat::control {
namespace {

using json::Tree;

// Returns the schema of an object that has `members` and no others.
Tree object_of(std::span<const Member> members) {
  Tree properties = Tree::object(), required = Tree::array();
  for (const Member& member : members) {
    properties[std::string(member.name)] = json_schema(member);
    if (member.given != Given::sometimes) required.push_back(member.name);
  }
  Tree schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

Tree schema_of_kind(const Member& member) {
  switch (member.kind) {
    case Kind::text:
    case Kind::moment: return {{"type", "string"}};
    case Kind::time: return {{"type", "string"}, {"format", "date-time"}};
    case Kind::number:
    case Kind::seconds: return {{"type", "number"}};
    case Kind::whole: return {{"type", "integer"}};
    case Kind::flag: return {{"type", "boolean"}};
    case Kind::key:
      return {{"type", "object"},
              {"minProperties", 1},
              {"maxProperties", 2},
              {"additionalProperties", {{"type", "object"}, {"minProperties", 1}, {"maxProperties", 1}}}};
    case Kind::image: return {{"type", "object"}};
    case Kind::range:
      return {{"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 2}, {"maxItems", 2}};
    case Kind::object: return object_of(member.members);
    case Kind::list: return {{"type", "array"}, {"items", object_of(member.members)}};
    case Kind::map: return {{"type", "object"}, {"additionalProperties", json_schema(member.members[0])}};
    case Kind::any: break;
  }
  return Tree::object();
}

void add_limits(Tree& schema, const Member& member) {
  if (member.least == member.most) return;
  const auto number = [](double value) {
    const auto whole = static_cast<std::int64_t>(value);
    return static_cast<double>(whole) == value ? Tree(whole) : Tree(value);
  };
  switch (member.kind) {
    case Kind::text:
      // The limits are in bytes, but JSON Schema counts characters. A string never has more characters than
      // bytes, so the schema accepts every string that is short enough.
      if (member.least > 0) schema["minLength"] = number(member.least);
      schema["maxLength"] = number(member.most);
      break;
    case Kind::list: schema["maxItems"] = number(member.most); break;
    case Kind::range:
      schema["items"]["minimum"] = number(member.least);
      schema["items"]["maximum"] = number(member.most);
      break;
    default: schema["minimum"] = number(member.least); schema["maximum"] = number(member.most);
  }
}

Tree parameter(const Member& member, std::string_view where) {
  Tree schema = json_schema(member);
  schema.erase("description");
  return {{"name", member.name},
          {"in", where},
          {"description", member.about},
          {"required", member.given == Given::always},
          {"schema", std::move(schema)}};
}

Tree content(std::string_view type, Tree schema) {
  Tree media = Tree::object();
  media[std::string(type)] = Tree{{"schema", std::move(schema)}};
  return media;
}

Tree reference(const std::string& to) { return {{"$ref", "#/components/" + to}}; }

Tree operation(const ControlCall& call) {
  Tree shown{{"operationId", call.name}, {"summary", call.about}};
  Tree& parameters = shown["parameters"] = Tree::array();
  for (const Member& member : call.place) parameters.push_back(parameter(member, "path"));
  for (const Member& member : call.query) parameters.push_back(parameter(member, "query"));
  parameters.push_back(reference("parameters/account"));
  parameters.push_back(reference("parameters/region"));
  // Calls that change something need a content type, and therefore a body, even if the body has no members.
  if (call.method != "GET")
    shown["requestBody"] =
        Tree{{"required", true}, {"content", content("application/json", object_of(call.body))}};
  const bool is_json = call.answer_type == "application/json";
  Tree success = is_json && call.name != "openapi" ? object_of(call.answer)
                                                   : Tree{{"type", is_json ? "object" : "string"}};
  Tree& responses = shown["responses"] = Tree::object();
  // The response to a failed health check has the same members as the response to a successful one.
  if (call.waits == Waits::not_at_all)
    responses["503"] = Tree{{"description", "Unhealthy"}, {"content", content(call.answer_type, success)}};
  responses["200"] =
      Tree{{"description", "Success"}, {"content", content(call.answer_type, std::move(success))}};
  responses["4XX"] = reference("responses/error");
  responses["5XX"] = reference("responses/error");
  return shown;
}

}  // namespace

Tree json_schema(const Member& member) {
  Tree schema = schema_of_kind(member);
  if (!member.choices.empty()) {
    Tree& names = schema["enum"] = Tree::array();
    for (const std::string_view name : member.choices) names.push_back(name);
  }
  add_limits(schema, member);
  if (member.given == Given::or_null) schema["type"] = Tree::array({schema["type"], "null"});
  if (!member.standard.empty()) schema["default"] = json::raw(member.standard);
  if (!member.about.empty()) schema["description"] = member.about;
  return schema;
}

Tree json_type(const Member& member) {
  Tree type = Tree::object();
  if (const Tree schema = json_schema(member); schema.contains("type")) type["type"] = schema["type"];
  return type;
}

json::Tree openapi(std::span<const ControlCall* const> calls) {
  static constexpr Member error_members[] = {
      {"__type", Kind::text, "Name of the error", Given::always},
      {"message", Kind::text, "The error's message", Given::always},
      {"records", Kind::any, "After a time-out: the changes that did happen"},
      {"left_out", Kind::whole, "After a time-out: changes that are not in records"}};
  Tree paths = Tree::object();
  for (const ControlCall* call : calls) {
    std::string method(call->method);
    for (char& c : method) c = static_cast<char>(c | 0x20);
    paths[std::string(call->path)][method] = operation(*call);
  }
  const auto header = [](std::string_view name, std::string_view about, Tree schema) {
    schema["type"] = "string";
    return Tree{{"name", name}, {"in", "header"}, {"description", about}, {"schema", std::move(schema)}};
  };
  return {{"openapi", "3.1.0"},
          {"info",
           {{"title", "Mayfly's control API"},
            {"summary", "Time, TTL, waiting, snapshots and faults of a DynamoDB double"},
            {"version", MAYFLY_VERSION}}},
          {"servers", Tree::array({{{"url", "/"}}})},
          {"paths", std::move(paths)},
          {"components",
           {{"parameters",
             {{"account",
               header("X-Mayfly-Account", "Account (default: 000000000000)", {{"pattern", "^[0-9]{12}$"}})},
              {"region", header("X-Mayfly-Region", "Region (default: the server's)",
                                {{"pattern", "^[A-Za-z0-9._-]{1,64}$"}})}}},
            {"responses",
             {{"error",
               {{"description", "Error"},
                {"content", content("application/json", object_of(error_members))}}}}}}}};
}

}  // namespace mayfly::compat::control
