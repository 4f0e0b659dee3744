#include "http/admin.h"

#include <algorithm>

#include "compat/control/control.h"
#include "compat/emulator.h"
#include "http/sigv4.h"

namespace mayfly::http {

namespace {

Reply reply_of(compat::control::Answer answer) {
  Reply reply;
  reply.status = answer.status;
  reply.content_type = answer.content_type;
  reply.body = std::move(answer.body);
  if (!answer.allow.empty()) reply.extra_headers = "Allow: " + answer.allow + "\r\n";
  return reply;
}

Reply refuse(int status, std::string_view type, std::string message) {
  return reply_of(compat::control::refusal({.type = std::string(type), .message = std::move(message), .status = status}));
}

class Events final : public BodySource {
 public:
  explicit Events(std::unique_ptr<compat::control::EventSource> events) : events_(std::move(events)) {}
  bool next(std::string& piece, const std::stop_token& stop) override { return events_->next(piece, stop); }

 private:
  std::unique_ptr<compat::control::EventSource> events_;
};

// "127.0.0.1", "::1": digits, dots, colons and hex; what is no name.
bool is_address(std::string_view host) {
  const bool v6 = host.find(':') != std::string_view::npos;
  return !host.empty() && host.find_first_not_of(v6 ? "0123456789abcdefABCDEF:." : "0123456789.") == std::string_view::npos;
}

bool is_account(std::string_view text) {
  return text.size() == 12 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "http://localhost:3000" -> "localhost:3000"; "null" is no host.
std::string_view host_of_origin(std::string_view origin) {
  const auto scheme = origin.find("://");
  return scheme == std::string_view::npos ? std::string_view{} : origin.substr(scheme + 3);
}

}  // namespace

bool is_own_host(std::string_view host, const ControlAccess& access) {
  if (host.starts_with('[')) {
    host = host.substr(1, host.find(']') - 1);
  } else if (std::count(host.begin(), host.end(), ':') == 1) {
    host = host.substr(0, host.find(':'));
  }
  if (is_address(host)) {
    return host.starts_with("127.") || host == "::1" || host == access.listening_on ||
           access.listening_on == "0.0.0.0" || access.listening_on == "::";
  }
  constexpr std::string_view local = ".localhost";
  if (equals_ignoring_case(host, "localhost") || equals_ignoring_case(host, access.listening_on) ||
      (host.size() > local.size() && equals_ignoring_case(host.substr(host.size() - local.size()), local))) {
    return true;
  }
  return std::any_of(access.hosts.begin(), access.hosts.end(),
                     [&](const std::string& own) { return equals_ignoring_case(own, host); });
}

Reply admin(Request& request, compat::Emulator& emulator, const ControlAccess& access, const std::stop_token& stop) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool health = request.path() == health_path;
  if (!health && !access.enabled) {
    return refuse(404, "mayfly#NotFound", "The control API is switched off (--no-control).");
  }
  if (const std::string_view host = request.header(Header::host);
      !health && request.has(Header::host) && !is_own_host(host, access)) {
    return refuse(403, "mayfly#Forbidden",
                  "The Host header names " + std::string(host) + ", which is not this server; --control-host adds a name.");
  }
  if (const std::string_view origin = request.header(Header::origin);
      !health && request.has(Header::origin) && !is_own_host(host_of_origin(origin), access)) {
    return refuse(403, "mayfly#Forbidden",
                  "Requests from pages of " + std::string(origin) + " are refused; --control-host adds a name.");
  }
  std::string_view content_type = request.header(Header::content_type);
  content_type = trim(content_type.substr(0, content_type.find(';')));
  if (!reads && !equals_ignoring_case(content_type, "application/json")) {
    return refuse(415, "mayfly#UnsupportedMediaType", "Calls that change something need Content-Type: application/json.");
  }
  engine::Scope scope{std::string(default_account), emulator.region()};
  if (request.has(Header::x_mayfly_account)) scope.account = request.header(Header::x_mayfly_account);
  if (request.has(Header::x_mayfly_region)) scope.region = request.header(Header::x_mayfly_region);
  if (!is_account(scope.account)) {
    return refuse(400, "com.amazon.coral.validate#ValidationException",
                  "X-Mayfly-Account must be an account of twelve digits.");
  }

  compat::control::Answer answer =
      compat::control::answer(emulator, {.method = reads ? "GET" : std::string_view(request.method),
                                         .path = request.path(),
                                         .query = request.query(),
                                         .body = request.body,
                                         .scope = scope,
                                         .stop = stop});
  std::unique_ptr<compat::control::EventSource> events = std::move(answer.events);
  Reply reply = reply_of(std::move(answer));
  reply.head_only = request.method == "HEAD";
  if (events && !reply.head_only) {
    reply.extra_headers += "Cache-Control: no-store\r\n";
    reply.source = std::make_shared<Events>(std::move(events));
  }
  return reply;
}

}  // namespace mayfly::http
