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
};

constexpr Route routes[] = {
    {"GET", "/_mayfly/health", &show_health},
    {"GET", "/_mayfly/metrics", &show_metrics},
    {"POST", "/_mayfly/await", &await_change},
    {"GET", "/_mayfly/events", &follow_events},
    {"GET", "/_mayfly/clock", &show_clock},
    {"PUT", "/_mayfly/clock", &set_clock},
    {"POST", "/_mayfly/clock/advance", &advance_clock},
    {"GET", "/_mayfly/ttl", &show_all_ttl},
    {"GET", "/_mayfly/ttl/{table}", &show_ttl},
    {"PUT", "/_mayfly/ttl/{table}", &set_ttl_mode},
    {"POST", "/_mayfly/ttl/{table}/sweep", &sweep_table},
    {"GET", "/_mayfly/ttl/{table}/upcoming", &show_upcoming},
    {"POST", "/_mayfly/ttl/{table}/explain", &explain_item},
    {"GET", "/_mayfly/snapshots", &list_snapshots},
    {"POST", "/_mayfly/snapshots", &take_snapshot},
    {"POST", "/_mayfly/snapshots/{id}/restore", &restore_snapshot},
    {"DELETE", "/_mayfly/snapshots/{id}", &delete_snapshot},
    {"POST", "/_mayfly/reset", &reset_account},
    {"GET", "/_mayfly/failpoints", &show_failpoints},
    {"PUT", "/_mayfly/failpoints", &arm_failpoint},
    {"DELETE", "/_mayfly/failpoints", &release_failpoints},
    {"GET", "/_mayfly/streams/{table}/shards", &show_shards},
    {"POST", "/_mayfly/streams/{table}/split", &split_shards},
    {"POST", "/_mayfly/streams/{table}/roll", &roll_shards},
    {"GET", "/_mayfly/jobs", &list_jobs},
    {"GET", "/_mayfly/jobs/{id}", &show_job},
    {"GET", "/_mayfly/jobs/{id}/log", &show_job_log},
    {"POST", "/_mayfly/jobs/await", &await_jobs},
    {"GET", "/_mayfly/replication", &show_replication},
    {"PUT", "/_mayfly/replication", &set_replication},
    {"DELETE", "/_mayfly/replication", &reset_replication},
    {"POST", "/_mayfly/replication/settle", &settle_replication},
    {"GET", "/_mayfly/functions", &show_functions},
    {"PUT", "/_mayfly/functions/{name}", &put_function},
    {"DELETE", "/_mayfly/functions/{name}", &remove_function},
    {"GET", "/_mayfly/faults", &show_faults},
    {"PUT", "/_mayfly/faults", &put_faults},
    {"DELETE", "/_mayfly/faults", &clear_faults},
};

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

Answer run(Emulator& emulator, const Request& request, const Route& route,
           std::vector<std::string> parameters) {
  Answer answer;
  if (route.handle != &show_health) {
    const auto admitted = emulator.accounts().admit(request.scope.account);
    if (!admitted) return refusal(admitted.error());
  }
  std::optional<json::Tree> body;
  if (!request.body.empty()) {
    body = json::parse_tree(request.body);
    if (!body || !body->is_object()) {
      return refusal(error::validation("The body must be a JSON object.").error);
    }
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
