#include "compat/control/control.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compat/control/handlers.h"
#include "compat/wire/percent_encoding.h"
#include "engine/base/attempt.h"

namespace mayfly::compat::control {
namespace {

struct Route {
  std::string_view method;
  std::string_view path;  // {…} matches one segment
  Handle handle;
  std::string_view about;
};

Result<json::Tree> show_calls(Call& call);

constexpr Route routes[] = {
    {"GET", "/_mayfly/", &show_calls, "List the calls of the control API"},
    {"GET", "/_mayfly/health", &show_health, "Get the server's health and version"},
    {"GET", "/_mayfly/metrics", &show_metrics, "Get metrics in Prometheus' format"},
    {"GET", "/_mayfly/accounts", &list_accounts, "List accounts and their tables"},
    {"POST", "/_mayfly/await", &await_change, "Wait for a change of an item"},
    {"GET", "/_mayfly/events", &follow_events, "Stream changes as they commit, as server-sent events"},
    {"GET", "/_mayfly/clock", &show_clock, "Get the mode and time of the account's clock"},
    {"PUT", "/_mayfly/clock", &set_clock, "Set the mode, time or rate of the account's clock"},
    {"POST", "/_mayfly/clock/advance", &advance_clock,
     "Move the clock forward and delete every item that expires on the way"},
    {"GET", "/_mayfly/ttl", &show_all_ttl,
     "Get TTL settings and counts of pending and expired items, for all tables"},
    {"GET", "/_mayfly/ttl/{table}", &show_ttl,
     "Get TTL settings and counts of pending and expired items, for one table"},
    {"PUT", "/_mayfly/ttl/{table}", &set_ttl_mode, "Choose when a table deletes expired items"},
    {"POST", "/_mayfly/ttl/{table}/sweep", &sweep_table, "Delete a table's expired items now, in any mode"},
    {"GET", "/_mayfly/ttl/{table}/upcoming", &show_upcoming, "List the items that expire next"},
    {"POST", "/_mayfly/ttl/{table}/explain", &explain_item,
     "Explain when and why an item expires, or why it does not"},
    {"GET", "/_mayfly/snapshots", &list_snapshots, "List snapshots"},
    {"POST", "/_mayfly/snapshots", &take_snapshot, "Take a snapshot of the account"},
    {"POST", "/_mayfly/snapshots/{id}/restore", &restore_snapshot, "Restore the account from a snapshot"},
    {"DELETE", "/_mayfly/snapshots/{id}", &delete_snapshot, "Delete a snapshot"},
    {"POST", "/_mayfly/reset", &reset_account,
     "Delete the account's tables, snapshots and faults, and reset its clock"},
    {"GET", "/_mayfly/failpoints", &show_failpoints, "List failpoints and whether an expiry waits there"},
    {"PUT", "/_mayfly/failpoints", &arm_failpoint, "Hold an item's expiry just before its deletion"},
    {"DELETE", "/_mayfly/failpoints", &release_failpoints,
     "Release one failpoint or all, so that held expiries continue"},
    {"GET", "/_mayfly/streams/{table}/shards", &show_shards, "List a stream's shards, oldest first"},
    {"POST", "/_mayfly/streams/{table}/split", &split_shards, "Close shards; two new shards continue each"},
    {"POST", "/_mayfly/streams/{table}/roll", &roll_shards, "Close shards; one new shard continues each"},
    {"GET", "/_mayfly/jobs", &list_jobs, "List exports, imports and bulk puts"},
    {"GET", "/_mayfly/jobs/{id}", &show_job, "Get one export, import or bulk put"},
    {"GET", "/_mayfly/jobs/{id}/log", &show_job_log, "List the errors in the data that a job read"},
    {"POST", "/_mayfly/jobs/await", &await_jobs, "Wait until all jobs have ended"},
    {"GET", "/_mayfly/replication", &show_replication,
     "Get the delays, pauses and pending writes between regions"},
    {"PUT", "/_mayfly/replication", &set_replication, "Delay, pause or resume replication between regions"},
    {"DELETE", "/_mayfly/replication", &reset_replication, "Remove all delays and pauses of replication"},
    {"POST", "/_mayfly/replication/settle", &settle_replication,
     "Wait until every write that can be delivered has been"},
    {"GET", "/_mayfly/triggers", &list_triggers,
     "List event source mappings with their state and last result"},
    {"GET", "/_mayfly/functions", &show_functions, "List registered functions"},
    {"PUT", "/_mayfly/functions/{name}", &put_function, "Register a function or change its URL"},
    {"DELETE", "/_mayfly/functions/{name}", &remove_function, "Remove a function"},
    {"GET", "/_mayfly/faults", &show_faults, "List fault rules and how often each one struck"},
    {"PUT", "/_mayfly/faults", &put_faults, "Replace all fault rules"},
    {"DELETE", "/_mayfly/faults", &clear_faults, "Remove all fault rules"},
};

// Returns one member for each call, such as "GET /_mayfly/jobs": "List exports, imports and bulk puts".
Result<json::Tree> show_calls(Call& call) {
  CHECK_OK(call.body.nothing_else());
  json::Tree calls = json::Tree::object();
  for (const Route& route : routes)
    json::add_member(calls, std::string(route.method) + " " + std::string(route.path),
                     std::string(route.about));
  return json::Tree{{"name", "Mayfly"},
                    {"version", MAYFLY_VERSION},
                    {"account", call.scope.account},
                    {"region", call.scope.region},
                    {"calls", std::move(calls)}};
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

Answer call_too_large(std::string message) {
  Answer answer = refusal({.kind = Error::Kind::bad_request, .message = std::move(message)});
  answer.status = 413;
  return answer;
}

Answer run(Emulator& emulator, const Request& request, const Route& route,
           std::vector<std::string> parameters) {
  if (request.body.size() > call_bytes_max) {
    return call_too_large("The body must not exceed " + std::to_string(call_bytes_max) + " bytes.");
  }
  Answer answer;
  if (route.handle != &show_health && route.handle != &show_calls) {
    const auto admitted = emulator.accounts().admit(request.scope.account);
    if (!admitted) return refusal(admitted.error());
  }
  std::optional<json::Tree> body;
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
  Call call{.emulator = emulator,
            .scope = request.scope,
            .parameters = std::move(parameters),
            .query = request.query,
            .body = Fields(body ? &*body : nullptr),
            .body_text = request.body,
            .stop = request.stop,
            .in_pieces = request.in_pieces,
            .answer = answer};
  auto outcome = route.handle(call);
  if (!outcome) return refusal(outcome.error());
  if (!outcome->is_null()) answer.body = json::print(*outcome);
  return answer;
}

}  // namespace

Answer answer(Emulator& emulator, const Request& request) {
  std::vector<std::string> parameters;
  std::string allow;
  for (const Route& route : routes) {
    if (!matches(route.path, request.path, parameters)) continue;
    if (route.method != request.method) {
      allow += allow.empty() ? "" : ", ";
      allow += route.method;
      continue;
    }
    return engine::attempt([&] { return run(emulator, request, route, std::move(parameters)); },
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

std::optional<std::string> Call::query_value(std::string_view name) const {
  return compat::query_value(query, name);
}

}  // namespace mayfly::compat::control
