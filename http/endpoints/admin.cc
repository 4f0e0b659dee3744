#include "http/endpoints/admin.h"

#include "compat/control/control.h"
#include "compat/emulator.h"
#include "engine/values/account_id.h"
#include "engine/values/region.h"
#include "http/access/access.h"
#include "http/access/sigv4.h"
#include "http/endpoints/mcp.h"

namespace mayfly::http {

namespace {

Reply refuse_call(compat::Error::Kind kind, std::string message) {
  Reply reply = reply_of(compat::error_answer({.kind = kind, .message = std::move(message)}));
  end_line(reply);
  return reply;
}

}  // namespace

Reply admin(Request& request, compat::Emulator& emulator, const AccessRules& access,
            const std::stop_token& stop) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!access.control && request.route.kind != Route::Kind::health) {
    return refuse_call(compat::Error::Kind::not_found, "The control API is disabled (--no-control).");
  }
  engine::Scope scope{std::string(default_account), emulator.region()};
  if (request.has(Header::x_mayfly_account)) scope.account = request.header(Header::x_mayfly_account);
  if (request.has(Header::x_mayfly_region)) scope.region = request.header(Header::x_mayfly_region);
  if (!engine::is_account_id(scope.account)) {
    return refuse_call(compat::Error::Kind::validation, "X-Mayfly-Account must be twelve digits.");
  }
  if (!engine::is_region(scope.region))
    return refuse_call(compat::Error::Kind::validation,
                       "X-Mayfly-Region must be " + std::string(engine::region_letters) + ".");

  if (request.route.kind == Route::Kind::mcp)
    return mcp(request, emulator, std::move(scope), access.mcp_read_only, stop);

  Reply reply =
      reply_of(compat::control::answer(emulator,
                                       {.method = reads ? "GET" : std::string_view(request.method),
                                        .path = request.path(),
                                        .query = request.query(),
                                        .body = request.body,
                                        .scope = emulator.scope_of(std::move(scope)),
                                        .stop = stop,
                                        .in_pieces = request.method == "GET" && !request.is_http_1_0},
                                       *request.route.found));
  end_line(reply);
  if (request.method == "HEAD") reply.source.reset();
  if (reply.source) reply.extra_headers += "Cache-Control: no-store\r\n";
  return reply;
}

}  // namespace mayfly::http
