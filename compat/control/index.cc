#include "compat/control/index.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compat/calls/openapi.h"
#include "compat/control/families.h"
#include "compat/wire/percent_encoding.h"

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

Result<json::Tree> show_openapi(Call&) { return openapi(all_calls()); }

// The calls that describe the control API itself.
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

bool matches(std::string_view pattern, std::string_view path, std::vector<std::string>& parameters) {
  parameters.clear();
  if (std::count(pattern.begin(), pattern.end(), '/') != std::count(path.begin(), path.end(), '/'))
    return false;
  while (!pattern.empty() || !path.empty()) {
    const std::string_view wanted = take_segment(pattern), given = take_segment(path);
    if (wanted.starts_with('{')) {
      if (given.empty()) return false;
      parameters.push_back(decode_path(given));
    } else if (wanted != given) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::span<const ControlCall* const> all_calls() {
  static const auto* const calls = [] {
    auto* const all = new std::vector<const ControlCall*>;
    for (const auto family :
         {clock_calls(), ttl_calls(), explain_calls(), await_calls(), event_calls(), snapshot_calls(),
          failpoint_calls(), shard_calls(), job_calls(), replication_calls(), trigger_calls(),
          function_calls(), fault_calls(), account_calls(), index_calls(), health_calls(), metrics_calls()})
      for (const ControlCall& call : family) all->push_back(&call);
    return all;
  }();
  return *calls;
}

FoundCall find_call(std::string_view method, std::string_view path) {
  FoundCall found;
  for (const ControlCall* call : all_calls()) {
    if (!matches(call->path, path, found.parameters)) continue;
    if (call->method == method) {
      found.call = call;
      return found;
    }
    found.allow += found.allow.empty() ? "" : ", ";
    found.allow += call->method;
  }
  return found;
}

}  // namespace mayfly::compat::control
