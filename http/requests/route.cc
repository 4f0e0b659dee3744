#include "http/requests/route.h"

#include "compat/dispatch.h"
#include "compat/triggers/rest.h"

namespace mayfly::http {

Route route_of(std::string_view method, std::string_view path, std::string_view target) {
  using Kind = Route::Kind;
  if (path == "/") return {.kind = Kind::root, .operation = compat::operation_number(target)};
  if (compat::triggers::waits_for_function(method, path)) return {.kind = Kind::invocation};
  if (compat::triggers::is_rest_path(path)) return {.kind = Kind::lambda};
  if (!path.starts_with(admin_prefix)) return {};
  if (path == "/_mayfly/mcp") return {.kind = Kind::mcp};
  if (path == console_path || (path.starts_with(console_path) && path[console_path.size()] == '/'))
    return {.kind = Kind::console};
  return {.kind = path == "/_mayfly/health" ? Kind::health : Kind::control,
          .found = compat::control::find_call(method == "HEAD" ? "GET" : method, path)};
}

}  // namespace mayfly::http
