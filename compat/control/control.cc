#include "compat/control/control.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compat/control/handlers.h"
#include "compat/wire/percent_encoding.h"
#include "engine/attempt.h"

namespace mayfly::compat::control {
namespace {

struct Route {
  std::string_view method;
  std::string_view path;  // {…} stands for one segment
  Handle handle;
  std::string_view about;
};

Result<json::Tree> show_calls(Call& call);

constexpr Route routes[] = {
    {"GET", "/_mayfly/", &show_calls, "what there is under /_mayfly/"},
    {"GET", "/_mayfly/health", &show_health, "whether the server is well, and its version"},
    {"GET", "/_mayfly/metrics", &show_metrics, "counts and times, as Prometheus reads them"},
    {"GET", "/_mayfly/accounts", &list_accounts, "the accounts that there are, and their tables"},
    {"POST", "/_mayfly/await", &await_change, "wait for a change of an item"},
    {"GET", "/_mayfly/events", &follow_events, "changes as they commit, as server-sent events"},
    {"GET", "/_mayfly/clock", &show_clock, "the account's clock"},
    {"PUT", "/_mayfly/clock", &set_clock, "freeze it, set it, let it run"},
    {"POST", "/_mayfly/clock/advance", &advance_clock,
     "move it forward; what falls due on the way is deleted"},
    {"GET", "/_mayfly/ttl", &show_all_ttl, "what will expire, of all tables"},
    {"GET", "/_mayfly/ttl/{table}", &show_ttl, "what will expire, of one"},
    {"PUT", "/_mayfly/ttl/{table}", &set_ttl_mode, "when what is due is deleted"},
    {"POST", "/_mayfly/ttl/{table}/sweep", &sweep_table, "delete what is due now"},
    {"GET", "/_mayfly/ttl/{table}/upcoming", &show_upcoming, "what expires next"},
    {"POST", "/_mayfly/ttl/{table}/explain", &explain_item, "why an item is still there, or is not"},
    {"GET", "/_mayfly/snapshots", &list_snapshots, "those that are kept"},
    {"POST", "/_mayfly/snapshots", &take_snapshot, "keep the account as it is"},
    {"POST", "/_mayfly/snapshots/{id}/restore", &restore_snapshot, "make the account what it was"},
    {"DELETE", "/_mayfly/snapshots/{id}", &delete_snapshot, "forget one"},
    {"POST", "/_mayfly/reset", &reset_account, "empty the account"},
    {"GET", "/_mayfly/failpoints", &show_failpoints, "those that are armed, and who waits there"},
    {"PUT", "/_mayfly/failpoints", &arm_failpoint,
     "stop an item's expiry between its instant and its deletion"},
    {"DELETE", "/_mayfly/failpoints", &release_failpoints, "let it go on"},
    {"GET", "/_mayfly/streams/{table}/shards", &show_shards, "a stream's shards"},
    {"POST", "/_mayfly/streams/{table}/split", &split_shards, "close shards; two go on with half of each"},
    {"POST", "/_mayfly/streams/{table}/roll", &roll_shards, "close shards; one goes on with each"},
    {"GET", "/_mayfly/jobs", &list_jobs, "exports, imports and bulk puts"},
    {"GET", "/_mayfly/jobs/{id}", &show_job, "one of them"},
    {"GET", "/_mayfly/jobs/{id}/log", &show_job_log, "what was wrong with what it read"},
    {"POST", "/_mayfly/jobs/await", &await_jobs, "wait until all are over"},
    {"GET", "/_mayfly/replication", &show_replication,
     "how writes get from region to region, and what is on its way"},
    {"PUT", "/_mayfly/replication", &set_replication, "slow a way down, stop it or open it"},
    {"DELETE", "/_mayfly/replication", &reset_replication, "open every way"},
    {"POST", "/_mayfly/replication/settle", &settle_replication, "wait for what may arrive by now"},
    {"GET", "/_mayfly/triggers", &list_triggers, "event source mappings, and how each fares"},
    {"GET", "/_mayfly/functions", &show_functions, "the account's functions"},
    {"PUT", "/_mayfly/functions/{name}", &put_function, "say where one is"},
    {"DELETE", "/_mayfly/functions/{name}", &remove_function, "forget one"},
    {"GET", "/_mayfly/faults", &show_faults, "the rules by which operations fail, and how often each struck"},
    {"PUT", "/_mayfly/faults", &put_faults, "have these rules and no others"},
    {"DELETE", "/_mayfly/faults", &clear_faults, "have none"},
};

// A member each: "GET /_mayfly/clock": "the account's clock".
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

// Takes what stands before the next '/' away, and that.
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
    return call_too_large("The body of a control call has at most " + std::to_string(call_bytes_max) +
                          " bytes.");
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
      return call_too_large("The body of a control call has at most " + std::to_string(call_values_max) +
                            " values.");
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
  if (allow.empty()) return refusal(not_found("There is no " + std::string(request.path) + ".").error);
  Answer answer = refusal({.kind = Error::Kind::method_not_allowed,
                           .message = std::string(request.path) + " has no " + std::string(request.method) +
                                      ", only " + allow + "."});
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
