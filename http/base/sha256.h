// SHA-256 and HMAC-SHA-256, by OpenSSL.
//
//   engine::hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace mayfly::http {

// Returns 32 bytes, which are not printable text.
std::string sha256(std::string_view bytes);
std::string hmac_sha256(std::string_view key, std::string_view bytes);

// Hashes input that arrives in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void add(std::string_view bytes);
  std::string end();  // Requires: called once, and nothing is added afterwards.

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Compares in constant time for a given length, so the time of a rejection reveals nothing about a guessed
// secret.
bool equal_secrets(std::string_view a, std::string_view b);

}  // namespace mayfly::http
