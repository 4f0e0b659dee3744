#include "http/sigv4.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "compat/wire/percent_encoding.h"
#include "engine/account_id.h"
#include "http/request.h"

namespace mayfly::http {

namespace {

using Kind = compat::Error::Kind;

constexpr std::string_view algorithm_supported = "AWS4-HMAC-SHA256";
constexpr std::size_t region_bytes_max = 64;

Unexpected<compat::Error> missing_authentication_token() {
  return {{Kind::missing_authentication_token, "Request is missing Authentication Token"}};
}
Unexpected<compat::Error> incomplete_signature(std::string message) {
  return {{Kind::incomplete_signature, std::move(message)}};
}
Unexpected<compat::Error> invalid_signature(std::string message) {
  return {{Kind::invalid_signature, std::move(message)}};
}

struct Parameter {
  std::string_view name;
  std::string value;
};
using Parameters = std::vector<Parameter>;

// Empty if it is not there, or has no value.
std::string_view value_of(const Parameters& parameters, std::string_view name) {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Parameter& parameter) { return parameter.name == name; });
  return found == parameters.end() ? std::string_view{} : std::string_view(found->value);
}

// "Name=value" pieces between any of `separators`; a piece without '=' is a name without a value.
template <class Decode>
Parameters split_parameters(std::string_view text, std::string_view separators, Decode decode) {
  Parameters parameters;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(separators), text.size());
    const std::string_view piece = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (piece.empty()) continue;
    const auto equals = std::min(piece.find('='), piece.size());
    parameters.push_back({piece.substr(0, equals), decode(piece.substr(std::min(equals + 1, piece.size())))});
  }
  return parameters;
}

bool is_region(std::string_view text) {
  return !text.empty() && text.size() <= region_bytes_max &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                  c == '_' || c == '.';
         });
}

compat::Result<engine::Scope> scope_of(std::string_view algorithm, std::string_view credential,
                                       std::string_view default_region) {
  if (algorithm != algorithm_supported) {
    return incomplete_signature("Unsupported AWS 'algorithm': '" + std::string(algorithm) +
                                "' (only AWS4-HMAC-SHA256 for now). ");
  }
  std::string_view rest = credential;
  while (rest.ends_with('/')) rest.remove_suffix(1);
  std::array<std::string_view, 5> elements;
  std::size_t count = 0;
  for (bool last = false; !last;) {
    const auto slash = rest.find('/');
    last = slash == std::string_view::npos;
    if (count < elements.size()) elements[count] = rest.substr(0, slash);
    ++count;
    if (!last) rest.remove_prefix(slash + 1);
  }
  if (count != elements.size()) {
    return incomplete_signature(
        "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got "
        "'" +
        std::string(credential) + "'");
  }
  const std::string_view region = elements[2].empty() ? default_region : elements[2];
  if (!is_region(region)) {
    return invalid_signature("Credential should be scoped to a valid region, not '" + std::string(region) +
                             "'. ");
  }
  return engine::Scope{std::string(account_of(elements[0])), std::string(region)};
}

}  // namespace

std::string_view account_of(std::string_view access_key_id) {
  return engine::is_account_id(access_key_id) ? access_key_id : default_account;
}

compat::Result<engine::Scope> authenticate(const Request& request, std::string_view default_region,
                                           SignedBy by) {
  const std::string_view authorization = request.header(Header::authorization);
  const std::string_view query_text = by == SignedBy::header ? std::string_view{} : request.query();
  const Parameters query = split_parameters(query_text, "&", compat::decode_query);
  const bool by_query = std::any_of(query.begin(), query.end(), [](const Parameter& parameter) {
    return parameter.name == "X-Amz-Algorithm";
  });

  if (!authorization.empty() && by_query) {
    return invalid_signature(
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.");
  }
  if (by_query) {
    std::string missing;
    for (const std::string_view name :
         {"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date"}) {
      if (value_of(query, name).empty()) {
        missing += "AWS query-string parameters must include '" + std::string(name) + "'. ";
      }
    }
    if (!missing.empty()) return incomplete_signature(missing + "Re-examine the query-string parameters.");
    return scope_of(value_of(query, "X-Amz-Algorithm"), value_of(query, "X-Amz-Credential"), default_region);
  }

  if (!authorization.starts_with("AWS4-")) return missing_authentication_token();
  const auto algorithm_end = std::min(authorization.find_first_of(", "), authorization.size());
  const Parameters parameters = split_parameters(authorization.substr(algorithm_end), ", ",
                                                 [](std::string_view text) { return std::string(text); });
  std::string missing;
  for (const std::string_view name : {"Credential", "Signature", "SignedHeaders"}) {
    if (value_of(parameters, name).empty()) {
      missing += "Authorization header requires '" + std::string(name) + "' parameter. ";
    }
  }
  if (request.header(Header::x_amz_date).empty() && request.header(Header::date).empty()) {
    missing += "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ";
  }
  if (!missing.empty()) return incomplete_signature(missing + "Authorization=" + std::string(authorization));
  return scope_of(authorization.substr(0, algorithm_end), value_of(parameters, "Credential"), default_region);
}

}  // namespace mayfly::http
