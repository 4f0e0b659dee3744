// What AWS's SDKs and command line read of the environment and of ~/.aws/config and ~/.aws/credentials: who
// asks, which region, which endpoint.
//
//   const auto settings = Settings::read({.region = "eu-west-1"});
//   settings->region(), settings->endpoint()       // "https://dynamodb.eu-west-1.amazonaws.com"
//
// Understood: AWS_PROFILE, AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE, AWS_REGION, AWS_DEFAULT_REGION,
// AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS, AWS_MAX_ATTEMPTS, and the
// profile's region, endpoint_url, max_attempts.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/expected.h"

namespace mayfly::aws {

// A variable's value; empty: it is not set.
using Environment = std::function<std::string(const char* name)>;
std::string variable_of_process(const char* name);

// What a command's own options say; what is empty is for the environment and the profile to say.
struct Given {
  std::string endpoint, region, profile;
  std::string ca_file;  // whose certificates https:// may show; empty: the system's issuers'
  std::string account;  // on Mayfly: whose tables, twelve digits; empty: the key's
};

class Settings {
 public:
  // The files may be absent; a profile that was asked for by name may not. The error is a sentence for
  // people, which shows no line of a file: it may be a secret.
  static Expected<Settings, std::string> read(Given given, Environment environment = variable_of_process);

  [[nodiscard]] const Given& given() const { return given_; }
  [[nodiscard]] std::string variable(const char* name) const { return environment_(name); }
  // Of the profile, in lower case: "aws_access_key_id". The credentials file's comes first. Empty: it has
  // none.
  [[nodiscard]] std::string profile_value(const std::string& name) const;
  [[nodiscard]] const std::string& profile() const { return profile_; }

  // Where an endpoint that is not AWS's was named and no region, it is us-east-1.
  [[nodiscard]] Expected<std::string, std::string> region() const;
  [[nodiscard]] Expected<std::string, std::string> endpoint() const;
  [[nodiscard]] int attempts_max() const;  // 3, unless another number is set

 private:
  Settings(Given given, Environment environment)
      : given_(std::move(given)), environment_(std::move(environment)) {}
  [[nodiscard]] std::string named_endpoint() const;
  [[nodiscard]] std::string named_region() const;

  using Values = std::map<std::string, std::string>;
  Given given_;
  Environment environment_;
  std::string profile_ = "default";
  bool profile_named_ = false;
  Values credentials_, config_;  // the profile's part of each file
};

// A file of profiles: the settings of one of them. `prefix`: what stands before a profile's name in its
// brackets, but for default's: "profile " in ~/.aws/config. Nothing: it has no such profile.
std::optional<std::map<std::string, std::string>> profile_in(std::string_view text, std::string_view profile,
                                                             std::string_view prefix);

}  // namespace mayfly::aws
