#include "compat/control/handlers.h"

namespace mayfly::compat::control {

// Everybody may ask: why it fails is for the log.
Result<void> show_health(Call& call, json::Writer& out) {
  const bool fails = !call.database().storage_failure().empty();
  if (fails) call.answer.status = 503;
  out.begin_object();
  out.key("status");
  out.string(fails ? "storage takes no writes" : "ok");
  out.key("version");
  out.string(MAYFLY_VERSION);
  out.end_object();
  return {};
}

}  // namespace mayfly::compat::control
