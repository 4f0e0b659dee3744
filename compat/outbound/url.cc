#include "compat/outbound/url.h"

#include <algorithm>

#include "engine/base/whole_number.h"

namespace mayfly::compat::outbound {

Expected<Url, std::string> Url::parse(std::string_view text, Schemes schemes) {
  constexpr std::string_view plain = "http://", secure = "https://";
  const auto refuse = [&](std::string_view why) {
    return Unexpected{"'" + std::string(text) + "' is not a valid URL: " + std::string(why)};
  };
  const bool tls = text.starts_with(secure);
  if (tls && schemes == Schemes::http) return refuse("only http:// is supported");
  if (!tls && !text.starts_with(plain)) {
    return refuse(schemes == Schemes::http ? "it must begin with http://"
                                           : "it must begin with http:// or https://");
  }
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; })) {
    return refuse("it contains a space or a control character");
  }
  std::string_view rest = text.substr(tls ? secure.size() : plain.size());
  rest = rest.substr(0, rest.find('#'));
  const auto path = std::min(rest.find_first_of("/?"), rest.size());
  Url url;
  url.text = text;
  url.tls = tls;
  if (tls) url.port = 443;
  url.authority = rest.substr(0, path);
  if (path < rest.size())
    url.target = rest[path] == '?' ? "/" + std::string(rest.substr(path)) : rest.substr(path);

  std::string_view host = url.authority;
  if (host.find('@') != host.npos) return refuse("it must not contain a user name");
  const auto bracket = host.rfind(']');
  const auto colon = host.rfind(':');
  if (colon != host.npos && (bracket == host.npos || colon > bracket)) {
    url.port = engine::whole_number<std::uint16_t>(host.substr(colon + 1)).value_or(0);
    if (url.port == 0) return refuse("its port must be a number from 1 to 65535");
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return refuse("it has no host");
  url.host = host;
  return url;
}

}  // namespace mayfly::compat::outbound
