// Who signs a request, and for which region: AWS Signature Version 4's header or query parameters.
//
// The form is checked, in AWS's order and words. Whether the signature is right is checked too where keys are
// known (--require-signature). Without keys nobody has told us a secret, so every secret is right; nor is the
// date looked at: tests sign under clocks of their own (freezegun, libfaketime), and an endpoint whose time a
// test controls must not refuse them as "Signature expired". With keys, dates are held against the host's
// clock, never an account's.
//
//   Authorization: AWS4-HMAC-SHA256 Credential=000000000042/20240101/eu-west-1/dynamodb/aws4_request, …
//   authenticate(request, "us-east-1", {}) -> {account 000000000042, region eu-west-1}
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compat/wire/error.h"
#include "engine/catalog.h"
#include "engine/clock.h"

namespace mayfly::http {

struct Request;
class Keys;

inline constexpr std::string_view default_account = "000000000000";

// Twelve digits are the account itself; every other key sees the default account's tables.
std::string_view account_of(std::string_view access_key_id);
// The account that a request names, whether or not it may: by X-Mayfly-Account, or by its signature. Nothing:
// it names none, or no account.
std::optional<std::string> claimed_account(const Request& request);

// Where a signature may be. DynamoDB reads it from the query too; elsewhere a link would be enough to act.
enum class SignedBy : unsigned char { header, header_or_query };

struct SignatureRules {
  SignedBy by = SignedBy::header_or_query;
  std::string_view service = "dynamodb";  // for which a signature must be, where it is checked
  const Keys* keys = nullptr;             // nullptr: no signature is checked
  engine::Instant now = 0;                // by the host's clock
};

// `default_region`: of a scope that names none. With keys: the request keeps all its headers, and its body is
// as it was sent.
compat::Result<engine::Scope> authenticate(const Request& request, std::string_view default_region,
                                           const SignatureRules& rules);

}  // namespace mayfly::http
