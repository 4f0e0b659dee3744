// Who may ask: one rule of Host, Origin, Sec-Fetch-Site and Content-Type, for every path.
//
// Whoever reaches the port may use the server; a web page that a developer happens to look at must not. The
// page's browser is on this machine and sends what the page says, but it also says who is asking:
//
//   Host            what the page calls us. It can have its own name mean our address (DNS rebinding) and is
//                   then of our origin; so we answer only to names that nobody can rebind, and to those that
//                   were added.
//   Origin,         whose page it is. Another's is refused, unless it was allowed (--cors-origin).
//   Sec-Fetch-Site
//   Content-Type    the three types of forms, and none, can be sent to anybody without asking first (a
//                   preflight). What changes something has another type, or a header that makes the browser
//                   ask.
//
// An Admitted is a request that passed. Only admit makes one, and nothing is routed without one, so no path
// can forget to ask.
//
//   auto admitted = admit(request, rules, known_host);
//   if (!admitted) ...       // 403 mayfly#Forbidden: This server is not called evil.example: …
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compat/wire/error.h"
#include "http/keys.h"
#include "http/request.h"

namespace mayfly::http {

struct AccessRules {
  bool control = true;             // answer /_mayfly/… beyond health, and changes of event source mappings
  bool mcp_read_only = false;      // /_mayfly/mcp has no tool that changes something
  std::vector<std::string> hosts;  // names, besides those that cannot be rebound, that Host may have
  std::vector<std::string> origins;  // whose pages may ask: "http://localhost:3000"; "*": all
  bool tls = false;                  // pages of our own are https://
  bool root_refuses = false;  // GET / is answered with 400, as DynamoDB Local does: its users wait for that
  std::shared_ptr<const Keys> keys;  // who may sign; nothing: no signature is checked (sigv4.h)
};
// What is wrong with them, a sentence for people; empty: nothing.
std::string problem_of(const AccessRules& rules);

class Admitted {
 public:
  [[nodiscard]] Request& request() const { return *request_; }
  // What Access-Control-Allow-Origin is to say; empty: no other origin's page asks. Valid as long as the
  // request.
  [[nodiscard]] std::string_view origin() const { return origin_; }

 private:
  friend compat::Result<Admitted> admit(Request& request, const AccessRules& rules, std::string& known_host);
  Admitted(Request& request, std::string_view origin) : request_(&request), origin_(origin) {}
  Request* request_;
  std::string_view origin_;
};

// The Admitted refers to `request`. Pure but for `known_host`, the last Host header that these rules took. A
// connection keeps it (empty at first), because the next request nearly always says the same, and reading a
// Host strictly takes 500 instructions.
compat::Result<Admitted> admit(Request& request, const AccessRules& rules, std::string& known_host);

// Whether we answer to a Host header's value, strictly read: "127.0.0.1:8000", "[::1]", "localhost",
// "a.localhost", "host.docker.internal", "mayfly" (a name without a dot: a Compose service), or one of
// `hosts`.
bool answers_to(std::string_view host, const std::vector<std::string>& hosts);

}  // namespace mayfly::http
