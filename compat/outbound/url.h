// A URL to send requests to: http://HOST[:PORT][/PATH][?QUERY], kept exactly as it was given. Callers that
// support TLS can also allow https://.
//
//   auto url = Url::parse("http://127.0.0.1:9000/2015-03-31/functions/function/invocations");
//   url->host == "127.0.0.1", url->port == 9000, url->target == "/2015-03-31/functions/function/invocations"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/expected.h"

namespace mayfly::compat::outbound {

enum class Schemes : unsigned char { http, http_and_https };

struct Url {
  std::string text;  // as it was given
  std::string host;  // an address or a name; an IPv6 address without its brackets
  std::uint16_t port = 80;
  bool tls = false;       // https://
  std::string authority;  // for the Host header: "127.0.0.1:9000"
  std::string target = "/";

  // The error is a human-readable message.
  static Expected<Url, std::string> parse(std::string_view text, Schemes schemes = Schemes::http);
};

}  // namespace mayfly::compat::outbound
