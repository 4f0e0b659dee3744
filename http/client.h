// HTTP from the asking side: how a request's head is written, and one whole exchange, which waits for its
// answer. (invoker.h makes many at once, of the same heads and with the same parser.)
//
//   auto answer = fetch(*Url::parse("http://127.0.0.1:8000"), {.method = "GET", .path = "/_mayfly/clock"});
//   if (!answer) fail(answer.error());  // "cannot connect to 127.0.0.1:8000: Connection refused"
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/outbound/url.h"
#include "engine/expected.h"

namespace mayfly::http {

struct ClientRequest {
  std::string method;
  std::string path;
  std::string content_type;  // empty: says none
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

struct ClientAnswer {
  int status = 0;
  std::string body;
};

// All that stands before the body; the connection is for this request alone. `request.body` is not looked at.
std::string request_head(const compat::outbound::Url& server, const ClientRequest& request,
                         std::size_t body_bytes);

// Waits as long as it takes; of a host's addresses the first that answers is taken. For https:// the server
// must show a certificate for its host, of an issuer in `ca_file`, or, if that is empty, of one the system
// trusts. `piece`: is told the body of a 200 as it comes, and what it was told is not in the answer; false
// ends the connection. A request to `stop` ends it, too, once it stands.
Expected<ClientAnswer, std::string> fetch(const compat::outbound::Url& server, const ClientRequest& request,
                                          const std::function<bool(std::string_view)>& piece = {},
                                          const std::string& ca_file = {}, const std::stop_token& stop = {});

}  // namespace mayfly::http
