// A small HTTP client, for our own commands: one request, one connection.
//
//   auto answer = fetch(*parse_url("http://127.0.0.1:8000"), {.method = "GET", .path = "/_mayfly/clock"});
//   if (!answer) fail(answer.error());  // "cannot connect to 127.0.0.1:8000: Connection refused"
//
// Hosts are addresses or localhost: names are not looked up (nor does the server look any up).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/expected.h"

namespace mayfly::http {

struct Url {
  std::string host;  // "127.0.0.1", "::1"
  std::uint16_t port = 80;
  std::string path;                             // "/", or what follows the port
  [[nodiscard]] std::string authority() const;  // "[::1]:8000"
};
// http only. The error is a sentence for people.
Expected<Url, std::string> parse_url(std::string_view text);

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
Expected<ClientAnswer, std::string> fetch(const Url& server, const ClientRequest& request,
                                          const std::function<bool(std::string_view)>& piece = {});

}  // namespace mayfly::http
