// Replaces values with their HMAC-SHA256 under a secret key. With the same secret, a value has the same
// substitute in all tables and runs. Without the secret, the value cannot be recovered, even by brute force.
//
//   const KeyedHash hash(secret);
//   hash.text("alice@example.com")       // 32 hexadecimal digits
//   hash.number(Number(4711))            // a whole number of the same sign, different for each number
//
// Two strings collide with a probability of 2^-128, and so do two binaries. Whole numbers of up to 18 digits
// are permuted among themselves by a Feistel network whose round function is HMAC. Hashed whole numbers
// therefore never collide, and still fit into 64 bits.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "engine/values/attribute_value.h"

namespace mayfly::transfer {

class KeyedHash {
 public:
  static constexpr std::size_t secret_bytes_min = 16;

  explicit KeyedHash(std::string secret) : secret_(std::move(secret)) {}

  // Returns 32 bytes. Each purpose gives different bytes for the same value.
  [[nodiscard]] std::string bytes(std::string_view purpose, std::string_view value) const;

  [[nodiscard]] std::string text(std::string_view value) const;
  [[nodiscard]] engine::Number number(const engine::Number& value) const;
  [[nodiscard]] engine::Binary binary(const engine::Binary& value) const;

 private:
  const std::string secret_;
};

}  // namespace mayfly::transfer
