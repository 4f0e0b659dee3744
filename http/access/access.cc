#include "http/access/access.h"

#include <algorithm>
#include <boost/asio/ip/address_v6.hpp>
#include <optional>

#include "engine/base/text.h"
#include "engine/base/whole_number.h"

namespace mayfly::http {

namespace {

using compat::Error;

constexpr std::size_t host_bytes_max = 253, label_bytes_max = 63;  // DNS limits
constexpr std::size_t quoted_bytes_max = 100;  // maximum quoted part of a header in a refusal

using engine::is_alphanumeric;

// Whether the string is empty or a port such as ":8000".
bool is_port(std::string_view text) {
  if (text.empty()) return true;
  return text[0] == ':' && engine::whole_number<std::uint16_t>(text.substr(1));
}

// Four numbers without leading zeros. Windows' own function would also accept "127.1" and "0x7f.0.0.1".
bool is_address_v4(std::string_view text) {
  constexpr int last = 3;
  for (int part = 0; part <= last; ++part) {
    const auto end = std::min(text.find('.'), text.size());
    const std::string_view number = text.substr(0, end);
    if ((part == last) != (end == text.size()) || (number.size() > 1 && number[0] == '0') ||
        !engine::whole_number<std::uint8_t>(number))
      return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

// False for an address with a zone, such as "fe80::1%eth0".
bool is_address_v6(std::string_view text) {
  constexpr std::size_t address_bytes_max = 45;
  boost::system::error_code failure;
  if (text.size() > address_bytes_max || text.find_first_of(std::string_view("%\0", 2)) != text.npos)
    return false;
  boost::asio::ip::make_address_v6(text, failure);
  return !failure;
}

// Whether the string consists of non-empty labels of letters, digits, hyphens and underscores. Docker
// Compose service names can contain underscores.
bool is_name(std::string_view text) {
  if (text.empty() || text.size() > host_bytes_max) return false;
  std::size_t label_bytes = 0;
  for (const char c : text) {
    if (c == '.') {
      if (label_bytes == 0) return false;
      label_bytes = 0;
    } else if (!is_alphanumeric(c) && c != '-' && c != '_') {
      return false;
    } else if (++label_bytes > label_bytes_max) {
      return false;
    }
  }
  return label_bytes > 0;
}

bool ends_with_ignoring_case(std::string_view text, std::string_view end) {
  return text.size() > end.size() && equals_ignoring_case(text.substr(text.size() - end.size()), end);
}

bool contains_ignoring_case(const std::vector<std::string>& texts, std::string_view text) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& one) { return equals_ignoring_case(one, text); });
}

// Whether the string is a scheme and an authority without a path: "http://localhost:3000",
// "capacitor://localhost".
bool is_origin(std::string_view text) {
  const auto scheme = text.find("://");
  if (scheme == 0 || scheme == std::string_view::npos) return false;
  const std::string_view authority = text.substr(scheme + 3);
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(scheme),
                     [](char c) { return is_alphanumeric(c) || c == '+' || c == '-' || c == '.'; }) &&
         !authority.empty() && std::all_of(authority.begin(), authority.end(), [](char c) {
           return is_alphanumeric(c) || std::string_view("-._:[]").find(c) != std::string_view::npos;
         });
}

// Returns the beginning of a header's value, for use in a message.
std::string quoted(std::string_view value) {
  return std::string(value.substr(0, quoted_bytes_max)) + (value.size() > quoted_bytes_max ? "…" : "");
}

Error malformed(std::string message) { return {Error::Kind::bad_request, std::move(message)}; }
Error forbidden(std::string message) { return {Error::Kind::forbidden, std::move(message)}; }

Error no_host() { return malformed("An HTTP/1.1 request must have a Host header."); }

bool reads(std::string_view method) { return method == "GET" || method == "HEAD"; }

// Returns what follows "http://" or "https://" at the start of the target; nullopt for any other target.
std::optional<std::string_view> after_scheme(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (equals_ignoring_case(target.substr(0, scheme.size()), scheme)) return target.substr(scheme.size());
  return std::nullopt;
}

// A client that uses the server as its proxy sends the absolute form: "GET http://localhost:8000/". The
// authority in this form replaces the Host header (RFC 9112 3.2.2) and is checked instead.
std::optional<Error> read_form(Request& request) {
  if (const auto rest = after_scheme(request.target)) {
    const auto end = std::min(rest->find_first_of("/?"), rest->size());
    if (!request.has(Header::host) && !request.is_http_1_0) return no_host();
    request.set(Header::host, rest->substr(0, end));
    const std::string path(rest->substr(end));
    request.target = (path.starts_with('/') ? "" : "/") + path;
  } else if (!request.target.starts_with('/') && request.target != "*") {
    return malformed("The request target must begin with '/', http:// or https://.");
  }
  const std::string_view twice = request.repeated(Header::host)               ? "Host"
                                 : request.repeated(Header::origin)           ? "Origin"
                                 : request.repeated(Header::sec_fetch_site)   ? "Sec-Fetch-Site"
                                 : request.repeated(Header::x_mayfly_account) ? "X-Mayfly-Account"
                                 : request.repeated(Header::x_mayfly_region)  ? "X-Mayfly-Region"
                                                                              : "";
  if (twice.empty()) return std::nullopt;
  return malformed("The request has more than one " + std::string(twice) + " header.");
}

std::optional<Error> refuse_host(const Request& request, const AccessRules& rules, std::string& known_host) {
  if (!request.has(Header::host)) {
    // Probes and old scripts use HTTP/1.0 without a Host header; every browser sends a Host header.
    if (request.is_http_1_0) return std::nullopt;
    return no_host();
  }
  const std::string_view host = request.header(Header::host);
  if (!host.empty() && host == known_host) return std::nullopt;
  if (answers_to(host, rules.hosts)) {
    known_host = host;
    return std::nullopt;
  }
  return forbidden(
      "Host '" + quoted(host) +
      "' is not allowed. Use an IP address, localhost or a name without a dot, or allow the host with "
      "--allowed-host.");
}

// Checks the origin of the page that sends the request. Sets `allowed` to the origin that may read the
// response.
std::optional<Error> refuse_page(const Request& request, const AccessRules& rules,
                                 std::string_view& allowed) {
  const bool has_origin = request.has(Header::origin), has_site = request.has(Header::sec_fetch_site);
  if (!has_origin && !has_site) return std::nullopt;
  const std::string_view origin = request.header(Header::origin),
                         site = request.header(Header::sec_fetch_site);
  const bool same_site = !has_site || site == "same-origin";

  constexpr std::string_view everybody = "*";
  const std::string_view scheme = rules.tls ? "https://" : "http://";
  if (has_origin && same_site && origin.starts_with(scheme) && request.has(Header::host) &&
      equals_ignoring_case(origin.substr(scheme.size()), request.header(Header::host))) {
    return std::nullopt;
  }
  if (std::find(rules.origins.begin(), rules.origins.end(), everybody) != rules.origins.end()) {
    if (has_origin) allowed = everybody;
    return std::nullopt;
  }
  if (has_origin) {
    if (contains_ignoring_case(rules.origins, origin)) {
      allowed = origin;
      return std::nullopt;
    }
    return forbidden("Requests from pages of '" + quoted(origin) +
                     "' are not allowed; allow the origin with --cors-origin.");
  }
  // "none" means that no page sent the request, for example because the user typed the address.
  if (same_site || (site == "none" && reads(request.method))) return std::nullopt;
  return forbidden("Requests from pages of other sites are not allowed (Sec-Fetch-Site: " + quoted(site) +
                   "); allow an origin with --cors-origin.");
}

std::optional<Error> refuse_content_type(const Request& request) {
  // DynamoDB's operations are named by X-Amz-Target, which a page cannot send without a preflight. Requests
  // with content types that DynamoDB does not accept get DynamoDB's 404.
  const Route::Kind kind = request.route.kind;
  if (kind == Route::Kind::root || reads(request.method) || request.method == "OPTIONS") return std::nullopt;
  std::string_view type = request.header(Header::content_type);
  type = trim(type.substr(0, type.find(';')));
  if (equals_ignoring_case(type, "application/json") ||
      equals_ignoring_case(type, "application/x-amz-json-1.0"))
    return std::nullopt;
  // A page cannot send a signature header without a preflight either. An Invoke's payload can have any
  // content type, and a DELETE has no body.
  const bool any_type = request.body.empty() || kind == Route::Kind::invocation;
  if (request.has(Header::authorization) && any_type) return std::nullopt;
  return Error{Error::Kind::unsupported_media_type,
               "Requests that change something must have Content-Type: application/json."};
}

}  // namespace

bool answers_to(std::string_view host, const std::vector<std::string>& hosts) {
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    return end != std::string_view::npos && is_port(host.substr(end + 1)) &&
           is_address_v6(host.substr(1, end - 1));
  }
  const auto colon = std::min(host.find(':'), host.size());
  if (!is_port(host.substr(colon))) return false;
  host = host.substr(0, colon);
  if (!is_name(host)) return false;
  return host.find('.') == std::string_view::npos || is_address_v4(host) ||
         ends_with_ignoring_case(host, ".localhost") || equals_ignoring_case(host, "host.docker.internal") ||
         contains_ignoring_case(hosts, host);
}

std::string problem_of(const AccessRules& rules) {
  for (const std::string& host : rules.hosts) {
    if (!is_name(host)) return "the allowed host '" + host + "' is not a valid host name";
  }
  for (const std::string& origin : rules.origins) {
    if (origin == "null")
      return "the origin null belongs to every sandboxed page and cannot be allowed; use * to allow all "
             "origins";
    if (origin != "*" && !is_origin(origin))
      return "'" + origin + "' is not an origin such as http://localhost:3000";
  }
  return {};
}

compat::Result<Admitted> admit(Request& request, const AccessRules& rules, std::string& known_host) {
  std::string_view allowed;
  if (auto refusal = read_form(request)) return Unexpected{*std::move(refusal)};
  if (auto refusal = refuse_host(request, rules, known_host)) return Unexpected{*std::move(refusal)};
  if (auto refusal = refuse_page(request, rules, allowed)) return Unexpected{*std::move(refusal)};
  request.route = route_of(request.method, request.path(), request.header(Header::x_amz_target));
  if (auto refusal = refuse_content_type(request)) return Unexpected{*std::move(refusal)};
  return Admitted(request, allowed);
}

}  // namespace mayfly::http
