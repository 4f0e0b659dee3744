// Finds the key that requests are signed with. Looks in the same places and in the same order as AWS's SDKs:
//
//   1. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN (unless --profile names a profile)
//   2. the profile's aws_access_key_id, … in ~/.aws/credentials or ~/.aws/config
//   3. the profile's credential_process, a program that prints a key
//   4. AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or …_FULL_URI: the container's key (ECS, EKS Pod Identity),
//      with AWS_CONTAINER_AUTHORIZATION_TOKEN or …_TOKEN_FILE
//
// Not supported: roles to assume (role_arn, web identity), single sign-on, and EC2's instance metadata. For
// these, use AWS's command line as the credential_process: `aws configure export-credentials --profile NAME`.
//
//   Credentials credentials(settings);
//   auto key = credentials.key();   // the error is readable and contains no secret
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/aws/settings.h"
#include "engine/base/clock.h"
#include "engine/base/expected.h"
#include "engine/base/mutex.h"
#include "http/access/keys.h"

namespace mayfly::aws {

// Keys that expire are renewed a few minutes in advance. If the renewal fails, the current key is used until
// it expires.
//
// Thread-safe.
class Credentials {
 public:
  explicit Credentials(Settings settings) : settings_(std::move(settings)) {}

  Expected<http::Key, std::string> key() EXCLUDES(mutex_);
  // Drops the cached key, so that the next call to key() looks for one again. Call this if a server has
  // rejected the key as expired.
  void forget() EXCLUDES(mutex_);

 private:
  struct Found {
    http::Key key;
    std::optional<engine::Instant> ends;  // nullopt: it never expires
  };
  [[nodiscard]] Expected<Found, std::string> find() const;
  [[nodiscard]] Expected<Found, std::string> of_program(const std::string& command) const;
  [[nodiscard]] Expected<Found, std::string> of_container(const std::string& url) const;
  static Expected<Found, std::string> found_in(std::string_view json, const char* token_name,
                                               const std::string& where);

  const Settings settings_;
  engine::Mutex mutex_;
  std::optional<Found> found_ GUARDED_BY(mutex_);
};

// Whether credentials may be requested from this URL: https:// to any host; http:// only to this machine and
// to the addresses of ECS and EKS.
bool may_have_credentials(const std::string& url);

}  // namespace mayfly::aws
