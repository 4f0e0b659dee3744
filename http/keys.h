// Access keys: who may sign, and with which secret.
//
// Of an AWS credentials file, which most people have already, or of the environment:
//
//   [ci]                                       # the name of a profile; nobody asks for it
//   aws_access_key_id = AKIDEXAMPLE
//   aws_secret_access_key = wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY
//   aws_session_token = …                      # if the key has one
//
//   auto keys = Keys::from_file("keys");       // the error is a sentence for people, without any secret
//   const Key* key = keys->find("AKIDEXAMPLE");
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/expected.h"

namespace mayfly::http {

struct Key {
  std::string id, secret;
  std::string session_token{};  // empty: it has none, and whoever sends one is refused
};

// What AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN say; nothing, unless they name an id
// and a secret.
std::optional<Key> key_of_environment();

class Keys {
 public:
  // Settings other than the three, and profiles without a key, are passed over.
  static Expected<Keys, std::string> parse(std::string_view text);
  static Expected<Keys, std::string> from_file(const std::string& path);
  // Whose requests a server takes that was asked to check signatures: the file's, or, if none is named, the
  // environment's. Nothing, and no error, if it was not asked.
  static Expected<std::shared_ptr<const Keys>, std::string> required(bool asked, const std::string& path);
  explicit Keys(Key key) {
    std::string id = key.id;
    keys_.emplace(std::move(id), std::move(key));
  }

  [[nodiscard]] const Key* find(std::string_view id) const;  // nullptr: there is no such key

 private:
  Keys() = default;
  std::map<std::string, Key, std::less<>> keys_;
};

}  // namespace mayfly::http
