#include "http/endpoints/mcp.h"

#include <algorithm>
#include <utility>

#include "compat/emulator.h"
#include "compat/mcp/protocol.h"
#include "compat/mcp/world.h"
#include "compat/wire/percent_encoding.h"
#include "engine/values/account_id.h"
#include "engine/values/region.h"
#include "http/base/log.h"
#include "http/requests/refusals.h"

namespace mayfly::http {

namespace {

using compat::Error;
using compat::mcp::Message;
using compat::mcp::Protocol;
using compat::mcp::RoutingHeaders;

// Whether the client accepts JSON: "application/json, text/event-stream", "*/*". Weights are ignored, because
// there is only one type to choose.
bool accepts_json(std::string_view accept) {
  if (trim(accept).empty()) return true;
  while (!accept.empty()) {
    std::string_view type = accept.substr(0, accept.find(','));
    accept.remove_prefix(std::min(accept.size(), type.size() + 1));
    type = trim(type.substr(0, type.find(';')));
    if (type == "*/*" || equals_ignoring_case(type, "application/*") ||
        equals_ignoring_case(type, "application/json"))
      return true;
  }
  return false;
}

RoutingHeaders routing_headers(const Request& request) {
  RoutingHeaders headers;
  const auto take = [&](Header name, std::optional<std::string_view>& value) {
    if (request.has(name)) value = request.header(name);
    headers.repeated = headers.repeated || request.repeated(name);
  };
  take(Header::mcp_protocol_version, headers.version);
  take(Header::mcp_method, headers.method);
  take(Header::mcp_name, headers.name);
  return headers;
}

}  // namespace

Reply mcp(Request& request, compat::Emulator& emulator, engine::Scope scope, bool read_only,
          const std::stop_token& stop) {
  if (request.method != "POST") {
    Reply reply = refused(
        request, {.kind = Error::Kind::method_not_allowed,
                  .message = "/_mayfly/mcp supports only POST; it has no sessions and no event streams."});
    reply.extra_headers += "Allow: POST\r\n";
    return reply;
  }
  if (!accepts_json(request.header(Header::accept)))
    return refused(request,
                   {.kind = Error::Kind::not_acceptable,
                    .message = "Responses are application/json, which the Accept header must allow."});
  const auto of_address = [&](std::string_view name) { return compat::query_value(request.query(), name); };
  if (auto account = of_address("account")) scope.account = *std::move(account);
  if (auto region = of_address("region")) scope.region = *std::move(region);
  if (!engine::is_account_id(scope.account))
    return refused(request, {.kind = Error::Kind::validation, .message = "'account' must be twelve digits."});
  if (!engine::is_region(scope.region))
    return refused(request, {.kind = Error::Kind::validation,
                             .message = "'region' must be " + std::string(engine::region_letters) + "."});
  const auto asked = of_address("read-only");
  if (asked && asked != "true" && asked != "false")
    return refused(request,
                   {.kind = Error::Kind::validation, .message = "'read-only' must be true or false."});

  compat::mcp::EmulatorWorld world(emulator);
  const Protocol protocol(world, {.scope = emulator.scope_of(std::move(scope)),
                                  .read_only = read_only || asked == "true",
                                  .notice = [](const std::string& sentence) {
                                    log::write(log::Level::info, "MCP: " + sentence);
                                  }});
  const RoutingHeaders headers = routing_headers(request);
  // A request without a version uses the last revision that did not have the version header.
  const std::string_view version = headers.version.value_or(compat::mcp::batch_version);
  compat::mcp::Said said =
      protocol.answer(Message::read(request.body), {.version = version, .headers = &headers}, stop);
  Reply reply;
  reply.status = said.status;
  reply.body = std::move(said.body);
  if (!reply.body.empty()) {
    reply.content_type = "application/json";
    reply.extra_headers = "Cache-Control: no-store\r\n";
  }
  return reply;
}

}  // namespace mayfly::http
