#include "http/access/sigv4.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compat/wire/percent_encoding.h"
#include "engine/base/hex.h"
#include "engine/base/whole_number.h"
#include "engine/values/account_id.h"
#include "engine/values/region.h"
#include "http/access/keys.h"
#include "http/access/signature.h"
#include "http/base/sha256.h"
#include "http/requests/request.h"

namespace mayfly::http {

namespace {

using Kind = compat::Error::Kind;

// The maximum difference between a request's date and the host's clock, and the maximum validity of a
// presigned request.
constexpr std::int64_t skew_seconds_max = 15 * 60, expires_seconds_max = 7 * 24 * 3600;

Unexpected<compat::Error> missing_authentication_token() {
  return {{Kind::missing_authentication_token, "Request is missing Authentication Token"}};
}
Unexpected<compat::Error> incomplete_signature(std::string message) {
  return {{Kind::incomplete_signature, std::move(message)}};
}
Unexpected<compat::Error> invalid_signature(std::string message) {
  return {{Kind::invalid_signature, std::move(message)}};
}

Unexpected<compat::Error> unrecognized_client(std::string message) {
  return {{Kind::unrecognized_client, std::move(message)}};
}

struct Parameter {
  std::string name, value;
};
using Parameters = std::vector<Parameter>;

// Returns an empty string if the parameter is missing or has no value.
std::string_view value_of(const Parameters& parameters, std::string_view name) {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Parameter& parameter) { return parameter.name == name; });
  return found == parameters.end() ? std::string_view{} : std::string_view(found->value);
}

// Calls take(name, value) for each "name=value" between separators; a piece without '=' is a name without a
// value.
template <class Take>
void each_parameter(std::string_view text, char separator, Take&& take) {
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    const std::string_view piece = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (piece.empty()) continue;
    const auto equals = std::min(piece.find('='), piece.size());
    take(piece.substr(0, equals), piece.substr(std::min(equals + 1, piece.size())));
  }
}

// Decodes names in the same way as the canonical query does, so a name always means what was signed, however
// the name is encoded.
Parameters query_parameters(std::string_view query) {
  Parameters parameters;
  each_parameter(query, '&', [&](std::string_view name, std::string_view value) {
    parameters.push_back({compat::decode_query(name), compat::decode_query(value)});
  });
  return parameters;
}

struct Credential {
  std::string_view key_id;
  CredentialScope scope;
  std::string_view terminator;
};

// The claims of a request about its signature, from the header or the query. A Claim contains views of the
// request and of its own member `parameters`.
struct Claim {
  Claim(Parameters of_query, bool by_query) : parameters(std::move(of_query)), by_query(by_query) {}
  Claim(Claim&&) = default;
  Claim& operator=(Claim&&) = delete;

  Parameters parameters;  // from the query
  bool by_query;
  std::string_view algorithm, credential, signed_headers, signature, date;
};

compat::Result<Credential> parse_credential(std::string_view algorithm, std::string_view credential) {
  if (algorithm != signature_algorithm) {
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
  return Credential{elements[0], {elements[1], elements[2], elements[3]}, elements[4]};
}

std::string region_problem(std::string_view region) {
  if (engine::is_region(region)) return {};
  return "Credential should be scoped to a valid region, not '" + std::string(region) + "'. ";
}

compat::Result<Claim> claim_of_query(Parameters query) {
  Claim claim(std::move(query), true);
  std::string missing;
  const auto take = [&](std::string_view name) {
    const std::string_view value = value_of(claim.parameters, name);
    if (value.empty()) missing += "AWS query-string parameters must include '" + std::string(name) + "'. ";
    return value;
  };
  claim.algorithm = take("X-Amz-Algorithm");
  claim.credential = take("X-Amz-Credential");
  claim.signature = take("X-Amz-Signature");
  claim.signed_headers = take("X-Amz-SignedHeaders");
  claim.date = take("X-Amz-Date");
  if (missing.empty()) return claim;
  return incomplete_signature(missing + "Re-examine the query-string parameters.");
}

compat::Result<Claim> claim_of_header(const Request& request) {
  const std::string_view authorization = request.header(Header::authorization);
  if (!authorization.starts_with("AWS4-")) return missing_authentication_token();
  Claim claim({}, false);
  const auto algorithm_end = std::min(authorization.find_first_of(", "), authorization.size());
  claim.algorithm = authorization.substr(0, algorithm_end);
  struct Part {
    std::string_view name;
    std::string_view& value;
    bool there = false;  // if a name is repeated, only the first part with that name is used
  };
  std::array<Part, 3> parts = {{{"Credential", claim.credential},
                                {"Signature", claim.signature},
                                {"SignedHeaders", claim.signed_headers}}};
  const auto take = [&](std::string_view name, std::string_view value) {
    for (Part& part : parts)
      if (!part.there && part.name == name) {
        part.value = value;
        part.there = true;
      }
  };
  // The parts are separated by commas, spaces, or both.
  std::string_view rest = authorization.substr(algorithm_end);
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    each_parameter(rest.substr(0, comma), ' ', take);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  std::string missing;
  for (const Part& part : parts)
    if (part.value.empty())
      missing += "Authorization header requires '" + std::string(part.name) + "' parameter. ";
  claim.date = request.header(Header::x_amz_date);
  if (claim.date.empty()) claim.date = request.header(Header::date);
  if (claim.date.empty()) {
    missing += "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ";
  }
  if (missing.empty()) return claim;
  return incomplete_signature(missing + "Authorization=" + std::string(authorization));
}

// --- checked signatures
//
// The order of the checks and their messages were recorded from DynamoDB: dynalite's index.js quotes a
// response for each check, in a comment after dynalite's own check. Comments below name the sources of all
// checks that are not from dynalite.

// Formats a time span as AWS does: "15 min.", "90 sec.".
std::string spelled_span(std::int64_t seconds) {
  return seconds % 60 == 0 ? std::to_string(seconds / 60) + " min." : std::to_string(seconds) + " sec.";
}

// How long a signature is valid, in seconds. AWS documents X-Amz-Expires for presigned requests to S3, and
// the messages below are those that S3 returns. AWS's other services ignore this parameter and use 15
// minutes. Mayfly honors this parameter.
compat::Result<std::int64_t> good_seconds(const Claim& claim) {
  const std::string_view text =
      claim.by_query ? value_of(claim.parameters, "X-Amz-Expires") : std::string_view{};
  if (text.empty()) return skew_seconds_max;
  const auto seconds = engine::whole_number<std::int64_t>(text);
  if (!seconds) return invalid_signature("X-Amz-Expires should be a number");
  if (*seconds < 0) return invalid_signature("X-Amz-Expires must be non-negative");
  if (*seconds > expires_seconds_max) {
    return invalid_signature(
        "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less "
        "than 604800 seconds");
  }
  return *seconds;
}

compat::Result<void> check_date(const Claim& claim, engine::Instant now) {
  const std::string text(claim.date);
  const auto date = parse_basic_date(claim.date);
  if (!date) {
    return incomplete_signature("Date must be in ISO-8601 'basic format'. Got '" + text +
                                "'. See http://en.wikipedia.org/wiki/ISO_8601");
  }
  TRY(const std::int64_t seconds, good_seconds(claim));
  if (const engine::Instant oldest = now - seconds * 1000; *date < oldest) {
    return invalid_signature("Signature expired: " + text + " is now earlier than " + basic_date(oldest) +
                             " (" + basic_date(now) + " - " + spelled_span(seconds) + ")");
  }
  // The words "is still later than" are from aws/aws-sdk-js issue 2565.
  if (const engine::Instant newest = now + skew_seconds_max * 1000; *date > newest) {
    return invalid_signature("Signature not yet current: " + text + " is still later than " +
                             basic_date(newest) + " (" + basic_date(now) + " + " +
                             spelled_span(skew_seconds_max) + ")");
  }
  return {};
}

// Whether a header must be signed. The Host header must be, and so must every header that determines what is
// requested or by whom. A session token need not be signed, because some clients sign first and add the token
// afterwards. The token's value must always be the one that belongs to the key.
bool must_be_signed(std::string_view name) {
  return name == "host" ||
         ((name.starts_with("x-amz-") || name.starts_with("x-mayfly-")) && name != "x-amz-security-token");
}

std::vector<std::string> names_of(std::string_view signed_headers) {
  std::vector<std::string> names;
  for (bool last = false; !last;) {
    const auto end = signed_headers.find(';');
    last = end == std::string_view::npos;
    names.emplace_back(signed_headers.substr(0, end));
    if (!last) signed_headers.remove_prefix(end + 1);
  }
  return signed_names(std::move(names));
}

compat::Result<void> check_signed_headers(const Request& request, const std::vector<std::string>& names) {
  const auto is_signed = [&](const std::string& name) {
    return std::binary_search(names.begin(), names.end(), name);
  };
  // The source of this message is aws/aws-sdk-php issue 2469, which quotes DynamoDB in 2022. The message that
  // dynalite recorded in 2013 names only 'Host'.
  if (!is_signed("host") || !request.has(Header::host)) {
    return invalid_signature("'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.");
  }
  // AWS's guide requires that these headers be signed. The message that AWS's services return is unknown.
  for (const HeaderLine& header : request.all_headers) {
    if (const std::string name = lower_case(header.name); must_be_signed(name) && !is_signed(name))
      return invalid_signature("'" + header.name + "' must be a 'SignedHeader' in the AWS Authorization.");
  }
  return {};
}

compat::Result<void> check_scope(const Credential& credential, std::string_view region, std::string_view date,
                                 std::string_view service) {
  std::string problems = region_problem(region);
  if (credential.scope.service != service)
    problems += "Credential should be scoped to correct service: '" + std::string(service) + "'. ";
  if (credential.terminator != scope_terminator) {
    problems += "Credential should be scoped with a valid terminator: 'aws4_request', not '" +
                std::string(credential.terminator) + "'. ";
  }
  if (credential.scope.date != date.substr(0, 8)) {
    problems +=
        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '" +
        std::string(credential.scope.date) + "' != '" + std::string(date.substr(0, 8)) + "', from '" +
        std::string(date) + "'.";
  }
  if (problems.empty()) return {};
  return invalid_signature(std::move(problems));
}

std::string_view sent_header(const Request& request, std::string_view name) {
  const auto found =
      std::find_if(request.all_headers.begin(), request.all_headers.end(),
                   [&](const HeaderLine& header) { return equals_ignoring_case(header.name, name); });
  return found == request.all_headers.end() ? std::string_view{} : trim(found->value);
}

// The canonical request as a response shows it. Hides the session token, because it is part of the
// credentials and responses end up in logs.
std::string shown(const std::string& canonical) {
  constexpr std::string_view token = "\nx-amz-security-token:", parameter = "X-Amz-Security-Token=";
  std::string out = canonical;
  const auto hide = [&](std::string_view mark, std::string_view ends) {
    for (auto at = out.find(mark); at != std::string::npos; at = out.find(mark, at + mark.size())) {
      const auto begin = at + mark.size();
      out.replace(begin, out.find_first_of(ends, begin) - begin, "...");
    }
  };
  hide(token, "\n");
  hide(parameter, "&\n");
  return out;
}

compat::Result<void> check_signature(const Request& request, const Claim& claim, const Credential& credential,
                                     const std::vector<std::string>& names, const SignatureRules& rules) {
  const Key* key = rules.keys->find(credential.key_id);
  if (key == nullptr) return unrecognized_client("The security token included in the request is invalid.");

  // The hash of the actual body, whatever x-amz-content-sha256 says: "UNSIGNED-PAYLOAD" is for S3 and for
  // operations whose models allow it. No model of a DynamoDB or Lambda operation allows it.
  const std::string payload_hash = engine::hex(sha256(request.body));
  const std::string canonical = canonical_request({.method = request.method,
                                                   .path = request.path(),
                                                   .query = request.query(),
                                                   .headers = request.all_headers,
                                                   .signed_headers = names,
                                                   .payload_hash = payload_hash});
  const std::string to_sign = string_to_sign(claim.date, credential.scope, canonical);
  const std::string_view claimed_hash = sent_header(request, "x-amz-content-sha256");
  if (!equal_secrets(signature_of(to_sign, key->secret, credential.scope), claim.signature) ||
      (!claimed_hash.empty() && claimed_hash != payload_hash)) {
    return invalid_signature(compat::error::cut(
        "The request signature we calculated does not match the signature you provided. Check your AWS "
        "Secret Access Key and signing method. Consult the service documentation for details.\n\nThe "
        "Canonical String for this request should have been\n'" +
        shown(canonical) + "'\n\nThe String-to-Sign should have been\n'" + to_sign + "'\n"));
  }
  const std::string_view token =
      claim.by_query ? value_of(claim.parameters, "X-Amz-Security-Token") : std::string_view{};
  if (!equal_secrets(token.empty() ? sent_header(request, "x-amz-security-token") : token,
                     key->session_token)) {
    return unrecognized_client("The security token included in the request is invalid");
  }
  return {};
}

}  // namespace

std::string_view account_of(std::string_view access_key_id) {
  return engine::is_account_id(access_key_id) ? access_key_id : default_account;
}

std::optional<std::string> claimed_account(const Request& request) {
  if (request.has(Header::x_mayfly_account)) {
    const auto named = request.header(Header::x_mayfly_account);
    return engine::is_account_id(named) ? std::optional<std::string>(named) : std::nullopt;
  }
  constexpr std::string_view before_id = "Credential=";
  const std::string query = compat::decode_query(request.query());
  const std::string_view authorization = request.header(Header::authorization);
  for (const std::string_view text : {authorization, std::string_view(query)}) {
    const auto at = text.find(before_id);
    if (at == std::string_view::npos) continue;
    const std::string_view id = text.substr(at + before_id.size());
    return std::string(account_of(id.substr(0, id.find('/'))));
  }
  return std::nullopt;
}

compat::Result<engine::Scope> authenticate(const Request& request, std::string_view default_region,
                                           const SignatureRules& rules) {
  const std::string_view query_text = rules.by == SignedBy::header ? std::string_view{} : request.query();
  Parameters query = query_parameters(query_text);
  const bool by_query = std::any_of(query.begin(), query.end(), [](const Parameter& parameter) {
    return parameter.name == "X-Amz-Algorithm";
  });
  if (by_query && !request.header(Header::authorization).empty()) {
    return invalid_signature(
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.");
  }
  TRY(const Claim claim, by_query ? claim_of_query(std::move(query)) : claim_of_header(request));
  const bool checked = rules.keys != nullptr;
  std::vector<std::string> names;
  if (checked) {
    names = names_of(claim.signed_headers);
    CHECK_OK(check_date(claim, rules.now));
    CHECK_OK(check_signed_headers(request, names));
  }
  TRY(const Credential credential, parse_credential(claim.algorithm, claim.credential));
  const std::string_view region = credential.scope.region.empty() ? default_region : credential.scope.region;
  if (checked) {
    CHECK_OK(check_scope(credential, region, claim.date, rules.service));
    CHECK_OK(check_signature(request, claim, credential, names, rules));
  } else if (std::string problem = region_problem(region); !problem.empty()) {
    return invalid_signature(std::move(problem));
  }
  return engine::Scope{std::string(account_of(credential.key_id)), std::string(region)};
}

}  // namespace mayfly::http
