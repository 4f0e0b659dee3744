// Authenticates a request by its AWS Signature Version 4, in a header or in the query, and determines its
// account and region.
//
// The signature's form is always checked, in AWS's order and with AWS's messages. The signature itself is
// checked only if keys are configured (--require-signature). Without keys no secret is known, so every
// signature is accepted, and the date is ignored: tests sign with their own clocks (freezegun, libfaketime),
// and an endpoint whose time a test controls must not reject their requests as "Signature expired". If keys
// are configured, dates are compared with the host's clock, never with an account's clock.
//
//   Authorization: AWS4-HMAC-SHA256 Credential=000000000042/20240101/eu-west-1/dynamodb/aws4_request, …
//   authenticate(request, "us-east-1", {}) -> {account 000000000042, region eu-west-1}
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compat/wire/error.h"
#include "engine/base/clock.h"
#include "engine/tables/catalog.h"

namespace mayfly::http {

struct Request;
class Keys;

inline constexpr std::string_view default_account = "000000000000";

// An access key id of twelve digits is the account; every other key uses the default account's tables.
std::string_view account_of(std::string_view access_key_id);
// The account that the request claims, authorized or not, by X-Mayfly-Account or by its signature. nullopt:
// the request names no account, or an invalid one.
std::optional<std::string> claimed_account(const Request& request);

// Where the signature may be. DynamoDB's operations also accept a signature in the query. On other paths, a
// signature in the query would let a link perform actions.
enum class SignedBy : unsigned char { header, header_or_query };

struct SignatureRules {
  SignedBy by = SignedBy::header_or_query;
  std::string_view service = "dynamodb";  // the service that a checked signature must be for
  const Keys* keys = nullptr;             // nullptr: signatures are not checked
  engine::Instant now = 0;                // by the host's clock
};

// `default_region` is used for a scope without a region.
// Requires: if there are keys, the request keeps all its headers, and its body is as it was sent.
compat::Result<engine::Scope> authenticate(const Request& request, std::string_view default_region,
                                           const SignatureRules& rules);

}  // namespace mayfly::http
