// A small HTTP client, for our own commands: one request, one connection.
//
//   auto answer = fetch(*Url::parse("http://127.0.0.1:8000"), {.method = "GET", .path = "/_mayfly/clock"});
//   if (!answer) fail(answer.error());  // "cannot connect to 127.0.0.1:8000: Connection refused"
//
// Hosts are addresses or localhost: names are not looked up (nor does the server look any up).
#pragma once

#include <functional>
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
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

struct ClientAnswer {
  int status = 0;
  std::string body;
};

// `piece`: is told the body as it comes, and what it was told is not in the answer; false ends the
// connection.
Expected<ClientAnswer, std::string> fetch(const compat::outbound::Url& server, const ClientRequest& request,
                                          const std::function<bool(std::string_view)>& piece = {});

}  // namespace mayfly::http
