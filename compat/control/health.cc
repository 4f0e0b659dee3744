#include <nlohmann/json.hpp>

#include "compat/control/handlers.h"

namespace mayfly::compat::control {

// Everybody may ask: why it fails is for the log.
Result<json::Tree> show_health(Call& call) {
  const bool fails = !call.database().storage_failure().empty();
  if (fails) call.answer.status = 503;
  return json::Tree{{"status", fails ? "storage takes no writes" : "ok"}, {"version", MAYFLY_VERSION}};
}

}  // namespace mayfly::compat::control
