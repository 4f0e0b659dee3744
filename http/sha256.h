// SHA-256 and its keyed form, HMAC, by OpenSSL.
//
//   engine::hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace mayfly::http {

// 32 bytes, not printable.
std::string sha256(std::string_view bytes);
std::string hmac_sha256(std::string_view key, std::string_view bytes);

// Of what comes in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void add(std::string_view bytes);
  std::string end();  // Requires: once, and nothing is added then.

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// In a time that depends on their lengths alone: whoever guesses a secret learns nothing from how long it
// takes to refuse him.
bool equal_secrets(std::string_view a, std::string_view b);

}  // namespace mayfly::http
