// Access keys: the key ids that may sign requests, with their secrets.
//
// Keys come from an AWS credentials file, which most developers already have, or from the environment:
//
//   [ci]                                       # the profile name; ignored
//   aws_access_key_id = AKIDEXAMPLE
//   aws_secret_access_key = wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY
//   aws_session_token = …                      # if the key has one
//
//   auto keys = Keys::from_file("keys");       // the error is readable and contains no secret
//   const Key* key = keys->find("AKIDEXAMPLE");
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/expected.h"

namespace mayfly::http {

struct Key {
  std::string id, secret;
  std::string session_token{};  // empty: the key has none, and requests that send one are rejected
};

// The key from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; nullopt unless both an id and
// a secret are set.
std::optional<Key> key_of_environment();

class Keys {
 public:
  // Ignores other settings, and profiles without a key.
  static Expected<Keys, std::string> parse(std::string_view text);
  static Expected<Keys, std::string> from_file(const std::string& path);
  // The keys whose signatures a server accepts: those of the file, or the environment's key if no file is
  // named. nullptr, without an error, if the server was not asked to check signatures.
  static Expected<std::shared_ptr<const Keys>, std::string> required(bool asked, const std::string& path);
  explicit Keys(Key key) {
    std::string id = key.id;
    keys_.emplace(std::move(id), std::move(key));
  }

  [[nodiscard]] const Key* find(std::string_view id) const;  // nullptr if there is no such key

 private:
  Keys() = default;
  std::map<std::string, Key, std::less<>> keys_;
};

}  // namespace mayfly::http
