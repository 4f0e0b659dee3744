// Checks signatures of requests, and parses key files and URLs. The input is parsed as a request:
//
//   METHOD TARGET
//   Name:value
//   …
//
//   body
#include <algorithm>
#include <string>

#include "compat/outbound/url.h"
#include "http/access/keys.h"
#include "http/access/sigv4.h"
#include "http/requests/request.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"
#include "tests/support/signed_request.h"

namespace mayfly::testing {
namespace {

using compat::outbound::Schemes;
using compat::outbound::Url;

constexpr engine::Instant now = 1'700'000'000'000;

void try_request(std::string_view text) {
  const auto method = take_until(text, ' ');
  const auto target = take_until(text);
  Headers headers;
  for (auto line = take_until(text); !line.empty(); line = take_until(text)) {
    const auto colon = std::min(line.find(':'), line.size());
    headers.emplace_back(line.substr(0, colon), http::trim(line.substr(std::min(colon + 1, line.size()))));
  }
  const Signing ours;
  const http::Keys keys(ours.key);
  const http::Request request = request_of(method, target, headers, text);
  for (const auto by : {http::SignedBy::header, http::SignedBy::header_or_query}) {
    const auto unchecked = http::authenticate(request, "us-east-1", {.by = by});
    const auto checked = http::authenticate(request, "us-east-1", {.by = by, .keys = &keys, .now = now});
    must(!checked || unchecked, "a request with a valid signature has a signature");
    if (unchecked) must(unchecked->account.size() == 12, "an account has twelve digits", unchecked->account);
  }

  // The request is accepted with a correct signature, which is computed in the same way as in SDKs. The
  // request is rejected with the same signature and another body.
  Signing signing{.now = now};
  signing.method = method;
  signing.target = "/" + std::string(target.substr(0, target.find_first_of("#\r")));
  signing.body = text;
  if (http::Request right = signed_request(signing); right.query().find("Amz") == std::string_view::npos) {
    const http::SignatureRules rules{.keys = &keys, .now = now};
    const auto taken = http::authenticate(right, "us-east-1", rules);
    must(bool(taken), "a correct signature is accepted", taken ? "" : taken.error().message);
    right.body += 'x';
    must(!http::authenticate(right, "us-east-1", rules), "a changed body is rejected");
  }
}

void try_keys(std::string_view text) {
  const auto keys = http::Keys::parse(text);
  if (!keys) return must(!keys.error().empty(), "an error has a message");
  must(keys->find("") == nullptr, "a key has a name");
  const std::string twice = std::string(text) + "\n[again]\n" + std::string(text);
  must(bool(http::Keys::parse(twice)), "keys can be repeated");
}

void try_url(std::string_view text) {
  for (const auto schemes : {Schemes::http, Schemes::http_and_https}) {
    const auto url = Url::parse(text, schemes);
    if (!url) continue;
    must(url->text == text && !url->host.empty() && url->port != 0, "a URL has a host and a port", text);
    must(url->target.starts_with('/'), "a target begins with a slash", url->target);
    for (const std::string* part : {&url->host, &url->authority, &url->target})
      must(std::none_of(part->begin(), part->end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; }),
           "a URL's parts contain no spaces or control characters", *part);
    must(!url->tls || schemes == Schemes::http_and_https, "https is accepted only where it is allowed");
  }
}

}  // namespace

void fuzz_signatures(std::string_view input) {
  try_keys(input);
  try_url(input.substr(0, input.find('\n')));
  try_request(input);
}

}  // namespace mayfly::testing
