#include "compat/control/handlers.h"

namespace mayfly::compat::control {

Result<void> show_health(Call&, json::Writer& out) {
  out.begin_object();
  out.key("status");
  out.string("ok");
  out.key("version");
  out.string(MAYFLY_VERSION);
  out.end_object();
  return {};
}

}  // namespace mayfly::compat::control
