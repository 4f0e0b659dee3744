// Decides which requests are admitted. The same checks of Host, Origin, Sec-Fetch-Site and Content-Type apply
// to every path.
//
// Any client that reaches the port may use the server, except web pages that a developer happens to visit. A
// browser on this machine sends what a page tells it to send, but it also says which page is asking:
//
//   Host            The name under which the page reaches the server. A page can let its own name resolve
//                   to this address (DNS rebinding) and then counts as same-origin. The server therefore
//                   answers only to names that cannot be rebound, and to names that were added.
//   Origin,         The page's origin. Other origins are rejected unless --cors-origin allows them.
//   Sec-Fetch-Site
//   Content-Type    A page can send the three form types, and requests without a type, to any server
//                   without a preflight. A request that changes something must have another type, or a
//                   header that makes the browser send a preflight.
//
// An Admitted is a request that passed. Only admit() makes one, and routing requires one, so no path can skip
// the check.
//
//   auto admitted = admit(request, rules, known_host);
//   if (!admitted) ...       // 403 mayfly#Forbidden: Host 'evil.example' is not allowed. …
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compat/wire/error.h"
#include "http/access/keys.h"
#include "http/requests/request.h"

namespace mayfly::http {

struct AccessRules {
  bool control = true;               // serve /_mayfly/… beyond health, and changes to event source mappings
  bool mcp_read_only = false;        // /_mayfly/mcp offers no tools that change something
  std::vector<std::string> hosts;    // names that Host may have, in addition to those that cannot be rebound
  std::vector<std::string> origins;  // origins whose pages are admitted: "http://localhost:3000"; "*": all
  bool tls = false;                  // the server's own pages are https://
  bool root_refuses = false;  // answer GET / with 400, like DynamoDB Local, whose users wait for that status
  std::shared_ptr<const Keys> keys;  // keys that may sign; nullptr: signatures are not checked (sigv4.h)
};
// Returns a sentence that says why the rules are invalid, or an empty string if they are valid.
std::string problem_of(const AccessRules& rules);

class Admitted {
 public:
  [[nodiscard]] Request& request() const { return *request_; }
  // The value for Access-Control-Allow-Origin; empty if the request is not from a page of another origin. The
  // view is valid for the lifetime of the request.
  [[nodiscard]] std::string_view origin() const { return origin_; }

 private:
  friend compat::Result<Admitted> admit(Request& request, const AccessRules& rules, std::string& known_host);
  Admitted(Request& request, std::string_view origin) : request_(&request), origin_(origin) {}
  Request* request_;
  std::string_view origin_;
};

// The Admitted refers to `request`, which this function completes: it moves the authority of a target such as
// "http://localhost:8000/" to the Host header, and sets the route. `known_host` is the last Host header that
// these rules accepted. Each connection keeps its own `known_host` (initially empty), because the next
// request nearly always has the same Host, and strict parsing of a Host takes 500 instructions.
compat::Result<Admitted> admit(Request& request, const AccessRules& rules, std::string& known_host);

// Whether the server answers to this value of a Host header, parsed strictly: "127.0.0.1:8000", "[::1]",
// "localhost", "a.localhost", "host.docker.internal", "mayfly" (a name without a dot: a Compose service), or
// one of `hosts`.
bool answers_to(std::string_view host, const std::vector<std::string>& hosts);

}  // namespace mayfly::http
