// Values that stand for others, by HMAC-SHA256 under a secret: the same value has the same stand-in in every
// table and in every run under that secret, and without the secret nobody can tell or try out which it was.
//
//   const KeyedHash hash(secret);
//   hash.text("alice@example.com")       // 32 hexadecimal digits
//   hash.number(Number(4711))            // a whole number of the same sign, and no two have the same
//
// Two texts have the same stand-in with a chance of 2^-128, two binaries likewise. Whole numbers of up to 18
// digits are permuted among themselves (a Feistel network whose rounds are HMACs), so those have none at all,
// and programs that read them into 64 bits go on doing so.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "engine/attribute_value.h"

namespace mayfly::transfer {

class KeyedHash {
 public:
  static constexpr std::size_t secret_bytes_min = 16;

  explicit KeyedHash(std::string secret) : secret_(std::move(secret)) {}

  // 32 bytes that depend on the purpose, too.
  [[nodiscard]] std::string bytes(std::string_view purpose, std::string_view value) const;

  [[nodiscard]] std::string text(std::string_view value) const;
  [[nodiscard]] engine::Number number(const engine::Number& value) const;
  [[nodiscard]] engine::Binary binary(const engine::Binary& value) const;

 private:
  const std::string secret_;
};

}  // namespace mayfly::transfer
