#include "http/endpoints/admin.h"

#include "compat/control/control.h"
#include "compat/emulator.h"
#include "engine/values/account_id.h"
#include "engine/values/region.h"
#include "http/access/access.h"
#include "http/access/sigv4.h"
#include "http/endpoints/mcp.h"
#include "http/requests/paths.h"

namespace mayfly::http {

namespace {

Reply reply_of(compat::control::Answer answer) {
  Reply reply;
  reply.status = answer.status;
  reply.content_type = answer.content_type;
  reply.body = std::move(answer.body);
  end_line(reply);
  if (!answer.allow.empty()) reply.extra_headers = "Allow: " + answer.allow + "\r\n";
  return reply;
}

Reply refuse(compat::Error::Kind kind, std::string message) {
  return reply_of(compat::control::refusal({.kind = kind, .message = std::move(message)}));
}

class Events final : public BodySource {
 public:
  Events(std::unique_ptr<compat::control::EventSource> events, bool waits)
      : events_(std::move(events)), waits_(waits) {}
  bool next(std::string& piece, const std::stop_token& stop) override { return events_->next(piece, stop); }
  [[nodiscard]] bool waits() const override { return waits_; }

 private:
  const std::unique_ptr<compat::control::EventSource> events_;
  const bool waits_;
};

}  // namespace

Reply admin(Request& request, compat::Emulator& emulator, const AccessRules& access,
            const std::stop_token& stop) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!access.control && request.path() != health_path) {
    return refuse(compat::Error::Kind::not_found, "The control API is disabled (--no-control).");
  }
  engine::Scope scope{std::string(default_account), emulator.region()};
  if (request.has(Header::x_mayfly_account)) scope.account = request.header(Header::x_mayfly_account);
  if (request.has(Header::x_mayfly_region)) scope.region = request.header(Header::x_mayfly_region);
  if (!engine::is_account_id(scope.account)) {
    return refuse(compat::Error::Kind::validation, "X-Mayfly-Account must be twelve digits.");
  }
  if (!engine::is_region(scope.region))
    return refuse(compat::Error::Kind::validation,
                  "X-Mayfly-Region must be " + std::string(engine::region_letters) + ".");

  if (request.path() == mcp_path) return mcp(request, emulator, std::move(scope), access.mcp_read_only, stop);

  compat::control::Answer answer =
      compat::control::answer(emulator, {.method = reads ? "GET" : std::string_view(request.method),
                                         .path = request.path(),
                                         .query = request.query(),
                                         .body = request.body,
                                         .scope = emulator.scope_of(std::move(scope)),
                                         .stop = stop,
                                         .in_pieces = request.method == "GET" && !request.is_http_1_0});
  std::unique_ptr<compat::control::EventSource> events = std::move(answer.events);
  Reply reply = reply_of(std::move(answer));
  if (events && request.method != "HEAD") {
    reply.extra_headers += "Cache-Control: no-store\r\n";
    reply.source = std::make_shared<Events>(std::move(events), reply.content_type == "text/event-stream");
  }
  return reply;
}

}  // namespace mayfly::http
