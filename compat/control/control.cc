#include "compat/control/control.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compat/control/families.h"
#include "compat/wire/percent_encoding.h"
#include "engine/base/attempt.h"
#include "engine/base/whole_number.h"

namespace mayfly::compat::control {
namespace {

Result<json::Tree> show_calls(Call& call) {
  json::Tree calls = json::Tree::object();
  for (const ControlCall* one : all_calls())
    json::add_member(calls, std::string(one->method) + " " + std::string(one->path), std::string(one->about));
  return json::Tree{{"name", "Mayfly"},
                    {"version", MAYFLY_VERSION},
                    {"account", call.scope.account},
                    {"region", call.scope.region},
                    {"calls", std::move(calls)}};
}

Result<json::Tree> show_openapi(Call&) { return openapi(); }

// The calls that tell about the calls.
std::span<const ControlCall> index_calls() {
  static constexpr Member summary[] = {{"", Kind::text, "What the call does"}};
  static constexpr Member answer[] = {
      {"name", Kind::text, "Mayfly", Given::always},
      {"version", Kind::text, "Its version", Given::always},
      {"account", Kind::text, "The account of this call", Given::always},
      {"region", Kind::text, "The region of this call", Given::always},
      Member{"calls", Kind::map, "The calls, by method and path", Given::always}.with(summary)};
  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/",
       .name = "list_calls",
       .about = "List the calls of the control API",
       .answer = answer,
       .handle = &show_calls,
       .admits_everyone = true,
       .is_tool = false,
       .command = "calls"},
      {.method = "GET",
       .path = "/_mayfly/openapi.json",
       .name = "openapi",
       .about = "Get this API's description in OpenAPI 3.1",
       .handle = &show_openapi,
       .admits_everyone = true,
       .is_tool = false,
       .command = "openapi"},
  };
  return calls;
}

// Removes the first segment and the '/' after it; returns the segment.
std::string_view take_segment(std::string_view& path) {
  const auto end = path.find('/');
  const std::string_view segment = path.substr(0, end);
  path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  return segment;
}

bool matches(std::string_view pattern, std::string_view path, std::vector<std::string>* parameters) {
  if (parameters != nullptr) parameters->clear();
  if (std::count(pattern.begin(), pattern.end(), '/') != std::count(path.begin(), path.end(), '/'))
    return false;
  while (!pattern.empty() || !path.empty()) {
    const std::string_view wanted = take_segment(pattern), given = take_segment(path);
    if (wanted.starts_with('{')) {
      if (given.empty()) return false;
      if (parameters != nullptr) parameters->push_back(decode_path(given));
    } else if (wanted != given) {
      return false;
    }
  }
  return true;
}

Answer call_too_large(std::string message) {
  Answer answer = refusal({.kind = Error::Kind::bad_request, .message = std::move(message)});
  answer.status = 413;
  return answer;
}

// The query's described members. One that should be a whole number and is not remains a text, which check()
// rejects.
json::Tree read_query(std::string_view query, std::span<const Member> members) {
  json::Tree tree = json::Tree::object();
  for (const Member& member : members) {
    const auto text = query_value(query, member.name);
    if (!text) continue;
    const auto number = engine::whole_number<std::int64_t>(*text);
    tree[std::string(member.name)] =
        member.kind == Kind::whole && number ? json::Tree(*number) : json::Tree(*text);
  }
  return tree;
}

Answer run(Emulator& emulator, const Request& request, const ControlCall& described,
           std::vector<std::string> parameters) {
  if (request.body.size() > call_bytes_max) {
    return call_too_large("The body must not exceed " + std::to_string(call_bytes_max) + " bytes.");
  }
  Answer answer;
  answer.content_type = described.answer_type;
  if (!described.admits_everyone) {
    const auto admitted = emulator.accounts().admit(request.scope.account);
    if (!admitted) return refusal(admitted.error());
  }
  json::Tree body = json::Tree::object();
  if (!request.body.empty()) {
    auto tree = json::parse_tree(request.body, json::Decimals::read, call_values_max);
    if (!tree && tree.error() == json::NoTree::too_many_values) {
      return call_too_large("The body must not contain more than " + std::to_string(call_values_max) +
                            " JSON values.");
    }
    if (!tree || !tree->is_object()) {
      return refusal(error::validation("The body must be a JSON object.").error);
    }
    body = *std::move(tree);
  }
  const json::Tree query = read_query(request.query, described.query);
  if (const auto fits = check(query, described.query, "this call"); !fits) return refusal(fits.error());
  if (const auto fits = check(body, described.body, "this call"); !fits) return refusal(fits.error());
  Call call{.emulator = emulator,
            .scope = request.scope,
            .parameters = std::move(parameters),
            .query = Body(&query, described.query),
            .body = Body(&body, described.body),
            .body_text = request.body,
            .stop = request.stop,
            .in_pieces = request.in_pieces,
            .answer = answer};
  auto outcome = described.handle(call);
  if (!outcome) return refusal(outcome.error());
  if (!outcome->is_null()) answer.body = json::print(*outcome);
  return answer;
}

}  // namespace

Answer answer(Emulator& emulator, const Request& request) {
  std::vector<std::string> parameters;
  std::string allow;
  for (const ControlCall* call : all_calls()) {
    if (!matches(call->path, request.path, &parameters)) continue;
    if (call->method != request.method) {
      allow += allow.empty() ? "" : ", ";
      allow += call->method;
      continue;
    }
    return engine::attempt([&] { return run(emulator, request, *call, std::move(parameters)); },
                           [](std::string_view) { return refusal(error::internal_server_error().error); });
  }
  if (allow.empty()) return refusal(not_found("Unknown path " + std::string(request.path) + ".").error);
  Answer answer = refusal({.kind = Error::Kind::method_not_allowed,
                           .message = std::string(request.path) + " does not support " +
                                      std::string(request.method) + ", only " + allow + "."});
  answer.allow = std::move(allow);
  return answer;
}

Answer refusal(const Error& error) {
  Answer answer;
  answer.status = error_status(error.kind);
  answer.body = error_body(error);
  return answer;
}

std::span<const ControlCall* const> all_calls() {
  static const std::vector<const ControlCall*> calls = [] {
    std::vector<const ControlCall*> all;
    for (const auto family :
         {clock_calls(), ttl_calls(), explain_calls(), await_calls(), event_calls(), snapshot_calls(),
          failpoint_calls(), shard_calls(), job_calls(), replication_calls(), trigger_calls(),
          function_calls(), fault_calls(), account_calls(), index_calls(), health_calls(), metrics_calls()})
      for (const ControlCall& call : family) all.push_back(&call);
    return all;
  }();
  return calls;
}

const ControlCall* find_call(std::string_view method, std::string_view path) {
  for (const ControlCall* call : all_calls())
    if (call->method == method && matches(call->path, path, nullptr)) return call;
  return nullptr;
}

}  // namespace mayfly::compat::control
