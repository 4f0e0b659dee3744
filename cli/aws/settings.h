// The settings that AWS's SDKs and command line read from the environment, ~/.aws/config and
// ~/.aws/credentials: profile, region and endpoint.
//
//   const auto settings = Settings::read({.region = "eu-west-1"});
//   settings->region(), settings->endpoint()       // "https://dynamodb.eu-west-1.amazonaws.com"
//
// Supported: AWS_PROFILE, AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE, AWS_REGION, AWS_DEFAULT_REGION,
// AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS, AWS_MAX_ATTEMPTS, and the
// profile's region, endpoint_url and max_attempts.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/expected.h"

namespace mayfly::aws {

// Returns a variable's value, or an empty string if the variable is not set.
using Environment = std::function<std::string(const char* name)>;
std::string variable_of_process(const char* name);

// Values from a command's own options. Values that are empty are taken from the environment and the profile.
struct Given {
  std::string endpoint, region, profile;
  std::string ca_file;  // trusted certificates for https://; empty: the system's certificates
  std::string account;  // for Mayfly: twelve digits; empty: the key's account
};

class Settings {
 public:
  // The files may be missing, but a profile that was requested by name must exist. The error is a
  // human-readable sentence. It quotes no line of a file, because the line may contain a secret.
  static Expected<Settings, std::string> read(Given given, Environment environment = variable_of_process);

  [[nodiscard]] const Given& given() const { return given_; }
  [[nodiscard]] std::string variable(const char* name) const { return environment_(name); }
  // Returns a setting of the profile by its lowercase name, such as "aws_access_key_id". The credentials file
  // takes precedence. Returns an empty string if the profile does not have the setting.
  [[nodiscard]] std::string profile_value(const std::string& name) const;
  [[nodiscard]] const std::string& profile() const { return profile_; }

  // Returns us-east-1 if no region is set and the endpoint does not belong to AWS.
  [[nodiscard]] Expected<std::string, std::string> region() const;
  [[nodiscard]] Expected<std::string, std::string> endpoint() const;
  [[nodiscard]] int attempts_max() const;  // 3 unless another number is set

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
  Values credentials_, config_;  // the profile's settings in each file
};

// Returns the settings of one profile in a profile file, or nullopt if the file does not have the profile.
// `prefix` is what precedes a profile's name in brackets, such as "profile " in ~/.aws/config. The default
// profile has no prefix.
std::optional<std::map<std::string, std::string>> profile_in(std::string_view text, std::string_view profile,
                                                             std::string_view prefix);

}  // namespace mayfly::aws
