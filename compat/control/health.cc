#include <nlohmann/json.hpp>

#include "compat/control/families.h"
#include "compat/server_metrics.h"
#include "engine/background/history.h"
#include "engine/background/history_size.h"

namespace mayfly::compat::control {

namespace {

// Returns the most serious problem. A lack of resources does not make the health check fail, because the lack
// is temporary and the server still serves its open connections.
std::string_view status_of(Call& call) {
  const ServerMetrics& server = call.emulator.server_metrics();
  if (!call.database().health().failure().empty()) {
    call.answer.status = 503;
    return "storage is read-only";
  }
  if (server.of(Meter::accepts_failing) > 0) return "degraded: cannot accept connections";
  if (server.of(Meter::threads_failing) > 0) return "degraded: cannot start threads for waiting requests";
  if (!call.database().health().has_room()) return "degraded: memory limit reached (--memory-max)";
  const engine::HistorySize& history = call.database().history_size();
  if (static_cast<std::uint64_t>(history.footprint().bytes) >= history.bytes_max())
    return "degraded: limit of old item versions reached (--history-max)";
  return "ok";
}

// This call is available to every caller, so its response omits the cause of a storage failure; the cause is
// in the log.
Result<json::Tree> show_health(Call& call) {
  return json::Tree{{"status", status_of(call)}, {"version", MAYFLY_VERSION}};
}

}  // namespace

std::span<const ControlCall> health_calls() {
  static constexpr Member answer[] = {
      {"status", Kind::text, "ok, or the most serious problem", Given::always},
      {"version", Kind::text, "Mayfly's version", Given::always}};

  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/health",
       .name = "health",
       .about = "Get the server's health and version",
       .waits = Waits::not_at_all,
       .answer = answer,
       .handle = &show_health,
       .admits_everyone = true,
       .command = "health"},
  };
  return calls;
}

}  // namespace mayfly::compat::control
